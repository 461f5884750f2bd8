package executor

import (
	"context"
	"sync"
	"time"

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
			f, _ := submitRetrying(ctx, ex, fn, o, nil)
			return f
		}
	}
	t := NewTask(fn, opts...)
	submit(ctx, ex, t)
	return &t.future
}

// submit submits t, which no other goroutine knows yet, and returns the error of its
// admission.
func submit[T any](ctx context.Context, ex Executor, t *Task[T]) error {
	p, ok := ex.(*Pool)
	if !ok || p.timer != nil || t.core.State().Done() {
		return submitShared(ctx, ex, t)
	}
	mustContext(ctx)
	t.core.AttachNew(&p.owner, ctx)
	err := p.enter(ctx, entry{t}, &t.core)
	if err != nil {
		t.end(task.Failed, err) // unless p has completed it
	}
	return err
}

// submitShared is submit for a task that others may know.
func submitShared[T any](ctx context.Context, ex Executor, t *Task[T]) error {
	mustContext(ctx)
	if t.core.State().Done() {
		return nil // fn is nil, an option out of its range, or it was canceled
	}
	if err := ex.Execute(ctx, t); err != nil {
		t.end(task.Failed, err) // unless ex has completed it
		return err
	}
	watchForeign(ctx, t)
	return nil
}

// Go submits fn as a task without a future; it is [Pool.Execute] for a function. Options
// name it, bound its time, set its priority, or retry it. Where no caller sees its error or
// its panic, the pool logs them; see [Hooks]. A nil fn returns [ErrNilTask].
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
		f, err := submitRetrying(ctx, ex, Func(fn).Call, o, nil)
		if err == nil {
			reportRetried(p, ctx, f, Func(fn))
		}
		return err
	}
	r := newTaskRunnable(Func(fn))
	adopt(&r.core, o)
	return ex.Execute(ctx, r)
}

// retrying is a task with Retry. Its future is not submitted; each attempt is, as a task of
// its own:
//
//	attempt ── failed ──▶ wait ── timer ──▶ attempt
//	   │                    └─ future done, ctx ended, ShutdownNow ──▶ over
//	   └─ succeeded, canceled, failed for good, future done ──▶ over
type retrying[T any] struct {
	future  Task[T] // of all attempts
	first   attempt[T]
	ctx     context.Context
	ex      Executor
	fn      func(context.Context) (T, error)
	options *options

	mu      sync.Mutex
	n       int                             // attempts
	current *attempt[T]                     // the latest attempt
	timer   *time.Timer                     // for the next; nil before the first wait
	watches [2]*ctxgroup.Member[retryWatch] // of ctx and of the pool, from the first wait on
	last    error                           // of the attempt before
	begun   bool                            // an attempt has begun
	inBody  bool                            // the body of an attempt is running
	waits   bool                            // the timer is set
	over    bool                            // the future is done
	more    chan struct{}                   // has a token when there is another attempt; nil unless a call of Get helps
	left    func()                          // to be called when the body returns, since the future is done; else nil
}

// submitRetrying submits the first attempt by first, nil for Execute. The error is that of
// its admission.
func submitRetrying[T any](
	ctx context.Context, ex Executor, fn func(context.Context) (T, error), o *options,
	first func(*task.Task, entry) error,
) (*Future[T], error) {
	mustContext(ctx)
	if fn == nil {
		return NewTask(fn).Future(), ErrNilTask
	}
	r := &retrying[T]{ctx: ctx, ex: ex, fn: fn, options: o}
	f := r.future.Future()
	f.fn = fn
	f.core.Init()
	adopt(&f.core, &options{name: o.name})
	f.core.SetOptions().Plan = r
	f.core.RemoveWhenDone(r)
	return f, r.attempt(&r.first, first)
}

// attempt submits a, as the next attempt, by submit, nil for Execute.
func (r *retrying[T]) attempt(a *attempt[T], submit func(*task.Task, entry) error) error {
	a.retrying = r
	a.core.Init()
	adopt(&a.core, r.options)
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return nil
	}
	r.n++
	r.current = a
	r.mu.Unlock()
	var err error
	if submit != nil {
		err = submit(&a.core, entry{a})
	} else {
		err = r.ex.Execute(r.ctx, a)
	}
	if err != nil {
		a.end(task.Failed, err) // unless ex has completed it
	} else {
		watchForeign(r.ctx, a)
	}
	r.mu.Lock()
	if r.more != nil {
		select {
		case r.more <- struct{}{}:
		default:
		}
	}
	r.mu.Unlock()
	return err
}

