package executor_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
	"github.com/executor-go/executor/java"
)

// What the context of a task has from its submitter's context.

// intKey is a context key of the type that package context uses for its own.
var intKey = new(int)

// inTask submits f in each way to a pool with one worker, and waits until it has run.
// Function parent returns the context to submit with.
func inTask(t *testing.T, parent func(*testing.T) context.Context, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	run := func(f func(context.Context)) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) { f(ctx); return 0, nil }
	}
	ways := map[string]func(ctx context.Context, p *executor.Pool, f func(context.Context)){
		"Submit": func(ctx context.Context, p *executor.Pool, f func(context.Context)) {
			testkit.SubmitTask(ctx, p, run(f))
		},
		"Submit with Timeout": func(ctx context.Context, p *executor.Pool, f func(context.Context)) {
			testkit.SubmitTask(ctx, p, run(f), executor.Timeout(24*time.Hour))
		},
		"Go": func(ctx context.Context, p *executor.Pool, f func(context.Context)) {
			p.Go(ctx, func(ctx context.Context) error { f(ctx); return nil })
		},
		"Go with an option": func(ctx context.Context, p *executor.Pool, f func(context.Context)) {
			p.Go(ctx, func(ctx context.Context) error { f(ctx); return nil }, executor.Named("x"))
		},
		"Run": func(ctx context.Context, _ *executor.Pool, f func(context.Context)) {
			executor.NewTask(run(f)).Run(ctx)
		},
	}
	for name, submit := range maps.Clone(ways) {
		ways[name+", run by the submitter"] = func(ctx context.Context, _ *executor.Pool, f func(context.Context)) {
			p, err := executor.New(executor.Config{Max: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns})
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			free := make(chan struct{})
			defer close(free)
			p.Go(context.Background(), func(context.Context) error { <-free; return nil })
			submit(ctx, p, f)
		}
	}
	for name, submit := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 1})
				done := make(chan struct{})
				go submit(parent(t), p, func(ctx context.Context) {
					defer close(done)
					f(t, ctx)
				})
				<-done
			})
		})
	}
}

// background is a parent without a Done channel.
func background(*testing.T) context.Context { return context.Background() }

// The context of a task has the values of the submitter's context, whatever their keys are.
func TestTaskContextValues(t *testing.T) {
	valued := func(t *testing.T) context.Context {
		return context.WithValue(context.WithValue(context.Background(), contextKey{}, "v"), intKey, 7)
	}
	for name, parent := range map[string]func(*testing.T) context.Context{
		"forever": valued,
		"cancelable": func(t *testing.T) context.Context {
			ctx, cancel := context.WithCancel(valued(t))
			t.Cleanup(cancel)
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			inTask(t, parent, func(t *testing.T, ctx context.Context) {
				for range 2 { // before and after the first use
					if ctx.Value(contextKey{}) != "v" || ctx.Value(intKey) != 7 || ctx.Value(new(int)) != nil {
						t.Errorf("values: %v, %v", ctx.Value(contextKey{}), ctx.Value(intKey))
					}
					ctx.Done()
				}
			})
		})
	}
}

// The context of a task has the deadline of the submitter's context, and ends then.
func TestTaskContextDeadline(t *testing.T) {
	inTask(t, func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Hour, errTask)
		t.Cleanup(cancel)
		return ctx
	}, func(t *testing.T, ctx context.Context) {
		start := time.Now()
		if at, ok := ctx.Deadline(); !ok || time.Until(at) != time.Hour {
			t.Errorf("Deadline: %v, %v", at, ok)
		}
		<-ctx.Done()
		if ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != errTask || time.Since(start) != time.Hour {
			t.Errorf("%v, cause %v, after %v", ctx.Err(), context.Cause(ctx), time.Since(start))
		}
	})
}

// If the submitter's context cannot end, that of the task does not end by itself.
func TestTaskContextWithoutEnd(t *testing.T) {
	inTask(t, background, func(t *testing.T, ctx context.Context) {
		time.Sleep(time.Hour)
		if ctx.Err() != nil || context.Cause(ctx) != nil {
			t.Errorf("%v, cause %v", ctx.Err(), context.Cause(ctx))
		}
		select {
		case <-ctx.Done():
			t.Error("the Done channel is closed")
		default:
		}
	})
}

