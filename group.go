package executor

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
	"github.com/executor-go/executor/queue"
)

// A Group runs functions on an executor and waits for all of them. The first one that
// fails ends the context of the others. It is made by [NewGroup]; the zero Group is
// not usable. All methods may be called by any goroutine.
//
// A function of a group may add others to it, and may wait for a group of its own on
// the same pool: where Wait is called by a task of the pool, that task runs what no
// worker has begun, so that groups in groups need no more workers than there are. Where such a
// pool has no room for a function, Wait runs it.
type Group struct {
	ex     Executor
	pool   *Pool       // ex, if that is one that is not scheduled
	common task.Common // to all tasks on pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // the tasks that are not over

	failed atomic.Bool
	err    error // of the first task that failed; written by that, read after tasks.Wait

	waiting waitList
	unwatch func() bool // else endWaiting is called when the context ends; nil if the caller's has no end
	helps   bool        // the caller of Wait runs what waits, since it is a task of ex
}

// NewGroup returns a group whose functions run on ex. ctx is the parent of the context
// that they get. That context ends when a function has failed, with its error as the
// cause, and when Wait has returned: every group is to be waited for. A nil ctx, and a
// nil ex, panic.
func NewGroup(ctx context.Context, ex Executor) *Group {
	mustContext(ctx)
	mustExecutor("NewGroup", ex)
	g := &Group{ex: ex, helps: runsOn(ctx, ex)}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	if p, ok := ex.(*Pool); ok && p.timer == nil {
		g.pool = p
		g.common.Init(&p.owner, g.ctx)
	}
	if ctx.Done() != nil {
		g.unwatch = context.AfterFunc(g.ctx, g.endWaiting)
	}
	return g
}

// Go submits fn. An error of fn, a panic, as a [*PanicError], and a rejection fail the
// group. Go waits only if the executor does, as a pool with the policy [Block], and
// not after the group has failed; functions that wait then never run. It must not be
// called once Wait has returned.
func (g *Group) Go(fn func(context.Context) error, opts ...Option) {
	g.mustBeMade()
	g.tasks.Add(1)
	o, err := gather(oneRun, opts)
	if fn == nil {
		err = ErrNilTask
	}
	switch {
	case err != nil:
		g.over(err)
		return
	case o.retry.attempts > 1 && !isOurs(g.ex):
		call := inPlace(o.retry, Func(fn).Call)
		fn = func(ctx context.Context) error {
			_, err := call(ctx)
			return err
		}
		o = &options{name: o.name, timeout: o.timeout, priority: o.priority}
	}
	t := &groupTask{group: g, fn: fn}
	t.core.Init()
	t.core.MakeGrouped()
	adopt(&t.core, o)
	if p := g.pool; p != nil {
		t.core.AttachCommon(&g.common)
		g.waiting.add(t)
		if err = task.IfEnded(g.ctx); err != nil {
			t.end(task.Canceled, canceled(err))
		} else {
			err = p.enter(g.ctx, t, &t.core, g.helps)
		}
	} else {
		g.waiting.add(t)
		err = g.ex.Execute(g.ctx, t)
	}
	if err != nil {
		t.end(task.Failed, err) // unless ex has completed it
	}
}

// Context returns the context of the group's functions. It ends when one has failed, so that
// who adds functions can see that no further one would run, and when Wait has returned.
func (g *Group) Context() context.Context {
	g.mustBeMade()
	return g.ctx
}

// Wait waits until all functions have returned, or will never run, and returns the first
// error of one of them, nil if all have succeeded. It waits without a limit: end the
// context of the group, and the functions that heed it return.
func (g *Group) Wait() error {
	g.mustBeMade()
	if g.helps {
		g.help()
	} else {
		defer lendTo(g.ctx, g.ex)()
	}
	g.tasks.Wait()
	if g.unwatch != nil {
		g.unwatch()
	}
	g.cancel(nil)
	return g.err
}

// help runs what no worker has begun.
func (g *Group) help() {
	var retrying []*groupTask
	var cores []*task.Task
	for t := g.waiting.next(); t != nil; t = g.waiting.next() {
		if retryOf(&t.core) == nil {
			t.Run(g.ctx)
		} else {
			retrying, cores = append(retrying, t), append(cores, &t.core)
		}
	}
	if len(cores) > 0 {
		helpAttempts(context.Background(), cores, false, func(i int) bool {
			runByHand(g.ctx, retrying[i], task.WhenDue)
			return true
		})
	}
}

