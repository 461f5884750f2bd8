package executor

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/executor-go/executor/internal/task"
)

// Map calls fn on ex for each value of seq, and yields the results in the order of seq: what fn returned, or the error
// of a call that was not made. At most n values are in flight, submitted and not yet yielded. When there is room, the
// goroutine of the loop takes the next value from seq. An error does not end the loop.
//
// Leaving the loop ends the context of the calls in flight, and waits until they have returned. The end of ctx does the
// same: seq is not read further, and unless seq had ended, the last error yielded is that of ctx.
//
// A task may run the loop, with its own context; see [Future.Get]. Map panics if ctx, ex, seq or fn is nil, or n is
// less than 1.
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

// MapUnordered is [Map], but yields each result as soon as its call has returned.
func MapUnordered[In, Out any](
	ctx context.Context, ex Executor, n int, seq iter.Seq[In],
	fn func(context.Context, In) (Out, error), opts ...Option,
) iter.Seq2[Out, error] {
	checkMap("MapUnordered", ctx, ex, n, seq == nil || fn == nil)
	return func(yield func(Out, error) bool) {
		m := newMapping(ctx, ex, fn, opts)
		m.next, m.unordered = m.soonest, true
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

// mapping is one loop of [Map]. It belongs to the goroutine of the loop, but for what mu guards.
type mapping[In, Out any] struct {
	siblings
	outer context.Context // the caller's
	fn    func(context.Context, In) (Out, error)
	opts  []Option

	flight    []*call[In, Out]      // submitted and not yet yielded, in order, after first
	first     int                   // of flight; those before are nil
	next      func() *call[In, Out] // waits for the one of flight that is to be yielded
	wake      chan struct{}         // has a token when one is over
	unordered bool

	mu   sync.Mutex
	done []*member // of flight, in the order in which they are over; nil unless unordered
}

// call is a call of a mapping.
type call[In, Out any] struct {
	member
	mapping *mapping[In, Out]
	in      In
	out     Out // written by the body, read once that is over
}

// callBody is a call as the body of its task.
type callBody[In, Out any] call[In, Out]

func (c *callBody[In, Out]) Run(ctx context.Context) error {
	out, err := c.mapping.fn(ctx, c.in)
	if c.core.InBody() { // else it is what ShutdownNow has returned, and nobody waits for it
		c.out = out
	}
	return err
}

func newMapping[In, Out any](
	ctx context.Context, ex Executor, fn func(context.Context, In) (Out, error), opts []Option,
) *mapping[In, Out] {
	m := &mapping[In, Out]{outer: ctx, fn: fn, opts: opts, wake: make(chan struct{}, 1)}
	m.of = m
	m.init(ctx, ex)
	return m
}

func (m *mapping[In, Out]) what() string { return "call of Map" }

// over follows the end of a call.
func (m *mapping[In, Out]) over(c *member, _ error) {
	if m.unordered {
		m.mu.Lock()
		m.done = append(m.done, c)
		m.mu.Unlock()
	}
	signal(m.wake)
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
		if m.inFlight() == n && !yield(m.take()) {
			return
		}
		m.submit(in)
		if cut = m.outer.Err() != nil; cut {
			break // seq may have no next value for long
		}
	}
	for m.inFlight() > 0 {
		if !yield(m.take()) {
			return
		}
	}
	if cut {
		yield(*new(Out), task.ContextError(m.outer))
	}
}

// end ends the context of the calls in flight, and waits until all are over.
func (m *mapping[In, Out]) end() {
	if m.unwatch != nil {
		m.unwatch()
	}
	m.cancel(nil)
	if m.inFlight() > 0 {
		m.endWaiting()
	}
	m.wait()
}

// inFlight returns how many calls are submitted and not yet yielded.
func (m *mapping[In, Out]) inFlight() int { return len(m.flight) - m.first }

// submit submits a call.
func (m *mapping[In, Out]) submit(in In) {
	c := &call[In, Out]{mapping: m, in: in}
	if m.first > len(m.flight)/2 && len(m.flight) == cap(m.flight) {
		m.flight = slices.Delete(m.flight, 0, m.first)
		m.first = 0
	}
	m.flight = append(m.flight, c)
	m.siblings.submit(&c.member, (*callBody[In, Out])(c), m.opts)
}

// take waits for the next result, and for the return of the call.
func (m *mapping[In, Out]) take() (Out, error) {
	c := m.next()
	return c.out, errorOf(&c.core)
}

// await waits until done, which may become so when one of the calls is over.
func (m *mapping[In, Out]) await(done func() bool, calls []*call[In, Out]) {
	if !done() && m.waits != nil {
		next := 0
		m.waits.Host(m.owner, func() *task.Task {
			if next == len(calls) || done() {
				return nil
			}
			next++
			return &calls[next-1].core
		})
	}
	if done() {
		return
	}
	defer lend(m.ctx, m.owner, func(yield func(*task.Task) bool) {
		for _, c := range calls {
			if !yield(&c.core) {
				return
			}
		}
	})()
	for !done() {
		<-m.wake
	}
}

// oldest waits for the call that was submitted first.
func (m *mapping[In, Out]) oldest() *call[In, Out] {
	c := m.flight[m.first]
	m.await(c.isOver, m.flight[m.first:m.first+1])
	m.flight[m.first] = nil
	m.first++
	return c
}

// soonest waits for the call that is over first.
func (m *mapping[In, Out]) soonest() *call[In, Out] {
	m.await(m.anyDone, m.flight)
	m.mu.Lock()
	first := m.done[0]
	m.done = slices.Delete(m.done, 0, 1)
	m.mu.Unlock()
	i := slices.IndexFunc(m.flight, func(c *call[In, Out]) bool { return &c.member == first })
	c := m.flight[i]
	m.flight = slices.Delete(m.flight, i, i+1)
	return c
}

func (m *mapping[In, Out]) anyDone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.done) > 0
}

// signal puts a token into c, unless there is one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
