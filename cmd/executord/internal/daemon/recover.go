package daemon

import (
	"context"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// recovers notes an outcome, and reports whether it is good after a bad one. A store knows of runs of other daemons and
// of those before this one began; it is asked only after a good run whose job has an error.
func (r *run) recovers(ctx context.Context, o outcome.Outcome) bool {
	bad, known := r.entry.judge(o)
	if o != outcome.OK || r.told == nil {
		return false
	}
	if r.before != nil {
		if stored, there := r.before(ctx, known); there {
			return stored
		}
	}
	return known && bad
}

// recoverPatience is how long the store may take to say how the runs before ended, and mostRecalled how many of them
// are looked at.
const (
	recoverPatience = 5 * time.Second
	mostRecalled    = 200
)

// history returns whether the last run before this one that says something of the job was bad, if the store knows. Of
// runs beside each other this daemon knows more, if it has seen one: of those that were let go, the store has no end.
func (r *handled) history(ctx context.Context, seen bool) (bad, known bool) {
	if wasLost(r.row) {
		return true, true
	}
	if r.overlap.Do == job.AllowOverlap && seen {
		return false, false
	}
	if r.row.Error == "" && outcome.ParseLabel(r.row.Label).Outcome != outcome.Apart {
		return false, true // the last was good, or there was none
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recoverPatience)
	defer cancel()
	past, _ := r.entry.base.catalog.Jobs.History(ctx, r.row.ID, 0, mostRecalled)
	for _, run := range past {
		switch view.OutcomeOf(run) {
		case outcome.OK:
			return false, true
		case outcome.Failed, outcome.NotStarted, outcome.Timeout, outcome.Stopped, outcome.Lost:
			return true, true
		}
	}
	return false, false
}
