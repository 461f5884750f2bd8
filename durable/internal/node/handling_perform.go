package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// handle handles a job that holder has, and that counts this attempt already, and calls done with what is to follow: in
// this goroutine, once, also if the handler, or what is around it, calls runtime.Goexit, by which handle does not return.
// Of a job whose store has to have another occurrence first, or that is to be given back, the outcome is nil, and the
// occurrence is the one that it is for. The error is that of the run, for the counters of a pool alone.
func (h *Handling) handle(ctx context.Context, done func(o *store.Outcome, occurrence time.Time)) (err error) {
	h.started = h.env.clock.Start()
	var o *store.Outcome
	var moved time.Time
	defer func() {
		if o == nil && moved.IsZero() { // a trigger panicked, or called runtime.Goexit
			err = executor.ErrGoexit
			if v := recover(); v != nil {
				err = &executor.PanicError{Value: v, Stack: debug.Stack()}
			}
			o = new(h.withoutNext(err))
		}
		if o != nil {
			h.output.Load().Close()
			if !o.Unrecorded && h.env.History > 0 {
				o.Output = h.packed()
			}
		}
		done(o, moved)
	}()
	o, moved, err = h.perform(ctx, func(e store.Outcome) { o = &e })
	return err
}

// perform is handle without what becomes of a panic of a trigger. If the handler, or what is around it, calls
// runtime.Goexit, perform does not return, and passes the outcome to exited: that of the handler, if that had returned.
func (h *Handling) perform(ctx context.Context, exited func(store.Outcome)) (o *store.Outcome, moved time.Time, err error) {
	if h.times, err = timetable.Parse(h.job.Schedule, h.env.Triggers); err != nil {
		return new(h.leave(err)), time.Time{}, nil
	}
	p, err := timetable.ParsePolicy(h.job.Missed)
	if err != nil {
		return new(h.leave(err)), time.Time{}, nil
	}
	if h.job.Periodic() && h.job.Attempt > h.job.Attempts { // the last was lost with its node, or there are fewer now
		o := h.ending(store.RunFailed, nil)
		o.Error, o.Run.Label, o.Unrecorded = h.job.Error, h.job.Label, true
		h.failed(h.job.Attempt-1, o)
		return new(h.follow(o)), time.Time{}, nil
	}
	cutShort := h.job.Suspect || h.job.Due.After(h.job.Occurrence) // it was begun before, and keeps its occurrence
	if h.job.Attempt <= 1 && !cutShort {
		t, ok, err := h.occurrence(ctx, p)
		switch {
		case err != nil:
			return new(h.unbegun(err)), time.Time{}, nil
		case !ok:
			h.job.Occurrence = t
			return new(h.follow(h.ending(store.RunSkipped, nil))), time.Time{}, nil
		case !t.Equal(h.job.Occurrence) && !h.decided:
			// What was decided stays so, or a schedule that is quicker than the
			// store would never run.
			return nil, t, nil
		}
	}
	h.job.Started = h.started.At.Truncate(time.Microsecond)
	switch err := h.holder.calling(ctx, h.started); {
	case errors.Is(err, errEarly):
		return new(h.early(err)), time.Time{}, nil
	case errors.Is(err, errNotKept):
		return nil, h.job.Occurrence, nil
	case err != nil:
		return new(h.unbegun(err)), time.Time{}, nil
	}
	if h.job.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, h.job.Timeout, executor.ErrTimeout)
		defer cancel()
	}
	h.before = sync.OnceValue(h.leftOutBefore)
	if p.SkipOverlap && h.times.Known() && !h.times.Delays() {
		h.during = sync.OnceValue(func() overlap { return h.leftOutDuring(ctx) })
	}
	var result []byte
	handled, returned := executor.ErrGoexit, false // what the handler returns, unless it does not
	defer func() {
		if !returned {
			exited(h.conclude(context.Cause(ctx), result, handled))
		}
	}()
	err = h.env.Around(context.WithValue(ctx, handlingKey{}, h), h.job, func(handlers context.Context) error {
		result, handled = h.call(handlers)
		return handled
	})
	returned = true
	o = new(h.conclude(context.Cause(ctx), result, err))
	if o.Run.Verdict == store.RunSucceeded || o.Run.Verdict == store.RunSnoozed {
		err = nil
	}
	return o, time.Time{}, err
}

// occurrence returns the occurrence that a first attempt is for. It reports false if there is none to run, see
// Timetable.Occurrence. To ask a trigger may take long: the error is the cause for which that was broken off.
func (h *Handling) occurrence(ctx context.Context, p timetable.Policy) (t time.Time, ok bool, err error) {
	w := h.env.cursors.take(h.job.ID)
	if p.Walks(h.times) {
		var stop func()
		ctx, stop = h.env.untilDrain(ctx)
		defer stop()
	}
	if t, ok, err = h.times.Occurrence(ctx, p, h.job.Anchor, h.job.Occurrence, h.started.At, &w); err != nil {
		return t, ok, err
	}
	h.env.cursors.keep(h.job.ID, w)
	return timetable.Ceil(t), ok, nil
}

// untilDrain returns a context that ends when the program begins to drain, too, with the cause ErrShutdown: for what
// comes before the call of a handler and may take long. stop ends it without that cause.
func (e *environment) untilDrain(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	after := context.AfterFunc(e.leaving, func() { cancel(context.Cause(e.leaving)) })
	return ctx, func() { after(); cancel(nil) }
}

// call calls the handler. A panic is an error.
func (h *Handling) call(ctx context.Context) (result []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, &executor.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	result, err = h.kind.Handle(ctx, h.job.Payload)
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
