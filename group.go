package executor

import (
	"context"
	"fmt"
	"sync/atomic"
)

// A Group runs functions on an executor and waits for all of them. The first function that fails ends the context of
// the others. [NewGroup] makes a Group; the zero Group is not usable. All methods may be called by any goroutine.
//
// A function of a group may add functions to the group, and may wait for a group of its own on the same pool: while a
// task waits, it lends its place to the functions that it waits for, see [Future.Get]. For the functions of a group
// that a task of the pool has made there is always room in the pool.
type Group struct {
	siblings
	failed atomic.Bool
	waited atomic.Bool // Wait has returned
	err    error       // of the first task that failed; written by that, read once all are over
}

// NewGroup returns a group whose functions run on ex. ctx is the parent of the context that they get. That context ends
// when a function has failed, with its error as the cause, and when Wait has returned: so call Wait on every group. A
// nil ctx, and a nil ex, panic.
func NewGroup(ctx context.Context, ex Executor) *Group {
	mustContext(ctx)
	mustExecutor("NewGroup", ex)
	g := new(Group)
	g.of = g
	g.init(ctx, ex)
	return g
}

// Go submits fn. The group fails if fn returns an error, panics (with a [*PanicError]), or is rejected. Go waits only
// if the executor does, as a pool with the policy [Block], and not after the group has failed; functions that wait then
// never run. Go panics once Wait has returned.
func (g *Group) Go(fn func(context.Context) error, opts ...Option) {
	g.mustBeMade()
	if g.waited.Load() {
		panic("executor: Group.Go after Wait has returned; make another group for further functions")
	}
	var body Runnable
	if fn != nil {
		body = Func(fn)
	}
	g.submit(new(member), body, opts)
}

// SetLimit bounds how many functions of g are submitted and have not ended: at most n, which must be at least 1.
// Further functions wait in g, without a bound, and take no room in the executor. When one has ended, the goroutine
// that ran it submits the next. Go does not wait for the limit. By default there is none. SetLimit panics if n is less
// than 1, or after a call of Go.
func (g *Group) SetLimit(n int) {
	g.mustBeMade()
	if n < 1 {
		panic(fmt.Sprintf("executor: Group.SetLimit(%d): must be at least 1", n))
	}
	if !g.waiting.isEmpty() {
		panic("executor: Group.SetLimit after Group.Go; set the limit before the first function")
	}
	g.limit = &limit{most: n}
}

// Context returns the context of the group's functions. It ends when one has failed, so that
// code that adds functions can see that no more will run, and when Wait has returned.
func (g *Group) Context() context.Context {
	g.mustBeMade()
	return g.ctx
}

// Wait waits until all functions have returned, or will never run, and returns the first error of one of them, nil if
// all have succeeded. It waits without a limit. To end the wait early, cancel the context that NewGroup got: functions
// that check their context then return.
func (g *Group) Wait() error {
	g.mustBeMade()
	g.wait()
	if g.unwatch != nil {
		g.unwatch()
	}
	g.cancel(nil)
	g.waited.Store(true)
	return g.err
}

func (g *Group) what() string { return "task of a group" }

// over follows the end of a task. The first that failed ends the others.
func (g *Group) over(_ *member, err error) {
	if err != nil && !g.failed.Swap(true) {
		g.err = err
		g.cancel(err)
		if g.unwatch == nil {
			g.endWaiting()
		}
	}
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
