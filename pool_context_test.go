package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

// The context of a task, for each way to submit.

// forms are the ways to submit a task function: plain, plain with an option, as a Runnable and as a
// future.
var forms = []struct {
	name   string
	submit func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error
}{
	{"Go", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		return pool.Go(ctx, body)
	}},
	{"Go with an option", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		return pool.Go(ctx, body, executor.Named("x"))
	}},
	{"Execute", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		return pool.Execute(ctx, executor.Func(body))
	}},
	{"Submit", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		if f := executor.Submit(ctx, pool, executor.Func(body).Call); f.State() == executor.Failed {
			return f.Err()
		}
		return nil
	}},
}

// eachForm runs test in a bubble for each way to submit.
func eachForm(t *testing.T,
	test func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error)) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, f.submit) })
		})
	}
}

// The context of a task has the values of the submitter's context, whether that can end or not.
func TestPoolContextValues(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Workers: 1})
		endless := context.WithValue(context.Background(), contextKey{}, 5)
		ends, cancel := context.WithCancel(endless)
		defer cancel()
		for _, ctx := range []context.Context{endless, ends} {
			var got any
			expect(t, "submit", submit(ctx, pool,
				func(ctx context.Context) error { got = ctx.Value(contextKey{}); return ctx.Err() }), nil)
			waitStats(t, pool)
			expect(t, "value", got, any(5))
		}
	})
}

// The context of a task has the deadline of the submitter's context, and ends with it and its
// cause.
func TestPoolContextDeadline(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Workers: 1})
		mine := errors.New("mine")
		parent, cancel := context.WithTimeoutCause(t.Context(), time.Second, mine)
		defer cancel()
		deadline, _ := parent.Deadline()
		start := time.Now()
		ended := make(chan error, 1)
		submit(parent, pool, func(ctx context.Context) error {
			d, ok := ctx.Deadline()
			expect(t, "has a deadline", ok, true)
			expect(t, "deadline", d, deadline)
			<-ctx.Done()
			expectIs(t, "Err", ctx.Err(), context.DeadlineExceeded)
			ended <- context.Cause(ctx)
			return nil
		})
		expect(t, "cause", <-ended, mine)
		expect(t, "took", time.Since(start), time.Second)
	})
}

// The context of a task ends when the task function has returned, whatever it was submitted with,
// and whether the function has looked at it or not.
func TestPoolContextEndsWithTask(t *testing.T) {
	for name, parent := range map[string]func(*testing.T) context.Context{
		"background": func(*testing.T) context.Context { return context.Background() },
		"valued": func(*testing.T) context.Context {
			return context.WithValue(context.Background(), contextKey{}, 1)
		},
		"cancelable": (*testing.T).Context,
	} {
		for use, look := range map[string]func(context.Context){
			"unused": func(context.Context) {},
			"Err":    func(ctx context.Context) { expect(t, "Err", ctx.Err(), nil) },
			"Value":  func(ctx context.Context) { expect(t, "Value", ctx.Value(new(int)), nil) },
			"child":  func(ctx context.Context) { context.AfterFunc(ctx, func() {}) },
		} {
			t.Run(name+"/"+use, func(t *testing.T) {
				eachForm(t, func(
					t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error,
				) {
					pool := newPool(t, executor.Config{Workers: 1})
					leaked := make(chan context.Context, 200)
					body := func(ctx context.Context) error { look(ctx); leaked <- ctx; return nil }
					for range cap(leaked) {
						submit(parent(t), pool, body)
					}
					for range cap(leaked) {
						ctx := <-leaked
						<-ctx.Done()
						expect(t, "Err", ctx.Err(), context.Canceled)
						expectIs(t, "Cause", context.Cause(ctx), executor.ErrReturned)
						expect(t, "Done again", ctx.Done(), ctx.Done())
					}
				})
			})
		}
	}
}

