package executor

import "context"

// Submit gives fn to ex and returns the future of its result. If ex rejects it,
// the future fails with that error at once. ctx is as for [Pool.Execute]: it
// bounds the wait for admission, and is the parent of the context that fn gets.
// A nil fn gives a future that failed with [ErrNilTask]; a nil ctx panics. Java:
// submit.
func Submit[T any](ctx context.Context, ex Executor, fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	f := NewFuture(fn, opts...)
	submit(ctx, ex, f)
	return f
}

func submit[T any](ctx context.Context, ex Executor, f *Future[T]) {
	mustContext(ctx)
	if f.State().Done() {
		return // it was misused
	}
	var err error
	if p, ok := ex.(*Pool); ok && p.mu.delay == nil {
		f.link(p, ctx) // needs no lock, since nobody else knows of f yet
		err = p.enter(ctx, entry{f}, f.core())
	} else {
		err = ex.Execute(ctx, f)
	}
	if err != nil {
		f.end(Failed, err) // unless ex has said more
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

// Callable adapts a function without a result to [Submit], [InvokeAll] and their
// kin. A nil fn gives nil. Java: Executors.callable.
func Callable(fn func(context.Context) error) func(context.Context) (struct{}, error) {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) }
}
