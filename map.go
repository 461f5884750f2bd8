package executor

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/executor-go/executor/internal/task"
)

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
