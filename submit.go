package executor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
			mustContext(ctx)
			f, _ := submitRetrying(ctx, ex, fn, o)
			return f
		}
	}
	t := NewTask(fn, opts...)
	submit(ctx, ex, t)
	return t.Future()
}

// submit submits t, which nobody else knows yet, and returns the error of its admission.
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

// Retry makes a task that fails run again, up to the given number of attempts in all, which
// must be at least 1. backoff returns the time until the attempt after the n-th, from 1;
// see [Backoff]. It must not be nil, and is called by a worker. The task holds no worker in
// the meantime. Retry is for [Submit], [Pool.Go] and [Keyed.Go].
//
// There is one future for all attempts. It fails with the error of the last, is Running
// from the first attempt until it is done, and Cancel ends the attempt in progress, or the
// wait. A failure is final if its error is marked by [Permanent], if the task panicked, or
// if the executor rejects an attempt, as after Shutdown; the end of ctx and ShutdownNow are
// final at once, also during the wait. The error then matches the one of the attempt before
// as well.
//
// Each attempt is a task of the executor, with the options of the task, as its [Timeout],
// and is counted and shown to hooks as one. The default is one attempt.
func Retry(attempts int, backoff func(n int) time.Duration) Option {
	return func(o *options) {
		if attempts < 1 {
			o.reject("Retry: attempts is %d; it must be at least 1", attempts)
		}
		if backoff == nil {
			o.reject("Retry: nil backoff; use Backoff(first, most)")
		}
		o.retry = retryRule{attempts, backoff}
	}
}

// Backoff returns a function for [Retry]: first after the first attempt, twice as much
// after each further one, and not more than most, all shortened at random by up to a half.
// first must be positive, and most at least first; Backoff panics otherwise.
func Backoff(first, most time.Duration) func(n int) time.Duration {
	if first <= 0 || most < first {
		panic(invalid("Backoff(%v, %v): first must be positive, and most at least first", first, most).Error())
	}
	return func(n int) time.Duration {
		d := first
		for ; n > 1 && d < most; n-- {
			d = min(2*d, most)
			if d < 0 {
				d = most
			}
		}
		return d - rand.N(d/2+1)
	}
}

// Permanent marks err as one that another attempt of [Retry] would not change. The future
// fails with err, without the mark. Without Retry the mark has no effect. A nil err is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// lastError is the error of a task that was ended before another attempt.
type lastError struct{ err, last error }

func (e *lastError) Error() string {
	return fmt.Sprintf("%s; the last attempt: %s", task.Reason(e.err), task.Reason(e.last))
}
func (e *lastError) Unwrap() []error { return []error{e.err, task.NonNil(e.last)} }

// withLast returns err, with the error of the attempt before, if there was one.
func withLast(err, last error) error {
	if last == nil {
		return err
	}
	return &lastError{err, last}
}

// retrying is a task with Retry. Its future is not submitted; each attempt is, as a future
// of its own:
//
//	attempt ── failed ──▶ wait ── timer ──▶ attempt
//	   │                    └─ future done, ctx ended ──▶ over
//	   └─ succeeded, canceled, failed for good, future done ──▶ over
type retrying[T any] struct {
	ctx     context.Context
	ex      Executor
	fn      func(context.Context) (T, error)
	options *options
	future  *Task[T]

	mu      sync.Mutex
	n       int           // attempts
	current *Task[T]      // the latest attempt
	timer   *time.Timer   // for the next; nil before the first wait
	unwatch func()        // ends the watch over ctx and the pool; nil before the first wait
	last    error         // of the attempt before
	begun   bool          // an attempt has begun
	inBody  bool          // the body of an attempt is running
	over    bool          // the future is done
	next    chan struct{} // has a token when there is a next attempt; nil unless a call of Get helps
}

// submitRetrying starts the first attempt. The error is that of its admission.
func submitRetrying[T any](
	ctx context.Context, ex Executor, fn func(context.Context) (T, error), o *options,
) (*Future[T], error) {
	t := NewTask(fn)
	if fn == nil {
		return t.Future(), ErrNilTask
	}
	adopt(&t.core, &options{name: o.name})
	r := &retrying[T]{ctx: ctx, ex: ex, fn: fn, options: o, future: t}
	t.core.SetOptions().Plan = r
	t.OnDone(r.end)
	return t.Future(), r.attempt()
}

