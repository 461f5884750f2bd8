// Package history judges what nodes did to a store, from what the handlers wrote
// down and what the database has: nothing lost, no occurrence committed twice,
// nothing begun early, nothing begun twice with the same right to it; no step done
// again, no job before its parents, no more at a time or in a time than allowed;
// nothing by a node that does not serve its queue, or has drained.
package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
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
}

// Verdict is what there is to say about a history.
type Verdict struct {
	Committed int // occurrences that were committed as successes
	Lost      int // runs whose node died
	Twice     int // occurrences that were begun more than once
	Missing   int // occurrences that were never committed: a fault each
	Doubled   int // commits of an occurrence after its first: a fault each
	Children  int // jobs with parents that have begun
	Kept      int // results of steps that are kept
	Most      int // the most that ran of a partition at the same time
	Rated     int // begins of jobs with a rate
	Queued    int // begins of jobs in a queue
	Drained   int // times that a node had drained
	Faults    []string
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

func (v *Verdict) fault(format string, args ...any) {
	if len(v.Faults) < 20 {
		v.Faults = append(v.Faults, fmt.Sprintf(format, args...))
	}
}

// Check judges the jobs that are in the store by what handlers wrote down when they began, as Record.Check does.
func Check(ctx context.Context, store durable.Store, starts []Start) (*Verdict, error) {
	return (&Record{Starts: starts}).Check(ctx, store)
}

// Check judges the jobs that are in the store. Periodic ones must be at a fixed rate, catch up with all they missed,
// and have their whole history; others must be over.
func (r *Record) Check(ctx context.Context, store durable.Store) (*Verdict, error) {
	g := newJudgement(r)
	for f := (durable.Filter{Limit: 1000}); ; {
		page, err := store.List(ctx, f)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			g.judgeAll()
			return g.Verdict, nil
		}
		for _, j := range page {
			runs, err := store.Runs(ctx, j.ID, 0, 1<<30)
			if err != nil {
				return nil, err
			}
			g.job(j, runs, g.begun[j.ID], r.Excused != nil && r.Excused(j))
			g.look(&j, runs)
			if err := g.judgeSteps(ctx, store, &j); err != nil {
				return nil, err
			}
			f.After = j.ID
		}
	}
}

// Ledger judges what those who added jobs were told, which is kept outside of the store: each that was accepted must be
// there, and none that was taken back, by the end of its transaction.
func (v *Verdict) Ledger(ctx context.Context, store durable.Store, accepted, takenBack []durable.ID) error {
	there := make(map[durable.ID]bool)
	for f := (durable.Filter{Limit: 1000}); ; {
		page, err := store.List(ctx, f)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, j := range page {
			there[j.ID] = true
			f.After = j.ID
		}
	}
	for _, id := range accepted {
		if !there[id] {
			v.Missing++
			v.fault("job %s was accepted, and is not there", id)
		}
	}
	for _, id := range takenBack {
		if there[id] {
			v.fault("job %s was taken back, and is there", id)
		}
	}
	return nil
}

func (v *Verdict) job(j durable.Job, runs []durable.Run, starts []Start, excused bool) {
	began, times := make(map[right]int), make(map[time.Time]int)
	for _, s := range starts {
		if s.At.Before(s.Occurrence) {
			v.fault("job %s: occurrence %v was begun %v early", j.ID, s.Occurrence, s.Occurrence.Sub(s.At))
		}
		k := right{j.ID, s.Epoch, s.Occurrence}
		if began[k]++; began[k] > 1 {
			v.fault("job %s: epoch %d was begun %d times", j.ID, s.Epoch, began[k])
		}
		if times[s.Occurrence]++; times[s.Occurrence] == 2 {
			v.Twice++
		}
	}
	committed := make(map[time.Time]bool)
	for _, run := range runs {
		switch run.Verdict {
		case durable.RunLost:
			v.Lost++
			continue
		case durable.RunSucceeded:
		default:
			continue
		}
		v.Committed++
		if committed[run.Occurrence] {
			v.Doubled++
			v.fault("job %s: occurrence %v was committed twice", j.ID, run.Occurrence)
		}
		committed[run.Occurrence] = true
		if began[right{j.ID, run.Epoch, run.Occurrence}] == 0 {
			v.fault("job %s: occurrence %v was committed with epoch %d, by which it was not begun", j.ID, run.Occurrence, run.Epoch)
		}
	}
	if !j.Periodic() {
		if !excused && (j.State != durable.Succeeded || len(committed) != 1 && j.Kind != Again) {
			v.Missing += 1 - min(len(committed), 1)
			v.fault("job %s is %v, committed %d times", j.ID, j.State, len(committed))
		}
		return
	}
	// Every point of the grid from the anchor to the next occurrence.
	period, err := time.ParseDuration(j.Schedule[len("rate "):])
	if err != nil {
		v.fault("job %s: schedule %q", j.ID, j.Schedule)
		return
	}
	for t := j.Anchor; t.Before(j.Occurrence); t = t.Add(period) {
		if !committed[t] {
			v.Missing++
			v.fault("job %s: occurrence %v was lost", j.ID, t)
		}
	}
}
