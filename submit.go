package executor

import (
	"context"

	"github.com/executor-go/executor/internal/task"
)

// Submit submits fn to ex and returns the future of its result. If ex rejects it, the
// future fails with that error at once. ctx is as for [Pool.Execute]: it bounds the wait
// for admission, and is the parent of the context that fn gets. A nil fn returns a future
// that failed with [ErrNilTask]; a nil ctx panics.
func Submit[T any](ctx context.Context, ex Executor, fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	f := NewFuture(fn, opts...)
	submit(ctx, ex, f)
	return f
}

func submit[T any](ctx context.Context, ex Executor, f *Future[T]) {
	mustContext(ctx)
	if f.core.State().Done() {
		return // fn is nil, or an option out of its range
	}
	var err error
	if p, ok := ex.(*Pool); ok && p.timer == nil {
		f.core.AttachNew(&p.owner, ctx) // f is not shared yet
		err = p.enter(ctx, entry{f}, &f.core)
	} else {
		err = ex.Execute(ctx, f)
	}
	if err != nil {
		f.end(task.Failed, err) // unless ex has completed it
	}
}

// SubmitAll is [Submit] for several functions, one after the other, and returns their
// futures in the same order. It does not wait for them; see [Completed].
func SubmitAll[T any](ctx context.Context, ex Executor, fns ...func(context.Context) (T, error)) []*Future[T] {
	fs := make([]*Future[T], len(fns))
	for i, fn := range fns {
		fs[i] = Submit(ctx, ex, fn)
	}
	return fs
}
