package java

import (
	"context"
	"sync/atomic"

	"github.com/executor-go/executor"
)

// A RepeatingTask is Java's FutureTask for those that call its runAndReset: its body may run more than
// once, by the goroutines that call RunAndReset, one at a time, and all runs have one future. An
// [executor.Task] runs once, and an [executor.Series] runs by the times of a pool. It is made by
// [NewRepeatingTask]; the zero RepeatingTask is not usable. All methods may be called by any
// goroutine.
//
// It is an [executor.Runnable]: a pool to which it is submitted calls Run. The pool does not know
// its future: if that is canceled the task leaves the queue when its turn comes.
type RepeatingTask[T any] struct {
	promise *executor.Promise[T]
	body    func(context.Context) (T, error)
	run     atomic.Pointer[executor.Task[T]] // the run in progress, nil for none
}

var _ executor.Runnable = (*RepeatingTask[int])(nil)

// NewRepeatingTask returns a task whose body is fn. A nil fn fails it with [executor.ErrNilTask].
func NewRepeatingTask[T any](fn func(context.Context) (T, error)) *RepeatingTask[T] {
	t := &RepeatingTask[T]{promise: executor.NewPromise[T](), body: fn}
	if fn == nil {
		t.promise.Fail(executor.ErrNilTask)
	}
	t.promise.OnDone(func() {
		run := t.run.Load()
		if end, ok := t.promise.Err().(*executor.CanceledError); ok && run != nil {
			run.CancelCause(end.Cause)
		}
	})
	return t
}

// Future returns the future of the task, the same one each time. It is pending until the task is
// done, also during a run. Its Cancel and its Abandon end the context of a run, and its Join does
// not wait then until the body has returned.
func (t *RepeatingTask[T]) Future() *executor.Future[T] {
	t.mustBeMade()
	return t.promise.Future()
}

// Run runs the body and completes the task with its outcome, which Run also returns; a panic is
// returned as an [*executor.PanicError]. It does nothing, and returns nil, if the body is running or
// the task is done. ctx is the parent of the body's context; a nil ctx panics.
func (t *RepeatingTask[T]) Run(ctx context.Context) error {
	_, err := t.runOnce(ctx, true)
	return err
}

// RunAndReset runs the body like Run. If the body returns nil, its value is discarded, the task is
// pending again, and RunAndReset reports true. An error or a panic fails the task. RunAndReset
// also reports false if the task was canceled meanwhile, and where Run does nothing.
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