// help runs attempts for a task of the same pool that waits for the future.
func (r *retrying[T]) help(ctx context.Context) {
	if task.OwnerOf(ctx) == nil || ctx.Done() != r.ctx.Done() {
		return
	}
	for {
		r.mu.Lock()
		if r.more == nil {
			r.more = make(chan struct{}, 1)
		}
		a := r.current
		r.mu.Unlock()
		if mayRun(ctx, &a.core) {
			a.Run(ctx)
		}
		select {
		case <-r.more:
		case <-r.future.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// begin reports whether the body is to be called for an attempt.
func (r *retrying[T]) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		_, r.begun = r.future.core.BeginByHand(r.ctx, task.Once)
	}
	r.inBody = r.begun && !r.over // else it is canceled, or run by hand
	return r.inBody
}

// returned follows the return of the body.
func (r *retrying[T]) returned() {
	r.mu.Lock()
	over, left := r.inBody && r.over, r.left
	r.inBody, r.left = false, nil
	r.mu.Unlock()
	if over {
		r.release()
	}
	if left != nil {
		left()
	}
}

// onLeft has fn called when the future is done and no body is running.
func (r *retrying[T]) onLeft(fn func()) {
	r.future.OnDone(func() {
		r.mu.Lock()
		running := r.inBody
		if running {
			r.left = fn
		}
		r.mu.Unlock()
		if !running {
			fn()
		}
	})
}

// latest returns the latest attempt.
func (r *retrying[T]) latest() *task.Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &r.current.core
}

// judge follows the end of an attempt, with its value or its error.
func (r *retrying[T]) judge(a *attempt[T], v T, err error) {
	r.mu.Lock()
	n, last, moot := r.n, r.last, r.over || !r.begun && a.core.Begun()
	r.mu.Unlock()
	if moot {
		return
	}
	permanent := asPermanent(err)
	switch state := a.core.State(); {
	case state == task.Succeeded:
		r.future.core.Complete(task.Succeeded, nil, func() {
			r.future.value = v
			r.future.drop()
		})
	case state == task.Canceled:
		if cerr, ok := err.(*CanceledError); ok && last != nil {
			err = canceled(withLast(cerr.Cause, last))
		}
		r.finish(task.Canceled, err)
	case !a.core.Begun(): // rejected, or dropped by a policy
		r.finish(task.Failed, withLast(err, last))
	case permanent != nil:
		if err == permanent {
			err = permanent.err
		}
		r.finish(task.Failed, err)
	case n >= r.options.retry.attempts, isAbrupt(err):
		r.finish(task.Failed, err)
	default:
		r.wait(n, err)
	}
}

// isAbrupt reports whether err is that of a panic or of runtime.Goexit.
func isAbrupt(err error) bool {
	_, panicked := err.(*PanicError)
	return panicked || err == ErrGoexit
}

func (r *retrying[T]) finish(s task.State, err error) {
	r.future.core.Complete(s, err, r.future.drop)
}

// wait sets the timer for the next attempt, after the n-th has failed with err.
func (r *retrying[T]) wait(n int, err error) {
	returned := false
	defer func() {
		if !returned { // backoff or a method of ctx panicked
			r.finish(task.Failed, withLast(abrupt(recover()).err, err))
		}
	}()
	d := r.options.retry.backoff(n)
	r.mu.Lock()
	r.last, r.waits = err, !r.over
	if r.waits && r.timer != nil {
		r.timer.Reset(d)
	} else if r.waits {
		r.timer = time.AfterFunc(d, r.next)
	}
	r.mu.Unlock()
	for i, ctx := range [...]context.Context{ofCaller: r.ctx, ofPool: poolContext(r.ex)} {
		switch {
		case ctx.Done() == nil:
		case ctx.Err() != nil: // maybe since an attempt was running
			r.ended(ctx, i)
		case n == 1:
			r.watch(ctx, i)
		}
	}
	returned = true
}

// next is the function of the timer.
func (r *retrying[T]) next() {
	defer func() { recover() }() // of a method of ctx; it has failed the attempt
	r.mu.Lock()
	r.waits = false
	r.mu.Unlock()
	r.attempt(new(attempt[T]), nil)
}

// The contexts that end a wait.
const (
	ofCaller = iota
	ofPool
)

