package durable

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/timetable"
)

// current is what the context of a handler carries.
type current struct {
	*run
	started start // of the handler
}

type currentKey struct{}

// FencingToken returns the epoch of the run that ctx belongs to: of two runs of the same job the one begun later has
// the greater epoch. If a system outside remembers the greatest token it has seen for a job, and declines smaller ones,
// a node that lost its lease without noticing can't change it. FencingToken returns 0 if ctx is not a handler's.
func FencingToken(ctx context.Context) int64 {
	if c, ok := ctx.Value(currentKey{}).(current); ok {
		return c.job.Epoch
	}
	return 0
}

// Current returns the job that ctx belongs to, as it was when the run began; Occurrence and Attempt are those of the
// run. It reports false if ctx is not a handler's.
func Current(ctx context.Context) (Job, bool) {
	if c, ok := ctx.Value(currentKey{}).(current); ok {
		return c.job, true
	}
	return Job{}, false
}

// perform does the run and returns what is to follow. Or it does nothing and returns the occurrence that the run is
// for, if the store has to have that first. The error is that of the run. If the handler calls runtime.Goexit, perform
// does not return, and passes the outcome to exited.
func (r *run) perform(ctx context.Context, exited func(Outcome)) (o *Outcome, moved time.Time, err error) {
	started := r.n.clock.start()
	tt, err := timetable.Parse(r.job.Schedule, r.n.jobs.cfg.Triggers)
	if err != nil {
		return new(r.leave(started, err)), time.Time{}, nil
	}
	p, err := timetable.ParsePolicy(r.job.Missed)
	if err != nil {
		return new(r.leave(started, err)), time.Time{}, nil
	}
	if r.job.Periodic() && r.job.Attempt > r.job.Attempts { // the last was lost with its node, or there are fewer now
		o := r.ending(RunFailed, started, nil)
		o.Error, o.Run.Label, o.Unrecorded = r.job.Error, r.job.Label, true
		r.failed(r.job.Attempt-1, o)
		return new(r.follow(tt, o)), time.Time{}, nil
	}
	cutShort := r.job.Suspect || r.job.Due.After(r.job.Occurrence) // it was begun before, and keeps its occurrence
	if r.job.Attempt <= 1 && !cutShort {
		w := r.n.takeCursor(r.job.ID)
		ctx := ctx
		stop := func() {}
		if p.Walks(tt) {
			ctx, stop = r.n.untilDrain(ctx)
		}
		t, ok, err := tt.Occurrence(ctx, p, r.job.Anchor, r.job.Occurrence, started.at, &w)
		stop()
		if err != nil {
			return new(r.unbegun(ctx, tt, err, started)), time.Time{}, nil
		}
		r.n.keepCursor(r.job.ID, w)
		t = timetable.Ceil(t)
		switch {
		case !ok:
			r.job.Occurrence = t
			return new(r.follow(tt, r.ending(RunSkipped, started, nil))), time.Time{}, nil
		case !t.Equal(r.job.Occurrence) && !r.decided:
			// What was decided stays so, or a schedule that is quicker than the
			// store would never run.
			return nil, t, nil
		}
	}
	switch err := r.called(ctx, started); {
	case errors.Is(err, errEarly):
		return new(r.early(started, err)), time.Time{}, nil
	case err != nil:
		return new(r.unbegun(ctx, tt, err, started)), time.Time{}, nil
	}
	if r.job.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.job.Timeout, executor.ErrTimeout)
		defer cancel()
	}
	r.before = sync.OnceValue(func() LeftOut { return r.leftOutBefore(tt) })
	if p.SkipOverlap && tt.Known() && !tt.Delays() {
		r.during = sync.OnceValue(func() overlap { return r.leftOutDuring(ctx, tt, started) })
	}
	var result []byte
	err = r.n.jobs.around(context.WithValue(ctx, currentKey{}, current{r, started}), r.job,
		func(handlers context.Context) (err error) {
			result, err = r.call(handlers, func() { exited(r.conclude(ctx, tt, nil, executor.ErrGoexit, started)) })
			return err
		})
	o = new(r.conclude(ctx, tt, result, err, started))
	if o.Run.Verdict == RunSucceeded || o.Run.Verdict == RunSnoozed {
		err = nil
	}
	return o, time.Time{}, err
}

