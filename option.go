package executor

import (
	"time"

	"github.com/executor-go/executor/internal/rhythm"
)

// Option changes one property of a single task. An option out of its range, or
// given to a task that it can't apply to, makes the submission fail with an
// error that matches [ErrInvalid].
type Option func(*options)

// options are the evaluated options of a task.
type options struct {
	name     string
	timeout  time.Duration
	priority int64
	jitter   time.Duration // of a task that runs once; that of a series is in its rules
	series   seriesRules
	mode     mode // of a series, at first
	retry    retryRule

	needs taskKind // the least kind of task for which all the options make sense
	owner string   // the option that needs it
	err   error    // the first mistake
}

// taskKind orders the kinds of tasks by the options that apply to them.
type taskKind uint8

const (
	oneRun   taskKind = iota // runs once, as soon as it can
	delayed                  // runs once, when due
	periodic                 // runs again and again
)

func (o *options) need(k taskKind, option string) {
	if k > o.needs {
		o.needs, o.owner = k, option
	}
}

func (o *options) reject(format string, args ...any) {
	if o.err == nil {
		o.err = invalid(format, args...)
	}
}

// Named names a task: in hooks, logs, execution traces, an Observer and Dropped, and as the
// pprof label "task". The default is "".
func Named(name string) Option {
	return func(o *options) { o.name = name }
}

// Timeout bounds each run of the task's body: after d, which must be positive,
// the body's context ends with the error [context.DeadlineExceeded] and a
// cause that matches [ErrTimeout]. The outcome stays the body's; if it is the error of
// the context, it matches ErrTimeout too. The default is no bound.
func Timeout(d time.Duration) Option {
	return func(o *options) {
		if d <= 0 {
			o.reject("Timeout(%v): must be positive; leave the option out for no timeout", d)
		}
		o.timeout = d
	}
}

// Priority lets the task overtake tasks with a larger n in a pool whose queue is
// [Prioritized]; elsewhere it has no effect. The default is 0. It applies to tasks that
// wait, not to tasks that a worker takes directly.
func Priority(n int) Option {
	return func(o *options) { o.priority = int64(n) }
}

// Jitter delays each run by a random time below d, which must be positive, so that tasks of many processes do not run
// at the same instant. Jitter does not shift the grid of a fixed rate, so d should be less than the period: if a run is
// delayed past the time of the next run, the next run follows without a pause. No run is delayed past [Until]. The
// default is none.
func Jitter(d time.Duration) Option {
	return func(o *options) {
		o.need(delayed, "Jitter")
		if d <= 0 {
			o.reject("Jitter(%v): must be positive; leave the option out for none", d)
		}
		o.jitter, o.series.jitter = d, d
	}
}

// Times ends periodic work, as succeeded, after n runs, n being at least 1. The
// default is no limit.
func Times(n int) Option {
	return func(o *options) {
		o.need(periodic, "Times")
		if n < 1 {
			o.reject("Times(%d): must be at least 1; leave the option out for no limit", n)
		}
		o.series.times = int64(n)
	}
}

// Until ends periodic work, as succeeded, after the last run that is due by t, which must not be zero: that run may
// begin later, if it waits for others. [CatchUp] decides which of the times that were missed by then have a run. It is
// an error if no run is due by t. The default is no end.
func Until(t time.Time) Option {
	return func(o *options) {
		o.need(periodic, "Until")
		if t.IsZero() {
			o.reject("Until: zero time; leave the option out for no end")
		}
		o.series.until = t
	}
}

// CatchUp makes up for missed runs of a fixed rate or a trigger. A run is missed if its time passes while another run
// is in progress. The latest n missed runs are made up for, one after the other; n is at least 0. The others are left
// out. CatchUp(0) skips all, and goes on with the next run on the grid; CatchUp(1) makes one run in place of all;
// CatchUp([math.MaxInt]) makes all. By default a fixed rate makes up for all missed runs, as in the JDK, and a trigger
// for none. Every due time has a run or is left out, and both are counted, see [ScheduleInfo]. A series that a run
// ends, by Times, [ErrStop] or a panic, has no time after that of the run.
//
// A trigger is asked for the missed times one by one. If 100,000 of them would be left out at once, one run takes the
// place of all of them. An n of 100,000 or more means all.
func CatchUp(n int) Option {
	return func(o *options) {
		o.need(periodic, "CatchUp")
		if n < 0 {
			o.reject("CatchUp(%d): must not be negative; 0 skips all missed runs", n)
		}
		o.series.CatchUp = rhythm.Latest(n)
	}
}

// Overlap lets up to n runs of a series overlap; n is at least 1. A run that is due begins even if the run before it is
// still in progress. A time that comes while n runs are in progress is missed; see [CatchUp]. Each run then is a task
// of its own in [Stats], which is canceled if the series ends while the run waits for a worker. Overlap does not apply
// to a fixed delay, which counts from the end of a run. The default is 1: no two runs overlap.
func Overlap(n int) Option {
	return func(o *options) {
		o.need(periodic, "Overlap")
		if n < 1 {
			o.reject("Overlap(%d): must be at least 1, which lets no two runs overlap", n)
		}
		o.series.overlap = n
	}
}

// StartWithin leaves out a run of a series that can't begin within d, which must be positive, after it is due: because
// the workers are busy, the machine was suspended or, with [CatchUp], the run before took too long. The series goes on
// with the next run. By default a run may begin however late it is.
func StartWithin(d time.Duration) Option {
	return func(o *options) {
		o.need(periodic, "StartWithin")
		if d <= 0 {
			o.reject("StartWithin(%v): must be positive; leave the option out for no bound", d)
		}
		o.series.Window = d
	}
}

// StartPaused makes a series that does not run before [Series.Resume]. Its due times count from the start nevertheless.
func StartPaused() Option {
	return func(o *options) {
		o.need(periodic, "StartPaused")
		o.mode = paused
	}
}

// ContinueAfterPanic makes a series go on after a run that panicked, or called
// [runtime.Goexit]: the run counts as failed, and is reported as always. The default is that
// the series ends, as failed.
func ContinueAfterPanic() Option {
	return func(o *options) {
		o.need(periodic, "ContinueAfterPanic")
		o.series.onPanic = panicCounts
	}
}

// seriesRules are what the options of a series say. They do not change.
type seriesRules struct {
	rhythm.Tardiness
	jitter  time.Duration
	overlap int       // most runs at the same time; 0 or 1 for no two
	times   int64     // most runs, 0 for any number
	until   time.Time // no run is due after it; zero for none
	onPanic onPanic
}

// onPanic is the effect of a panic on a series.
type onPanic uint8

const (
	panicEnds onPanic = iota
	panicCounts
)

// mode says whether a series has runs of itself.
//
//	active ⇄ paused   Pause, Resume
type mode uint8

const (
	active mode = iota
	paused
)

// check returns an error if a rule has no effect with the rhythm r. where names the call.
func (u seriesRules) check(where string, r rhythm.Rhythm) error {
	switch {
	case r.Kind != rhythm.FixedDelay:
	case u.CatchUp.Given():
		return invalid("%s: CatchUp has no effect on a fixed delay, which misses no time; leave it out", where)
	case u.overlap > 1:
		return invalid("%s: Overlap has no effect on a fixed delay, which counts from the end of a run; leave it out", where)
	}
	return nil
}

// retryRule is the option Retry; zero without it.
type retryRule struct {
	attempts int
	backoff  func(int) time.Duration
}
