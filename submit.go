package executor

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/executor-go/executor/internal/task"
)

// Submit submits fn to ex and returns the future of its result. If ex rejects it, the
// future fails with that error at once. ctx is as for [Pool.Execute]: it bounds the wait
// for admission, and is the parent of the context that fn gets. A nil fn returns a future
// that failed with an error that matches [ErrInvalid]; a nil ctx panics.
//
// If ex is of another package and does not run fn before ctx ends, Submit cancels the future then. If such an executor
// drops fn for another reason, Submit can't know, and the future stays pending until ctx ends.
func Submit[T any](ctx context.Context, ex Executor, fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	if len(opts) > 0 {
		if o, err := gather(oneRun, opts); err == nil && o.retry.attempts > 0 && fn != nil {
			return submitRetrying(ctx, ex, fn, o)
		}
	}
	t := NewTask(fn, opts...)
	submit(ctx, ex, t)
	return &t.future
}

// Submit submits fn and returns the future of its error: it is the function [Submit] for functions
// without a result.
func (p *Pool) Submit(ctx context.Context, fn func(context.Context) error, opts ...Option) *Future[struct{}] {
	if fn == nil {
		return Submit[struct{}](ctx, p, nil, opts...)
	}
	return Submit(ctx, p, Func(fn).Call, opts...)
}

// submitRetrying is Submit with Retry.
func submitRetrying[T any](
	ctx context.Context, ex Executor, fn func(context.Context) (T, error), o *options,
) *Future[T] {
	mustExecutor("Submit", ex)
	rule, t := *o, newTask(fn)
	if ownerOf(ex) == nil {
		t.fn, rule.retry = inPlace(&t.core, o.retry, fn), retryRule{}
	}
	adopt(&t.core, &rule)
	submit(ctx, ex, t)
	return t.Future()
}

// submit submits t, which no other goroutine knows yet, and returns the error of its
// admission.
func submit[T any](ctx context.Context, ex Executor, t *Task[T]) error {
	var p *Pool
	key, keyed := ex.(*keyExecutor)
	if keyed {
		p = key.pool
	} else if p, _ = ex.(*Pool); p == nil {
		return submitShared(ctx, ex, t)
	}
	if p.timer != nil || t.core.State().Done() {
		return submitShared(ctx, ex, t)
	}
	mustContext(ctx)
	p.mustBeMade()
	t.core.AttachNew(&p.owner, ctx)
	u := t.work()
	if keyed {
		u = withKey(u, key.key)
	}
	err := p.enter(ctx, u, &t.core, false)
	if err != nil {
		t.end(task.Failed, err) // unless p has completed it
	}
	return err
}

// submitShared is submit for a task that others may know.
func submitShared[T any](ctx context.Context, ex Executor, t *Task[T]) error {
	mustContext(ctx)
	mustExecutor("Submit", ex)
	if t.core.State().Done() {
		return nil // fn is nil, an option out of its range, or it was canceled
	}
	if err := ex.Execute(ctx, t); err != nil {
		t.end(task.Failed, err) // unless ex has completed it
		return err
	}
	watchForeign(ctx, t.work())
	return nil
}

// mustExecutor panics if ex, the argument of the function with that name, is nil.
func mustExecutor(where string, ex Executor) {
	switch p := ex.(type) {
	case nil:
		panic("executor: " + where + ": nil Executor")
	case *Pool:
		p.mustBeMade()
	case *ScheduledPool:
		p.mustBeMade()
	}
}

// Any submits the functions one by one until one has succeeded, and returns its
// value. The other tasks are canceled; bodies that were running may return later than
// Any. If all functions fail, Any returns the error of the last one to fail; if ctx
// ends first, the error of ctx. After a rejection the remaining functions are still
// submitted. If a function is nil, or there is none, nothing runs, and the error matches [ErrInvalid].
//
// A task may call Any with its own context; see [Future.Get].
func Any[T any](ctx context.Context, ex Executor, fns ...func(context.Context) (T, error)) (T, error) {
	mustContext(ctx)
	mustExecutor("Any", ex)
	var zero T
	if len(fns) == 0 {
		return zero, invalid("Any: no functions; it needs one that may succeed")
	}
	for _, fn := range fns {
		if fn == nil {
			return zero, errNilTask
		}
	}
	c := newCollector[T](len(fns))
	defer c.cancel()
	var last error
	judge := func(f *Future[T]) bool {
		if f.State() != Succeeded {
			last = f.Err()
		}
		return f.State() == Succeeded
	}
	for _, fn := range fns {
		if ctx.Err() != nil {
			return zero, task.ContextError(ctx)
		}
		t := NewTask(fn)
		c.add(t.Future())
		submit(ctx, ex, t)
		for f := range c.ready() {
			if judge(f) {
				return f.value, nil
			}
		}
	}
	for f := range c.all(ctx) {
		if judge(f) {
			return f.value, nil
		}
	}
	if c.pending() > 0 || ctx.Err() != nil {
		return zero, task.ContextError(ctx) // whatever became of the tasks, which it has ended too
	}
	return zero, last
}

