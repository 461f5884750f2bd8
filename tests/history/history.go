// Package history runs executors in real time, with everything that can happen
// at once happening at once, records what each goroutine saw, and judges
// afterwards whether an executor that keeps its promises could have been seen
// like that.
//
// A seed draws a [World]: a pool of some kind, and what its submitters,
// cancelers, waiters, tuners and shutdowns do. [Record] runs them all at once and
// returns the [History]. [Judge] reads it, and knows nothing of the pool but what
// was recorded, so that it can be tested with histories that are wrong.
//
// Every goroutine writes into a log of its own, and a body into that of its
// task. There is no lock and no atomic around the recording: it would order
// what the executor has to order, and hide its races. The same plain writes
// are therefore the proof that the executor does order, when the race detector
// looks on: from submission to run, from run to next run, from run to Get, and
// from everything to the end of AwaitTermination.
package history

import "github.com/executor-go/executor"

// History is what was seen of one pool, merged after it has terminated. Times
// are nanoseconds on the monotonic clock since the history began.
type History struct {
	World
	Tasks  []*Task
	Events []Event

	Samples    [][]executor.Stats // a list for each observer, in order
	Final      executor.Stats     // of the terminated pool
	Terminated []int64            // when Hooks.Terminated was called
	Tape       []int              // the tasks in order of their runs, if the world is Orderly
}

// Form is how a task is submitted.
type Form uint8

const (
	Plain Form = iota // Execute of a Runnable
	Fired             // Go of a function
	Bound             // Execute of a NewFuture
	Later             // Schedule
	OnDay             // At
	Rate              // AtFixedRate
	Delay             // WithFixedDelay
	Trig              // On
)

func (f Form) String() string {
	return [...]string{"plain", "fired", "bound", "later", "on day", "rate", "delay", "trigger"}[f]
}

// Series reports whether the task runs again and again.
func (f Form) Series() bool { return f >= Rate }

// Wall reports whether the task's times are those of the wall clock.
func (f Form) Wall() bool { return f == OnDay || f == Trig }

// Timed reports whether the task has a time at all.
func (f Form) Timed() bool { return f >= Later }

// Future reports whether the task has a future.
func (f Form) Future() bool { return f >= Bound }

// Way is how a body ends. Of a series it is the last run that ends like that.
type Way uint8

const (
	Well Way = iota
	Sour     // returns errSour
	Loud     // panics
	Gone     // calls runtime.Goexit
	Over     // returns executor.Stop
)

func (w Way) String() string { return [...]string{"well", "sour", "loud", "gone", "over"}[w] }

// Task is one task: what it is to do, and what became of it.
type Task struct {
	ID    int
	Form  Form
	Way   Way
	Ends  bool  // its submitter's context ends some time
	Wait  int64 // the delay, or 0
	Date  int64 // of OnDay: when it is due, in Unix nanoseconds
	Every int64 // period or delay of a series; the grid of a trigger
	Times int64 // most runs of a series
	Skip  bool  // SkipMissed was given

	Runs []Run // written by the body, in the order of the runs

	// Of a task with a future, when all is over.
	State   executor.State
	Outcome error
	Value   int
}

// Run is one run of a body.
type Run struct {
	Begin, End int64
	Wall       int64 // the wall clock's Unix nanoseconds at the beginning
	Due        int64 // as Form.Wall says: Unix nanoseconds, or since the beginning of the history
	Number     int64 // from the hook
	Ended      bool  // the context had ended when the body began, if it looked
	Asked      int64 // when the body asked its context for the last time
	EndedLater bool  // and whether it had ended then
	Seen       int   // runs that this run could see to have ended before it
	Way        Way

	Hooked      bool  // BeforeTask was called for it
	Before      int64 // when
	After       int64 // when AfterTask was called; 0 if it was not
	AfterAgrees bool  // and it got the body's error
}

// Kind is the kind of call that an event records.
type Kind uint8

const (
	Submit      Kind = iota // Execute, Go, Schedule, ...; Err is its answer
	Cancel                  // OK is the answer
	Abandon                 // OK is the answer
	Remove                  // OK is the answer
	Get                     // OK, Value, Err: State was done, and the outcome
	Join                    // Err is the answer
	GiveBack                // ShutdownNow gave the task back
	Shutdown                // the call
	ShutdownNow             // the call
	Await                   // AwaitTermination, which returned Err
)

func (k Kind) String() string {
	return [...]string{"submit", "cancel", "abandon", "remove", "get", "join", "give back", "shutdown", "shutdown now", "await"}[k]
}

// Event is one call, and its answer.
type Event struct {
	Kind     Kind
	By       int // whose log it is from
	Task     int // -1 for those of the pool
	From, To int64
	OK       bool
	Value    int
	Err      error
}

// World is what is known of a pool beforehand: what it may do, and what not.
type World struct {
	Seed      uint64
	Name      string
	Scheduled bool
	Hooked    bool // all hooks are set
	Orderly   bool // one worker at a time, and tasks in order
	Ranked    bool // by priority, not by arrival

	// What a policy that the pool may have had at some time may do.
	Discards   bool // drop tasks that were accepted, or seemed to be
	CallerRuns bool
	Counts     bool // counters may go back: a policy of the user's submits anew

	Retains bool // canceled tasks may stay in the queue
	Drops   bool // an orderly shutdown may drop what is not due and runs once
	Stops   bool // an orderly shutdown may end a series
}
