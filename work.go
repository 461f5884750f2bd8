package executor

import (
	"context"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// work is what a pool gives its engine: a plain function or Runnable, or one with a task.Task.
//
//	plainFunc, plainRunnable   submitted with Background and no options: no task
//	taskRunnable               of Go and Execute otherwise
//	taskWork                   a Task, and so the body of a Future
//	member                     a function of a Group, or a call of Map
//	attempt                    an attempt of a task with Retry
//	seriesWork, seriesRun      a Series, and a run of one with Overlap
//	keyedWork, measured        another one, with its key; to be measured
type work interface {
	engine.Unit

	// taskCore returns the task, nil for none.
	taskCore() *task.Task

	// invoke calls the body in this goroutine, after taskCore().Begin, and concludes; on is the
	// worker, nil for a run by hand. A panic of the body is an ending; its runtime.Goexit goes on,
	// and the caller concludes.
	invoke(ctx context.Context, on *engine.Worker) ending

	// conclude completes the task, whose body has ended so, and returns the ending for the
	// pool's reports. The outcome of the task is in its state.
	conclude(end ending) ending

	// end completes the task if it is pending.
	end(s task.State, err error) bool

	// fail completes a task that has begun and whose body was not called.
	fail(err error)

	// submitted returns what the submitter knows the task by: its Future or Series, or
	// the Runnable in it.
	submitted() any

	// runnable returns what runs the task by hand: the task itself, or the Runnable in it.
	runnable() Runnable

	// detachBody returns the body for a run without the future, nil if it was released.
	detachBody() func(context.Context) error
}

// worker is implemented by the tasks that have work of their own.
type worker interface{ work() work }

// workOf returns the work of a Runnable of this package that has a task, nil for others.
func workOf(r Runnable) work {
	switch r := r.(type) {
	case Func:
		return nil
	case work:
		return r
	case worker:
		return r.work()
	}
	return nil
}

// slotOf returns the slot of a task's work in its engine.
func slotOf(t *task.Task) *engine.Slot { return t.Slot() }

// plainFunc is a function without a task. Most work is one: it takes no allocation.
type plainFunc func(context.Context) error

func (f plainFunc) Slot() *engine.Slot                                  { return nil }
func (f plainFunc) Outcome() engine.Outcome                             { return engine.None }
func (f plainFunc) taskCore() *task.Task                                { return nil }
func (f plainFunc) invoke(ctx context.Context, _ *engine.Worker) ending { return guarded(ctx, f) }
func (f plainFunc) conclude(end ending) ending                          { return end }
func (f plainFunc) end(task.State, error) bool                          { return false }
func (f plainFunc) fail(error)                                          {}
func (f plainFunc) submitted() any                                      { return Func(f) }
func (f plainFunc) runnable() Runnable                                  { return Func(f) }
func (f plainFunc) detachBody() func(context.Context) error             { return f }

// plainRunnable is a Runnable of the user's without a task.
type plainRunnable struct{ run Runnable }

func (r *plainRunnable) Slot() *engine.Slot      { return nil }
func (r *plainRunnable) Outcome() engine.Outcome { return engine.None }
func (r *plainRunnable) taskCore() *task.Task    { return nil }
func (r *plainRunnable) invoke(ctx context.Context, _ *engine.Worker) ending {
	return guarded(ctx, r.run.Run)
}

func (r *plainRunnable) conclude(end ending) ending              { return end }
func (r *plainRunnable) end(task.State, error) bool              { return false }
func (r *plainRunnable) fail(error)                              {}
func (r *plainRunnable) submitted() any                          { return r.run }
func (r *plainRunnable) runnable() Runnable                      { return r.run }
func (r *plainRunnable) detachBody() func(context.Context) error { return r.run.Run }

// taskRunnable is a plain Runnable with a task, where one is needed: to name it, to bound
// its time, to cancel it when its context ends, or to place it in a delay queue. It is
// visible outside only as what a RejectFunc gets of a task of Go with options.
type taskRunnable struct {
	core task.Task
	run  Runnable
}

func newTaskRunnable(r Runnable) *taskRunnable {
	t := &taskRunnable{run: r}
	t.core.Init()
	t.core.MakeReported()
	return t
}

func (r *taskRunnable) Slot() *engine.Slot      { return r.core.Slot() }
func (r *taskRunnable) Outcome() engine.Outcome { return outcomeOf(&r.core) }
func (r *taskRunnable) taskCore() *task.Task    { return &r.core }

// Run is called by what a RejectFunc has given the task to.
func (r *taskRunnable) Run(ctx context.Context) error {
	ctx, cancel := task.Limit(ctx, r.core.Options().Timeout)
	defer cancel()
	return r.run.Run(ctx)
}

func (r *taskRunnable) invoke(ctx context.Context, on *engine.Worker) ending {
	body := r.run.Run
	if d, ok := r.run.(Dropped); ok {
		body = d.body // its timeout is in ctx
	}
	end := guarded(ctx, body)
	on.Showing()
	return r.conclude(end)
}

func (r *taskRunnable) conclude(end ending) ending {
	outcome, end, again := planOf(&r.core).conclude(&r.core, end, r)
	if !again {
		r.core.Finish(outcome.state(), outcome.err, nil)
	}
	return end
}

// drop does nothing: a Runnable is kept.
func (r *taskRunnable) drop() {}

func (r *taskRunnable) end(s task.State, err error) bool {
	return r.core.CompletePending(s, planOf(&r.core).withLast(err), nil)
}

func (r *taskRunnable) fail(err error) { r.core.FinishUncalled(err, nil) }
func (r *taskRunnable) submitted() any { return r.run }

// runnable returns r itself if it has options, which the Runnable in it has not.
func (r *taskRunnable) runnable() Runnable {
	if r.core.HasOptions() {
		return r
	}
	return r.run
}

func (r *taskRunnable) detachBody() func(context.Context) error { return r.run.Run }

var _ worker = (*Task[int])(nil)

// taskWork is a Task as work.
type taskWork[T any] Task[T]

// work returns nil for a nil Task.
func (t *Task[T]) work() work {
	if t == nil {
		return nil
	}
	return (*taskWork[T])(t)
}

func (u *taskWork[T]) task() *Task[T]          { return (*Task[T])(u) }
func (u *taskWork[T]) Slot() *engine.Slot      { return u.core.Slot() }
func (u *taskWork[T]) Outcome() engine.Outcome { return outcomeOf(&u.core) }
func (u *taskWork[T]) runnable() Runnable      { return u.task() }

// is reports whether r, which is comparable, is what was submitted as u.
func is(u work, r any) bool { return u.submitted() == r || u.runnable() == r }

// contextOf returns the context that the task was submitted with.
func contextOf(u work) context.Context {
	if t := u.taskCore(); t != nil {
		return t.Context()
	}
	return context.Background()
}

// outcomeOf returns the outcome of a task from its state, and None while it runs.
func outcomeOf(t *task.Task) engine.Outcome {
	switch t.State() {
	case task.Pending:
		return engine.Again
	case task.Running:
		return engine.None
	case task.Succeeded:
		return engine.Succeeded
	case task.Failed:
		return engine.Failed
	}
	return engine.Canceled
}

// keyedWork is work with its key, as it is queued.
type keyedWork struct {
	work
	item engine.KeyItem
}

func withKey(u work, key any) work {
	k := &keyedWork{work: u}
	k.item.SetKey(key)
	return k
}

// Key returns what the queue keeps of the work.
func (k *keyedWork) Key() *engine.KeyItem { return &k.item }