// A context that a task function has kept does not follow the task that the worker runs next.
func TestPoolContextIsOfOneTask(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Workers: 1})
		var kept context.Context
		submit(context.Background(), pool, func(ctx context.Context) error { kept = ctx; return nil })
		submit(context.Background(), pool, func(ctx context.Context) error {
			expect(t, "Err of the kept", kept.Err(), context.Canceled)
			expect(t, "Err", ctx.Err(), nil)
			return nil
		})
		pool.Close()
	})
}

// A goroutine that a task function leaves behind may look at the context for the first time while
// the function returns: the context ends all the same.
func TestPoolContextFirstUsedWhileFunctionReturns(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 2})
	for range 2000 {
		ended := make(chan struct{})
		mustGo(t, pool, func(ctx context.Context) error {
			go func() { <-ctx.Done(); close(ended) }()
			return nil
		})
		<-ended
	}
}

// The context of a task has ended when AfterTask is called.
func TestPoolContextEndsBeforeAfterTask(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		var cause error
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			AfterTask: func(ctx context.Context, _ executor.TaskInfo, _ error) { cause = context.Cause(ctx) },
		}})
		submit(context.Background(), pool, func(context.Context) error { return nil })
		waitStats(t, pool)
		expectIs(t, "cause in AfterTask", cause, executor.ErrReturned)
	})
}

// Timeout ends the context with the cause ErrTimeout, counted from the start of the task function,
// which determines the outcome.
func TestPoolContextTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		mustGo(t, pool, func(context.Context) error { time.Sleep(time.Hour); return nil })
		start := time.Now()
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (time.Duration, error) {
			<-ctx.Done()
			expectIs(t, "Err", ctx.Err(), context.DeadlineExceeded)
			expectIs(t, "Cause", context.Cause(ctx), executor.ErrTimeout)
			return time.Since(start), nil
		}, executor.Timeout(time.Second))
		took, err := f.Get(t.Context())
		expect(t, "error", err, nil)
		expect(t, "took", took, time.Hour+time.Second)
	})
}

// A task function that returns the error of its context after a timeout has failed with an error that
// matches both it and ErrTimeout; after ShutdownNow it counts as canceled, with an error that matches
// ErrShutdown too. It is logged if it says more than that the context has ended.
func TestPoolContextErrorReturned(t *testing.T) {
	for name, wrap := range map[string]func(error) error{
		"as it is": func(err error) error { return err },
		"wrapped":  func(err error) error { return fmt.Errorf("reading: %w", err) },
		"joined":   func(err error) error { return errors.Join(err, errTask) },
	} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(
				t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error,
			) {
				for _, parent := range []context.Context{context.Background(), t.Context()} {
					var log bytes.Buffer
					var seen error
					pool := newPool(t, executor.Config{Workers: 1,
						Logger: slog.New(slog.NewTextHandler(&log, nil)),
						Hooks: executor.Hooks{
							AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { seen = err },
						},
					})
					submit(parent, pool, func(ctx context.Context) error { <-ctx.Done(); return wrap(ctx.Err()) })
					synctest.Wait()
					pool.ShutdownNow()
					s := waitStats(t, pool)
					expect(t, "Canceled", s.Canceled, 1)
					expect(t, "Failed", s.Failed, 0)
					for _, want := range []error{context.Canceled, executor.ErrShutdown, executor.ErrCanceled} {
						expectIs(t, "error in AfterTask", seen, want)
					}
					expect(t, "is logged", log.Len() > 0, name != "as it is" && !strings.HasSuffix(t.Name(), "/Submit"))
				}
			})
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 2})
				until := func(ctx context.Context) (int, error) { <-ctx.Done(); return 1, wrap(ctx.Err()) }
				timed := executor.Submit(t.Context(), pool, until, executor.Timeout(time.Second))
				stopped := executor.Submit(t.Context(), pool, until)
				v, err := timed.Get(t.Context())
				expect(t, "value", v, 1)
				expect(t, "State", timed.State(), executor.Failed)
				expectIs(t, "timed out", err, context.DeadlineExceeded)
				expectIs(t, "timed out", err, executor.ErrTimeout)
				pool.ShutdownNow()
				_, err = stopped.Get(t.Context())
				expect(t, "State", stopped.State(), executor.Canceled)
				for _, want := range []error{context.Canceled, executor.ErrShutdown, executor.ErrCanceled} {
					expectIs(t, "stopped", err, want)
				}
				s := waitStats(t, pool)
				expect(t, "Failed", s.Failed, 1)
				expect(t, "Canceled", s.Canceled, 1)
			})
		})
	}
}

