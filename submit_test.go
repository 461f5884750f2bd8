package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
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
		"RunAndReset": func(ctx context.Context, _ *executor.Pool, f func(context.Context)) {
			executor.NewTask(run(f)).RunAndReset(ctx)
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
				p := newPool(t, executor.Config{Core: 1})
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
				p := newPool(t, executor.Config{Core: 1})
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
		executor.Schedule(t.Context(), s, time.Minute, func(ctx context.Context) (int, error) {
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
				p := newPool(t, executor.Config{Core: 1})
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
		"worker": {Core: 1},
		"caller": {Core: 1, Queue: executor.Bounded(1), Reject: executor.CallerRuns},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, other := newPool(t, cfg), newPool(t, executor.Config{Core: 1})
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
		p := newPool(t, executor.Config{Core: 1})
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
		p := newPool(t, executor.Config{Core: 1})
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
				p := newPool(t, executor.Config{Core: 4})
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
		pool := newPool(t, executor.Config{Core: 1})
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
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.Block})
		idle := newPool(t, executor.Config{Core: 1})
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

// seconds is a backoff of n seconds after the n-th attempt.
func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// A task that fails is called again after its backoff, and its future has the value of the
// attempt that succeeded; in between it holds no worker.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		start := time.Now()
		var at []time.Duration
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
			at = append(at, time.Since(start))
			if len(at) < 4 {
				return 0, errTask
			}
			return len(at), nil
		}, executor.Retry(5, seconds), executor.Named("x"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		expect(t, "state in between", f.State(), executor.Running)
		expect(t, "name", f.Name(), "x")
		s := checkStats(t, pool)
		expect(t, "active in between", s.Active, 0)
		expect(t, "queued in between", s.Queued, 0)
		n, err := f.Get(t.Context())
		expect(t, "value", n, 4)
		expect(t, "error", err, nil)
		if want := []time.Duration{0, seconds(1), seconds(3), seconds(6)}; !slices.Equal(at, want) {
			t.Errorf("attempts at %v, want %v", at, want)
		}
		s = waitStats(t, pool)
		expect(t, "failed", s.Failed, 3)
		expect(t, "succeeded", s.Succeeded, 1)
	})
}

// The last attempt decides; a permanent error, a panic and a Goexit are final.
func TestRetryFinalFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail     func() error
		attempts int
		want     error
	}{
		"last":      {func() error { return errTask }, 3, errTask},
		"permanent": {func() error { return executor.Permanent(errTask) }, 1, errTask},
		"wrapped":   {func() error { return fmt.Errorf("no: %w", executor.Permanent(errTask)) }, 1, errTask},
		"panic":     {func() error { panic(errTask) }, 1, errTask},
		"Goexit":    {func() error { runtime.Goexit(); return nil }, 1, executor.ErrGoexit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1})
				n := 0
				f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
					n++
					return 0, c.fail()
				}, executor.Retry(3, seconds))
				_, err := f.Get(t.Context())
				expectIs(t, "error", err, c.want)
				expect(t, "attempts", n, c.attempts)
				expect(t, "state", f.State(), executor.Failed)
				if name == "permanent" && err != errTask {
					t.Errorf("error %v, want the marked one", err)
				}
			})
		})
	}
}

// The end of the context ends the wait at once, and the error matches its cause and the
// error of the last attempt.
func TestRetryContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		f := executor.Submit(ctx, pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, func(int) time.Duration { return time.Hour }))
		time.Sleep(time.Minute)
		start := time.Now()
		cancel(cause)
		_, err := f.Get(t.Context())
		expect(t, "after", time.Since(start), 0)
		for _, want := range []error{cause, context.Canceled, executor.ErrCanceled, errTask} {
			expectIs(t, "error", err, want)
		}
		expect(t, "state", f.State(), executor.Canceled)
		expect(t, "Join", f.Join(t.Context()), nil)
		time.Sleep(2 * time.Hour)
		expect(t, "attempts", waitStats(t, pool).Submitted, 1)
	})
}

