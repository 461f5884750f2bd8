// Package history judges what nodes did to a store, from what handlers and users wrote down outside of it and what it
// has: nothing lost, no occurrence committed twice, nothing begun early, nothing begun twice with the same right to it,
// each run noted as it ended; no step done again, no job before its parents or in spite of them, no more at a time or
// in a time than allowed; nothing by a node that does not serve its queue, or has drained.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Again is the kind of jobs that may be asked for once more while they run.
const Again = "again"

// Start is what a handler writes down when it begins.
type Start struct {
	Job        durable.ID
	Epoch      int64
	Occurrence time.Time
	At         time.Time // on the store's clock, if Node has the same
	Node       string    // that runs it
	Queue      string    // of the job
	Serves     []string  // the queues that the node serves; nil if that is not to be judged
	Asked      string    `json:",omitempty"` // the key of a job of kind Again
}

// Verdict is what there is to say about a history.
type Verdict struct {
	Committed int // occurrences that were committed as successes
	Lost      int // runs whose node died
	Twice     int // occurrences that were begun more than once, and more often than the history has runs that ended
	Missing   int // occurrences that were never committed, and jobs that are not there: a fault each
	Doubled   int // commits of an occurrence after its first: a fault each
	Retried   int // runs that have failed
	Children  int // jobs with parents that have begun
	Spared    int // jobs that were canceled, since too many of their parents had failed
	Kept      int // results of steps that are kept
	Most      int // the most that ran of a partition at the same time
	Rated     int // begins of jobs with a rate
	Queued    int // begins of jobs in a queue
	Drained   int // times that a node had drained
	Wishes    int // calls for jobs of kind Again
	Faults    []string

	sorts map[string]int // how many of each
}

// Pause returns the longest time in which no handler began.
func Pause(starts []Start) time.Duration {
	times := make([]time.Time, len(starts))
	for i, s := range starts {
		times[i] = s.At
	}
	slices.SortFunc(times, time.Time.Compare)
	var longest time.Duration
	for i := 1; i < len(times); i++ {
		longest = max(longest, times[i].Sub(times[i-1]))
	}
	return longest
}

// fault notes a fault, up to ten of a sort.
func (v *Verdict) fault(format string, args ...any) {
	if v.sorts == nil {
		v.sorts = make(map[string]int)
	}
	if v.sorts[format]++; v.sorts[format] <= 10 {
		v.Faults = append(v.Faults, fmt.Sprintf(format, args...))
	}
}

// Check judges the jobs that are in the store by what handlers wrote down when they began, as Record.Check does.
func Check(ctx context.Context, s store.Store, starts []Start) (*Verdict, error) {
	return (&Record{Starts: starts}).Check(ctx, s)
}

// A job is what the judge keeps of one, since there may be a million.
type job struct {
	id         durable.ID
	kind       string
	state      durable.State
	schedule   string
	partition  string
	result     int // 0 if it is no number
	created    time.Time
	anchor     time.Time
	occurrence time.Time
	committed  int       // occurrences
	over       time.Time // when the handler of its last run has ended
	ran        bool      // its runs were judged
	stepped    bool      // its steps were
}

func (j *job) periodic() bool { return j.schedule != store.Once }