// A task function that returns an error of its own, or of another context, has that outcome, whatever
// has ended its context.
func TestPoolContextErrorOfOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		mine := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, errTask
		})
		others := executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return 0, ctx.Err()
		})
		_, err := others.Get(t.Context())
		expect(t, "other context", err, context.Canceled)
		pool.ShutdownNow()
		_, err = mine.Get(t.Context())
		expect(t, "own error", err, errTask)
		expect(t, "State", mine.State(), executor.Failed)
	})
}

// Abandon does not end the context of a running task, Cancel does; both discard its later outcome:
// value, error or panic.
func TestPoolContextAbandonCancel(t *testing.T) {
	for _, end := range testkit.Exits {
		t.Run(end.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 2})
				block := newBlocker(t)
				var abandoned, canceled error
				a := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
					block.Run(ctx)
					abandoned = ctx.Err()
					return 1, end.Leave()
				})
				c := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					canceled = context.Cause(ctx)
					return 1, end.Leave()
				})
				synctest.Wait()
				expect(t, "Abandon", a.Abandon(), true)
				expect(t, "Cancel", c.Cancel(), true)
				block.Release()
				s := waitStats(t, pool)
				expect(t, "context of the abandoned", abandoned, nil)
				expectIs(t, "context of the canceled", canceled, executor.ErrCanceled)
				for _, f := range []*executor.Future[int]{a, c} {
					expect(t, "state", f.State(), executor.Canceled)
					v, err := f.Get(t.Context())
					expect(t, "value", v, 0)
					expectIs(t, "error", err, executor.ErrCanceled)
				}
				expect(t, "Canceled", s.Canceled, 2)
				expect(t, "Idle", s.Idle, 2)
			})
		})
	}
}

// A submitter's context that ends before the task runs.

// If the context has ended Go returns its error, and nothing runs or is counted.
func TestPoolContextEndedBeforeSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		mine := errors.New("mine")
		parent, cancel := context.WithCancelCause(t.Context())
		cancel(mine)
		err := pool.Go(parent, func(context.Context) error { t.Error("ran"); return nil })
		expectIs(t, "Go", err, context.Canceled)
		expectIs(t, "Go", err, mine)
		expect(t, "rejected", errors.Is(err, executor.ErrRejected), false)
		f := executor.Submit(parent, pool, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
		expect(t, "state", f.State(), executor.Canceled)
		expectIs(t, "Err", f.Err(), mine)
		s := waitStats(t, pool)
		expect(t, "Submitted", s.Submitted, 0)
		expect(t, "Workers", s.Workers, 0)
	})
}

// A waiting task whose context ends never runs, and counts as canceled.
func TestPoolContextEndsInQueue(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		parent, cancel := context.WithCancel(t.Context())
		expect(t, "submit", submit(parent, pool, func(context.Context) error { t.Error("ran"); return nil }), nil)
		cancel()
		synctest.Wait()
		block.Release()
		s := waitStats(t, pool)
		expect(t, "Canceled", s.Canceled, 1)
		expect(t, "Runs", s.Runs, 1)
	})
}

