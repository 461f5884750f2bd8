package executor

import (
	"context"
	"time"
)

// Hooks are functions that a pool calls around its work. Each may be nil. They are called
// with no lock held, and must be safe for use by several workers at once.
type Hooks struct {
	// BeforeTask is called by the worker, before each run of a body. The body gets the
	// context that BeforeTask returns, which must be ctx or derived from it; nil stands for
	// ctx. If BeforeTask panics, the body and AfterTask are not called, the task fails with
	// a *PanicError, and the panic is reported.
	BeforeTask func(ctx context.Context, info TaskInfo) context.Context

	// AfterTask is called by the worker, after each run of a body. err is the outcome of the run: what the body
	// returned, a *PanicError, or ErrGoexit. The task's future is complete by then, and ctx has ended. A panic in
	// AfterTask is reported and changes nothing.
	AfterTask func(ctx context.Context, info TaskInfo, err error)

	// Around is called by the worker, between BeforeTask and AfterTask, in place of each
	// body. It calls run, which calls the body: once, in any goroutine, with ctx or a
	// context derived from it. Around is for what must surround a body, such as a lock,
	// pprof.Do or a call into another library. Unlike an Executor that wraps the pool, Around
	// leaves a task its future, its name and its place in the queue. run returns the
	// outcome of the body, a panic as a *PanicError; the future is complete by then, so the
	// result of Around does not matter. If Around does not call run, the task fails, with
	// the error that Around returns if there is one. The run is over when both have
	// returned. A panic in Around is reported; before the call of run it also fails the
	// task.
	Around func(ctx context.Context, info TaskInfo, run func(context.Context) error) error

	// Terminated is called once, when the pool is shut down, its last task has ended and no worker is left. The
	// goroutine that ended or removed the last of them calls it: a worker, or a caller of Shutdown, Cancel or Remove,
	// for example. The pool is terminated when Terminated returns, so Terminated must not wait for that.
	Terminated func()

	// Dropped is called for each task that was accepted and never ran: it was canceled or
	// completed by hand while it waited, its context ended, it was evicted or discarded by
	// a policy, removed, or left over at a shutdown. err says why: it is the outcome of the
	// task's future, as a *CanceledError or a *RejectedError, nil if Complete has set a
	// value. ctx is the one that the task was submitted with. Dropped is called by the
	// goroutine that removed the task, and should be quick. A panic in it is reported and
	// changes nothing.
	//
	// With or without the hook, a task that has no future is logged then, unless it was
	// returned by ShutdownNow or removed by Remove.
	//
	// A pool with this hook records the time of each submission, for TaskInfo.Submitted; that costs two more
	// allocations for most tasks.
	Dropped func(ctx context.Context, info TaskInfo, err error)

	// OnPanic is called for a panic that no future shows: in the body of Go or Execute, in
	// periodic work, which it ends, in a hook, and in functions of OnDone that a worker
	// calls. The panic is logged in any case, with its stack, by Config.Logger. A panic in
	// OnPanic itself is logged.
	OnPanic func(ctx context.Context, info TaskInfo, err *PanicError)
}

// TaskInfo describes the run of a task for which a hook is called.
type TaskInfo struct {
	Executor  string    // the pool's Config.Name
	Worker    int       // the worker's number, from 1; 0 where it was none: under CallerRuns, Dropped, Terminated
	Name      string    // the name given by Named, or ""
	Task      any       // the *Future or *Series of the task, or the Runnable of Execute or Go; nil for Terminated
	Submitted time.Time // when the task was submitted; zero unless there is a Hooks.Dropped
	Due       time.Time // when the run was due; zero for a task without a schedule
	Begun     time.Time // when the worker began the run; zero unless there is a BeforeTask, Around or AfterTask
	Run       int64     // 1 for the first run of the task; 0 in Dropped
}

// Join returns hooks that call the hooks of h and then those of others, for example those for
// metrics and those for traces. They are called in order, AfterTask in the reverse order. The
// first Around gets the second as its run, and each BeforeTask gets the context that the one
// before it returned. If a hook panics the others are still called, except that after a
// panic of BeforeTask neither the next ones nor AfterTask are called for that run.
func (h Hooks) Join(others ...Hooks) Hooks {
	to := h
	for _, h := range others {
		to = Hooks{
			BeforeTask: joinBefore(to.BeforeTask, h.BeforeTask),
			AfterTask:  joinAfter(h.AfterTask, to.AfterTask),
			Around:     joinAround(to.Around, h.Around),
			Terminated: joinTerminated(to.Terminated, h.Terminated),
			Dropped:    joinAfter(to.Dropped, h.Dropped),
			OnPanic:    joinAfter(to.OnPanic, h.OnPanic),
		}
	}
	return to
}

func joinBefore(
	first, second func(context.Context, TaskInfo) context.Context,
) func(context.Context, TaskInfo) context.Context {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(ctx context.Context, info TaskInfo) context.Context {
		if derived := first(ctx, info); derived != nil {
			ctx = derived
		}
		if derived := second(ctx, info); derived != nil {
			ctx = derived
		}
		return ctx
	}
}

// joinAfter joins two hooks that get an error, or a kind of error.
func joinAfter[E error](first, second func(context.Context, TaskInfo, E)) func(context.Context, TaskInfo, E) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(ctx context.Context, info TaskInfo, err E) {
		defer second(ctx, info, err)
		first(ctx, info, err)
	}
}

func joinAround(outer, inner around) around {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	}
	return func(ctx context.Context, info TaskInfo, run func(context.Context) error) error {
		return outer(ctx, info, func(ctx context.Context) error { return inner(ctx, info, run) })
	}
}

// around is the type of Hooks.Around.
type around = func(ctx context.Context, info TaskInfo, run func(context.Context) error) error

func joinTerminated(first, second func()) func() {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func() {
		defer second()
		first()
	}
}
