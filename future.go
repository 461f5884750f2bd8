package executor

import (
	"context"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// A Future is the outcome of one task, for any number of waiters, and the
// handle by which the task is canceled. It always resolves, and once: with the
// body's value or error, with a [*PanicError], [ErrGoexit], a [*CanceledError]
// or a [*RejectedError].
//
// Futures are returned by [Submit] and the functions like it. [NewFuture] makes one for
// any Executor, or for its maker to run; [NewPromise] makes one that is completed
// by hand. All methods may be called by any goroutine. A Future releases its body once
// that will not run again. It retains the context that it was submitted with. The zero
// Future is not usable.
//
// What happened in the body before it returned synchronizes before the return
// of every method that reports the outcome.
type Future[T any] struct {
	// fn is the body, nil in a promise. It is set to nil, under the task's lock, by
	// the goroutine that completes a task whose body is not running, or by the body's
	// own goroutine.
	fn func(context.Context) (T, error)

	// value is written before the state is Succeeded, and read after. It is not the
	// last field, since a last field without a size takes eight bytes.
	value T

	core task.Task
}

var (
	_ typedTask = (*Future[int])(nil)
	_ Awaitable = (*Future[int])(nil)
)

// NewFuture returns a pending Future whose body is fn. It is run by an executor's
// Execute, or by a call of Run. A nil fn fails it with [ErrNilTask], an option out of its
// range with an error that matches [ErrInvalid].
func NewFuture[T any](fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	f := &Future[T]{fn: fn}
	f.core.Init()
	if fn == nil {
		f.end(task.Failed, ErrNilTask)
	} else if len(opts) > 0 {
		if err := configure(&f.core, opts); err != nil {
			f.end(task.Failed, err)
		}
	}
	return f
}

// NewPromise returns a pending Future without a body. It is done after a call of
// Complete, Fail or Cancel.
func NewPromise[T any]() *Future[T] {
	f := new(Future[T])
	f.core.Init()
	f.core.MakePromise()
	return f
}

// Name returns the name that [Named] set, or "".
func (f *Future[T]) Name() string { return f.core.Options().Name }

// State reports where the task is in its life.
func (f *Future[T]) State() State { return State(f.core.State()) }

// Done returns a channel that is closed when the task is done, the same one each time.
func (f *Future[T]) Done() <-chan struct{} { return f.core.Done() }

// Get waits for the outcome and returns the body's value and error. The error of a
// task that did not end by itself matches [ErrCanceled], [ErrRejected] or [ErrGoexit], or
// is a [*PanicError]. If ctx ends first, Get returns the error of ctx, and the task goes
// on; State then reports that it is not done. If the task is done, ctx does not matter.
func (f *Future[T]) Get(ctx context.Context) (T, error) {
	if !f.core.State().Done() {
		if err := task.Await(ctx, f.core.Done()); err != nil {
			var zero T
			return zero, err
		}
	}
	return f.value, errorOf(&f.core)
}

// Result returns the outcome without waiting. Its error is [ErrNotDone] while there is
// none.
func (f *Future[T]) Result() (T, error) {
	if !f.core.State().Done() {
		var zero T
		return zero, ErrNotDone
	}
	return f.value, errorOf(&f.core)
}

// Err returns the error of the outcome without waiting: nil if the task succeeded,
// [ErrNotDone] if it is not done.
func (f *Future[T]) Err() error {
	if !f.core.State().Done() {
		return ErrNotDone
	}
	return errorOf(&f.core)
}

// errorOf returns the error of a task that is done.
func errorOf(t *task.Task) error {
	err := t.Outcome()
	if err == nil && t.State() == task.Canceled {
		return canceledByHand
	}
	return err
}

// Join waits until the task is done and its body has returned, which after Cancel and
// Abandon may be later. It returns nil then, and the error of ctx if ctx ends first. A
// body that joins its own task waits for ever.
func (f *Future[T]) Join(ctx context.Context) error { return f.core.Join(ctx) }

// OnDone arranges for fn to be called once the task is done: by the goroutine
// that completes it, in order of registration and with no lock held; at once,
// by the caller, if the task is done already. fn must be quick and must not
// panic. If a call does not return, the others are still called. A nil fn panics.
//
// [Pool.Close] waits for the functions that the pool's workers call here. Those that
// another goroutine calls, as the one that cancels futures when their context ends, may
// run after Close has returned.
//
// fn must not wait for another future: the goroutine may have many to complete, one
// after the other, as after the end of their context or a ShutdownNow.
//
// A future that fn completes calls its own functions before fn returns. Where thousands
// of futures complete one another in this way, the rest of the chain is called by another
// goroutine.
func (f *Future[T]) OnDone(fn func()) {
	if fn == nil {
		panic("executor: Future.OnDone: nil function")
	}
	f.core.OnDone(fn)
}

// Cancel completes the task as canceled. A task that waits leaves its queue at once. The
// context of a body that is running ends with the cause [ErrCanceled]; Get returns at
// once, and Join waits until the body has returned. Cancel reports false, and does
// nothing, if the task is done.
func (f *Future[T]) Cancel() bool {
	if f.core.TryCancel() {
		f.fn = nil
		return true
	}
	return f.core.Cancel(nil, ErrCanceled, f.drop)
}

// Abandon is Cancel without the end of the context: a body that is running continues
// undisturbed, and its outcome is discarded.
func (f *Future[T]) Abandon() bool { return f.core.Complete(task.Canceled, nil, f.drop) }

// Complete completes the task with a value, unless it is done. A body that is
// running continues, and its outcome is discarded; one that is pending never
// runs.
func (f *Future[T]) Complete(v T) bool {
	return f.core.Complete(task.Succeeded, nil, func() {
		f.value = v
		f.drop()
	})
}

// Fail completes the task with an error, unless it is done. Its body is treated as by
// Complete. A nil err panics.
func (f *Future[T]) Fail(err error) bool {
	if err == nil {
		panic("executor: Future.Fail: nil error")
	}
	return f.core.Complete(task.Failed, err, f.drop)
}

// Run runs the body in the calling goroutine and completes the task with its outcome,
// which Run also returns; a panic is returned as a [*PanicError]. Run does nothing, and
// returns nil, if the task is running or done, is a promise, or is periodic work of a
// pool. ctx is the parent of the body's context, unless the task was submitted to a pool:
// then the parent is the context that it was submitted with. The task leaves the pool's
// queue, counts as queued until it is done, and its outcome is that of the body, also
// after ShutdownNow. A nil ctx panics.
//
// A body that waits for a task of its own pool calls Run first, and then Get. Unless a
// worker has begun the task, it runs here, without the pool's hooks, and the wait needs
// no other worker.
func (f *Future[T]) Run(ctx context.Context) error {
	mustContext(ctx)
	if b := takeBody(&f.core); b != nil {
		defer close(b.returned)
		b.end = goexit // unless runBody returns
		b.end = f.runBody(ctx, f.conclude)
		return b.end.err
	}
	if f.core.Owner() != nil && planOf(&f.core).series != nil {
		return nil
	}
	ctx, ok := beginByHand(f, ctx, task.Once)
	if !ok {
		return nil
	}
	if owner := f.core.Owner(); owner != nil { // no pool takes it from here on
		owner.Forget(&f.core)       // it need not wait any more
		defer owner.Forget(&f.core) // has it counted
	}
	return f.runBody(ctx, f.conclude).err
}

// RunAndReset runs the body like Run. If the body returns nil, its value is discarded,
// the task is pending again, and RunAndReset reports true. An error or a panic fails the
// task. RunAndReset also reports false if the task was canceled meanwhile, or was
// submitted to a pool, which alone may run it. A nil ctx panics.
func (f *Future[T]) RunAndReset(ctx context.Context) (again bool) {
	mustContext(ctx)
	ctx, ok := beginByHand(f, ctx, task.Repeatedly)
	if !ok {
		return false
	}
	f.runBody(ctx, func(v T, end ending) ending {
		if end.err != nil {
			return f.conclude(v, end)
		}
		again = f.core.Reset(f.drop)
		return end
	})
	return again
}

// beginByHand is task.BeginByHand. If the parent panics when a context is derived from
// it, the task fails, and the panic continues in the caller.
func beginByHand(tt typedTask, parent context.Context, r task.Runs) (ctx context.Context, ok bool) {
	returned := false
	defer repanic(&returned, tt.fail)
	ctx, ok = tt.taskCore().BeginByHand(parent, r)
	returned = true
	return ctx, ok
}

// runBody calls the body and passes its ending to conclude, however it ends. It
// returns the ending of this run for the pool's reports.
func (f *Future[T]) runBody(ctx context.Context, conclude func(T, ending) ending) (reported ending) {
	back := false
	defer func() {
		if !back {
			var zero T
			reported = conclude(zero, abrupt(recover()))
		}
	}()
	v, err := f.fn(ctx)
	back = true
	return conclude(v, returned(ctx, err))
}

// conclude completes the task with the ending of its body. In a series it prepares
// the next run instead, if there is one. It returns the ending of this run for the
// pool's reports or, if that is worse, the ending of the series.
func (f *Future[T]) conclude(v T, end ending) ending {
	outcome := end
	if s := planOf(&f.core).series; s != nil {
		returned := false
		defer func() {
			if !returned { // the trigger called runtime.Goexit
				f.fail(ErrGoexit)
			}
		}()
		more, last := s.ran(end)
		returned = true
		if more {
			f.core.Reset(f.drop)
			return end
		}
		if outcome = last; last.err != nil {
			end = last
		}
	}
	f.core.Finish(outcome.state(), outcome.err, func(won bool) {
		if won {
			f.value = v
		}
		f.fn = nil
	})
	return end
}

// planOf returns the plan of t. A task that a pool has refused has none any more.
func planOf(t *task.Task) *plan {
	if !t.HasOptions() || t.Detached() {
		return &noPlan
	}
	if p, ok := t.Options().Plan.(*plan); ok {
		return p
	}
	return &noPlan
}

// String describes the future in one line, for logs: its name, its state, and why it
// failed or was canceled, as `future "mail": failed: no route to host`. The form may
// change.
func (f *Future[T]) String() string { return describe("future", &f.core, errorOf(&f.core)) }

// The methods below are those of typedTask.

func (f *Future[T]) taskCore() *task.Task { return &f.core }

func (f *Future[T]) invoke(ctx context.Context) ending {
	if d := planOf(&f.core).decoration.Load(); d != nil {
		return f.runDecorated(ctx, d)
	}
	return f.runBody(ctx, f.conclude)
}

func (f *Future[T]) end(s task.State, err error) bool {
	return f.core.CompletePending(s, err, f.drop)
}

func (f *Future[T]) fail(err error) {
	f.core.FinishUncalled(err, func(bool) { f.fn = nil })
}

func (f *Future[T]) submitted() Runnable { return f }

func (f *Future[T]) detachBody() func(context.Context) error {
	var fn func(context.Context) (T, error)
	f.core.IfNotDone(func() { fn = f.fn })
	if fn == nil {
		return nil
	}
	return func(ctx context.Context) error {
		_, err := fn(ctx)
		return err
	}
}

// drop releases a body that will not run, and all that the body refers to, even if
// the future is kept. The caller holds the task's lock.
func (f *Future[T]) drop() {
	if !f.core.InBody() {
		f.fn = nil
	}
}

// A ScheduledFuture is the [Future] of a task of a [ScheduledPool] that runs once, when it
// is due. Where a *Future is asked for, as by [Completed], &f.Future is that of a
// ScheduledFuture f.
type ScheduledFuture[T any] struct{ Future[T] }

var (
	_ typedTask = (*ScheduledFuture[int])(nil)
	_ Awaitable = (*ScheduledFuture[int])(nil)
)

// newScheduledFuture returns a future that is due then, without its jitter.
func newScheduledFuture[T any](due int64, fn func(context.Context) (T, error)) *ScheduledFuture[T] {
	f := &ScheduledFuture[T]{Future[T]{fn: fn}}
	f.core.Init()
	f.core.InitDue(due)
	return f
}

func (f *ScheduledFuture[T]) submitted() Runnable { return f }

// Name is [Future.Name].
func (f *ScheduledFuture[T]) Name() string { return f.Future.Name() }

// State is [Future.State].
func (f *ScheduledFuture[T]) State() State { return f.Future.State() }

// Done is [Future.Done].
func (f *ScheduledFuture[T]) Done() <-chan struct{} { return f.Future.Done() }

// Get is [Future.Get].
func (f *ScheduledFuture[T]) Get(ctx context.Context) (T, error) { return f.Future.Get(ctx) }

// Result is [Future.Result].
func (f *ScheduledFuture[T]) Result() (T, error) { return f.Future.Result() }

// Err is [Future.Err].
func (f *ScheduledFuture[T]) Err() error { return f.Future.Err() }

// Join is [Future.Join].
func (f *ScheduledFuture[T]) Join(ctx context.Context) error { return f.Future.Join(ctx) }

// OnDone is [Future.OnDone].
func (f *ScheduledFuture[T]) OnDone(fn func()) { f.Future.OnDone(fn) }

// Cancel is [Future.Cancel].
func (f *ScheduledFuture[T]) Cancel() bool { return f.Future.Cancel() }

// Abandon is [Future.Abandon].
func (f *ScheduledFuture[T]) Abandon() bool { return f.Future.Abandon() }

// Complete is [Future.Complete].
func (f *ScheduledFuture[T]) Complete(v T) bool { return f.Future.Complete(v) }

// Fail is [Future.Fail].
func (f *ScheduledFuture[T]) Fail(err error) bool { return f.Future.Fail(err) }

// Run is [Future.Run].
func (f *ScheduledFuture[T]) Run(ctx context.Context) error { return f.Future.Run(ctx) }

// RunAndReset is [Future.RunAndReset]. It does nothing for a task that a pool has.
func (f *ScheduledFuture[T]) RunAndReset(ctx context.Context) bool { return f.Future.RunAndReset(ctx) }

// Next returns the time at which the task is due; it is zero if the task is done, or was
// not accepted.
func (f *ScheduledFuture[T]) Next() time.Time { return nextOf(&f.core) }

// Delay returns the time that is left until the task is due. It is negative for
// one that is overdue, and zero for one that is done.
func (f *ScheduledFuture[T]) Delay() time.Duration { return delayOf(&f.core) }

// String is like that of [Future], and says when a task that waits is due.
func (f *ScheduledFuture[T]) String() string { return f.Future.String() + due(f.State(), f.Next()) }

// due says when a task that waits is due.
func due(s State, next time.Time) string {
	if s != Pending || next.IsZero() {
		return ""
	}
	return next.Format(", due 2006-01-02T15:04:05.000Z07:00")
}

// nextOf returns the time at which t is due, zero if it is done or was not accepted.
func nextOf(t *task.Task) time.Time {
	if _, _, owner := t.Schedule(); owner == nil {
		return time.Time{}
	}
	return t.DueTime()
}

// delayOf returns the time until t is due, zero if it is done or was not accepted.
func delayOf(t *task.Task) time.Duration {
	due, wall, owner := t.Schedule()
	if owner == nil {
		return 0
	}
	return delay.Until(due, delay.Clock{Epoch: owner.Epoch()}.Now().On(wall))
}