// A waiting future whose context ends leaves the queue at once, canceled with the context's error
// and its cause.
func TestPoolContextEndsRemovesFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		mine := errors.New("mine")
		parent, cancel := context.WithCancelCause(t.Context())
		f := executor.Submit(parent, pool, block.Value)
		cancel(mine)
		s := waitStats(t, pool)
		expect(t, "state", f.State(), executor.Canceled)
		for _, want := range []error{executor.ErrCanceled, context.Canceled, mine} {
			expectIs(t, "Err", f.Err(), want)
		}
		expect(t, "Queued", s.Queued, 0)
		expect(t, "Canceled", s.Canceled, 1)
	})
}

// A waiting task whose context ends leaves the queue at once: it counts as canceled, and its place is
// free for a submitter that waits for room.
func TestPoolContextEndsFreesPlace(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool, _ := testkit.BusyPool(t, executor.Block)
		parent, cancel := context.WithCancel(t.Context())
		expect(t, "submit", submit(parent, pool, nop), nil)
		blocked := testkit.StartExecute(t.Context(), pool, executor.Func(nop))
		synctest.Wait()
		expect(t, "Blocked", pool.Stats().Blocked, 1)
		cancel()
		synctest.Wait()
		s := pool.Stats()
		expect(t, "Blocked", s.Blocked, 0)
		expect(t, "Queued", s.Queued, 1)
		expect(t, "Canceled", s.Canceled, 1)
		expect(t, "Execute", <-blocked, nil)
	})
}

// A context that ends while a worker starts its task either cancels the task or ends the task's
// context.
func TestPoolContextEndsAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		for range 500 {
			parent, cancel := context.WithCancel(t.Context())
			ran := false
			go cancel()
			f := executor.Submit(parent, pool, func(ctx context.Context) (int, error) {
				ran = true
				<-ctx.Done()
				return 0, ctx.Err()
			})
			f.Join(t.Context())
			expectIs(t, "Err", f.Err(), context.Canceled)
			synctest.Wait()
			expect(t, "state", f.State(), map[bool]executor.State{true: executor.Failed, false: executor.Canceled}[ran])
		}
	})
}

// One callback for all futures that wait with the same context.

// hookable is a context that counts the functions it is to call when it ends.
type hookable struct {
	context.Context
	done   chan struct{}
	onHook func() // called when a function is registered

	mu    sync.Mutex
	hooks map[int]func()
	last  int
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

func (c *hookable) callbacks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.hooks)
}

// submitMeanwhile submits another future with c while the next function is registered.
func (c *hookable) submitMeanwhile(pool executor.Executor) **executor.Future[int] {
	f := new(*executor.Future[int])
	c.onHook = func() {
		c.onHook = nil
		*f = submitNothing(c, pool)
	}
	return f
}

func newHookable() *hookable {
	return &hookable{Context: context.Background(), done: make(chan struct{}), hooks: map[int]func(){}}
}

// foreign is a context of a type that package context does not know.
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

// submitNothing submits a task function that does nothing.
func submitNothing(ctx context.Context, pool executor.Executor) *executor.Future[int] {
	return executor.Submit(ctx, pool, func(context.Context) (int, error) { return 0, nil })
}

// behind returns a pool whose only worker is busy until the end of the test.
func behind(t *testing.T) *executor.Pool {
	pool, b := newPool(t, executor.Config{Workers: 1}), newBlocker(t)
	b.Fill(t, pool, 1)
	return pool
}

// When the context of many waiting futures ends, they are canceled in the order of submission,
// without a goroutine for each.
func TestPoolContextOfMany(t *testing.T) {
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

// A pool registers one callback with a context while futures that were submitted with it wait.
func TestPoolContextRegistersOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		for range 2 {
			var fs []*executor.Future[int]
			for range 3 {
				fs = append(fs, submitNothing(ctx, pool))
			}
			synctest.Wait()
			for _, i := range []int{1, 0, 2} { // in the middle, the first, the last
				expect(t, "registered callbacks", ctx.callbacks(), 1)
				fs[i].Cancel()
			}
			expect(t, "registered callbacks when no future waits", ctx.callbacks(), 0)
		}
	})
}