// Cancel ends an attempt that runs, one that waits, and the time between two; Join waits
// for the body that is running, and for no other.
func TestRetryCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		waits := executor.Submit(t.Context(), pool, value(1), executor.Retry(3, seconds))
		expect(t, "queued", waitStats(t, pool).Queued, 1)
		expect(t, "Cancel", waits.Cancel(), true)
		expect(t, "queued after", waitStats(t, pool).Queued, 0)
		expect(t, "Join", waits.Join(t.Context()), nil)
		block.Release()

		var cause error
		runs := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Hour)
			return 0, ctx.Err()
		}, executor.Retry(3, seconds))
		synctest.Wait()
		start := time.Now()
		expect(t, "Cancel", runs.Cancel(), true)
		_, err := runs.Get(t.Context())
		expectIs(t, "error", err, executor.ErrCanceled)
		expect(t, "Get after", time.Since(start), 0)
		expect(t, "Join", runs.Join(t.Context()), nil)
		expect(t, "Join after", time.Since(start), time.Hour)
		expectIs(t, "cause", cause, executor.ErrCanceled)

		between := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, seconds))
		time.Sleep(time.Second / 2)
		expect(t, "Cancel", between.Cancel(), true)
		expect(t, "Join", between.Join(t.Context()), nil)
		time.Sleep(time.Hour)
		expect(t, "attempts", waitStats(t, pool).Submitted, 4)
	})
}

// An attempt that the pool rejects is the last: at first with the rejection alone, later
// with the error of the one before.
func TestRetryRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, seconds))
		synctest.Wait()
		pool.Close()
		_, err := f.Get(t.Context())
		for _, want := range []error{executor.ErrShutdown, executor.ErrRejected, errTask} {
			expectIs(t, "error", err, want)
		}
		f = executor.Submit(t.Context(), pool, value(1), executor.Retry(3, seconds))
		expectIs(t, "error", f.Err(), executor.ErrShutdown)
		err = pool.Go(t.Context(), nop, executor.Retry(3, seconds))
		expectIs(t, "Go", err, executor.ErrShutdown)
	})
}

// ShutdownNow ends the wait for the next attempt at once.
func TestRetryShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		keyed := newKeyed[int](t, pool, 1)
		start := time.Now()
		var fs []*executor.Future[int]
		sched := scheduled(t, 1)
		for _, ex := range []executor.Executor{pool, keyed.For(1), sched} {
			fs = append(fs, executor.Submit(t.Context(), ex, func(context.Context) (int, error) { return 0, errTask },
				executor.Retry(3, func(int) time.Duration { return time.Hour })))
		}
		synctest.Wait()
		pool.ShutdownNow()
		sched.ShutdownNow()
		for i, f := range fs {
			_, err := f.Get(t.Context())
			expect(t, fmt.Sprint("after ", i), time.Since(start), 0)
			expectIs(t, "error", err, executor.ErrShutdown)
			expectIs(t, "error", err, errTask)
		}
	})
}

// Go retries as well, and logs the failure of the last attempt alone.
func TestRetryGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		keyed := newKeyed[string](t, pool, 1)
		var n, m int
		fail := func(n *int) func(context.Context) error {
			return func(context.Context) error { *n++; return fmt.Errorf("attempt %d", *n) }
		}
		expect(t, "Go", pool.Go(t.Context(), fail(&n), executor.Retry(3, seconds), executor.Named("x")), nil)
		expect(t, "Go", keyed.Go(t.Context(), "key", fail(&m), executor.Retry(2, seconds)), nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "attempts", n, 3)
		expect(t, "attempts of the key", m, 2)
		for text, want := range map[string]int{"attempt 3": 1, "task=x": 1, "attempt 2": 1, "attempt 1": 0} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("the log has %q %d times, want %d:\n%s", text, got, want, &log)
			}
		}
	})
}

// What waits for its first attempt at a ShutdownNow can be run elsewhere.
func TestRetryDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		newBlocker(t).Fill(t, pool, 1)
		ran := false
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { ran = true; return 1, nil },
			executor.Retry(3, seconds), executor.Named("x"))
		synctest.Wait()
		dropped := pool.ShutdownNow()
		expectIs(t, "error", f.Err(), executor.ErrShutdown)
		if len(dropped) != 1 {
			t.Fatalf("%d tasks were dropped, want 1", len(dropped))
		}
		expect(t, "name", dropped[0].Name(), "x")
		expect(t, "Run", dropped[0].Run(t.Context()), nil)
		expect(t, "it ran", ran, true)
	})
}

// A task that needs no second attempt costs three allocations more than one without Retry; the
// first failure has a timer and a watch over the pool.
func TestRetryAllocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		retry := executor.Retry(3, func(int) time.Duration { return time.Second })
		for failures, most := range map[int]float64{0: 6, 1: 12, 2: 15} {
			run := func() {
				for range 100 {
					n := 0
					executor.Submit(context.Background(), pool, func(context.Context) (int, error) {
						if n++; n > failures {
							return n, nil
						}
						return 0, errTask
					}, retry)
				}
				time.Sleep(time.Minute)
			}
			run() // the queue has its size
			if got := testing.AllocsPerRun(10, run) / 100; got > most+0.5 {
				t.Errorf("%d failures: %v allocations, want %v", failures, got, most)
			}
		}
	})
}

