// Package workload defines what is measured: each workload in words and in numbers.
// The Go program, the arguments of the Java program and the documentation are all
// derived from these definitions.
package workload

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a kind of work. A subject supports some kinds and not others.
type Kind string

// The kinds of work. Their loops are in package drive and in Bench.java.
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

	// What programs do many times a day.
	FanOut        Kind = "fan-out"
	Map           Kind = "map"
	Share         Kind = "share"
	Keyed         Kind = "keyed"
	Retry         Kind = "retry"
	SubmitContext Kind = "submit-context"
	StartEnd      Kind = "start-end"
	Wait          Kind = "wait"

	// With an Observer, which only ours have.
	Observed Kind = "observed"

	// With a database.
	DurableThroughput Kind = "durable-throughput"
	DurableAdd        Kind = "durable-add"
	DurableLateness   Kind = "durable-lateness"
	DurableIdle       Kind = "durable-idle"
	DurablePeriodic   Kind = "durable-periodic"
	DurableGrowth     Kind = "durable-growth"
	DurableSteps      Kind = "durable-steps"
)

// Durable reports whether k is work with a database.
func (k Kind) Durable() bool {
	switch k {
	case DurableThroughput, DurableAdd, DurableLateness, DurableIdle, DurablePeriodic, DurableGrowth, DurableSteps:
		return true
	}
	return false
}

// Periodic reports whether k is the lateness of periodic tasks.
func (k Kind) Periodic() bool { return k == Lateness || k == DurablePeriodic }

// Params are the numbers of a workload. Those that its kind does not use are zero.
type Params struct {
	Tasks      int           // tasks, pairs or operations
	Workers    int           // workers of the pool; timers of the runtime have none
	Submitters int           // goroutines or threads that submit
	Group      int           // tasks of a group, calls in flight, or tasks that run at a time
	Pending    int           // tasks that are scheduled before the measurement, jobs that are in the database, or keys
	Period     time.Duration // of periodic tasks
	Delay      time.Duration // from adding a job to its due time, or before another attempt
	Takes      time.Duration // of a task; 0 for a tiny one
	Length     time.Duration // of the measurement
	Busy       bool          // other goroutines or threads saturate all cores
}

// Output is one value that a workload measures.
type Output struct {
	ID   string // in records: "execute/8"
	Key  string // in Result.Values
	Unit string
}

// Workload is one thing to measure.
type Workload struct {
	Name        string // the ID of the first output
	Kind        Kind
	Description string // for the documentation
	Params      Params
	Quick       Params // smaller numbers; zero if a quick run omits the workload
	Outputs     []Output
	Growth      bool // a point of a chart, for few subjects
}

// Result is the result of one run of a workload. The Java program prints it as JSON.
type Result struct {
	Values map[string]float64 `json:"values"` // by Output.Key
	Ran    int64              `json:"ran"`    // number of tasks that ran, or were canceled
	Want   int64              `json:"want"`   // number of tasks that should have
	Unfit  string             `json:"unfit"`  // why the values are not usable; "" if they are
}

// ErrUnfit is the error of a run that was correct but too slow for the measurement, as
// may happen on a busy machine.
var ErrUnfit = errors.New("unfit")

// Check returns an error if the run did not do all of its work.
func (r Result) Check() error {
	switch {
	case r.Unfit != "":
		return fmt.Errorf("%w: %s", ErrUnfit, r.Unfit)
	case r.Ran != r.Want:
		return fmt.Errorf("%d tasks were counted, want %d", r.Ran, r.Want)
	case len(r.Values) == 0:
		return fmt.Errorf("no values")
	}
	return nil
}

// Size returns the parameters to use. It reports false if the run omits the workload.
func (w Workload) Size(quick bool) (Params, bool) {
	if quick {
		return w.Quick, w.Quick != Params{}
	}
	return w.Params, true
}