// A pool retains nothing of contexts whose futures are done, even while others wait.
func TestPoolContextReturnsMemory(t *testing.T) {
	const n = 50_000
	pool, b := newPool(t, executor.Config{Workers: 1}), newBlocker(t)
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

// Futures whose contexts end together get the error of their own context each.
func TestPoolContextsEndTogether(t *testing.T) {
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

// A context that ends, or a future that is done, while the callback is registered.

// A future is canceled if its context ends in AfterFunc.
func TestPoolContextEndsDuringRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		ctx.onHook = ctx.end
		f := submitNothing(ctx, pool)
		synctest.Wait()
		expectIs(t, "error of the future", f.Err(), context.DeadlineExceeded)
	})
}

// brief is a context that ends when Done is called.
type brief struct{ *hookable }

func newBrief() brief { return brief{newHookable()} }

func (c brief) Done() <-chan struct{} {
	if c.Err() == nil {
		c.end()
	}
	return c.done
}

// A future is canceled if its context ends before or while the pool registers its callback. In one
// of some thousand it ends before.
func TestPoolContextEndsBeforeRegistration(t *testing.T) {
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

// If the context ends during Execute, its futures are canceled in another goroutine: the submitter
// may hold a lock that their callbacks need.
func TestPoolContextEndsOutsideSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, submitted := behind(t), make(chan struct{})
		var fs []*executor.Future[int]
		for range 50 {
			f := executor.NewTask(func(context.Context) (int, error) { return 0, nil })
			f.OnDone(func() { <-submitted })
			expect(t, "error of Execute", pool.Execute(newBrief(), f), nil)
			fs = append(fs, f.Future())
		}
		close(submitted)
		synctest.Wait()
		for _, f := range fs {
			expectIs(t, "error of a future", f.Err(), context.DeadlineExceeded)
		}
	})
}

// No callback stays registered for a future that is done when the pool registers it.
func TestPoolContextFutureDoneDuringRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		f := executor.NewTask(func(context.Context) (int, error) { return 0, nil })
		ctx.onHook = func() { f.Cancel() }
		expect(t, "error of Execute", pool.Execute(ctx, f), nil)
		synctest.Wait()
		expect(t, "registered callbacks", ctx.callbacks(), 0)
	})
}

// Two submitters that register a callback for the same context at the same time leave one. A
// scheduled pool registers it in the submission.
func TestPoolContextRegisteredByTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := newScheduled(t, executor.ScheduledConfig{Workers: 1}), newHookable()
		testkit.Occupy(t, pool)
		inner := ctx.submitMeanwhile(pool)
		outer := submitNothing(ctx, pool)
		expect(t, "registered callbacks", ctx.callbacks(), 1)
		ctx.end()
		synctest.Wait()
		expectIs(t, "error of the one", (*inner).Err(), context.DeadlineExceeded)
		expectIs(t, "error of the other", outer.Err(), context.DeadlineExceeded)
	})
}

// A model.

// lineage is a context of a random tree, with what the model knows of it.
type lineage struct {
	context.Context
	parent *lineage
	end    func() // nil if it ends with its parent only
	over   bool   // it was ended

	// vague reports that its cause may change after its end: it ends by itself, and has the
	// values of a parent that ends later, whose cause package context then finds.
	vague bool
}

// ended reports whether the context has ended, by itself or with one above it.
func (l *lineage) ended() bool {
	for ; l != nil; l = l.parent {
		if l.over {
			return true
		}
	}
	return false
}