// call calls the handler. A panic is an error. After a Goexit, which nothing can stop, it calls exited.
func (r *run) call(ctx context.Context, exited func()) (result []byte, err error) {
	type answer struct {
		result []byte
		err    error
	}
	var a *answer
	func() {
		defer func() {
			if a != nil {
				return
			}
			v := recover()
			if v == nil {
				exited()
				return
			}
			a = &answer{err: &executor.PanicError{Value: v, Stack: debug.Stack()}}
		}()
		result, err := r.kind.handle(ctx, r.job.Payload)
		a = &answer{result, sound(err)}
	}()
	return a.result, a.err
}

// sound returns err or, if the methods of err panic, as those of a nil pointer do that was returned as an error, one
// that says so.
func sound(err error) (e error) {
	defer func() {
		if v := recover(); v != nil {
			e = fmt.Errorf("durable: the handler returned an error of type %T whose methods panic: %v", err, v)
		}
	}()
	if err != nil {
		_ = err.Error()
		errors.Is(err, permanent)
		errors.Is(err, executor.Stop)
	}
	return err
}

// leavePause is how long a job waits that was claimed by a node which can't read its schedule.
const leavePause = 5 * time.Second

// leave returns the outcome by which the job waits as if it had not been tried: this program can't read its schedule,
// as the trigger or the time zone is not known here, or its policy, which a newer program has made. Another node may be
// able to run it.
func (r *run) leave(started start, err error) Outcome {
	o := r.untried(RunFailed, started, err, leavePause)
	o.Unrecorded = true
	r.n.mu.Lock()
	logged := r.n.mu.unread[err.Error()]
	r.n.mu.unread[err.Error()] = true
	r.n.mu.Unlock()
	if !logged {
		r.n.jobs.logOf(&r.job).Error("durable: this program can't read the schedule of a job; left to other nodes", "error", err)
	}
	return o
}

// conclude returns what follows a run that returned.
func (r *run) conclude(ctx context.Context, tt timetable.Timetable, result []byte, err error, started start) Outcome {
	var panicked *executor.PanicError
	if errors.As(err, &panicked) {
		r.n.jobs.logOf(&r.job).Error("durable: handler panicked", "panic", err)
	}
	if errors.Is(err, executor.Stop) {
		o := r.ending(RunSucceeded, started, nil)
		o.State = Succeeded
		return o
	}
	if err == nil {
		o := r.ending(RunSucceeded, started, nil)
		o.Result = result
		return r.follow(tt, o)
	}
	r.n.mu.Lock()
	canceled := r.cancelWanted
	r.n.mu.Unlock()
	cause := context.Cause(ctx)
	var snooze *snoozeError
	switch {
	case canceled:
		o := r.ending(RunCanceled, started, err)
		o.State = Canceled
		return o
	case errors.As(err, &snooze):
		return r.untried(RunSnoozed, started, err, snooze.d)
	case errors.Is(cause, executor.ErrShutdown), errors.Is(cause, ErrLeaseLost):
		return r.cutShort(started, err)
	case errors.Is(err, permanent), r.job.Attempt >= r.job.Attempts:
		o := r.ending(RunFailed, started, err)
		r.failed(r.job.Attempt, o)
		if !r.job.Periodic() || !tt.Known() {
			o.State = Dead
			return o
		}
		return r.follow(tt, o)
	}
	o := r.ending(RunFailed, started, err)
	o.Due = timetable.Ceil(r.present(started.at).Add(r.kind.backoff(r.job.Attempt)))
	return o
}

// ending returns an outcome by which the same occurrence waits.
func (r *run) ending(v Verdict, started start, err error) Outcome {
	o := Outcome{Ref: r.ref(), State: Waiting, Due: r.job.Due, Occurrence: r.job.Occurrence, Attempt: r.job.Attempt}
	if err != nil {
		o.Error = clean(err.Error())
	}
	o.Run = Run{Occurrence: r.job.Occurrence, Attempt: r.job.Attempt, Started: started.at, Finished: started.now(),
		Verdict: v, Error: o.Error}
	if label := r.label.Load(); label != nil {
		o.Run.Label = *label
	}
	return o
}

