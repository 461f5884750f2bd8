package executor

import (
	"context"

	"github.com/executor-go/executor/queue"
)

// A CompletionService gives the futures of a stream of tasks in the order in
// which they are done, to any number of takers. It holds those that nobody has
// taken, without a limit. It has no goroutine and needs no end.
//
// Who is to have all of them takes as many as were submitted. That Poll gives none
// once the pool is terminated does not say that there are none: that of a task
// which its context or Cancel ended may come a moment later, see [Future.OnDone].
// Java: ExecutorCompletionService.
type CompletionService[T any] struct {
	ex   Executor
	done *queue.Blocking[*Future[T]]
}

// NewCompletionService returns a service whose tasks are run by ex, which must
// not be nil.
func NewCompletionService[T any](ex Executor) *CompletionService[T] {
	if ex == nil {
		panic("executor: NewCompletionService: nil Executor")
	}
	return &CompletionService[T]{ex, queue.NewUnbounded[*Future[T]]()}
}

// Submit is the function [Submit]; the future is given to a taker once it is
// done, also if it was rejected or canceled.
func (s *CompletionService[T]) Submit(ctx context.Context, fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	f := NewFuture(fn, opts...)
	f.OnDone(func() { s.done.Offer(f) })
	submit(ctx, s.ex, f)
	return f
}

// Take waits for the next future that is done. It returns ctx's error if ctx
// ends first. Java: take.
func (s *CompletionService[T]) Take(ctx context.Context) (*Future[T], error) {
	return s.done.Take(ctx)
}

// Poll gives the next future that is done, if there is one. Java: poll.
func (s *CompletionService[T]) Poll() (*Future[T], bool) { return s.done.Poll() }

// Len gives the number of futures that are done and that nobody has taken.
func (s *CompletionService[T]) Len() int { return s.done.Len() }