// watch has each wait end with ctx, which is that of the caller or of the pool.
func (r *retrying[T]) watch(ctx context.Context, of int) {
	m := retryWatches.NewMember(retryWatch{r, of}, ctx)
	retryWatches.Add(m, ctx.Done())
	r.mu.Lock()
	over := r.over
	r.watches[of] = m
	r.mu.Unlock()
	if over {
		m.Remove()
	}
}

// retryWatches are the contexts of the tasks with Retry that have failed and are not done.
var retryWatches = ctxgroup.Set[retryWatch]{Ended: func(w retryWatch, ctx context.Context) {
	defer logPanicOfContext()
	w.task.ended(ctx, w.of)
}}

type retryWatch struct {
	task interface {
		ended(ctx context.Context, of int)
	}
	of int
}

// ended ends the wait, if there is one, since the context has ended. An attempt has that
// context too.
func (r *retrying[T]) ended(ctx context.Context, of int) {
	r.mu.Lock()
	waits, last := r.waits, r.last
	r.mu.Unlock()
	if !waits {
		return
	}
	cause := ErrShutdown
	if of == ofCaller {
		cause = task.ContextError(ctx)
	}
	r.finish(task.Canceled, canceled(withLast(cause, last)))
}

// poolContext returns a context that ends when ex is shut down by ShutdownNow, as far as it
// is one of ours.
func poolContext(ex Executor) context.Context {
	switch ex := ex.(type) {
	case *Pool:
		return ex.ctx
	case *ScheduledPool:
		return ex.ctx
	case *keyExecutor:
		return ex.pool.ctx
	}
	return context.Background()
}

// Remove follows the end of the future, whatever ended it. It is called before the waiters
// of the future wake.
func (r *retrying[T]) Remove() {
	r.mu.Lock()
	r.over = true
	a, watches := r.current, r.watches
	idle := r.begun && !r.inBody
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	for _, m := range watches {
		if m != nil {
			m.Remove()
		}
	}
	if a != nil {
		a.core.Cancel(nil, ErrCanceled, nil)
	}
	if idle {
		r.release()
	}
}

// release records that no attempt is running any more, for Join.
func (r *retrying[T]) release() {
	r.future.core.Finish(task.Canceled, nil, func(bool) { r.future.fn, r.fn = nil, nil })
}

// attempt is one attempt. Nothing but its executor and its retrying can complete it.
type attempt[T any] struct {
	core     task.Task
	retrying *retrying[T]
}

var _ typedTask = (*attempt[int])(nil)

// Name returns the name of the task, for a hook or a policy that gets it.
func (a *attempt[T]) Name() string { return a.core.Options().Name }

func (a *attempt[T]) String() string { return describe("attempt", &a.core, errorOf(&a.core)) }

// Run is called by an executor that is not of the package, and by what a RejectFunc has
// given the task to.
func (a *attempt[T]) Run(ctx context.Context) error { return runByHand(ctx, a) }

func (a *attempt[T]) taskCore() *task.Task { return &a.core }

func (a *attempt[T]) invoke(ctx context.Context) (end ending) {
	r, back := a.retrying, false
	var v T
	defer func() {
		if !back {
			end = abrupt(recover())
		}
		r.returned()
		a.core.Finish(end.state(), nil, nil)
		r.judge(a, v, end.err)
	}()
	err := ErrCanceled
	if r.begin() {
		v, err = r.fn(ctx)
	}
	end = returned(ctx, err)
	back = true
	return end
}

func (a *attempt[T]) end(s task.State, err error) bool {
	won := false
	defer func() {
		if won { // also if a hook has called runtime.Goexit
			var none T
			a.retrying.judge(a, none, errorOf(&a.core))
		}
	}()
	return a.core.CompletePending(s, err, func() { won = true })
}

func (a *attempt[T]) fail(err error) {
	var none T
	a.core.FinishUncalled(err, nil)
	a.retrying.judge(a, none, err)
}

func (a *attempt[T]) submitted() any     { return a }
func (a *attempt[T]) runnable() Runnable { return a }

func (a *attempt[T]) detachBody() func(context.Context) error { return a.retrying.future.detachBody() }

// reportRetried reports the failure of a task with Retry whose future need not be kept.
func reportRetried[T any](p *Pool, ctx context.Context, f *Future[T], submitted any) {
	f.OnDone(func() {
		if end := (ending{err: f.Err()}); f.State() == Failed && !isAbrupt(end.err) {
			p.report(ctx, TaskInfo{Executor: p.name, Name: f.Name(), Task: submitted}, end)
		}
	})
}