// Futures that wait with contexts of all kinds, which end at random while others are submitted and
// canceled, are canceled exactly if their own context ends, with its error. No callback stays
// registered.
func TestPoolContextModel(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { contextsProgram(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func contextsProgram(t *testing.T, draw *rand.Rand) {
	type key struct{}
	type waiting struct {
		future  *executor.Task[int]
		ctx     *lineage
		touched bool // completed by something else than its context
	}
	var pools []*executor.Pool
	for _, q := range []executor.Queue{executor.Unbounded(), executor.Prioritized(), executor.Bounded(1 << 20)} {
		pools = append(pools, newPool(t, executor.Config{Workers: 1, Queue: q}))
	}
	b := newBlocker(t)
	for _, pool := range pools {
		b.Fill(t, pool, 1)
	}
	root := &lineage{Context: context.Background()}
	all := []*lineage{root}
	var hooked []*hookable
	for range 4 + draw.IntN(20) {
		parent := all[draw.IntN(len(all))]
		c := &lineage{parent: parent}
		switch draw.IntN(7) {
		case 0:
			c.Context, c.vague = context.WithValue(parent, key{}, 1), parent.vague
		case 1:
			ctx, cancel := context.WithCancel(parent)
			c.Context, c.end = ctx, cancel
		case 2:
			ctx, cancel := context.WithCancelCause(parent)
			c.Context, c.end = ctx, func() { cancel(errors.New("cause")) }
		case 3:
			ctx, cancel := context.WithTimeout(parent, time.Hour)
			c.Context, c.end = ctx, cancel
		case 4:
			f := foreign{parent.Context, make(chan struct{})}
			c.Context, c.end, c.parent, c.vague = f, func() { close(f.done) }, nil, true
		case 5:
			h := newHookable()
			c.Context, c.end, c.parent = h, h.end, nil
			hooked = append(hooked, h)
		case 6:
			c.Context, c.parent = context.WithoutCancel(parent), nil
		}
		all = append(all, c)
	}

	var mu sync.Mutex
	var made []*waiting
	ends := map[*lineage]bool{}
	for _, c := range all {
		if c.end != nil && draw.IntN(2) == 0 {
			ends[c] = true
		}
	}
	var wg sync.WaitGroup
	for range 3 {
		draw := rand.New(rand.NewPCG(draw.Uint64(), 2))
		wg.Go(func() {
			for range 100 {
				w := &waiting{ctx: all[draw.IntN(len(all))]}
				w.future = executor.NewTask(func(context.Context) (int, error) { return 1, nil })
				err := pools[draw.IntN(len(pools))].Execute(w.ctx, w.future)
				if draw.IntN(4) == 0 { // is a plain Runnable to another
					_ = pools[draw.IntN(len(pools))].Execute(context.Background(), w.future)
				}
				switch draw.IntN(6) {
				case 0:
					w.touched = true
					w.future.Cancel()
				case 1:
					w.touched = true
					_ = w.future.Run(context.Background())
				case 2:
					w.touched = true
					pools[draw.IntN(len(pools))].Remove(w.future)
				}
				if err == nil {
					mu.Lock()
					made = append(made, w)
					mu.Unlock()
				}
			}
		})
	}
	wg.Go(func() {
		for c := range ends {
			c.end()
		}
	})
	wg.Wait()
	synctest.Wait()
	for c := range ends {
		c.over = true
	}
	for i, w := range made {
		switch state := w.future.State(); {
		case w.touched:
			continue
		case !w.ctx.ended():
			if state != executor.Pending {
				t.Errorf("future %d is %v, its context has not ended", i, state)
			}
		case state != executor.Canceled || !errors.Is(w.future.Err(), w.ctx.Err()) || !w.ctx.vague &&
			!errors.Is(w.future.Err(), context.Cause(w.ctx)):
			t.Errorf("future %d is %v with the error %v, its context has ended: %v", i, state, w.future.Err(), w.ctx.Err())
		}
	}
	b.Release()
	synctest.Wait()
	for i, w := range made {
		if !w.touched && !w.ctx.ended() {
			expect(t, fmt.Sprintf("state of future %d in the end", i), w.future.State(), executor.Succeeded)
		}
	}
	for _, h := range hooked {
		expect(t, "registered callbacks in the end", h.callbacks(), 0)
	}
	for _, c := range all {
		if c.end != nil && !c.over {
			c.end()
		}
	}
}