// When the submitter's context ends, so does that of the task, with the same cause.
func TestTaskContextEndsWithParent(t *testing.T) {
	inTask(t, func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Minute, func() { cancel(errTask) })
		return ctx
	}, func(t *testing.T, ctx context.Context) {
		<-ctx.Done()
		if ctx.Err() != context.Canceled || context.Cause(ctx) != errTask {
			t.Errorf("%v, cause %v", ctx.Err(), context.Cause(ctx))
		}
	})
}

// Contexts that a task function derives from its own end with it, without a goroutine for each.
func TestTaskContextChildren(t *testing.T) {
	check.WithoutGC(t)
	for name, parent := range map[string]func(*testing.T) context.Context{
		"forever": background,
		"cancelable": func(t *testing.T) context.Context {
			ctx, cancel := context.WithCancel(context.Background())
			t.Cleanup(cancel)
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 1})
				called := make(chan struct{})
				var children []context.Context
				f := executor.Submit(parent(t), p, func(ctx context.Context) (int, error) {
					before := runtime.NumGoroutine()
					for range 100 {
						child, cancel := context.WithCancel(ctx)
						defer cancel()
						timed, cancel := context.WithTimeout(ctx, time.Hour)
						defer cancel()
						children = append(children, child, timed)
					}
					context.AfterFunc(ctx, func() { close(called) })
					if n := runtime.NumGoroutine() - before; n > 10 {
						t.Errorf("%d goroutines for 201 children", n)
					}
					<-children[0].Done()
					return 0, nil
				})
				synctest.Wait()
				f.Cancel()
				f.Join(t.Context())
				<-called
				for i, child := range children {
					if child.Err() != context.Canceled || context.Cause(child) != executor.ErrCanceled && i == 0 {
						t.Fatalf("child %d: %v, cause %v", i, child.Err(), context.Cause(child))
					}
				}
			})
		})
	}
}

// A parent whose Done, Err and Deadline hide those of its own parent, as before
// context.WithoutCancel, hides the end of that one from the task too.
func TestTaskContextParentHidesDone(t *testing.T) {
	inTask(t, func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errTask)
		return detached{ctx}
	}, func(t *testing.T, ctx context.Context) {
		if err, cause := ctx.Err(), context.Cause(ctx); err != nil || cause != nil {
			t.Errorf("the task's context has the error %v and the cause %v", err, cause)
		}
		child, cancel := context.WithCancel(ctx)
		defer cancel()
		if err := child.Err(); err != nil {
			t.Errorf("its child: %v", err)
		}
	})
}

// detached hides that its context has ended.
type detached struct{ context.Context }

func (detached) Deadline() (time.Time, bool) { return time.Time{}, false }

func (detached) Done() <-chan struct{} { return nil }

func (detached) Err() error { return nil }

// Due of a task without a schedule is zero, even if its parent is the context of a scheduled task.
func TestTaskContextDueIsNotInherited(t *testing.T) {
	inTask(t, func(t *testing.T) context.Context {
		s := testkit.Closing(t, executor.Scheduled(1))
		parent := make(chan context.Context)
		executor.SubmitAfter(t.Context(), s, time.Minute, func(ctx context.Context) (int, error) {
			parent <- ctx
			return testkit.UntilDone(ctx)
		})
		ctx := <-parent
		if executor.Due(ctx).IsZero() {
			t.Error("Due of a scheduled task is zero")
		}
		return ctx
	}, func(t *testing.T, ctx context.Context) {
		if at := executor.Due(ctx); !at.IsZero() {
			t.Errorf("Due: %v", at)
		}
	})
}

// What ends the context of a task.

// When the task function has returned its context has ended, even if it was never used before.
func TestTaskContextEndsWithFunction(t *testing.T) {
	for name, use := range map[string]func(context.Context){
		"used":   func(ctx context.Context) { ctx.Done() },
		"unused": func(context.Context) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 1})
				for _, opts := range [][]executor.Option{nil, {executor.Timeout(time.Hour)}} {
					var leaked context.Context
					f := executor.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
						leaked = ctx
						use(ctx)
						return 0, nil
					}, opts...)
					f.Get(t.Context())
					<-leaked.Done()
					if leaked.Err() != context.Canceled || context.Cause(leaked) != executor.ErrReturned {
						t.Errorf("%v, cause %v", leaked.Err(), context.Cause(leaked))
					}
				}
			})
		})
	}
}

