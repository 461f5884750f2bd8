package executor

import (
	"context"
	"time"
)

// Hooks are functions that a pool calls around its work. Each may be nil. They are called
// with no lock held, and must be safe for use by several workers at once.
type Hooks struct {
	// BeforeTask is called by the worker, before each run of a body. The body
	// gets the context that BeforeTask returns, which is to be ctx, for which nil
	// stands, or derived from it. If BeforeTask panics, body and AfterTask are
	// left out, the task fails with a *PanicError, and the panic is reported.
	BeforeTask func(ctx context.Context, info TaskInfo) context.Context

	// AfterTask is called by the worker, after each run of a body: err is the
	// outcome of the run: what the body returned, a *PanicError or ErrGoexit. The task's future is
	// complete by then, and ctx has ended. A panic in AfterTask is reported and
	// changes nothing.
	AfterTask func(ctx context.Context, info TaskInfo, err error)

	// Terminated is called once, when the last task has ended and no worker is left: by
	// the goroutine that ended or removed the last one, a worker or a caller of Shutdown,
	// Cancel or Remove, say. The pool is terminated when it returns.
	Terminated func()

	// OnPanic is called for a panic that no future shows: in the body of Go or Execute, in
	// periodic work, which it ends, in a hook, in a method of the submitter's context, and
	// in what OnDone was given, if it is a worker that calls these. By default the panic
	// is logged with its stack, by Config.Logger. A panic in OnPanic itself is logged.
	OnPanic func(ctx context.Context, info TaskInfo, err *PanicError)
}

// TaskInfo is the run of a task that a hook is called for.
type TaskInfo struct {
	Executor string    // the pool's Config.Name
	Worker   int       // the worker's number, from 1; 0 where it was none: under CallerRuns, and for Hooks.Terminated
	Name     string    // the name given by Named, or ""
	Task     Runnable  // the object that was submitted; nil for Hooks.Terminated
	Due      time.Time // when the run was due; zero for a task without a schedule
	Run      int64     // 1 for the first run of the task
}
