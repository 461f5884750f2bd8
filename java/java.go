// Package java helps to port programs from java.util.concurrent. New programs do not need it: they
// use [executor.All], [executor.Map] and [executor.Completed].
//
// The other classes and methods have counterparts in package executor, which docs/java.md lists.
package java

import (
	"context"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/queue"
)

// InvokeAll submits the functions, waits until all are done, and returns their futures in the
// order of the functions. If a function fails, the others continue; if one is rejected, they
// are canceled. If one is nil, nothing runs: its future fails with [executor.ErrNilTask], and
// the others are canceled. InvokeAll panics if ctx or ex is nil.
//
// When ctx ends, the futures that are not done are canceled: none is left pending, but a
// function that was running may return later than InvokeAll; [executor.Future.Join] waits
// for it.
//
// If a task of the pool ex calls InvokeAll with its own context, InvokeAll runs the
// functions that no worker has begun, so it needs no other worker.
func InvokeAll[T any](
	ctx context.Context, ex executor.Executor, fns ...func(context.Context) (T, error),
) []*executor.Future[T] {
	if ctx == nil {
		panic("java: InvokeAll: nil Context")
	}
	if ex == nil {
		panic("java: InvokeAll: nil Executor")
	}
	fs := make([]*executor.Future[T], len(fns))
	tasks := make([]*executor.Task[T], len(fns))
	stop := false
	for i, fn := range fns {
		tasks[i] = executor.NewTask(fn)
		fs[i] = tasks[i].Future()
		stop = stop || fn == nil
	}
	defer func() { // also if ex or its policy has panicked
		for _, f := range fs {
			f.CancelCause(context.Cause(ctx))
		}
	}()
	for _, t := range tasks {
		if stop || ctx.Err() != nil {
			return fs
		}
		if err := ex.Execute(ctx, t); err != nil {
			t.Fail(err) // unless ex has completed it
			stop = true
		}
	}
	if stop {
		return fs
	}
	for _, f := range fs {
		if f.Get(ctx); !f.State().Done() {
			break // ctx has ended
		}
	}
	return fs
}

// A CompletionService returns the futures of a stream of tasks in the order in which they are
// done, to any number of takers. It holds the futures that nobody has taken, without a limit.
// It has no goroutine, and need not be closed. [NewCompletionService] makes one; the zero
// CompletionService is not usable. All methods may be called by any goroutine.
//
// To get all futures, take as many as were submitted. Poll may return none for a moment after
// the pool has terminated, though one is to come: that of a task which Cancel or its context
// has ended, see [executor.Future.OnDone].
type CompletionService[T any] struct {
	ex   executor.Executor
	done *queue.Blocking[*executor.Future[T]]
}

// NewCompletionService returns a service whose tasks run in ex. It panics if ex is nil.
func NewCompletionService[T any](ex executor.Executor) *CompletionService[T] {
	if ex == nil {
		panic("java: NewCompletionService: nil Executor")
	}
	return &CompletionService[T]{ex, queue.NewUnbounded[*executor.Future[T]]()}
}

// Submit submits fn as [executor.Submit] does. Once the future is done, a taker gets it, also
// if the task was rejected or canceled.
func (s *CompletionService[T]) Submit(
	ctx context.Context, fn func(context.Context) (T, error), opts ...executor.Option,
) *executor.Future[T] {
	s.mustBeMade()
	f := executor.Submit(ctx, s.ex, fn, opts...)
	f.OnDone(func() { s.done.Offer(f) })
	return f
}

// Take waits for the next future that is done. If ctx ends first, the error matches that of ctx
// and its cause. Take panics if ctx is nil.
func (s *CompletionService[T]) Take(ctx context.Context) (*executor.Future[T], error) {
	s.mustBeMade()
	return s.done.Take(ctx)
}

// Poll returns the next future that is done, and whether there is one. It does not wait.
func (s *CompletionService[T]) Poll() (*executor.Future[T], bool) {
	s.mustBeMade()
	return s.done.Poll()
}

// Len returns the number of futures that are done and were not taken.
func (s *CompletionService[T]) Len() int {
	s.mustBeMade()
	return s.done.Len()
}

func (s *CompletionService[T]) mustBeMade() {
	if s.done == nil {
		panic("java: this CompletionService was not made by NewCompletionService; the zero value is not usable")
	}
}
