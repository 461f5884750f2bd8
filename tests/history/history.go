// Package history runs executors in real time with many concurrent goroutines, records what
// each of them observes, and checks afterwards whether a correct executor can be observed like
// that.
//
// A seed determines a [World], which is a kind of pool, and the actions of the goroutines that
// submit, cancel, wait, change settings and shut the pool down. Record runs them and returns
// the [History]. Judge checks it. Judge knows nothing but the record, so that it can be tested
// with incorrect histories.
//
// Every goroutine writes to a log of its own, and a body to that of its task. The recording uses
// no lock and no atomic, which would order what the executor must order, and hide its races.
// So under the race detector these plain writes also prove the order that the executor promises:
// from submission to run, from run to next run, from run to Get, and from all runs to the return
// of AwaitTermination.
package history

import "github.com/executor-go/executor"

// History is the record of one pool, merged after its termination. Times are nanoseconds on
// the monotonic clock since the start of the history.
type History struct {
	World
	Tasks  []*Task
	Events []Event

	Samples    [][]executor.Stats // one list for each observer, in order
	Final      executor.Stats     // of the terminated pool
	Terminated []int64            // times of the calls of Hooks.Terminated
	Order      []int              // the IDs of the tasks in the order of their runs, if the world has OneWorker
}

// Form is how a task is submitted.
type Form uint8

const (
	Plain      Form = iota // Execute of a Runnable
	GoFunc                 // Go of a function
	NewTask                // Execute of a NewTask
	Schedule               // Schedule
	At                     // At
	FixedRate              // AtFixedRate
	FixedDelay             // WithFixedDelay
	Trigger                // On
)

func (f Form) String() string {
	return [...]string{"plain", "go", "future", "schedule", "at", "rate", "delay", "trigger"}[f]
}

// Series reports whether the task runs repeatedly.
func (f Form) Series() bool { return f >= FixedRate }

// Wall reports whether the due times of the task are on the wall clock.
func (f Form) Wall() bool { return f == At || f == Trigger }

// Timed reports whether the task has due times.
func (f Form) Timed() bool { return f >= Schedule }

// Future reports whether the task has a future.
func (f Form) Future() bool { return f >= NewTask }

// Ending is how a body ends. In a series it is how the last run ends.
type Ending uint8

const (
	Returns Ending = iota
	Fails          // returns errBody
	Panics         // panics
	Exits          // calls runtime.Goexit
	Stops          // returns executor.ErrStop
)

func (w Ending) String() string {
	return [...]string{"returns", "fails", "panics", "exits", "stops"}[w]
}

// Task is a task: its plan and its record.
type Task struct {
	ID          int
	Form        Form
	Ending      Ending
	ContextEnds bool  // the context of the submission ends at some time
	Delay       int64 // the initial delay, or 0
	Date        int64 // of At: the due time, in Unix nanoseconds
	Period      int64 // period or delay of a series, or grid of a trigger
	MaxRuns     int64 // limit on the runs of a series
	CatchUp0    bool  // option CatchUp(0)

	Runs []Run // written by the body, in order

	// Of a task with a future, after the termination.
	State   executor.State
	Outcome error
	Value   int
}

// Run is one run of a body.
type Run struct {
	Begin, End   int64
	Wall         int64 // wall clock at Begin, in Unix nanoseconds
	Due          int64 // in Unix nanoseconds if Form.Wall reports true, else since the start of the history
	Number       int64 // as in the hook
	EndedAtStart bool  // the context had ended at the start, if the body checked
	CheckedAt    int64 // time of the last check of the context
	EndedAtCheck bool  // the context had ended at CheckedAt
	EarlierRuns  int   // number of earlier runs that this run could see
	Ending       Ending

	Hooked       bool  // BeforeTask was called
	Before       int64 // time of BeforeTask
	After        int64 // time of AfterTask; 0 if it was not called
	AfterMatches bool  // AfterTask got the outcome of the body
}

// Kind is the kind of an event.
type Kind uint8

const (
	Submit      Kind = iota // Execute, Go, Schedule, ..., which returned Err
	Cancel                  // returned OK
	Abandon                 // returned OK
	Remove                  // returned OK
	Get                     // returned Value and Err
	Join                    // returned Err
	Returned                // ShutdownNow returned the task
	Shutdown                // the call
	ShutdownNow             // the call
	Await                   // AwaitTermination returned Err
)

func (k Kind) String() string {
	return [...]string{
		"submit", "cancel", "abandon", "remove", "get", "join", "returned", "shutdown", "shutdown now", "await",
	}[k]
}

// Event is a call, and what it returned.
type Event struct {
	Kind     Kind
	By       int // the number of the log
	Task     int // -1 for events of the pool
	From, To int64
	OK       bool
	Value    int
	Err      error
}

// World is what a pool may and may not do, according to its configuration.
type World struct {
	Seed        uint64
	Name        string
	Scheduled   bool
	Hooked      bool // all hooks are set
	OneWorker   bool // runs one task at a time, in order
	Prioritized bool // in order of priority, not of arrival

	// What the policies of the pool may do.
	Discards   bool // discard accepted tasks
	CallerRuns bool
	Resubmits  bool // counters may decrease, because a policy submits tasks again

	Drops bool // Shutdown may drop delayed tasks
	Stops bool // Shutdown may end a series
}