// Check judges what is in the store, which must be a [store.Mover]. Periodic jobs must be at a fixed rate, catch up
// with all they missed, and have their whole history; others must be over.
func (r *Record) Check(ctx context.Context, s store.Store) (*Verdict, error) {
	m := store.PartsOf(s).Mover
	if m == nil {
		return nil, errors.New("history: the store can't be exported")
	}
	g := newJudgement(r)
	names := make(map[string]string) // one string for each kind, schedule and partition
	name := func(s string) string {
		if _, ok := names[s]; !ok {
			names[s] = s
		}
		return names[s]
	}
	var runs []durable.Run
	var steps []durable.KeptStep
	var of durable.ID // the job of these
	settle := func() {
		if j := g.jobs[of]; len(runs) > 0 {
			g.ran(j, runs)
		} else if len(steps) > 0 {
			g.judgeSteps(j, steps)
		}
		runs, steps = runs[:0], steps[:0]
	}
	err := m.Export(ctx, func(row store.Row) error {
		switch {
		case row.Job != nil:
			j := row.Job
			n, _ := strconv.Atoi(string(j.Result))
			g.jobs[j.ID] = &job{id: j.ID, kind: name(j.Kind), state: j.State, schedule: name(j.Schedule), partition: name(j.Partition),
				result: n, created: j.Created, anchor: j.Anchor, occurrence: j.Occurrence}
			g.order = append(g.order, j.ID)
			if r.Tagged && !slices.Equal(j.Tags, []string{Tag(j.Kind)}) {
				g.fault("job %s of kind %q has the tags %q", j.ID, j.Kind, j.Tags)
			}
		case row.Run != nil:
			if row.Run.Job != of {
				settle()
			}
			of, runs = row.Run.Job, append(runs, row.Run.Run)
		case row.Step != nil:
			if row.Step.Job != of || len(runs) > 0 {
				settle()
			}
			of, steps = row.Step.Job, append(steps, row.Step.KeptStep)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	settle()
	g.judgeAll()
	return g.Verdict, nil
}

// ran judges the runs of a job.
func (g *judgement) ran(j *job, runs []durable.Run) {
	j.ran = true
	g.look(j, runs)
	began, times := make(map[right]int), make(map[int64]int)
	for _, s := range g.begun[j.id] {
		if s.At.Before(s.Occurrence) {
			g.fault("job %s: occurrence %v was begun %v early", j.id, s.Occurrence, s.Occurrence.Sub(s.At))
		}
		k := right{j.id, s.Epoch, s.Occurrence.UnixNano()}
		if began[k]++; began[k] > 1 {
			g.fault("job %s: epoch %d was begun %d times", j.id, s.Epoch, began[k])
		}
		times[s.Occurrence.UnixNano()]++
	}
	ended := make(map[int64]int)
	for _, run := range runs {
		if run.Verdict != durable.RunLost {
			ended[run.Occurrence.UnixNano()]++
		}
	}
	for at, n := range times {
		if n > 1 && n > ended[at] {
			g.Twice++
		}
	}
	committed := make(map[int64]bool)
	for _, run := range runs {
		of := right{j.id, run.Epoch, run.Occurrence.UnixNano()}
		if end, ok := g.ended[of]; ok && (run.Verdict == durable.RunSucceeded && end.Failed || run.Verdict == durable.RunFailed && !end.Failed) {
			g.fault("job %s: epoch %d has %v in the history, and its handler has failed: %t", j.id, run.Epoch, run.Verdict, end.Failed)
		}
		switch run.Verdict {
		case durable.RunLost:
			g.Lost++
			continue
		case durable.RunFailed:
			g.Retried++
			continue
		case durable.RunSucceeded:
		default:
			continue
		}
		g.Committed++
		if committed[of.occurrence] {
			g.Doubled++
			g.fault("job %s: occurrence %v was committed twice", j.id, run.Occurrence)
		}
		committed[of.occurrence] = true
		if began[of] == 0 {
			g.fault("job %s: occurrence %v was committed with epoch %d, by which it was not begun", j.id, run.Occurrence, run.Epoch)
		}
	}
	if j.committed = len(committed); j.periodic() {
		g.grid(j, committed)
	}
}

// grid holds that a periodic job has had every occurrence from its first to the next.
func (g *judgement) grid(j *job, committed map[int64]bool) {
	period, err := time.ParseDuration(j.schedule[len("rate "):])
	if err != nil {
		g.fault("job %s: schedule %q", j.id, j.schedule)
		return
	}
	for t := j.anchor; t.Before(j.occurrence); t = t.Add(period) {
		if !committed[t.UnixNano()] {
			g.Missing++
			g.fault("job %s: occurrence %v was lost", j.id, t)
		}
	}
}

// judgeEnd holds a job that runs once against how it must have ended, by its parents and by what was written down,
// unless somebody has canceled it, or deleted a parent.
func (g *judgement) judgeEnd(j *job) {
	switch {
	case j.periodic(), g.touched[j.id]:
	case g.spared[j.id]:
		if g.Spared++; j.state != durable.Canceled || j.committed > 0 || len(g.begun[j.id]) > 0 {
			g.fault("job %s is %v, begun %d times, committed %d times, and too many of its parents have failed", j.id, j.state,
				len(g.begun[j.id]), j.committed)
		}
	case g.dies[j.id]:
		if j.state != durable.Dead || j.committed > 0 {
			g.fault("job %s is %v, committed %d times, and was to fail for good", j.id, j.state, j.committed)
		}
	case j.state != durable.Succeeded || j.committed != 1 && j.kind != Again:
		g.Missing += 1 - min(j.committed, 1)
		g.fault("job %s is %v, committed %d times", j.id, j.state, j.committed)
	}
}

// judgeLedger judges what those who added jobs were told: each that was accepted must be there, unless somebody may
// have deleted it; none that was taken back, by the end of its transaction; and each call for a job of kind Again must
// have led to a run that begins after it.
func (g *judgement) judgeLedger() {
	for _, id := range g.record.Accepted {
		if g.jobs[id] == nil && !g.touched[id] {
			g.Missing++
			g.fault("job %s was accepted, and is not there", id)
		}
	}
	for _, id := range g.record.TakenBack {
		if g.jobs[id] != nil {
			g.fault("job %s was taken back, and is there", id)
		}
	}
	last := make(map[string]time.Time)
	for _, s := range g.record.Starts {
		if s.Asked != "" && s.At.After(last[s.Asked]) {
			last[s.Asked] = s.At
		}
	}
	g.Wishes = len(g.record.Wishes)
	for _, w := range g.record.Wishes {
		if last[w.Key].Before(w.At) {
			g.fault("a call of %v for %s has led to no run after it", w.At, w.Key)
		}
	}
}

// judgeParents finds children that were begun before their parents had ended, or whose result is not one more than the
// greatest of their parents', and those that must have been canceled, since too many of their parents have failed.
func (g *judgement) judgeParents(e Edge) {
	child, first := g.jobs[e.Child], time.Time{}
	if child == nil {
		return // it was not added, or its being missing is another fault
	}
	for _, s := range g.begun[e.Child] {
		if first.IsZero() || s.At.Before(first) {
			first = s.At
		}
	}
	parents := slices.Clone(e.Parents)
	slices.SortFunc(parents, func(a, b durable.ID) int { return slices.Compare(a[:], b[:]) })
	parents = slices.Compact(parents)
	need, count, over, greatest := cmp.Or(e.Need, len(parents)), 0, 0, 0
	for _, id := range parents {
		p := g.jobs[id]
		if p == nil && g.touched[id] {
			g.touched[e.Child] = true // the parent may have been deleted, with how it ended
			return
		}
		if p == nil || p.state != durable.Succeeded && !e.Anyway {
			continue
		}
		if p.state == durable.Succeeded {
			greatest = max(greatest, p.result)
		}
		if count++; !first.Before(p.over) {
			over++
		}
	}
	if !first.IsZero() {
		g.Children++
		if over < need {
			g.fault("job %s was begun at %v, and %d of its parents had ended, of %d that it needs", e.Child, first, over, need)
		}
	}
	if count < need {
		g.spared[e.Child] = true
	}
	if e.Need == 0 && child.state == durable.Succeeded && len(g.steps[e.Child]) == 0 && g.record.Results && child.result != greatest+1 {
		g.fault("job %s has the result %d, want %d, which is one more than the greatest of its parents", e.Child, child.result, greatest+1)
	}
}
