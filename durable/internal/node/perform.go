package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/internal/text"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// perform does the run and returns what is to follow. Or it does nothing and returns the occurrence that the run is
// for, if the store has to have that first, or the run is to be given back: see postpone. The error is that of the run.
// If the handler, or what is around it, calls runtime.Goexit, perform does not return, and passes the outcome to exited:
// that of the handler, if that had returned.
func (r *run) perform(ctx context.Context, exited func(store.Outcome)) (o *store.Outcome, moved time.Time, err error) {
	started := r.n.clock.Start()
	tt, err := timetable.Parse(r.job.Schedule, r.n.cfg.Triggers)
	if err != nil {
		return new(r.leave(started, err)), time.Time{}, nil
	}
	r.times = tt
	p, err := timetable.ParsePolicy(r.job.Missed)
	if err != nil {
		return new(r.leave(started, err)), time.Time{}, nil
	}
	if r.job.Periodic() && r.job.Attempt > r.job.Attempts { // the last was lost with its node, or there are fewer now
		o := r.ending(store.RunFailed, started, nil)
		o.Error, o.Run.Label, o.Unrecorded = r.job.Error, r.job.Label, true
		r.failed(r.job.Attempt-1, o)
		return new(r.follow(tt, o)), time.Time{}, nil
	}
	cutShort := r.job.Suspect || r.job.Due.After(r.job.Occurrence) // it was begun before, and keeps its occurrence
	if r.job.Attempt <= 1 && !cutShort {
		w := r.n.cursors.take(r.job.ID)
		ctx := ctx
		stop := func() {}
		if p.Walks(tt) {
			ctx, stop = r.n.untilDrain(ctx)
		}
		t, ok, err := tt.Occurrence(ctx, p, r.job.Anchor, r.job.Occurrence, started.At, &w)
		stop()
		if err != nil {
			return new(r.unbegun(ctx, tt, err, started)), time.Time{}, nil
		}
		r.n.cursors.keep(r.job.ID, w)
		t = timetable.Ceil(t)
		switch {
		case !ok:
			r.job.Occurrence = t
			return new(r.follow(tt, r.ending(store.RunSkipped, started, nil))), time.Time{}, nil
		case !t.Equal(r.job.Occurrence) && !r.decided:
			// What was decided stays so, or a schedule that is quicker than the
			// store would never run.
			return nil, t, nil
		}
	}
	switch err := r.called(ctx, started); {
	case errors.Is(err, errEarly):
		return new(r.early(started, err)), time.Time{}, nil
	case errors.Is(err, errNotKept):
		return nil, r.job.Occurrence, nil
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
	handled, returned := executor.ErrGoexit, false // what the handler returns, unless it does not
	defer func() {
		if !returned {
			exited(r.conclude(ctx, tt, result, handled, started))
		}
	}()
	err = r.n.cfg.Around(context.WithValue(ctx, handlingKey{}, Handling{r, started}), r.job,
		func(handlers context.Context) error {
			result, handled = r.call(handlers)
			return handled
		})
	returned = true
	o = new(r.conclude(ctx, tt, result, err, started))
	if o.Run.Verdict == store.RunSucceeded || o.Run.Verdict == store.RunSnoozed {
		err = nil
	}
	return o, time.Time{}, err
}

// call calls the handler. A panic is an error.
func (r *run) call(ctx context.Context) (result []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, &executor.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	result, err = r.kind.Handle(ctx, r.job.Payload)
	return result, Sound(err)
}

// Sound returns err or, if the methods of err panic, as those of a nil pointer do that was returned as an error, one
// that says so.
func Sound(err error) (e error) {
	defer func() {
		if v := recover(); v != nil {
			e = fmt.Errorf("durable: the handler returned an error of type %T whose methods panic: %v", err, v)
		}
	}()
	if err != nil {
		_ = err.Error()
		errors.Is(err, permanent)
		errors.Is(err, executor.ErrStop)
	}
	return err
}

// leavePause is how long a job waits that was claimed by a node which can't read its schedule.
const leavePause = 5 * time.Second

// leave returns the outcome by which the job waits as if it had not been tried: this program can't read its schedule,
// as the trigger or the time zone is not known here, or its policy, which a newer program has made. Another node may be
// able to run it.
func (r *run) leave(started storeclock.Start, err error) store.Outcome {
	o := r.untried(store.RunFailed, started, err, leavePause)
	o.Unrecorded = true
	if _, logged := r.n.unread.LoadOrStore([2]string{r.job.Schedule, r.job.Missed}, true); !logged {
		r.n.logOf(&r.job).Error("durable: this program can't read the schedule of a job; the job is left to other nodes", "error", err)
	}
	return o
}

// conclude returns what follows a run that returned.
func (r *run) conclude(ctx context.Context, tt timetable.Timetable, result []byte, err error, started storeclock.Start) store.Outcome {
	var panicked *executor.PanicError
	if errors.As(err, &panicked) {
		r.n.logOf(&r.job).Error("durable: handler panicked", "panic", err)
	}
	if errors.Is(err, executor.ErrStop) {
		o := r.ending(store.RunSucceeded, started, nil)
		o.State = store.Succeeded
		return o
	}
	if err == nil {
		o := r.ending(store.RunSucceeded, started, nil)
		o.Result = result
		return r.follow(tt, o)
	}
	cause := context.Cause(ctx)
	var snooze *snoozeError
	switch {
	case r.n.ledger.canceled(r):
		o := r.ending(store.RunCanceled, started, err)
		o.State, o.Due = store.Canceled, time.Time{} // unless a schedule was registered again, nothing follows
		return o
	case errors.As(err, &snooze):
		o := r.untried(store.RunSnoozed, started, err, snooze.d)
		o.Unrecorded = snooze.unnoted
		if o.Signals = r.steps.signals(); !snooze.until.IsZero() {
			o.Due = again(o.Occurrence, snooze.until)
		}
		return o
	case (errors.Is(cause, executor.ErrShutdown) || errors.Is(cause, ErrLeaseLost)) && !decided(err, cause):
		return r.cutShort(started, err)
	case errors.Is(err, permanent), r.job.Attempt >= r.job.Attempts:
		o := r.ending(store.RunFailed, started, err)
		r.failed(r.job.Attempt, o)
		if !r.job.Periodic() || !tt.Known() {
			o.State = store.Dead
			return o
		}
		return r.follow(tt, o)
	}
	o := r.ending(store.RunFailed, started, err)
	wait := r.backoff()
	var later *retryError
	if errors.As(err, &later) {
		wait = max(wait, later.d)
	}
	o.Due = timetable.Ceil(r.n.clock.Now().Add(wait))
	return o
}

// decided reports whether a handler whose context has ended says that the job has failed for good all the same: by a
// permanent error that is not that of its context.
func decided(err, cause error) bool {
	return errors.Is(err, permanent) && !errors.Is(err, cause) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// ending returns an outcome by which the same occurrence waits.
func (r *run) ending(v store.Verdict, started storeclock.Start, err error) store.Outcome {
	o := store.Outcome{Ref: r.ref(), State: store.Waiting, Due: r.job.Due, Occurrence: r.job.Occurrence, Attempt: r.job.Attempt}
	if err != nil {
		o.Error = text.Error(err.Error())
	}
	o.Run = store.Run{Occurrence: r.job.Occurrence, Attempt: r.job.Attempt, Started: started.At, Finished: started.Now(),
		Verdict: v, Error: o.Error}
	if label := r.label.Load(); label != nil {
		o.Run.Label = *label
	}
	return o
}

// untried returns an outcome by which the same occurrence waits for that long, and which counts no attempt.
func (r *run) untried(v store.Verdict, started storeclock.Start, err error, wait time.Duration) store.Outcome {
	o := r.ending(v, started, err)
	if step, now := r.setBack(o.Run.Finished); r.job.Periodic() && r.times.Repeats(step) && o.Occurrence.After(now) {
		o.Occurrence = timetable.Ceil(now)
	}
	o.Attempt, o.Due = r.job.Attempt-1, again(o.Occurrence, r.n.clock.Now().Add(wait))
	return o
}

// again returns the time at which an occurrence is due again for which t was asked. It is later than the occurrence, by
// which the next run knows that it was begun, and keeps it.
func again(occurrence, t time.Time) time.Time {
	return timetable.Later(timetable.Ceil(t), occurrence.Add(time.Microsecond))
}

// cutShort returns the outcome of a run that was cut short by this node, not by the job: as if it had not been tried.
func (r *run) cutShort(started storeclock.Start, err error) store.Outcome {
	o := r.untried(store.RunFailed, started, err, 0)
	o.Unrecorded = true
	return o
}

// early returns the outcome of a run whose time is yet to come: as Release, it leaves to be decided anew what the job
// makes up for.
func (r *run) early(started storeclock.Start, err error) store.Outcome {
	o := r.cutShort(started, err)
	o.Occurrence = r.job.Occurrence
	if o.Due = timetable.Later(r.job.Due, r.job.Occurrence); r.job.Periodic() {
		o.Due = r.goOn(r.times, r.job.Due, o.Run.Finished)
		if o.Due.Before(o.Occurrence) {
			o.Occurrence = o.Due
		}
	}
	return o
}

// unbegun returns the outcome of a run that ended with ctx before its handler was called. What was cut short stays due
// as it was, since what was missed before it is not reported yet.
func (r *run) unbegun(ctx context.Context, tt timetable.Timetable, err error, started storeclock.Start) store.Outcome {
	o := r.conclude(ctx, tt, nil, err, started)
	if o.Unrecorded {
		o.Due = r.goOn(tt, r.job.Due, o.Run.Finished)
	}
	return o
}

// failed says that an occurrence, or a job that has but one, has no attempt left.
func (r *run) failed(attempt int, o store.Outcome) {
	if r.completed.Load() != nil { // whether that was committed, the database will say
		r.n.logOf(&r.job).Warn("durable: a handler failed in its last attempt after CompleteTx: unless that was committed, the job has failed for good",
			"attempt", attempt, "error", o.Error)
		return
	}
	if hook := r.n.cfg.Failed; hook != nil {
		hook(r.job, o.Run)
		return
	}
	r.n.logOf(&r.job).Error("durable: a job failed for good", "attempt", attempt, "error", o.Error)
}

// follow makes the job wait for its next occurrence, or ends it if its schedule has none.
func (r *run) follow(tt timetable.Timetable, o store.Outcome) store.Outcome {
	var next time.Time
	var err error
	r.last = new(o)
	if r.during != nil {
		during := r.during()
		next, err = during.next, during.err
	} else {
		next = tt.Next(r.job.Anchor, r.job.Occurrence, r.n.clock.Now())
		err = tt.NotLater(r.job.Occurrence, next)
	}
	if err == nil {
		next = r.goOn(tt, next, o.Run.Finished)
	}
	switch {
	case err != nil:
		return r.ended(o, err)
	case next.IsZero():
		o.State, o.Due = store.Succeeded, time.Time{}
		return o
	}
	next = timetable.Ceil(next)
	r.moveAnchor(tt, next)
	o.Due, o.Occurrence, o.Attempt = next, next, 0
	return o
}

// withoutNext returns the outcome of a run of which a trigger has panicked, or called runtime.Goexit. If that was after
// the handler, what came of the run stays as it is, and is not tried again. The job is dead, as its next time is not
// known, with the trigger's error. Before the handler it is no attempt: the job keeps its occurrence, and waits a little.
func (r *run) withoutNext(err error) store.Outcome {
	if r.last == nil {
		return r.leave(r.n.clock.Start(), triggerFailed(r.job.Schedule, err))
	}
	return r.ended(*r.last, err)
}

// ended returns the outcome of a run by which its schedule ends, since the trigger has no next time for this reason.
func (r *run) ended(o store.Outcome, err error) store.Outcome {
	o.State, o.Error = store.Dead, text.Error(triggerFailed(r.job.Schedule, err).Error())
	r.n.logOf(&r.job).Error("durable: a trigger failed; the job is dead, since its next time is not known", "error", err)
	return o
}

func triggerFailed(schedule string, err error) error {
	return fmt.Errorf("durable: the trigger of the schedule %s failed: %w", schedule, err)
}
