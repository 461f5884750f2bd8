package sqlrow

import (
	"bytes"
	"fmt"
	"iter"
	"time"

	"github.com/executor-go/executor/durable"
)

// Kept iterates over the states whose jobs are kept for a time, in the same order each time.
func Kept(r durable.Retention) iter.Seq2[durable.State, time.Duration] {
	return func(yield func(durable.State, time.Duration) bool) {
		for _, k := range []struct {
			state durable.State
			keep  time.Duration
		}{{durable.Succeeded, r.Succeeded}, {durable.Dead, r.Dead}, {durable.Canceled, r.Dead}} {
			if k.keep > 0 && !yield(k.state, k.keep) { // 0 is for ever
				return
			}
		}
	}
}

// FamilyMost is how many children of a job a prune looks at. A job with more is kept until the others are removed.
const FamilyMost = 100

// A Place is where a prune goes on that has looked at some jobs in the order of Job.Updated, and left them: behind the
// first Skip of those with Updated or later. The zero Place is the beginning.
type Place struct {
	Updated int64
	Skip    int
}

// From returns the first Updated to look at.
func (p Place) From() int64 {
	if p == (Place{}) {
		return earliest
	}
	return p.Updated
}

// Leave has the next prune begin behind n further jobs with this Updated.
func (p *Place) Leave(updated int64, n int) {
	if updated != p.Updated {
		*p = Place{Updated: updated}
	}
	p.Skip += n
}

// A Pruned is how far a prune has come, for the next one to go on from there.
type Pruned struct {
	Jobs  map[durable.State]Place
	Notes map[string]durable.ID // by table: the last job that was looked at
}

// NewPruned returns a Pruned at the beginning of everything.
func NewPruned() Pruned {
	return Pruned{make(map[durable.State]Place), make(map[string]durable.ID)}
}

// Notes are the tables of what is noted of runs in progress.
var Notes = []string{"executor_begun", "executor_progress"}

// LastNote selects up to which job a prune looks at a table of Notes, if it looks at the rows of that many jobs behind
// one, and ForgetNotes removes those of them whose runs are over. It is no "not exists", which the planner of PostgreSQL
// may turn into one look at all jobs that run.
func LastNote(table, behind string, most int) string {
	return fmt.Sprintf("select job from %s where job > %s order by job limit 1 offset %d", table, behind, most-1)
}

// ForgetNotes is explained at LastNote.
func ForgetNotes(table, behind, last string) string {
	return SQL("delete from " + table + " where job > " + behind + " and job <= " + last + ` and coalesce((select false from executor_job j
		where j.id = ` + table + ".job and j.epoch = " + table + ".epoch and j.state = {Granted}), true)")
}

// LastID is not before any ID.
var LastID = durable.ID(bytes.Repeat([]byte{0xff}, 16))
