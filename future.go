package executor

import (
	"context"
	"time"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// A Future is the outcome of one task, for any number of waiters, and the handle by which the task is canceled. A
// future always resolves, exactly once: with the body's value or error, with a [*PanicError], [ErrGoexit], a
// [*CanceledError] or a [*RejectedError].
//
// [Submit] and the functions like it return futures. A Future is for waiting and canceling; a [Promise] completes a
// future by hand, and a [Task] runs its body. All methods may be called by any goroutine. A Future releases its body
// when the body will not run again. It retains the context that it was submitted with. The zero Future is not usable.
//
// What happened in the body before it returned synchronizes before the return of every method that reports the outcome.
type Future[T any] struct {
	// fn is the body, nil in a Promise. It is set to nil, under the task's lock, by
	// the goroutine that completes a task whose body is not running, or by the body's
	// own goroutine.
	fn func(context.Context) (T, error)

	// value is written before the state is Succeeded, and read after. It is not the
	// last field, since a last field without a size takes eight bytes.
	value T

	core task.Task
}

var _ Awaitable = (*Future[int])(nil)

// Name returns the name that [Named] set, or "".
func (f *Future[T]) Name() string { return f.core.Options().Name }

// State returns the state of the task.
func (f *Future[T]) State() State { return State(f.core.State()) }

// Done returns a channel that is closed when the task is done, the same one each time.
func (f *Future[T]) Done() <-chan struct{} { return f.core.Done() }

// Get waits for the outcome and returns the body's value and error. The error of a
// task that did not end by itself matches [ErrCanceled], [ErrRejected] or [ErrGoexit], or
// is a [*PanicError]. If ctx ends first, Get returns the error of ctx, and the task goes
// on; State then reports that it is not done. If the task is done, ctx does not matter.
//
// A task that waits with its context, or with one made of it, lends its place: only what a task waits for may run in
// it, the latest wanted first. So tasks may wait for tasks in pools of any size, by Get, Join, [Group.Wait], [All],
// [Map], [Any] and [Completed]. Stats.Workers counts the tasks that wait, too, and may be more than Max then. A task
// that ends with the context of the wait, and is of the same pool, may run in the goroutine that waits. If several
// goroutines of one task wait so, each lends a place, also in a pool made by [Single].
//
// A wait with another context, or by Done, lends nothing: if all tasks that run wait so for tasks of their pool that
// have not begun, they wait for ever.
func (f *Future[T]) Get(ctx context.Context) (T, error) {
	if !f.core.State().Done() {
		defer f.await(ctx)()
		if err := task.Await(ctx, f.core.Done()); err != nil {
			var zero T
			return zero, err
		}
	}
	return f.value, errorOf(&f.core)
}

// Wait is Get without the value.
func (f *Future[T]) Wait(ctx context.Context) error {
	_, err := f.Get(ctx)
	return err
}

// Result returns the outcome without waiting. The error is [ErrNotDone] while there is no outcome.
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

// Next returns the time at which a task of [SubmitAfter], [SubmitAt] or the like is due, or the next attempt of
// [Retry]. It is zero for other tasks, and if the task is done or was not accepted.
func (f *Future[T]) Next() time.Time { return nextOf(&f.core) }

// errorOf returns the error of a task that is done.
func errorOf(t *task.Task) error {
	err := t.Outcome()
	if err == nil && t.State() == task.Canceled {
		return canceledByHand
	}
	return err
}

// Join waits until the task is done and its body has returned, which may be later after Cancel and Abandon. Then it
// returns nil. If ctx ends first, Join returns the error of ctx. A body that calls Join on its own future waits for
// ever.
func (f *Future[T]) Join(ctx context.Context) error {
	if !f.core.State().Done() || f.core.InBody() {
		defer f.await(ctx)()
	}
	return f.core.Join(ctx)
}

// await prepares the wait of the caller for the task until the function that it returns is called.
func (f *Future[T]) await(ctx context.Context) (waited func()) {
	mustContext(ctx)
	host(ctx, &f.core)
	if f.core.State().Done() && !f.core.InBody() {
		return func() {}
	}
	return lend(ctx, f.core.Owner(), one(&f.core))
}

// OnDone arranges for fn to be called once the task is done: by the goroutine
// that completes it, in order of registration and with no lock held; at once,
// by the caller, if the task is done already. fn must be quick and must not
// panic: a worker reports the panic, as that of a body without a future, and in any other
// goroutine it goes on. After a panic the others are still called. A nil fn panics.
//
// [Pool.Close] waits for functions that the pool's workers call. A function that another
// goroutine calls, such as the one that cancels futures when their context ends, may run
// after Close has returned.
//
// fn must not wait for another future: the goroutine may have many futures to complete, one
// after the other, as after the end of their context or a ShutdownNow.
//
// A future that fn completes calls its own functions before fn returns: the calls of a chain
// of futures that complete one another are in one another, on one stack.
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

// CancelCause is Cancel with a reason: the outcome is a [*CanceledError] with that Cause, which is also
// the cause with which the context of a body ends. A nil cause is [ErrCanceled].
func (f *Future[T]) CancelCause(cause error) bool {
	if cause == nil {
		return f.Cancel()
	}
	return f.core.Cancel(canceled(cause), cause, f.drop)
}

// Abandon completes the task as canceled, as Cancel does, but does not end the context of a body that is running: the
// body continues, and its outcome is discarded.
func (f *Future[T]) Abandon() bool { return f.core.Complete(task.Canceled, nil, f.drop) }

// run is Task.Run.
func (f *Future[T]) run(ctx context.Context) error {
	return runByHand(ctx, f)
}

// invokeHere calls the body of a task that has begun in the calling goroutine. If that ends the
// goroutine, by runtime.Goexit, the task is concluded.
func invokeHere(ctx context.Context, b body) ending {
	back := false
	defer func() {
		if t := b.taskCore(); !back && t != nil && t.InBody() {
			b.conclude(goexit)
		}
	}()
	end := b.invoke(ctx, nil)
	back = true
	return end
}

// runByHand runs a task that no pool has in the calling goroutine.
func runByHand(ctx context.Context, u body) error {
	mustContext(ctx)
	run, ok := u.taskCore().BeginByHand(ctx)
	switch {
	case ok:
		return invokeHere(run, u).err
	case u.taskCore().Attached():
		return invalid("Run of a task that a pool has, which runs it; wait for its future, or cancel that")
	}
	return nil
}

// body is the part of work that a Future has.
type body interface {
	taskCore() *task.Task
	invoke(ctx context.Context, on *engine.Worker) ending
	conclude(end ending) ending
}

// call calls the body.
func (f *Future[T]) call(ctx context.Context) (v T, end ending) {
	defer guard(&end)
	v, err := f.fn(ctx)
	if err != nil {
		end = returned(ctx, err)
	}
	return v, end
}

// conclude is concludeWith for a body without a value.
func (f *Future[T]) conclude(end ending) ending {
	var zero T
	return f.concludeWith(zero, end)
}

// concludeWith completes the task with the ending of its body, unless it is to run again. It
// returns the ending of this run for the pool's reports.
func (f *Future[T]) concludeWith(v T, end ending) ending {
	outcome := end
	if f.core.HasOptions() {
		var again bool
		if outcome, end, again = planOf(&f.core).conclude(&f.core, end, f); again {
			return end
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

// String describes the future in one line, for logs: its name, its state, and why it
// failed or was canceled, as `future "mail": failed: no route to host`; or when a task that
// waits is due. The form may change.
func (f *Future[T]) String() string {
	return describe("future", &f.core, errorOf(&f.core)) + due(f.State(), f.Next())
}

// The methods below are those of work, which taskWork has from its future.

func (f *Future[T]) taskCore() *task.Task { return &f.core }

func (f *Future[T]) invoke(ctx context.Context, on *engine.Worker) ending {
	v, end := f.call(ctx)
	on.Showing()
	return f.concludeWith(v, end)
}

func (f *Future[T]) end(s task.State, err error) bool {
	return f.core.CompletePending(s, planOf(&f.core).withLast(err), f.drop)
}

func (f *Future[T]) fail(err error) {
	f.core.FinishUncalled(err, func(bool) { f.fn = nil })
}

func (f *Future[T]) submitted() any { return f }

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

// future is embedded where [Future] would be a name that is in use.
type future[T any] = Future[T]

// A Promise is a [Future] that your code completes, for results that do not come from a task of an executor. Besides
// its own methods, a Promise has those of its Future. The code that makes a Promise keeps it, and passes its Future to
// the waiters, which can cancel the Future but not complete it. [NewPromise] makes a Promise; the zero Promise is not
// usable.
type Promise[T any] struct{ future[T] }

// NewPromise returns a pending Promise. It is done after a call of Complete, Fail, Cancel
// or Abandon.
func NewPromise[T any]() *Promise[T] {
	p := new(Promise[T])
	p.core.Init()
	return p
}

// Future returns the future that p completes, the same one each time.
func (p *Promise[T]) Future() *Future[T] {
	if p == nil {
		panic("executor: Promise.Future: nil Promise")
	}
	return &p.future
}

// Complete completes the future with a value, unless it is done, and reports whether it did. If p is a [Task] whose
// body is running, the body continues and its outcome is discarded; a pending body never runs.
func (p *Promise[T]) Complete(v T) bool {
	return p.core.Complete(task.Succeeded, nil, func() {
		p.value = v
		p.drop()
	})
}

// Fail completes the future with an error, unless it is done, and reports whether it did. A body goes on, or never
// runs, as after Complete. A nil err panics.
func (p *Promise[T]) Fail(err error) bool {
	if err == nil {
		panic("executor: Promise.Fail: nil error")
	}
	return p.core.Complete(task.Failed, err, p.drop)
}

// A Task is a [Runnable] with a [Future], for any [Executor] or to be run by hand. Most programs call [Submit] instead,
// which makes a Task. A Task can also be completed by hand, like a [Promise]. [NewTask] makes a Task; the zero Task is
// not usable.
type Task[T any] struct{ Promise[T] }

var (
	_ Runnable  = (*Task[int])(nil)
	_ Awaitable = (*Task[int])(nil)
)

// NewTask returns a pending Task whose body is fn. Pass it to an executor's Execute, once, or call Run. If fn is nil,
// or an option is out of its range, the task has failed with an error that matches [ErrInvalid].
func NewTask[T any](fn func(context.Context) (T, error), opts ...Option) *Task[T] {
	t := newTask(fn)
	if fn == nil {
		t.end(task.Failed, errNilTask)
	} else if len(opts) > 0 {
		if err := configure(&t.core, opts); err != nil {
			t.end(task.Failed, err)
		}
	}
	return t
}

func newTask[T any](fn func(context.Context) (T, error)) *Task[T] {
	t := new(Task[T])
	t.fn = fn
	t.core.Init()
	return t
}

// Run runs the body in the calling goroutine and completes the task with its outcome,
// which Run also returns; a panic is returned as a [*PanicError]. ctx is the parent of the
// body's context. Run does nothing, and returns nil, if the task is running or done. It does
// nothing, either, if the task was submitted to a pool; the error then matches [ErrInvalid].
// A nil ctx panics.
func (t *Task[T]) Run(ctx context.Context) error {
	if t == nil {
		panic("executor: Task.Run: nil Task")
	}
	return t.run(ctx)
}

// Future returns the future of the task, the same one each time.
func (t *Task[T]) Future() *Future[T] {
	if t == nil {
		panic("executor: Task.Future: nil Task")
	}
	return &t.future
}

// due returns the part of String with the due time of a task that waits.
func due(s State, next time.Time) string {
	if s != Pending || next.IsZero() {
		return ""
	}
	return next.Format(", due 2006-01-02T15:04:05.000Z07:00")
}

// nextOf returns the time at which t is due, zero if it is done or was not accepted.
func nextOf(t *task.Task) time.Time {
	if t.State().Done() {
		return time.Time{}
	}
	return t.DueTime()
}