// A task that was submitted with the context of another, and still waits when the function of that
// one returns, is canceled with ErrReturned.
func TestTaskContextErrReturnedCancelsChildTask(t *testing.T) {
	for name, cfg := range map[string]executor.Config{
		"worker": {Workers: 1},
		"caller": {Workers: 1, Queue: executor.Bounded(1), Reject: executor.CallerRuns},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, other := newPool(t, cfg), newPool(t, executor.Config{Workers: 1})
				release := make(chan struct{})
				wait := func(context.Context) error { <-release; return nil }
				other.Go(t.Context(), wait)
				if name == "caller" {
					p.Go(t.Context(), wait)
					p.Go(t.Context(), wait)
				}
				ctx, cancel := context.WithCancel(t.Context()) // one that can end: the others have the pool's
				defer cancel()
				var next *executor.Future[int]
				p.Go(ctx, func(ctx context.Context) error {
					next = executor.Submit(ctx, other, func(context.Context) (int, error) { return 1, nil })
					return nil
				})
				synctest.Wait()
				err := next.Err()
				if !errors.Is(err, executor.ErrReturned) || !errors.Is(err, context.Canceled) ||
					!errors.Is(err, executor.ErrCanceled) {
					t.Errorf("it ended with %v", err)
				}
				close(release)
			})
		})
	}
}

// Timeout ends the context with DeadlineExceeded and the cause ErrTimeout; the task function
// determines the outcome.
func TestTaskContextTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		for name, submit := range map[string]func(func(context.Context) (int, error)) *executor.Task[int]{
			"Submit": func(fn func(context.Context) (int, error)) *executor.Task[int] {
				return testkit.SubmitTask(t.Context(), p, fn, executor.Timeout(time.Minute))
			},
			"Run": func(fn func(context.Context) (int, error)) *executor.Task[int] {
				f := executor.NewTask(fn, executor.Timeout(time.Minute))
				f.Run(context.Background())
				return f
			},
		} {
			f := submit(func(ctx context.Context) (int, error) {
				start := time.Now()
				if at, ok := ctx.Deadline(); !ok || time.Until(at) != time.Minute {
					t.Errorf("%s: Deadline: %v, %v", name, at, ok)
				}
				<-ctx.Done()
				if d := time.Since(start); d != time.Minute || ctx.Err() != context.DeadlineExceeded ||
					!errors.Is(context.Cause(ctx), executor.ErrTimeout) {
					t.Errorf("%s: after %v: %v, cause %v", name, d, ctx.Err(), context.Cause(ctx))
				}
				return 3, nil
			})
			if v, err := f.Get(t.Context()); v != 3 || err != nil {
				t.Errorf("%s: %d, %v", name, v, err)
			}
		}
	})
}

// Timeout limits the run and not the wait before it.
func TestTaskContextTimeoutBeginsWithRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		executor.Submit(t.Context(), p, testkit.After(time.Hour, 0))
		f := executor.Submit(t.Context(), p, testkit.After(30*time.Second, 1), executor.Timeout(time.Minute))
		if v, err := f.Get(t.Context()); v != 1 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

// ShutdownNow ends the contexts of running tasks with the cause ErrShutdown (SubmitTest
// WithShutdownNow).
func TestTaskContextEndsWithShutdownNow(t *testing.T) {
	for name, submitter := range map[string]func(*testing.T) context.Context{
		"forever":    background,
		"valued":     func(*testing.T) context.Context { return context.WithValue(context.Background(), contextKey{}, 1) },
		"cancelable": (*testing.T).Context,
		"detached": func(*testing.T) context.Context {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(errTask)
			return detached{ctx}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 4})
				parent := submitter(t)
				var mu sync.Mutex
				causes := make(map[string]error)
				body := func(way string) func(context.Context) error {
					return func(ctx context.Context) error {
						<-ctx.Done()
						mu.Lock()
						defer mu.Unlock()
						causes[way] = context.Cause(ctx)
						return ctx.Err()
					}
				}
				executor.Submit(parent, p, executor.Func(body("Submit")).Call)
				executor.Submit(parent, p, executor.Func(body("Timeout")).Call, executor.Timeout(time.Hour))
				p.Go(parent, body("Go"))
				p.Go(parent, body("Named"), executor.Named("x"))
				synctest.Wait()
				p.ShutdownNow()
				p.AwaitTermination(context.Background())
				want := map[string]error{"Submit": executor.ErrShutdown, "Timeout": executor.ErrShutdown, "Go": executor.ErrShutdown,
					"Named": executor.ErrShutdown}
				if !maps.Equal(causes, want) {
					t.Errorf("the causes are %v", causes)
				}
			})
		})
	}
}

