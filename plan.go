package executor

import (
	"time"

	"github.com/executor-go/executor/internal/task"
)

// plan says how often a task runs, and when. A pool knows [Retry] and schedules by this interface alone.
//
//	oncePlan    of a task that runs once
//	retry       of a task that may have another attempt
//	seriesPlan  of a [Series], which goes back into the queue after each run
//	runPlan     of a run of a Series with the option [Overlap]
type plan interface {
	// number returns the number of the present run, or of the next one, from 1.
	number() int64

	// isSeries reports whether the task is a series, and isPeriodic whether the task is a series or a run of one.
	isSeries() bool
	isPeriodic() bool

	// hasRun reports whether the task has run, and waits to run again as part of the same work.
	hasRun() bool

	// move sets the time of the task, which is about to enter a delay queue.
	move(t *task.Task)

	// setBack follows a step of the wall clock back, for a task that waits for a time of day. It reports whether the
	// task is to be given to a worker, which finds another time.
	setBack(step time.Duration) bool

	// conclude follows a run of t that has ended. It reports again if t is pending once more, or was completed
	// meanwhile, in which case it drops the body. Otherwise outcome is how t ends. run is the ending for the pool's
	// reports: that of this run or, if that is worse, that of all runs.
	conclude(t *task.Task, end ending, body dropper) (outcome, run ending, again bool)

	// withLast returns err, with which the task ends while it waits, with the error of the run before.
	withLast(err error) error
}

// dropper has a body, which drop releases. drop is called under the task's lock.
type dropper interface{ drop() }

// planOf returns the plan of t. A task that a pool has refused has none any more.
func planOf(t *task.Task) plan {
	if p, ok := t.Plan().(plan); ok {
		return p
	}
	return oncePlan{}
}

// oncePlan is the plan of a task that runs once, as soon as it can or at a time. The other plans embed oncePlan for
// what they do in the same way.
type oncePlan struct{}

func (oncePlan) number() int64              { return 1 }
func (oncePlan) isSeries() bool             { return false }
func (oncePlan) isPeriodic() bool           { return false }
func (oncePlan) hasRun() bool               { return false }
func (oncePlan) move(*task.Task)            {}
func (oncePlan) setBack(time.Duration) bool { return false }
func (oncePlan) withLast(err error) error   { return err }
func (oncePlan) conclude(_ *task.Task, end ending, _ dropper) (outcome, run ending, again bool) {
	return end, end, false
}