// attempt submits the next attempt.
func (r *retrying[T]) attempt() error {
	a := newTask(r.body)
	adopt(&a.core, r.options)
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return nil
	}
	r.n++
	r.current = a
	r.mu.Unlock()
	a.OnDone(func() { r.judge(a) })
	err := submitShared(r.ctx, r.ex, a)
	r.mu.Lock()
	if r.next != nil {
		select {
		case r.next <- struct{}{}:
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
		if r.next == nil {
			r.next = make(chan struct{}, 1)
		}
		a := r.current
		r.mu.Unlock()
		if mayRun(ctx, &a.core) {
			a.run(ctx)
		}
		select {
		case <-r.next:
		case <-r.future.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// body is that of each attempt.
func (r *retrying[T]) body(ctx context.Context) (v T, err error) {
	r.mu.Lock()
	if !r.begun {
		_, r.begun = r.future.core.BeginByHand(r.ctx, task.Once)
	}
	runs := r.begun && !r.over
	r.inBody = runs
	r.mu.Unlock()
	if !runs {
		return v, ErrCanceled
	}
	defer func() {
		r.mu.Lock()
		r.inBody = false
		over := r.over
		r.mu.Unlock()
		if over {
			r.release()
		}
	}()
	return r.fn(ctx)
}

// judge follows the end of an attempt.
func (r *retrying[T]) judge(a *Task[T]) {
	r.mu.Lock()
	n, last, moot := r.n, r.last, r.over || !r.begun && a.core.Begun()
	r.mu.Unlock()
	if moot {
		return
	}
	v, err := a.Result()
	var permanent *permanentError
	switch state := a.core.State(); {
	case state == task.Succeeded:
		r.future.Complete(v)
	case state == task.Canceled:
		if cerr, ok := err.(*CanceledError); ok && last != nil {
			err = canceled(withLast(cerr.Cause, last))
		}
		r.finish(task.Canceled, err)
	case !a.core.Begun(): // rejected, or dropped by a policy
		r.finish(task.Failed, withLast(err, last))
	case asPermanent(err, &permanent):
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

// asPermanent is errors.As for an error of a user's, whose methods may panic.
func asPermanent(err error, to **permanentError) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return errors.As(err, to)
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
	r.last = err
	r.mu.Unlock()
	unwatchCaller := context.AfterFunc(r.ctx, func() {
		r.finish(task.Canceled, canceled(withLast(task.ContextError(r.ctx), err)))
	})
	unwatchPool := context.AfterFunc(poolContext(r.ex), func() {
		r.finish(task.Canceled, canceled(withLast(ErrShutdown, err)))
	})
	unwatch := func() {
		unwatchCaller()
		unwatchPool()
	}
	returned = true
	r.mu.Lock()
	over := r.over
	if !over {
		r.unwatch = unwatch
		r.timer = time.AfterFunc(d, func() {
			defer func() { recover() }() // of a method of ctx; it has failed the attempt
			unwatch()
			r.attempt()
		})
	}
	r.mu.Unlock()
	if over {
		unwatch()
	}
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

// end follows the end of the future, by whatever.
func (r *retrying[T]) end() {
	r.mu.Lock()
	r.over = true
	a, timer, unwatch := r.current, r.timer, r.unwatch
	idle := r.begun && !r.inBody
	r.mu.Unlock()
	if timer != nil {
		timer.Stop()
		unwatch()
	}
	if a != nil {
		a.Cancel()
	}
	if idle {
		r.release()
	}
}

// release records that no attempt is running any more, for Join.
func (r *retrying[T]) release() {
	r.future.core.Finish(task.Canceled, nil, func(bool) { r.future.fn = nil })
}

// goRetrying is Go for a task with Retry.
func (p *Pool) goRetrying(ctx context.Context, ex Executor, fn func(context.Context) error, o *options) error {
	f, err := submitRetrying(ctx, ex, Callable(fn), o)
	if err == nil {
		f.OnDone(func() {
			if end := (ending{err: f.Err()}); f.State() == Failed && !isAbrupt(end.err) {
				p.report(ctx, TaskInfo{Executor: p.name, Name: o.name, Task: Func(fn)}, end)
			}
		})
	}
	return err
}
