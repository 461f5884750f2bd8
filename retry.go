package executor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// Retry makes a task that fails run again, up to the given number of attempts in all, which
// must be at least 1. backoff returns the time until the attempt after the n-th, from 1;
// see [Backoff]. It must not be nil, and is called by a worker. If it returns a negative time, as one does that
// overflows, the task fails with an error that matches [ErrInvalid]. Retry is for what runs once:
// [Submit], [Pool.Go], [Keyed.Go], [Group.Go], [Map], [SubmitAfter], [ScheduledPool.GoAfter],
// [SubmitAt] and [ScheduledPool.GoAt], of which the first attempt is at its time. It does not apply to [NewTask]. The
// default is one attempt.
//
// All attempts are one task of the pool, admitted once, with one future. Between two attempts the task is Pending: it
// waits for the time of the next one, among the tasks that [Pool.Waiting] yields and Stats.Queued counts, and holds no
// worker. When the next attempt is due, the task gets in line like one that is submitted then, but is not rejected. In
// a pool made by [Single] no other task begins meanwhile, and in a [Keyed] none of its key takes its place, so that the
// order is kept.
//
// The task fails with the error of the last attempt. A failure is final if its error is marked by [Permanent] or if the
// task panicked. During the wait, the end of ctx, Cancel, and a shutdown of the pool, also by Shutdown, cancel the task
// at once. Except after Cancel, the error also matches that of the last attempt.
//
// Each attempt is a run in [TaskInfo], with a timeout of its own if there is a [Timeout]. In an Executor of another
// package the task holds its goroutine between two attempts. A [RejectPolicy] that calls Run of the task makes the only
// attempt.
func Retry(attempts int, backoff func(n int) time.Duration) Option {
	return func(o *options) {
		if attempts < 1 {
			o.reject("Retry: attempts is %d; it must be at least 1", attempts)
		}
		if backoff == nil {
			o.reject("Retry: nil backoff; use Backoff(first, most)")
		}
		o.retry = retryRule{attempts, backoff}
	}
}

// Backoff returns a function for [Retry]: first after the first attempt, twice as much
// after each further one, and not more than most, all shortened at random by up to a half.
// first must be positive, and most at least first; Backoff panics otherwise.
func Backoff(first, most time.Duration) func(n int) time.Duration {
	if first <= 0 || most < first {
		panic(invalid("Backoff(%v, %v): first must be positive, and most at least first", first, most).Error())
	}
	return func(n int) time.Duration {
		d := first
		for ; n > 1 && d < most; n-- {
			d = min(2*d, most)
			if d < 0 {
				d = most
			}
		}
		return d - rand.N(d/2+1)
	}
}

// retry is what a task with Retry has beside others. Its unit waits in the engine for the next
// attempt, as a series does for its next run.
//
//	attempt ─▶ conclude ─▶ again ── fails, and there is another ──▶ pending, due later
//	              └─ over ─▶ the task is done
type retry struct {
	oncePlan
	rule retryRule

	mu   sync.Mutex // a leaf
	n    int        // attempts that have ended
	last error      // of the latest; nil before the first
}

// attempts returns the number of attempts that have ended.
func (r *retry) attempts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

func (r *retry) number() int64 { return int64(r.attempts()) + 1 }

// hasRun reports whether an attempt has failed.
func (r *retry) hasRun() bool { return r.attempts() > 0 }

// conclude has a task that has failed wait in its pool for its next attempt, if there is one.
func (r *retry) conclude(t *task.Task, end ending, body dropper) (outcome, run ending, again bool) {
	outcome, again = r.judge(t, end)
	if again && t.Reset(body.drop) {
		outcome.how |= runsAgain
	}
	return outcome, outcome, again
}