// A task that waits for one of its own pool gets its result, though its attempts find no
// other worker.
func TestRetryForkJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		attempts := 0
		outer := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			return executor.Submit(ctx, pool, func(context.Context) (int, error) {
				if attempts++; attempts < 3 {
					return 0, errTask
				}
				return attempts, nil
			}, executor.Retry(5, seconds)).Get(ctx)
		})
		n, err := outer.Get(t.Context())
		expect(t, "value", n, 3)
		expect(t, "error", err, nil)
	})
}

// Retry is checked, and is for what runs once, in a pool that does not decorate its tasks.
func TestRetryInvalid(t *testing.T) {
	pool := newPool(t, executor.Config{Core: 1})
	sched := scheduled(t, 1)
	decorating := executor.Scheduled(1, func(c *executor.ScheduledConfig) {
		c.Decorate = func(t executor.ScheduledTask) executor.ScheduledTask { return t }
	})
	defer decorating.Close()
	_, periodic := sched.AtFixedRate(t.Context(), 0, time.Hour, nop, executor.Retry(2, seconds))
	for name, err := range map[string]error{
		"periodic": periodic,
		"attempts": pool.Go(t.Context(), nop, executor.Retry(0, seconds)),
		"backoff":  pool.Go(t.Context(), nop, executor.Retry(1, nil)),
		"NewTask":  executor.NewTask(value(1), executor.Retry(2, seconds)).Err(),
		"Decorate": executor.Schedule(t.Context(), decorating, 0, value(1), executor.Retry(2, seconds)).Err(),
	} {
		expectIs(t, name, err, executor.ErrInvalid)
	}
	var none func(context.Context) (int, error)
	expectIs(t, "nil function", executor.Submit(t.Context(), pool, none, executor.Retry(2, seconds)).Err(),
		executor.ErrNilTask)
	expect(t, "Permanent(nil)", executor.Permanent(nil), nil)
}

// A mark matches every other, and nothing else does.
func TestPermanentIsFoundByAnother(t *testing.T) {
	mark := executor.Permanent(io.EOF)
	for _, err := range []error{executor.Permanent(errTask), fmt.Errorf("no: %w", executor.Permanent(errTask))} {
		expectIs(t, "marked", err, mark)
		expectIs(t, "marked", err, errTask)
		expect(t, "the error in the mark", errors.Is(err, io.EOF), false)
	}
	expect(t, "unmarked", errors.Is(errTask, mark), false)
}

// A backoff that panics fails the task.
func TestRetryBackoffPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(2, func(int) time.Duration { panic("oh") }))
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || !errors.Is(err, errTask) {
			t.Errorf("error %v", err)
		}
	})
}

// Backoff doubles up to its most, shortened by up to a half.
func TestBackoff(t *testing.T) {
	b := executor.Backoff(time.Second, 10*time.Second)
	for n, want := range []time.Duration{0, 1, 2, 4, 8, 10, 10} {
		for range 100 {
			if d := b(n); n > 0 && (d < want*time.Second/2 || d > want*time.Second) {
				t.Errorf("after attempt %d: %v, want up to %v", n, d, want*time.Second)
			}
		}
	}
	if d := executor.Backoff(1<<62, 1<<63-1)(1_000_000_000); d < 1<<61 {
		t.Errorf("after very many attempts: %v", d)
	}
}

// However attempts, cancellations and the end of contexts race, the future resolves, no two
// attempts overlap, and there are no more than asked for.
func TestRetryHistory(t *testing.T) {
	pool := newPool(t, executor.Config{Core: 4})
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var running, n atomic.Int32
			f := executor.Submit(ctx, pool, func(context.Context) (int, error) {
				if running.Add(1) > 1 {
					t.Error("two attempts overlap")
				}
				defer running.Add(-1)
				runtime.Gosched()
				if n.Add(1) > 4 {
					t.Error("too many attempts")
				}
				return 0, errTask
			}, executor.Retry(4, func(int) time.Duration { return time.Duration(rand.IntN(100)) * time.Microsecond }))
			for range rand.IntN(100) {
				runtime.Gosched()
			}
			switch rand.IntN(3) {
			case 0:
				f.Cancel()
			case 1:
				cancel()
			}
			f.Get(context.Background())
			f.Join(context.Background())
			if running.Load() > 0 {
				t.Error("a body runs after Join")
			}
		})
	}
	all.Wait()
}