// present returns the time of the store, or that at which the run began if the clock was put back before it since.
func (r *run) present(started time.Time) time.Time { return timetable.Later(r.n.clock.now(), started) }

// untried returns an outcome by which the same occurrence waits for that long, and which counts no attempt.
func (r *run) untried(v Verdict, started start, err error, wait time.Duration) Outcome {
	o := r.ending(v, started, err)
	o.Attempt, o.Due = r.job.Attempt-1, timetable.Ceil(r.present(started.at).Add(wait))
	return o
}

// cutShort returns the outcome of a run that was cut short by this node, not by the job: as if it had not been tried.
func (r *run) cutShort(started start, err error) Outcome {
	o := r.untried(RunFailed, started, err, 0)
	o.Unrecorded = true
	return o
}

// early returns the outcome of a run whose time is yet to come: as Release, it leaves to be decided anew what the job
// makes up for.
func (r *run) early(started start, err error) Outcome {
	o := r.cutShort(started, err)
	if o.Due = timetable.Later(r.job.Due, r.job.Occurrence); r.job.Periodic() {
		o.Due = r.job.Due
		if o.Due.Before(o.Occurrence) {
			o.Occurrence = o.Due
		}
	}
	return o
}

// unbegun returns the outcome of a run that ended with ctx before its handler was called. What was cut short stays due
// as it was, since what was missed before it is not reported yet.
func (r *run) unbegun(ctx context.Context, tt timetable.Timetable, err error, started start) Outcome {
	o := r.conclude(ctx, tt, nil, err, started)
	if o.Unrecorded {
		o.Due = r.job.Due
	}
	return o
}

// failed logs that an occurrence, or a job that has but one, has no attempt left.
func (r *run) failed(attempt int, o Outcome) {
	if r.completed.Load() { // whether that was committed, the database will say
		r.n.jobs.logOf(&r.job).Warn("durable: a handler failed in its last attempt after CompleteTx: unless that was committed, the job has failed for good",
			"attempt", attempt, "error", o.Error)
		return
	}
	r.n.jobs.logOf(&r.job).Error("durable: a job failed for good", "attempt", attempt, "error", o.Error)
}

// follow makes the job wait for its next occurrence, or ends it if its schedule has none.
func (r *run) follow(tt timetable.Timetable, o Outcome) Outcome {
	var next time.Time
	r.last = new(o)
	if r.during != nil {
		next = r.during().next
	} else {
		next = tt.Next(r.job.Anchor, r.job.Occurrence, r.present(o.Run.Started))
	}
	if next.IsZero() {
		o.State, o.Due = Succeeded, time.Time{}
		return o
	}
	next = timetable.Ceil(next)
	if err := tt.NotLater(r.job.Occurrence, next); err != nil {
		return r.ended(o, err)
	}
	o.Due, o.Occurrence, o.Attempt = next, next, 0
	return o
}

// withoutNext returns the outcome of a run of which a trigger has panicked, or called runtime.Goexit. If that was after
// the handler, what came of the run stays as it is, and is not tried again. The job is dead, as its next time is not
// known, with the trigger's error.
func (r *run) withoutNext(ctx context.Context, err error) Outcome {
	if r.last == nil {
		return r.conclude(ctx, timetable.Timetable{}, nil, err, r.n.clock.start())
	}
	return r.ended(*r.last, err)
}

// ended returns the outcome of a run by which its schedule ends, since the trigger has no next time for this reason.
func (r *run) ended(o Outcome, err error) Outcome {
	o.State, o.Error = Dead, clean("durable: the trigger of the schedule "+r.job.Schedule+" failed: "+err.Error())
	r.n.jobs.logOf(&r.job).Error("durable: a trigger failed; the job is dead, since its next time is not known", "error", err)
	return o
}

// clean makes the text of an error fit for any database.
func clean(text string) string {
	if len(text) > maxError {
		text = text[:maxError] + "..."
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}