// over counts a task that is over. The first that failed ends the others.
func (g *Group) over(err error) {
	if err != nil && !g.failed.Swap(true) {
		g.err = err
		g.cancel(err)
		if g.unwatch == nil {
			go g.endWaiting() // not here, where a hook may end the goroutine
		}
	}
	g.tasks.Done()
}

// endWaiting ends the tasks that wait, since the context has ended. Wait waits for them.
func (g *Group) endWaiting() {
	ended := false
	defer func() {
		if !ended { // a hook has called runtime.Goexit
			g.endWaiting()
		}
	}()
	err := canceled(task.ContextError(g.ctx))
	for t := g.waiting.next(); t != nil; t = g.waiting.next() {
		t.end(task.Canceled, err)
	}
	ended = true
}

func (g *Group) mustBeMade() {
	if g == nil || g.ex == nil {
		panic("executor: this Group was not made by NewGroup; the zero value is not usable")
	}
}

// All calls the functions on ex, waits for all of them, and returns their results in
// the order of the functions, or the first error. It is a [Group] for functions with a
// result. The context of the functions ends when one has failed. A nil ctx, and a nil
// ex, panic.
func All[T any](ctx context.Context, ex Executor, fns ...func(context.Context) (T, error)) ([]T, error) {
	g := NewGroup(ctx, ex)
	results := make([]T, len(fns))
	for i, fn := range fns {
		if fn == nil {
			g.Go(nil)
			continue
		}
		g.Go(func(ctx context.Context) (err error) {
			results[i], err = fn(ctx)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return results, nil
}

// groupTask is a function of a group. It is over when the function has returned, or will
// never run. Nothing but its executor and its group can complete it. Its context is not
// watched by the pool, since the group ends its tasks itself.
type groupTask struct {
	core  task.Task
	group *Group
	fn    func(context.Context) error // nil once it is over; under the task's lock
}

// Name returns the name of the task, for a hook or a policy that gets it.
func (t *groupTask) Name() string { return t.core.Options().Name }

func (t *groupTask) String() string { return describe("task of a group", &t.core, errorOf(&t.core)) }

// Run is called by Wait, by an executor that is not of the package, and by what a
// RejectFunc has given the task to.
func (t *groupTask) Run(ctx context.Context) error { return runByHand(ctx, t, task.Once) }

func (t *groupTask) Slot() *engine.Slot      { return t.core.Slot() }
func (t *groupTask) Outcome() engine.Outcome { return outcomeOf(&t.core) }
func (t *groupTask) Do(w *engine.Worker)     { localOf(w).runTask(t) }
func (t *groupTask) taskCore() *task.Task    { return &t.core }

func (t *groupTask) invoke(ctx context.Context, on *engine.Worker) ending {
	end := guarded(ctx, t.fn)
	on.Showing()
	return t.conclude(end)
}

func (t *groupTask) conclude(end ending) ending {
	end, again := tryAgain(&t.core, end, func() { t.fn = nil })
	switch {
	case again && t.core.State().Done(): // it was completed meanwhile
		t.group.over(errorOf(&t.core))
		return end
	case again:
		return end
	}
	t.core.Finish(end.state(), end.err, func(bool) { t.fn = nil })
	t.group.over(errorOf(&t.core))
	return end
}

func (t *groupTask) end(s task.State, err error) bool {
	won := false
	defer func() {
		if won { // also if a hook has called runtime.Goexit
			t.group.over(errorOf(&t.core))
		}
	}()
	return t.core.CompletePending(s, outcomeWithLast(&t.core, err), func() { won, t.fn = true, nil })
}

func (t *groupTask) fail(err error) {
	t.core.FinishUncalled(err, func(bool) { t.fn = nil })
	t.group.over(err)
}

func (t *groupTask) submitted() any     { return t }
func (t *groupTask) runnable() Runnable { return t }

func (t *groupTask) detachBody() (fn func(context.Context) error) {
	t.core.IfNotDone(func() { fn = t.fn })
	return fn
}

// waitList has the tasks of a group that wait, and some that do not any more, in the order
// of their submission. Only a task of the same pool may run them: another goroutine would
// break the pool's limit, and the order of a pool with one worker.
type waitList struct {
	mu    sync.Mutex
	tasks []*groupTask
	few   [8]*groupTask // the first of tasks
	prune int           // remove tasks that do not wait once there are so many
}

// add adds a task that is about to be submitted.
func (l *waitList) add(t *groupTask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) >= max(l.prune, 64) {
		l.tasks = slices.DeleteFunc(l.tasks, func(t *groupTask) bool {
			return t.core.State() != task.Pending && retryOf(&t.core) == nil || t.core.State().Done()
		})
		l.prune = 2 * len(l.tasks)
	}
	if l.tasks == nil {
		l.tasks = l.few[:0]
	}
	l.tasks = append(l.tasks, t)
}

// next takes the first task, nil if there is none.
func (l *waitList) next() *groupTask {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) == 0 {
		return nil
	}
	t := l.tasks[0]
	l.tasks[0] = nil
	l.tasks = l.tasks[1:]
	return t
}

// runsOn reports whether ctx is that of a task of ex. The task may have ended, and ctx with
// it.
func runsOn(ctx context.Context, ex Executor) bool {
	owner := task.OwnerOf(ctx)
	switch p := ex.(type) {
	case *Pool:
		return owner.Within(&p.owner)
	case *ScheduledPool:
		return owner.Within(&p.owner)
	}
	return false
}

// lendTo lends the worker of the caller, which is about to wait for tasks of ex, if ctx is that of
// a task, and ex a share of its pool, or its keys. It does until the function that it returns is called.
func lendTo(ctx context.Context, ex Executor) (waited func()) {
	switch p := ex.(type) {
	case *Pool:
		return task.OwnerOf(ctx).Lend(&p.owner, false)
	case *keyExecutor:
		return task.OwnerOf(ctx).Lend(&p.pool.owner, true)
	}
	return func() {}
}

// Map calls fn on ex for each value of seq, and yields the results in the order of seq:
// what fn returned, or the error of a call that was not made. At most n values are in
// flight, submitted and not yet yielded: seq is asked for the next one, in the goroutine
// of the loop, when there is room. An error does not end the loop; leaving it does.
//
// Leaving the loop ends the context of the calls in flight, and waits until they have
// returned. The end of ctx does the same: seq is not asked any more, and if it had not
// ended, the last error yielded is that of ctx.
//
// In a task of ex, if that is a pool, the loop makes calls that no worker has begun. Map
// panics if ctx, ex, seq or fn is nil, or n is less than 1.
func Map[In, Out any](
	ctx context.Context, ex Executor, n int, seq iter.Seq[In],
	fn func(context.Context, In) (Out, error), opts ...Option,
) iter.Seq2[Out, error] {
	checkMap("Map", ctx, ex, n, seq == nil || fn == nil)
	return func(yield func(Out, error) bool) {
		m := newMapping(ctx, ex, fn, opts)
		m.next = m.oldest
		m.run(n, seq, yield)
	}
}

// MapUnordered is [Map], but yields each result as soon as it is there.
func MapUnordered[In, Out any](
	ctx context.Context, ex Executor, n int, seq iter.Seq[In],
	fn func(context.Context, In) (Out, error), opts ...Option,
) iter.Seq2[Out, error] {
	checkMap("MapUnordered", ctx, ex, n, seq == nil || fn == nil)
	return func(yield func(Out, error) bool) {
		m := newMapping(ctx, ex, fn, opts)
		m.done = queue.NewUnbounded[*Future[Out]]()
		m.next = m.soonest
		m.run(n, seq, yield)
	}
}

func checkMap(name string, ctx context.Context, ex Executor, n int, null bool) {
	mustContext(ctx)
	mustExecutor(name, ex)
	switch {
	case null:
		panic("executor: " + name + ": nil function")
	case n < 1:
		panic(fmt.Sprintf("executor: %s: n is %d; it must be at least 1", name, n))
	}
}

// mapping is one loop of [Map]. It belongs to the goroutine of the loop.
type mapping[In, Out any] struct {
	outer  context.Context // the caller's
	ctx    context.Context // that of the calls
	cancel context.CancelCauseFunc
	ex     Executor
	pool   *Pool       // ex, if that is one that is not scheduled, and there are no options
	common task.Common // to all calls on pool
	fn     func(context.Context, In) (Out, error)
	opts   []Option
	helps  bool // the loop is in a task of ex

	flight []*Future[Out]                // submitted and not yet yielded, in order
	next   func() *Future[Out]           // waits for the one of flight that is to be yielded
	done   *queue.Blocking[*Future[Out]] // of flight, in the order in which they are done; nil if ordered
}

func newMapping[In, Out any](
	ctx context.Context, ex Executor, fn func(context.Context, In) (Out, error), opts []Option,
) *mapping[In, Out] {
	m := &mapping[In, Out]{outer: ctx, ex: ex, fn: fn, opts: opts, helps: runsOn(ctx, ex)}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	if p, ok := ex.(*Pool); ok && p.timer == nil && len(opts) == 0 {
		m.pool = p
		m.common.Init(&p.owner, m.ctx)
	}
	return m
}

func (m *mapping[In, Out]) run(n int, seq iter.Seq[In], yield func(Out, error) bool) {
	defer m.end()
	cut := m.outer.Err() != nil // before seq ended
	if cut {
		seq = func(func(In) bool) {}
	}
	for in := range seq {
		if cut = m.outer.Err() != nil; cut {
			break
		}
		if len(m.flight) == n && !yield(m.take()) {
			return
		}
		m.submit(in)
		if cut = m.outer.Err() != nil; cut {
			break // seq may have no next value for long
		}
	}
	for len(m.flight) > 0 {
		if !yield(m.take()) {
			return
		}
	}
	if cut {
		yield(*new(Out), task.ContextError(m.outer))
	}
}

func (m *mapping[In, Out]) submit(in In) {
	f := m.call(func(ctx context.Context) (Out, error) { return m.fn(ctx, in) })
	m.flight = append(m.flight, f)
	if m.done != nil {
		f.OnDone(func() { m.done.Offer(f) })
	}
}

// call is Submit. The calls on a pool have no links of their own.
func (m *mapping[In, Out]) call(fn func(context.Context) (Out, error)) *Future[Out] {
	if m.pool == nil {
		return Submit(m.ctx, m.ex, fn, m.opts...)
	}
	t := NewTask(fn)
	t.core.AttachCommon(&m.common)
	if err := m.pool.enter(m.ctx, t.work(), &t.core, m.helps); err != nil {
		t.end(task.Failed, err) // unless the pool has completed it
	}
	return &t.future
}

// take waits for the next result, and for the return of the call.
func (m *mapping[In, Out]) take() (Out, error) {
	if !m.helps {
		defer lendTo(m.ctx, m.ex)()
	}
	f := m.next()
	f.Join(context.Background()) // a call that is canceled may still be running
	return f.Result()
}

// oldest waits for the call that was submitted first.
func (m *mapping[In, Out]) oldest() *Future[Out] {
	f := m.flight[0]
	m.flight[0] = nil
	m.flight = m.flight[1:]
	if m.helps {
		f.help(m.ctx)()
	}
	return f
}

// soonest waits for the call that is done first.
func (m *mapping[In, Out]) soonest() *Future[Out] {
	if m.helps && m.done.Len() == 0 {
		flight := m.flight
		cores := make([]*task.Task, len(flight))
		for i, f := range flight {
			cores[i] = &f.core
		}
		helpAttempts(context.Background(), cores, true, func(i int) bool {
			may := mayRun(m.ctx, cores[i])
			if may {
				flight[i].runOnce(m.ctx, task.WhenDue)
			}
			return may
		}) // what is done is in m.done, or about to be
	}
	f, _ := m.done.Take(context.Background())
	m.flight = slices.DeleteFunc(m.flight, func(g *Future[Out]) bool { return g == f })
	return f
}

// end ends the calls in flight and waits until they have returned.
func (m *mapping[In, Out]) end() {
	m.cancel(nil)
	for _, f := range m.flight {
		f.end(task.Canceled, canceled(task.ContextError(m.ctx))) // it may be in no queue
		f.Join(context.Background())
	}
}
