package executor

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/executor-go/executor/internal/ctxgroup"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// Retry makes a task that fails run again, up to the given number of attempts in all, which
// must be at least 1. backoff returns the time until the attempt after the n-th, from 1;
// see [Backoff]. It must not be nil, and is called by a worker. The task holds no worker in
// the meantime. Retry is for what runs once: [Submit], [Pool.Go], [Keyed.Go], [Group.Go],
// [Map], [Schedule], [ScheduledPool.After] and [At], of which the first attempt is at its
// time. It does not apply to [NewTask], nor in a pool with ScheduledConfig.Decorate.
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

// retrying is a task with Retry. Its future is not submitted; each attempt is, as a task of
// its own, by which the executor knows the future.
type retrying[T any] struct {
	future  Task[T] // of all attempts
	known   any     // what the submitter knows the task by
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
	state   retryState
	more    chan struct{} // has a token when there is another attempt; nil unless a waiter helps
	left    func()        // to be called when the body returns, since the future is done; else nil
}

// retryState is the state of a task with Retry:
//
//	fresh ──▶ inBody ⇄ between ⇄ waiting
//	inBody ── the future is done ──▶ leaving ── the body has returned ──▶ over
//	fresh, between, waiting ── the future is done ──▶ over
type retryState uint8

const (
	fresh   retryState = iota // no attempt has begun
	inBody                    // the body of an attempt is running
	between                   // an attempt has returned, or the next one is in a queue
	waiting                   // the timer is set
	leaving                   // the future is done, and the body of an attempt is running
	over                      // the future is done, and no body is running
)

// submitRetrying submits the first attempt by first, nil for Execute. The submitter knows the
// task by known, nil for its future. The error is that of the admission.
func submitRetrying[T any](
	ctx context.Context, ex Executor, fn func(context.Context) (T, error), o *options,
	known any, first func(work) error,
) (*Future[T], error) {
	mustContext(ctx)
	if fn == nil {
		return NewTask(fn).Future(), ErrNilTask
	}
	r := &retrying[T]{ctx: ctx, ex: ex, fn: fn, options: o, known: known}
	f := r.future.Future()
	if known == nil {
		r.known = f
	}
	f.fn = fn
	f.core.Init()
	adopt(&f.core, &options{name: o.name})
	f.core.SetOptions().Plan = r
	f.core.RemoveWhenDone(r)
	return f, r.attempt(&r.first, first)
}

// attempt submits a, as the next attempt, by submit, nil for Execute.
func (r *retrying[T]) attempt(a *attempt[T], submit func(work) error) error {
	a.retrying = r
	a.core.Init()
	adopt(&a.core, r.options)
	r.mu.Lock()
	if r.state >= leaving {
		r.mu.Unlock()
		return nil
	}
	r.n++
	r.current = a
	r.mu.Unlock()
	var err error
	if submit != nil {
		err = submit(a)
	} else {
		err = r.ex.Execute(r.ctx, a)
	}
	if err != nil {
		a.end(task.Failed, err) // unless ex has completed it
	} else {
		watchForeign(r.ctx, a)
	}
	r.mu.Lock()
	more := r.more
	r.mu.Unlock()
	signal(more)
	return err
}

// help runs attempts for a task of the same pool that waits for the future.
func (r *retrying[T]) help(ctx context.Context) {
	if task.OwnerOf(ctx) == nil || ctx.Done() != r.ctx.Done() {
		return
	}
	for more := r.signals(make(chan struct{}, 1)); ; {
		r.helpNow(ctx)
		select {
		case <-more:
		case <-r.future.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (r *retrying[T]) helpNow(ctx context.Context) {
	r.mu.Lock()
	a := r.current
	r.mu.Unlock()
	if mayRun(ctx, &a.core) {
		a.Run(ctx)
	}
}

func (r *retrying[T]) signals(more chan struct{}) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = more
	}
	return r.more
}

// signal puts a token into c, unless there is one, or c is nil.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// begin reports whether the body is to be called for an attempt.
func (r *retrying[T]) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	begins := r.state == between
	if r.state == fresh {
		_, begins = r.future.core.BeginByHand(r.ctx, task.Once)
	}
	if begins { // else it is canceled, or run by hand
		r.state = inBody
	}
	return begins
}

// returned follows the return of the body.
func (r *retrying[T]) returned() {
	r.mu.Lock()
	was, left := r.state, r.left
	switch r.left = nil; was {
	case inBody:
		r.state = between
	case leaving:
		r.state = over
	}
	r.mu.Unlock()
	if was == leaving {
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
		running := r.state == leaving
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
	n, last, moot := r.n, r.last, r.state >= leaving || r.state == fresh && a.core.Begun()
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
	r.last = err
	if r.state == between {
		if r.state = waiting; r.timer == nil {
			r.timer = time.AfterFunc(d, r.next)
		} else {
			r.timer.Reset(d)
		}
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
	if r.state == waiting {
		r.state = between
	}
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
	done := r.state >= leaving
	r.watches[of] = m
	r.mu.Unlock()
	if done {
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
	state, last := r.state, r.last
	r.mu.Unlock()
	if state != waiting {
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
	a, watches, was := r.current, r.watches, r.state
	if r.state = over; was == inBody {
		r.state = leaving
	}
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
	if was == between || was == waiting {
		r.release()
	}
}

// release records that no attempt is running any more, for Join.
func (r *retrying[T]) release() {
	r.future.core.Finish(task.Canceled, nil, func(bool) { r.future.fn, r.fn = nil, nil })
}

// attempt is one attempt. Nothing but its executor and its retrying can complete it. To the
// submitter it is the whole task.
type attempt[T any] struct {
	core     task.Task
	retrying *retrying[T]
}

// Name returns the name of the task, for a hook or a policy that gets it.
func (a *attempt[T]) Name() string { return a.core.Options().Name }

func (a *attempt[T]) String() string { return describe("attempt", &a.core, errorOf(&a.core)) }

// Run is called by an executor that is not of the package, and by what a RejectFunc has
// given the task to.
func (a *attempt[T]) Run(ctx context.Context) error { return runByHand(ctx, a) }

func (a *attempt[T]) Slot() *engine.Slot      { return a.core.Slot() }
func (a *attempt[T]) Outcome() engine.Outcome { return outcomeOf(&a.core) }
func (a *attempt[T]) Do(w *engine.Worker)     { localOf(w).runTask(a) }
func (a *attempt[T]) taskCore() *task.Task    { return &a.core }

func (a *attempt[T]) invoke(ctx context.Context) ending {
	r := a.retrying
	var v T
	end := guarded(ctx, func(ctx context.Context) (err error) {
		if !r.begin() {
			return ErrCanceled
		}
		v, err = r.fn(ctx)
		return err
	})
	return a.judged(v, end)
}

func (a *attempt[T]) conclude(end ending) ending {
	var none T
	return a.judged(none, end)
}

func (a *attempt[T]) judged(v T, end ending) ending {
	a.retrying.returned()
	a.core.Finish(end.state(), nil, nil)
	a.retrying.judge(a, v, end.err)
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

func (a *attempt[T]) submitted() any     { return a.retrying.known }
func (a *attempt[T]) runnable() Runnable { return a }

func (a *attempt[T]) detachBody() func(context.Context) error { return a.retrying.future.detachBody() }
