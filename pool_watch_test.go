package executor_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit/check"
)

// hookable is a context that counts the functions it is to call when it ends.
type hookable struct {
	context.Context
	done   chan struct{}
	onHook func() // called when a function is noted

	mu    sync.Mutex
	hooks map[int]func()
	last  int
}

func newHookable() *hookable {
	return &hookable{Context: context.Background(), done: make(chan struct{}), hooks: map[int]func(){}}
}

func (c *hookable) Done() <-chan struct{} { return c.done }

func (c *hookable) Err() error { return ended(c.done) }

// AfterFunc is what package context calls where it would start a goroutine.
func (c *hookable) AfterFunc(f func()) func() bool {
	c.mu.Lock()
	c.last++
	id := c.last
	c.hooks[id] = f
	c.mu.Unlock()
	if c.onHook != nil {
		c.onHook()
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ok := c.hooks[id]
		delete(c.hooks, id)
		return ok
	}
}

func (c *hookable) end() {
	close(c.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, f := range c.hooks {
		go f()
		delete(c.hooks, id)
	}
}

func (c *hookable) watchers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.hooks)
}

// foreign is a context of which package context knows nothing.
type foreign struct {
	context.Context
	done chan struct{}
}

func (c foreign) Done() <-chan struct{} { return c.done }

func (c foreign) Err() error { return ended(c.done) }

// ended is the Err of a context with that Done channel.
func ended(done <-chan struct{}) error {
	select {
	case <-done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// submitNothing submits a body that does nothing.
func submitNothing(ctx context.Context, pool *executor.Pool) *executor.Future[int] {
	return executor.Submit(ctx, pool, func(context.Context) (int, error) { return 0, nil })
}

// submitMeanwhile submits another future with c while the next function is noted.
func (c *hookable) submitMeanwhile(pool *executor.Pool) **executor.Future[int] {
	f := new(*executor.Future[int])
	c.onHook = func() {
		c.onHook = nil
		*f = submitNothing(c, pool)
	}
	return f
}

// behind gives a pool whose only worker is busy until the end of the test.
func behind(t *testing.T) *executor.Pool {
	pool, b := newPool(t, executor.Config{Core: 1}), newBlocker(t)
	b.Fill(t, pool, 1)
	return pool
}

// When the context of many futures that wait ends, they are canceled in order of
// submission, without a goroutine for each, be the context whatever it may.
func TestPoolContextOfManyEnds(t *testing.T) {
	const n = 5_000
	type key struct{}
	check.WithoutGC(t)
	for name, derive := range map[string]func(context.Context) context.Context{
		"the same":    func(ctx context.Context) context.Context { return ctx },
		"with values": func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, 1) },
	} {
		for kind, base := range map[string]func() (context.Context, func()){
			"cancelable": func() (context.Context, func()) {
				ctx, cancel := context.WithCancel(context.Background())
				return ctx, cancel
			},
			"foreign": func() (context.Context, func()) {
				ctx := foreign{context.Background(), make(chan struct{})}
				return ctx, func() { close(ctx.done) }
			},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := behind(t)
					ctx, end := base()
					before, most := runtime.NumGoroutine(), 0
					var order []int
					for i := range n {
						f := submitNothing(derive(ctx), pool)
						f.OnDone(func() {
							order = append(order, i)
							most = max(most, runtime.NumGoroutine()-before)
						})
					}
					most = max(most, runtime.NumGoroutine()-before)
					end()
					synctest.Wait()
					if len(order) != n || !slices.IsSorted(order) {
						t.Errorf("%d of %d were canceled; in order: %v", len(order), n, slices.IsSorted(order))
					}
					if most > 100 { // others may come and go that are not the test's
						t.Errorf("there were %d goroutines more than before", most)
					}
				})
			})
		}
	}
}

// A context is watched by a pool as long as a future waits that was submitted with it,
// and once, however many they are.
func TestPoolWatchesContextOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		for range 2 {
			var fs []*executor.Future[int]
			for range 3 {
				fs = append(fs, submitNothing(ctx, pool))
			}
			for _, i := range []int{1, 0, 2} { // in the middle, the first, the last
				expect(t, "functions to be called", ctx.watchers(), 1)
				fs[i].Cancel()
			}
			expect(t, "functions to be called when nobody waits", ctx.watchers(), 0)
		}
	})
}

// A future is canceled that was submitted with a context which ends while the pool
// begins to watch it.
func TestPoolContextEndsWhileItIsHooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		ctx.onHook = ctx.end
		f := submitNothing(ctx, pool)
		synctest.Wait()
		expectIs(t, "error of the future", f.Err(), context.DeadlineExceeded)
	})
}

