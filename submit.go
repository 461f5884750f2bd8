package executor

import (
	"context"

	"github.com/executor-go/executor/internal/ctxgroup"
	"github.com/executor-go/executor/internal/task"
)

// Submit submits fn to ex and returns the future of its result. If ex rejects it, the
// future fails with that error at once. ctx is as for [Pool.Execute]: it bounds the wait
// for admission, and is the parent of the context that fn gets. A nil fn returns a future
// that failed with [ErrNilTask]; a nil ctx panics.
//
// If ex is not of this package, and does not run fn before ctx ends, Submit cancels the
// future then. It can't know that such an executor has dropped fn for another reason.
func Submit[T any](ctx context.Context, ex Executor, fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	if len(opts) > 0 {
		if o, err := gather(oneRun, opts); err == nil && o.retry.attempts > 0 {
			mustContext(ctx)
			f, _ := submitRetrying(ctx, ex, fn, o)
			return f
		}
	}
	f := NewFuture(fn, opts...)
	submit(ctx, ex, f)
	return f
}

// submit submits f, which nobody else knows yet, and returns the error of its admission.
func submit[T any](ctx context.Context, ex Executor, f *Future[T]) error {
	p, ok := ex.(*Pool)
	if !ok || p.timer != nil || f.core.State().Done() {
		return submitShared(ctx, ex, f)
	}
	mustContext(ctx)
	f.core.AttachNew(&p.owner, ctx)
	err := p.enter(ctx, entry{f}, &f.core)
	if err != nil {
		f.end(task.Failed, err) // unless p has completed it
	}
	return err
}

// submitShared is submit for a future that others may know.
func submitShared[T any](ctx context.Context, ex Executor, f *Future[T]) error {
	mustContext(ctx)
	if f.core.State().Done() {
		return nil // fn is nil, an option out of its range, or it was canceled
	}
	if err := ex.Execute(ctx, f); err != nil {
		f.end(task.Failed, err) // unless ex has completed it
		return err
	}
	watchForeign(ctx, f)
	return nil
}

// Go submits fn to be run once and forgotten; it is Execute for a function.
// Options name it, bound its time, or set its priority.
func (p *Pool) Go(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	if fn != nil && len(opts) == 0 {
		return p.submit(ctx, Func(fn))
	}
	return p.goOn(ctx, p, fn, opts)
}

// goOn is Go on ex: p, or one of its keys.
func (p *Pool) goOn(ctx context.Context, ex Executor, fn func(context.Context) error, opts []Option) error {
	if fn == nil {
		return ErrNilTask
	}
	o, err := gather(oneRun, opts)
	switch {
	case err != nil:
		return err
	case o.retry.attempts > 0:
		mustContext(ctx)
		return p.goRetrying(ctx, ex, fn, o)
	}
	r := newTaskRunnable(Func(fn))
	adopt(&r.core, o)
	return ex.Execute(ctx, r)
}

// foreign are the futures that wait in executors which are not ours.
var foreign = ctxgroup.Set[typedTask]{Ended: func(tt typedTask, ctx context.Context) {
	defer func() {
		if v := recover(); v != nil {
			logPanic(nil, context.Background(), TaskInfo{}, abrupt(v).panicked())
		}
	}()
	contextEnded(tt, ctx)
}}

// watchForeign has a task canceled when ctx ends, unless it is done, or a pool has it, which
// does that itself. An executor of the user's may never call Run of a task whose context
// has ended.
func watchForeign(ctx context.Context, tt typedTask) {
	t := tt.taskCore()
	done := ctx.Done()
	if done == nil || t.State() != task.Pending || t.Owner() != nil {
		return
	}
	m := foreign.NewMember(tt, ctx)
	foreign.Add(m, done)
	t.OnDone(m.Remove)
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