// Completed returns an iterator over the futures in the order in which they are done.
// Futures that are done at the start come first, in the order of fs. The loop also ends when
// ctx does; compare ctx.Err() with nil after it. Neither that nor leaving the loop affects
// the futures. The iterator has a copy of fs, and refers to no future that it has yielded. A
// nil ctx, and a nil future, panic.
//
// A task may run the loop, with its own context; see [Future.Get].
func Completed[T any](ctx context.Context, fs ...*Future[T]) iter.Seq[*Future[T]] {
	mustContext(ctx)
	for _, f := range fs {
		if f == nil {
			panic("executor: Completed: nil Future")
		}
	}
	fs = slices.Clone(fs)
	return func(yield func(*Future[T]) bool) {
		c := newCollector[T](len(fs))
		for _, f := range fs {
			c.add(f)
		}
		defer c.forget()
		for f := range c.all(ctx) {
			if !yield(f) {
				return
			}
		}
	}
}

// collector gathers futures as they are done. It belongs to one goroutine, but for what mu guards.
type collector[T any] struct {
	hosted    int // of collected: those that the caller has run, or was not to run
	wanted    int // of collected: those that are wanted
	collected []collected[T]
	wake      chan struct{} // holds a token while done may have something

	mu   sync.Mutex
	done []int // of collected, in order, not yet handed out
	left int   // futures added and not handed out
}

// collected is a future that was not handed out; else it is zero.
type collected[T any] struct {
	future   *Future[T]
	callback *task.Callback // nil if the future was done when it was added
}

func newCollector[T any](n int) *collector[T] {
	return &collector[T]{collected: make([]collected[T], 0, n), wake: make(chan struct{}, 1)}
}

func (c *collector[T]) add(f *Future[T]) {
	c.mu.Lock()
	c.left++
	c.mu.Unlock()
	i := len(c.collected)
	c.collected = append(c.collected, collected[T]{future: f})
	c.collected[i].callback = f.core.OnDone(func() {
		c.mu.Lock()
		c.done = append(c.done, i)
		c.mu.Unlock()
		select {
		case c.wake <- struct{}{}:
		default:
		}
	})
}

// pending is how many futures have not been handed out.
func (c *collector[T]) pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// ready iterates over the futures that are done by now.
func (c *collector[T]) ready() iter.Seq[*Future[T]] {
	return func(yield func(*Future[T]) bool) {
		for {
			c.mu.Lock()
			if len(c.done) == 0 {
				c.mu.Unlock()
				return
			}
			i := c.done[0]
			c.done = c.done[1:]
			c.left--
			c.mu.Unlock()
			f := c.collected[i].future
			c.collected[i] = collected[T]{}
			if !yield(f) {
				return
			}
		}
	}
}

// all iterates over all futures as they are done, until ctx ends.
func (c *collector[T]) all(ctx context.Context) iter.Seq[*Future[T]] {
	return func(yield func(*Future[T]) bool) {
		for {
			for f := range c.ready() {
				if !yield(f) {
					return
				}
			}
			if c.pending() == 0 {
				return
			}
			c.host(ctx)
			if !c.anyDone() && c.await(ctx) != nil {
				return
			}
		}
	}
}

// anyDone reports whether a future is done and not handed out.
func (c *collector[T]) anyDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.done) > 0
}

// host runs tasks that nobody has begun until a future is done.
func (c *collector[T]) host(ctx context.Context) {
	for ; c.hosted < len(c.collected) && !c.anyDone(); c.hosted++ {
		if f := c.collected[c.hosted].future; f != nil {
			host(ctx, &f.core)
		}
	}
}

// await waits for the next future that is done.
func (c *collector[T]) await(ctx context.Context) error {
	if waits := task.OwnerOf(ctx); waits != nil {
		waits.Lend()
		defer waits.Reclaim()
		for ; c.wanted < len(c.collected); c.wanted++ {
			if f := c.collected[c.wanted].future; f != nil {
				f.core.Owner().Want(one(&f.core))
			}
		}
	}
	return task.Await(ctx, c.wake)
}

// cancel cancels whatever is not done.
func (c *collector[T]) cancel() {
	for _, one := range c.collected {
		if one.future != nil {
			one.future.Cancel()
		}
	}
}

// forget removes the callbacks of what is not done.
func (c *collector[T]) forget() {
	for _, one := range c.collected {
		if one.callback != nil {
			one.future.core.RemoveCallback(one.callback)
		}
	}
}

// poolOf returns the pool that has the tasks of ex, nil if ex is not of this package.
func poolOf(ex Executor) *Pool {
	switch ex := ex.(type) {
	case *Pool:
		return ex
	case *ScheduledPool:
		return ex.Pool
	case *keyExecutor:
		return ex.pool
	}
	return nil
}

// ownerOf returns the owner of the tasks of ex, nil if ex is not of this package.
func ownerOf(ex Executor) *task.Owner {
	if p := poolOf(ex); p != nil {
		return &p.owner
	}
	return nil
}
