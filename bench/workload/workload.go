// Package workload says, once, what is measured: each workload in words and in
// numbers. The program runs it from here, the Java program gets its numbers
// from here, and the documentation is generated from here.
package workload

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a way to work. A subject can do some kinds and not others.
type Kind string

// The kinds of work. The loops are in package drive and in Bench.java.
const (
	Execute        Kind = "execute"
	SubmitBatch    Kind = "submit-batch"
	SubmitPingpong Kind = "submit-pingpong"
	ScheduleZero   Kind = "schedule-zero"
	ScheduleRandom Kind = "schedule-random"
	ScheduleCancel Kind = "schedule-cancel"
	CancelRandom   Kind = "cancel-random"
	Pending        Kind = "pending"
	Fire           Kind = "fire"
	Lateness       Kind = "lateness"
	Idle           Kind = "idle"

	// With a database.
	DurableThroughput Kind = "durable-throughput"
	DurableLateness   Kind = "durable-lateness"
	DurableIdle       Kind = "durable-idle"
)

// Durable reports whether it is work with a database.
func (k Kind) Durable() bool {
	return k == DurableThroughput || k == DurableLateness || k == DurableIdle
}

// Params are the numbers of a workload. Those that mean nothing to a kind are
// zero.
type Params struct {
	Tasks      int           // tasks, pairs or operations to do
	Workers    int           // workers of a pool; timers of the runtime have none
	Submitters int           // goroutines or threads that submit
	Pending    int           // tasks that wait meanwhile
	Period     time.Duration // of periodic tasks
	Delay      time.Duration // from adding a job to when it is due
	Length     time.Duration // how long to watch
	Busy       bool          // all cores are saturated by work that is not the subject's
}

// Output is one number that comes out of a workload.
type Output struct {
	ID   string // as in the records: "execute/8"
	Key  string // as in the Result
	Unit string
}

// Workload is a line of the table.
type Workload struct {
	Name    string // names the run: that of the first output
	Kind    Kind
	Words   string // what is done, for the documentation
	Params  Params
	Quick   Params // the same, smaller; zero if it is left out then
	Outputs []Output
	Growth  bool // a point of a chart: run on few subjects
}

// Result is what one run of a workload gives. Java prints the same, as JSON.
type Result struct {
	Values map[string]float64 `json:"values"` // by Output.Key
	Ran    int64              `json:"ran"`    // tasks that ran, or were canceled, as counted by the tasks
	Want   int64              `json:"want"`   // tasks that should have
	Unfit  string             `json:"unfit"`  // why the numbers can't be used; "" if they can
}

// ErrUnfit says that a run went well but came too late for what it was to
// measure, as may happen on a busy machine.
var ErrUnfit = errors.New("unfit")

// Check reports an error if the run did not do all of its work.
func (r Result) Check() error {
	switch {
	case r.Unfit != "":
		return fmt.Errorf("%w: %s", ErrUnfit, r.Unfit)
	case r.Ran != r.Want:
		return fmt.Errorf("%d tasks were counted, %d were to be", r.Ran, r.Want)
	case len(r.Values) == 0:
		return fmt.Errorf("no values")
	}
	return nil
}

// Size gives the parameters to use, and false if the workload is left out.
func (w Workload) Size(quick bool) (Params, bool) {
	if quick {
		return w.Quick, w.Quick != Params{}
	}
	return w.Params, true
}
