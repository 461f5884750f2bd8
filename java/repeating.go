package java

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/executor-go/executor"
)

// A RepeatingTask is Java's FutureTask with its method runAndReset: a task whose body may run more than once, and one
// future for all of the runs. The goroutine that calls Run or RunAndReset runs the body. At most one run is in progress
// at a time. To run a body once, use an [executor.Task]; to run it on a schedule, an [executor.Series].
//
// [NewRepeatingTask] makes a RepeatingTask; the methods of the zero RepeatingTask panic. The methods may be called by
// several goroutines at the same time.
//
// A RepeatingTask is an [executor.Runnable]: a pool whose Execute gets it calls Run. The pool does not know the future:
// a task that is canceled stays in the queue until its turn comes, and then does not run.
type RepeatingTask[T any] struct {
	promise *executor.Promise[T]
	body    func(context.Context) (T, error)
	run     atomic.Pointer[executor.Task[T]] // the run in progress, nil for none
}

var _ executor.Runnable = (*RepeatingTask[int])(nil)

// NewRepeatingTask returns a RepeatingTask whose body is fn. If fn is nil, its future has failed with
// an error that matches [executor.ErrInvalid].
func NewRepeatingTask[T any](fn func(context.Context) (T, error)) *RepeatingTask[T] {
	t := &RepeatingTask[T]{promise: executor.NewPromise[T](), body: fn}
	if fn == nil {
		t.promise.Fail(fmt.Errorf("java: nil function (%w)", executor.ErrInvalid))
	}
	t.promise.OnDone(func() {
		run := t.run.Load()
		if end, ok := t.promise.Err().(*executor.CanceledError); ok && run != nil {
			run.CancelCause(end.Cause)
		}
	})
	return t
}

// Future returns the future of the task, the same one each time. The future is pending until the task is done, also
// during a run. Its methods Cancel and Abandon end the context of a run in progress. Its Join does not wait for the
// body of a run that was canceled.
func (t *RepeatingTask[T]) Future() *executor.Future[T] {
	t.mustBeMade()
	return t.promise.Future()
}

// Run runs the body, completes the task with the value or the error of the body, and returns that error. If the body
// panics, the error is an [*executor.PanicError]. If the body is running already, or the task is done, Run does nothing
// and returns nil. The context of the body is derived from ctx. Run panics if ctx is nil.
func (t *RepeatingTask[T]) Run(ctx context.Context) error {
	_, err := t.runOnce(ctx, true)
	return err
}

// RunAndReset runs the body like Run, but keeps the task pending. If the body returns a nil error, RunAndReset discards
// the value and returns true: the task may run again. It returns false if the task is done, because the body has
// returned an error or has panicked, or because the task was canceled meanwhile. It also returns false where Run does
// nothing.
func (t *RepeatingTask[T]) RunAndReset(ctx context.Context) (again bool) {
	ran, _ := t.runOnce(ctx, false)
	return ran && !t.promise.State().Done()
}

// runOnce runs the body, unless it runs or the task is done, and reports whether it did. The last
// run completes the task.
func (t *RepeatingTask[T]) runOnce(ctx context.Context, last bool) (ran bool, err error) {
	t.mustBeMade()
	if ctx == nil {
		panic("java: RepeatingTask: nil Context")
	}
	run := executor.NewTask(t.body)
	if !t.run.CompareAndSwap(nil, run) {
		return false, nil
	}
	defer t.run.Store(nil)
	if t.promise.State().Done() { // else what ends it from now on finds the run
		return false, nil
	}
	defer func() { // also if the body calls runtime.Goexit
		v, err := run.Result()
		switch {
		case err != nil:
			t.promise.Fail(err)
		case last:
			t.promise.Complete(v)
		}
	}()
	return true, run.Run(ctx)
}

func (t *RepeatingTask[T]) mustBeMade() {
	if t == nil || t.promise == nil {
		panic("java: this RepeatingTask was not made by NewRepeatingTask; the zero value is not usable")
	}
}
