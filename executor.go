package executor

import "context"

// Executor is the smallest contract: something that runs tasks, now or later,
// here or on another goroutine. Java: Executor.
type Executor interface {
	// Execute takes task and arranges for its Run to be called at most once. If
	// it returns an error, which matches [ErrRejected] where the executor
	// declined, Run will never be called. If it returns nil, Run will be called
	// unless the task is canceled, its ctx ends, or the executor drops it by a
	// policy that says so. ctx bounds the wait for admission, if there is one,
	// and is the parent of the context that Run gets.
	Execute(ctx context.Context, task Runnable) error
}

// Runnable is a piece of work. Java: Runnable.
type Runnable interface {
	// Run does the work, and returns when it is done or soon after ctx ended.
	Run(ctx context.Context) error
}

// Func is a function as a [Runnable].
type Func func(ctx context.Context) error

// Run calls f.
func (f Func) Run(ctx context.Context) error { return f(ctx) }

// Awaitable is the part of a [Future] that does not depend on its type, for
// code that handles futures of several types.
type Awaitable interface {
	// Name returns the name that Named set, or "".
	Name() string
	// State reports where the task is in its life.
	State() State
	// Done returns a channel that is closed when the task is done.
	Done() <-chan struct{}
	// Err returns the error of the outcome without waiting, ErrNotDone while there is none.
	Err() error
	// Join waits until the task is done and its body has returned.
	Join(ctx context.Context) error
	// OnDone arranges for f to be called once the task is done; see Future.OnDone.
	OnDone(f func())
	// Cancel completes the task as canceled, unless it is done.
	Cancel() bool
}

// Dropped is a task that waited when its pool was shut down by ShutdownNow. It is a
// Runnable and can be submitted elsewhere, with its body and its name but
// without its other options, its time, and its future: that is complete already,
// canceled with the cause [ErrShutdown]. Periodic work, of which runs may have
// ended before, is its body for one run more.
type Dropped struct {
	task Runnable
	body func(context.Context) error
	name string
}

// Run runs the body of the task.
func (d Dropped) Run(ctx context.Context) error { return d.body(ctx) }

// Task gives the very object that was submitted: a *Future, a *ScheduledFuture,
// or the Runnable given to Execute or Go.
func (d Dropped) Task() Runnable { return d.task }

// Name gives the name that [Named] gave to the task, or "".
func (d Dropped) Name() string { return d.name }

// bound is what a pool knows of a task that has a life of its own. A plain
// Runnable has neither a state nor a place in the queue.
type bound interface {
	Runnable
	core() *task

	// invoke runs the body in this goroutine, once core().begin has said so,
	// and tells how this run ended. The outcome of the task is in its state.
	invoke(ctx context.Context) ending

	// end completes the task if it is pending: one that somebody runs by hand
	// meanwhile has the outcome of its body.
	end(s State, err error) bool

	// fail completes a task that has begun without its body.
	fail(err error)

	// origin gives the object that was submitted: the task itself, or the
	// Runnable that it carries.
	origin() Runnable

	// apart gives the body for a run without the future, nil if it is gone.
	apart() func(context.Context) error
}

var (
	_ bound     = (*Future[int])(nil)
	_ bound     = (*ScheduledFuture[int])(nil)
	_ bound     = (*carrier)(nil)
	_ Awaitable = (*Future[int])(nil)
	_ Awaitable = (*ScheduledFuture[int])(nil)
	_ Executor  = (*Pool)(nil)
	_ Executor  = (*ScheduledPool)(nil)
)