// brief is a context that ends as soon as somebody wants to know when it does.
type brief struct{ *hookable }

func newBrief() brief { return brief{newHookable()} }

func (c brief) Done() <-chan struct{} {
	if c.Err() == nil {
		c.end()
	}
	return c.done
}

// A future is canceled that was submitted with a context which ends while the pool
// begins to watch it, whichever comes first. One in some thousand ends before the future
// is under the watch.
func TestPoolContextEndsBeforeItIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, waiting := behind(t), 0
		fs := make([]*executor.Future[int], 20_000)
		for i := range fs {
			fs[i] = submitNothing(newBrief(), pool)
		}
		synctest.Wait()
		for _, f := range fs {
			if !f.State().Done() {
				waiting++
			}
		}
		expect(t, "futures that wait", waiting, 0)
	})
}

// A submitter does not cancel what waits with his context, if that ends while the pool
// begins to watch it: he may hold what those want who are told.
func TestPoolContextEndsBesideItsSubmitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, submitted := behind(t), make(chan struct{})
		var fs []*executor.Future[int]
		for range 50 {
			f := executor.NewFuture(func(context.Context) (int, error) { return 0, nil })
			f.OnDone(func() { <-submitted })
			expect(t, "error of Execute", pool.Execute(newBrief(), f), nil)
			fs = append(fs, f)
		}
		close(submitted)
		synctest.Wait()
		for _, f := range fs {
			expectIs(t, "error of a future", f.Err(), context.DeadlineExceeded)
		}
	})
}

// A context is not watched for a future that is done when the pool begins to watch it.
func TestPoolFutureIsDoneWhenItsContextIsHooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		f := executor.NewFuture(func(context.Context) (int, error) { return 0, nil })
		ctx.onHook = func() { f.Cancel() }
		expect(t, "error of Execute", pool.Execute(ctx, f), nil)
		expect(t, "functions to be called", ctx.watchers(), 0)
	})
}

// Two submitters that begin at the same time to watch a context leave one watch.
func TestPoolContextHookedByTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		inner := ctx.submitMeanwhile(pool)
		outer := submitNothing(ctx, pool)
		expect(t, "functions to be called", ctx.watchers(), 1)
		ctx.end()
		synctest.Wait()
		expectIs(t, "error of the one", (*inner).Err(), context.DeadlineExceeded)
		expectIs(t, "error of the other", outer.Err(), context.DeadlineExceeded)
	})
}

// Futures whose contexts end together get the error of their own each.
func TestPoolContextsThatEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx, own := behind(t), newHookable(), errors.New("own")
		plain := submitNothing(ctx, pool)
		wrapped := submitNothing(named{ctx, own}, pool)
		ctx.end()
		synctest.Wait()
		expectIs(t, "error of the one", plain.Err(), context.DeadlineExceeded)
		expectIs(t, "error of the other", wrapped.Err(), own)
	})
}

// named ends with another context, and with an error of its own.
type named struct {
	context.Context
	err error
}

func (c named) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return c.err
}

// What is told of one future and does not return does not keep others from being
// canceled with their context.
func TestPoolContextEndsDespiteGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := behind(t)
		ctx, cancel := context.WithCancel(t.Context())
		var fs []*executor.Future[int]
		for range 3 {
			f := submitNothing(ctx, pool)
			f.OnDone(runtime.Goexit)
			fs = append(fs, f)
		}
		cancel()
		synctest.Wait()
		for i, f := range fs {
			expect(t, "state of future "+string(rune('0'+i)), f.State(), executor.Canceled)
		}
	})
}

// A pool keeps nothing of contexts that many futures waited with, also while others wait.
func TestPoolForgetsContexts(t *testing.T) {
	const n = 50_000
	pool, b := newPool(t, executor.Config{Core: 1}), newBlocker(t)
	mustGo(t, pool, b.Run)
	wait := func() func() {
		ctx, cancel := context.WithCancel(context.Background())
		f := submitNothing(ctx, pool)
		return func() {
			f.Cancel()
			cancel()
		}
	}
	defer wait()()
	all := make([]func(), n)
	before := check.HeapInUse()
	for i := range all {
		all[i] = wait()
	}
	for i, leave := range all {
		leave()
		all[i] = nil
	}
	if kept := check.HeapInUse() - before; kept > n*4 {
		t.Errorf("%d bytes are kept of %d contexts", kept, n)
	}
	runtime.KeepAlive(all)
}