// judge decides about an attempt that has ended, and sets the time of the next.
func (r *retry) judge(t *task.Task, end ending) (last ending, again bool) {
	r.mu.Lock()
	r.n++
	n := r.n
	r.last = end.err
	r.mu.Unlock()
	owner := t.Owner()
	switch mark := asPermanent(end.err); {
	case end.err == nil || end.is(wasStopped|wasAbrupt) || n >= r.rule.attempts || owner == nil:
		return end, false
	case mark != nil:
		if end.err == mark {
			end.err = mark.err
		}
		return end, false
	}
	var d time.Duration
	asked := guarded(t.Context(), func(ctx context.Context) error {
		if err := task.IfEnded(ctx); err != nil {
			return canceled(withLast(err, end.err))
		}
		var err error
		d, err = r.rule.wait(n)
		return err
	})
	switch {
	case asked.is(wasAbrupt) || d < 0: // backoff has panicked, or overflowed
		return ending{err: withLast(asked.err, end.err)}, false
	case asked.err != nil: // the context has ended during the attempt
		return ending{asked.err, wasStopped}, false
	}
	t.Move(max(delay.After(int64(time.Since(owner.Epoch())), int64(d)), 1), false)
	return end, true
}

// wait returns the time until the attempt after the n-th, or an error with a negative time: most often the user's
// function has overflowed, and attempts without a pause would be the opposite of what it is for.
func (r retryRule) wait(n int) (time.Duration, error) {
	d := r.backoff(n)
	if d < 0 {
		return d, invalid("Retry: backoff(%d) is %v; it must not be negative; bound it, as Backoff(first, most) does", n, d)
	}
	return d, nil
}

// withLast adds the error of the latest attempt, if there was one.
func (r *retry) withLast(err error) error {
	if err == nil {
		return nil
	}
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	if c, ok := err.(*CanceledError); ok && last != nil {
		return canceled(withLast(c.Cause, last))
	}
	return withLast(err, last)
}

// inPlace returns fn with its attempts, as the body of t in an Executor that is not of this package.
func inPlace[T any](
	t *task.Task, rule retryRule, fn func(context.Context) (T, error),
) func(context.Context) (T, error) {
	return func(ctx context.Context) (v T, err error) {
		for n := 1; ; n++ {
			v, err = fn(ctx)
			mark := asPermanent(err)
			if err == mark && mark != nil {
				return v, mark.err
			}
			if err == nil || mark != nil || n >= rule.attempts {
				return v, err
			}
			d, invalid := rule.wait(n)
			if invalid != nil {
				return v, withLast(invalid, err)
			}
			timer := time.NewTimer(d)
			select {
			case <-timer.C:
			case <-ctx.Done():
			case <-t.Done():
			}
			timer.Stop()
			if ended := task.IfEnded(ctx); ended != nil {
				return v, withLast(ended, err)
			}
			if t.State().Done() { // Abandon, Complete or Fail: the outcome is not asked for
				return v, err
			}
		}
	}
}

// lastError is the error of a task that was ended before another attempt.
type lastError struct{ err, last error }

func (e *lastError) Error() string {
	return fmt.Sprintf("%s; the last attempt: %s", task.Reason(e.err), task.Reason(e.last))
}

func (e *lastError) Unwrap() []error { return []error{e.err, task.NonNil(e.last)} }

// withLast returns err, with the error of the attempt before, if there was one.
func withLast(err, last error) error {
	if last == nil {
		return err
	}
	return &lastError{err, last}
}

// Permanent marks err as one that another attempt of [Retry] would not change. The future
// fails with err, without the mark. In a handler of package durable it makes the job dead at
// once. Elsewhere the mark has no effect. A nil err is nil. All marks match each other:
// errors.Is(err, Permanent(other)) reports whether err has one.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Is reports whether target is a mark, of whatever error.
func (e *permanentError) Is(target error) bool {
	_, ok := target.(*permanentError)
	return ok
}

// asPermanent returns the mark of err, nil if there is none.
func asPermanent(err error) *permanentError {
	switch err := err.(type) {
	case *permanentError:
		return err
	case interface{ Unwrap() error }, interface{ Unwrap() []error }, interface{ As(any) bool }:
		return wrappedPermanent(err)
	}
	return nil
}

// wrappedPermanent returns the mark in an error of a user's, whose methods may panic.
func wrappedPermanent(err any) (mark *permanentError) {
	defer func() {
		if recover() != nil {
			mark = nil
		}
	}()
	errors.As(err.(error), &mark)
	return mark
}
