package executor

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/executor-go/executor/internal/task"
)

// A Group runs functions on an executor and waits for all of them. The first one that
// fails ends the context of the others. It is made by [NewGroup]; the zero Group is
// not usable. All methods may be called by any goroutine.
//
// A function of a group may add others to it, and may wait for a group of its own on
// the same pool: where Wait is called by a task of the pool, that task runs what no
// worker has begun, so that groups in groups need no more workers than there are.
type Group struct {
	ex     Executor
	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // those that are not over: without an outcome, or with a body that runs

	first sync.Once
	err   error // of the first task that failed; written by first, read after tasks.Wait

	waiting helpList // what the caller of Wait may run; unused unless it is a task of ex
}

// NewGroup returns a group whose functions run on ex. ctx is the parent of the context
// that they get. That context ends when a function has failed, with its error as the
// cause, and when Wait has returned: every group is to be waited for. A nil ctx, and a
// nil ex, panic.
func NewGroup(ctx context.Context, ex Executor) *Group {
	mustContext(ctx)
	if ex == nil {
		panic("executor: NewGroup: nil Executor")
	}
	g := &Group{ex: ex}
	g.waiting.on = runsOn(ctx, ex)
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

// Go submits fn. An error of fn, a panic, as a [*PanicError], and a rejection fail the
// group. Go waits only if the executor does, as a pool with the policy [Block], and
// not after the group has failed; functions that wait then never run. It must not be
// called once Wait has returned.
func (g *Group) Go(fn func(context.Context) error, opts ...Option) {
	g.mustBeMade()
	t := &groupTask{group: g, fn: fn}
	body := t.run
	if fn == nil {
		body = nil // the future fails with ErrNilTask
	}
	f := NewFuture(body, opts...)
	g.tasks.Add(1)
	f.OnDone(func() { t.done(f.Err()) })
	g.waiting.add(f) // from here on Wait may run it
	submitShared(g.ctx, g.ex, f)
}

// Wait waits until all functions have returned, or will never run, and returns the
// first error of one of them, nil if all have succeeded. It waits for no context: end
// that of the group, and the functions that heed it return.
func (g *Group) Wait() error {
	g.mustBeMade()
	for f := g.waiting.next(); f != nil; f = g.waiting.next() {
		f.Run(g.ctx)
	}
	g.tasks.Wait()
	g.cancel(nil)
	return g.err
}

func (g *Group) mustBeMade() {
	if g.ex == nil {
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

// groupTask is a function of a group. It is over when it has an outcome and its body
// is not running: a body that ignores the end of its context outlives its outcome.
//
//	waiting -> running           the body begins
//	waiting -> over              an outcome without a body
//	running -> returned -> over  the body returns; the future has its outcome
//	running -> settled -> over   the future is canceled; the body returns
type groupTask struct {
	group *Group
	fn    func(context.Context) error
	state atomic.Uint32
}

const (
	taskWaiting uint32 = iota
	taskRunning
	taskReturned // the body has returned, and its outcome will follow
	taskSettled  // it has an outcome, and its body is running
	taskOver
)

func (t *groupTask) run(ctx context.Context) (struct{}, error) {
	if !t.state.CompareAndSwap(taskWaiting, taskRunning) {
		return struct{}{}, nil // canceled in this moment
	}
	defer func() {
		if !t.state.CompareAndSwap(taskRunning, taskReturned) {
			t.state.Store(taskOver)
			t.group.tasks.Done()
		}
	}()
	return struct{}{}, t.fn(ctx)
}

// done records the outcome.
func (t *groupTask) done(err error) {
	if err != nil {
		t.group.first.Do(func() {
			t.group.err = err
			t.group.cancel(err)
		})
	}
	for {
		switch {
		case t.state.CompareAndSwap(taskWaiting, taskOver), t.state.CompareAndSwap(taskReturned, taskOver):
			t.group.tasks.Done()
			return
		case t.state.CompareAndSwap(taskRunning, taskSettled):
			return
		}
	}
}

// helpList has the tasks that a task which waits for them may run itself, in the order
// of their submission. Only a task of the same pool may: another goroutine would break
// the pool's limit, and the order of a pool with one worker.
type helpList struct {
	on bool

	mu    sync.Mutex
	tasks []helpable
	prune int // remove tasks that are done once there are so many
}

// helpable is a Future.
type helpable interface {
	Runnable
	State() State
}

// add adds a task that is about to be submitted.
func (l *helpList) add(t helpable) {
	if !l.on {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) >= max(l.prune, 64) {
		l.tasks = slices.DeleteFunc(l.tasks, func(t helpable) bool { return t.State() != Pending })
		l.prune = 2 * len(l.tasks)
	}
	l.tasks = append(l.tasks, t)
}

// next takes the first task, nil if there is none.
func (l *helpList) next() helpable {
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

// runsOn reports whether ctx is that of a task of ex. It is not for a context that was
// kept after the task, which has ended.
func runsOn(ctx context.Context, ex Executor) bool {
	owner := task.OwnerOf(ctx)
	if owner == nil {
		return false
	}
	switch p := ex.(type) {
	case *Pool:
		return p.owns(owner)
	case *ScheduledPool:
		return p.owns(owner)
	}
	return false
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
		m.done = make(chan *Future[Out], n)
		m.next = m.soonest
		m.run(n, seq, yield)
	}
}

func checkMap(name string, ctx context.Context, ex Executor, n int, null bool) {
	mustContext(ctx)
	switch {
	case ex == nil:
		panic("executor: " + name + ": nil Executor")
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
	fn     func(context.Context, In) (Out, error)
	opts   []Option
	helps  bool // the loop is in a task of ex

	flight []*Future[Out]      // submitted and not yet yielded, in order
	next   func() *Future[Out] // waits for the one of flight that is to be yielded
	done   chan *Future[Out]   // of flight, in the order in which they are done; nil if ordered
}

func newMapping[In, Out any](
	ctx context.Context, ex Executor, fn func(context.Context, In) (Out, error), opts []Option,
) *mapping[In, Out] {
	m := &mapping[In, Out]{outer: ctx, ex: ex, fn: fn, opts: opts, helps: runsOn(ctx, ex)}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	return m
}

func (m *mapping[In, Out]) run(n int, seq iter.Seq[In], yield func(Out, error) bool) {
	defer m.end()
	cut := false // ctx ended before seq did
	for in := range seq {
		if cut = m.outer.Err() != nil; cut {
			break
		}
		if len(m.flight) == n && !yield(m.take()) {
			return
		}
		m.submit(in)
	}
	for len(m.flight) > 0 {
		if !yield(m.take()) {
			return
		}
	}
	if cut {
		var zero Out
		yield(zero, task.ContextError(m.outer))
	}
}

func (m *mapping[In, Out]) submit(in In) {
	f := NewFuture(func(ctx context.Context) (Out, error) { return m.fn(ctx, in) }, m.opts...)
	m.flight = append(m.flight, f)
	if m.done != nil {
		f.OnDone(func() { m.done <- f }) // has room for all in flight
	}
	submit(m.ctx, m.ex, f)
}

// take waits for the next result, and for the return of the call.
func (m *mapping[In, Out]) take() (Out, error) {
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
		f.Run(m.ctx)
	}
	return f
}

// soonest waits for the call that is done first.
func (m *mapping[In, Out]) soonest() *Future[Out] {
	for _, f := range m.flight {
		if !m.helps || len(m.done) > 0 {
			break
		}
		f.Run(m.ctx) // the first that no worker has begun
	}
	f := <-m.done
	m.flight = slices.DeleteFunc(m.flight, func(g *Future[Out]) bool { return g == f })
	return f
}

// end ends the calls in flight and waits until they have returned.
func (m *mapping[In, Out]) end() {
	m.cancel(nil)
	for _, f := range m.flight {
		f.Join(context.Background())
	}
}