// A task function that uses its context for the first time after ShutdownNow finds it ended.
func TestTaskContextFirstUsedAfterShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		pool := executor.Fixed(1)
		stopped := make(chan struct{})
		seen := executor.Submit(ctx, pool, func(ctx context.Context) (error, error) {
			<-stopped
			return ctx.Err(), nil
		})
		synctest.Wait()
		pool.ShutdownNow()
		close(stopped)
		if err, _ := seen.Get(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("ctx.Err() = %v after ShutdownNow, want context.Canceled", err)
		}
		pool.Close()
	})
}

// meetingContext never ends. Once it is open, the first two calls of Value wait for each other.
type meetingContext struct {
	context.Context
	open    atomic.Bool
	callers atomic.Int32
	met     sync.WaitGroup
}

func (c *meetingContext) Value(key any) any {
	if c.open.Load() && c.callers.Add(1) <= 2 {
		c.met.Done()
		c.met.Wait()
	}
	return c.Context.Value(key)
}

// Two goroutines of a task function that use its context for the first time at the same time get
// the same one: Cancel ends it for both.
func TestTaskContextFirstUsedByTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		defer pool.Close()
		parent := &meetingContext{Context: context.Background()}
		parent.met.Add(2)
		f := executor.Submit(parent, pool, func(ctx context.Context) (struct{}, error) {
			parent.open.Store(true)
			var lookers sync.WaitGroup
			for range 2 {
				lookers.Go(func() { <-ctx.Done() })
			}
			lookers.Wait()
			return struct{}{}, nil
		})
		synctest.Wait()
		if n := parent.callers.Load(); n < 2 {
			t.Fatalf("%d lookers met", n)
		}
		f.Cancel()
		synctest.Wait()
		if s := pool.Stats(); s.Active != 0 {
			t.Error("a looker's context did not end")
			pool.ShutdownNow()
		}
	})
}

// Contexts of users that do not behave.

// silentContext ends without closing its Done channel.
type silentContext struct {
	context.Context
	over bool
}

func (c *silentContext) Done() <-chan struct{} { return make(chan struct{}) }

func (c *silentContext) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

func (c *silentContext) Err() error {
	if c.over {
		return context.Canceled
	}
	return nil
}

// A worker checks the submitter's context itself before a task runs: the callback of the context
// may be late.
func TestTaskContextEndSeenByWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		ctx, ran := &silentContext{Context: context.Background()}, false
		f := executor.Submit(ctx, pool, func(context.Context) (int, error) { ran = true; return 1, nil })
		ctx.over = true
		block.Release()
		synctest.Wait()
		expect(t, "State", f.State(), executor.Canceled)
		expect(t, "ran", ran, false)
	})
}

// hasty is a context that closes Done before Err returns an error.
type hasty struct{ context.Context }

func (hasty) Done() <-chan struct{} { c := make(chan struct{}); close(c); return c }

// No method that waits reports success if Done of the context is closed and Err still returns nil.
func TestTaskContextDoneWithoutError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := hasty{context.Background()}
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: executor.Block})
		idle := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		defer block.Release()
		block.Fill(t, pool, 1)
		f := executor.NewTask(value(1))
		s := java.NewCompletionService[int](pool)
		for name, wait := range map[string]func() error{
			"Get":              func() error { _, err := f.Get(ctx); return err },
			"Join":             func() error { return f.Join(ctx) },
			"AwaitTermination": func() error { return pool.AwaitTermination(ctx) },
			"Take":             func() error { _, err := s.Take(ctx); return err },
			"Execute":          func() error { return pool.Execute(ctx, executor.NewTask(value(1))) },
			"Any":              func() error { _, err := executor.Any(ctx, idle, block.Value); return err },
		} {
			expectIs(t, name, wait(), context.Canceled)
		}
	})
}
