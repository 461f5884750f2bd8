// Package java has what Java's executors have and package executor lacks: invokeAll, ExecutorCompletionService, and
// FutureTask with its method runAndReset. It is for programs that are ported from java.util.concurrent.
//
//	for _, f := range java.InvokeAll(ctx, pool, first, second) {
//		v, err := f.Result()
//		…
//	}
//
// New programs use [executor.All], [executor.Map] and [executor.Completed] instead. The other classes and methods have
// counterparts in package executor, which docs/java.md lists.
package java

import (
	"context"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/cause"
	"github.com/executor-go/executor/queue"
)

// InvokeAll submits the functions to ex, waits until all are done, and returns their futures in the order of the
// functions. All of the futures are done. InvokeAll panics if ctx or ex is nil.
//
// If a function returns an error or panics, the others continue. If ex rejects a function, its future has the error,
// InvokeAll does not wait any longer, and the futures that are not done are canceled. If a function is nil, nothing
// runs: its future fails with an error that matches [executor.ErrInvalid], and the others are canceled.
//
// If ctx ends, the futures that are not done are canceled, with an error that matches the error of ctx and its cause. A
// function that is running at that time may return later than InvokeAll; [executor.Future.Join] waits for it.
//
// A task may call InvokeAll with its own context, also on its own pool; see [executor.Future.Get].
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
		var ended error
		if ctx.Err() != nil {
			ended = cause.Of(ctx)
		}
		for _, f := range fs {
			f.CancelCause(ended)
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

// A CompletionService returns the futures of a stream of tasks in the order in which they are done. Any number of
// goroutines may take them. It keeps the futures that nobody has taken, without a limit. A CompletionService has no
// goroutine, and need not be closed. [NewCompletionService] makes one; the methods of the zero CompletionService panic.
// The methods may be called by several goroutines at the same time.
//
// To get all futures, take as many as were submitted. The future of a task that was canceled, or whose context has
// ended, may arrive a moment after the pool has terminated, so that Poll returns none until then; see
// [executor.Future.OnDone].
type CompletionService[T any] struct {
	ex   executor.Executor
	done *queue.Blocking[*executor.Future[T]]
}

// NewCompletionService returns a CompletionService whose tasks run in ex. It panics if ex is nil.
func NewCompletionService[T any](ex executor.Executor) *CompletionService[T] {
	if ex == nil {
		panic("java: NewCompletionService: nil Executor")
	}
	return &CompletionService[T]{ex, queue.NewUnbounded[*executor.Future[T]]()}
}

// Submit submits fn as [executor.Submit] does, and returns its future. Take or Poll return the same future once it is
// done, also if the task was rejected or canceled.
func (s *CompletionService[T]) Submit(
	ctx context.Context, fn func(context.Context) (T, error), opts ...executor.Option,
) *executor.Future[T] {
	s.mustBeMade()
	f := executor.Submit(ctx, s.ex, fn, opts...)
	f.OnDone(func() { s.done.Offer(f) })
	return f
}

// Take waits for the next future that is done, and returns it. If ctx ends first, Take returns an error that matches
// the error of ctx and its cause. It panics if ctx is nil.
func (s *CompletionService[T]) Take(ctx context.Context) (*executor.Future[T], error) {
	s.mustBeMade()
	return s.done.Take(ctx)
}

// Poll returns the next future that is done. It does not wait: if there is none, it returns false.
func (s *CompletionService[T]) Poll() (*executor.Future[T], bool) {
	s.mustBeMade()
	return s.done.Poll()
}

// Len returns the number of futures that are done and that nobody has taken.
func (s *CompletionService[T]) Len() int {
	s.mustBeMade()
	return s.done.Len()
}

func (s *CompletionService[T]) mustBeMade() {
	if s.done == nil {
		panic("java: this CompletionService was not made by NewCompletionService; the zero value is not usable")
	}
}
