package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Submit.

// Submit to an executor that runs tasks in the caller returns a future that is done
// (AbstractExecutorServiceTest.testExecuteRunnable).
func TestSubmitToInlineExecutor(t *testing.T) {
	futureIs(t, executor.Submit(t.Context(), testkit.Inline{}, value(4)), executor.Succeeded, 4, nil)
	futureIs(t, executor.Submit(t.Context(), testkit.Inline{}, testkit.Fail(errTask)), executor.Failed, 0, errTask)
}

// A rejected task has failed with the executor's error (SubmitTest AfterShutdown).
func TestSubmitRejected(t *testing.T) {
	futureIs(t, executor.Submit(t.Context(), testkit.Rejecting(errTask), value(1)), executor.Failed, 0, errTask)

	p := executor.Fixed(1)
	p.Close()
	f := executor.Submit(t.Context(), p, value(1))
	futureIs(t, f, executor.Failed, 0, executor.ErrRejected)
	futureIs(t, f, executor.Failed, 0, executor.ErrShutdown)
	if err := p.Execute(t.Context(), executor.Func(func(context.Context) error { return nil })); !errors.Is(err, executor.ErrRejected) {
		t.Errorf("Execute: %v", err)
	}
}

// A task that is submitted with an ended context is canceled with the context's cause, and does not
// run.
func TestSubmitWithEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		for name, c := range testkit.EndedContexts(t) {
			f := executor.Submit(c.Ctx, p, value(1))
			for _, want := range append(c.Want, executor.ErrCanceled) {
				if f.State() != executor.Canceled || !errors.Is(f.Err(), want) {
					t.Errorf("%s: %v, %v, want %v", name, f.State(), f.Err(), want)
				}
			}
		}
		if s := waitStats(t, p); s.Runs != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// When the submitter's context ends, a task that waits is canceled at once and leaves the queue;
// one that runs is not completed by that.
func TestSubmitContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		ctx, cancel := context.WithCancelCause(t.Context())
		running := executor.Submit(ctx, p, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			time.Sleep(time.Minute)
			return 1, nil
		})
		waiting := executor.Submit(ctx, p, value(2))
		synctest.Wait()
		cancel(errTask)
		synctest.Wait()
		futureIs(t, waiting, executor.Canceled, 0, errTask)
		futureIs(t, waiting, executor.Canceled, 0, context.Canceled)
		if s := p.Stats(); s.Queued != 0 || s.Canceled != 1 {
			t.Errorf("%+v", s)
		}
		if running.State() != executor.Running {
			t.Errorf("the task that ran is %v", running.State())
		}
		running.Get(t.Context())
		futureIs(t, running, executor.Succeeded, 1, nil)
	})
}

// A future is completed on each path, whatever the rejection policy (JDK futures of discarded
// tasks, and of those that shutdownNow returns, stay pending forever).
func TestFutureAlwaysResolves(t *testing.T) {
	for name, policy := range map[string]executor.RejectPolicy{
		"Abort": executor.Abort, "Discard": executor.Discard, "DiscardOldest": executor.DiscardOldest,
		"CallerRuns": executor.CallerRuns, "Block": executor.Block,
		"handler that fails": executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return errTask }),
		"handler that runs": executor.RejectFunc(func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error {
			r.Run(ctx)
			return nil
		}),
		"handler that delegates": executor.RejectFunc(func(ctx context.Context, r executor.Runnable, p *executor.Pool) error {
			return executor.DiscardOldest.Reject(ctx, r, p)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1), Reject: policy})
				fs := make(chan *executor.Future[int], 20)
				for range cap(fs) {
					go func() { fs <- executor.Submit(t.Context(), p, testkit.After(time.Second, 1)) }()
				}
				time.Sleep(5 * time.Second)
				p.ShutdownNow()
				for range cap(fs) {
					f := <-fs
					if _, err := f.Get(t.Context()); f.State() == executor.Pending || f.State() == executor.Running {
						t.Errorf("%v, %v", f.State(), err)
					}
				}
			})
		})
	}
}

// A future that waits in a queue.

// A waiting task that is canceled, abandoned or completed leaves the queue at once, is counted
// once, and never runs.
func TestFutureCancelLeavesQueue(t *testing.T) {
	for name, op := range map[string]func(*executor.Future[int]) bool{
		"Cancel":   (*executor.Future[int]).Cancel,
		"Abandon":  (*executor.Future[int]).Abandon,
		"Complete": func(f *executor.Future[int]) bool { return f.Complete(9) },
		"Fail":     func(f *executor.Future[int]) bool { return f.Fail(errTask) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Core: 1})
				b := newBlocker(t)
				b.Fill(t, p, 1)
				ran := 0
				fs := make([]*executor.Future[int], 5)
				for i := range fs {
					fs[i] = executor.Submit(t.Context(), p, func(context.Context) (int, error) { ran++; return 0, nil })
				}
				for _, i := range []int{2, 0, 4} {
					if !op(fs[i]) {
						t.Error("false")
					}
				}
				var left []executor.Runnable
				for r := range p.Waiting() {
					left = append(left, r)
				}
				if !slices.Equal(left, []executor.Runnable{fs[1], fs[3]}) {
					t.Errorf("%d wait: %v", len(left), left)
				}
				b.Release()
				if s := waitStats(t, p); ran != 2 || s.Runs != 3 || s.Ended() != 6 {
					t.Errorf("%d ran: %+v", ran, s)
				}
			})
		})
	}
}

// When a future is done it has left the queue.
func TestFutureLeavesQueueBeforeDone(t *testing.T) {
	for name, end := range map[string]func(*executor.Future[int]) bool{
		"Cancel":   (*executor.Future[int]).Cancel,
		"Abandon":  (*executor.Future[int]).Abandon,
		"Complete": func(f *executor.Future[int]) bool { return f.Complete(1) },
		"Fail":     func(f *executor.Future[int]) bool { return f.Fail(errTask) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1})
				b := newBlocker(t)
				b.Fill(t, pool, 1)
				f := executor.Submit(t.Context(), pool, value(1))
				queued := -1
				f.OnDone(func() { queued = pool.Stats().Queued })
				expect(t, "ended", end(f), true)
				expect(t, "Queued when it is done", queued, 0)
			})
		})
	}
}

// A future that a rejection policy handed to another pool, or back by another policy, leaves that
// queue when it is canceled.
func TestFutureCancelAfterHandOver(t *testing.T) {
	for name, delegate := range map[string]func(context.Context, executor.Runnable, *executor.Pool, *executor.Pool) error{
		"to another pool": func(ctx context.Context, r executor.Runnable, _, other *executor.Pool) error {
			return other.Execute(ctx, r)
		},
		"to a policy": func(ctx context.Context, r executor.Runnable, p, other *executor.Pool) error {
			return executor.DiscardOldest.Reject(ctx, r, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				other := newPool(t, executor.Config{Core: 1})
				p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1),
					Reject: executor.RejectFunc(func(ctx context.Context, r executor.Runnable, p *executor.Pool) error {
						return delegate(ctx, r, p, other)
					})})
				b := newBlocker(t)
				b.Fill(t, p, 2)
				b.Fill(t, other, 1)
				f := executor.Submit(t.Context(), p, value(1))
				find := func() (n int) {
					for _, q := range []*executor.Pool{p, other} {
						for r := range q.Waiting() {
							if r == executor.Runnable(f) {
								n++
							}
						}
					}
					return n
				}
				if n := find(); n != 1 {
					t.Fatalf("it waits in %d places", n)
				}
				f.Cancel()
				if n := find(); n != 0 {
					t.Error("it still waits")
				}
			})
		})
	}
}

// A future in a queue that is run by Run runs once, with the context with which it was submitted,
// and the pool discards it.
func TestFutureRunWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		f := executor.NewFuture(func(ctx context.Context) (int, error) { return ctx.Value(contextKey{}).(int), nil })
		p.Execute(context.WithValue(t.Context(), contextKey{}, 1), f)
		f.Run(context.WithValue(t.Context(), contextKey{}, 2))
		futureIs(t, f, executor.Succeeded, 1, nil)
		b.Release()
		if s := waitStats(t, p); s.Queued != 0 || s.Active != 0 || s.Runs != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// A promise has nothing to run: a pool discards it, and it stays pending.
func TestFuturePromiseInPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		f := executor.NewPromise[int]()
		if err := p.Execute(t.Context(), f); err != nil {
			t.Error(err)
		}
		s := waitStats(t, p)
		if s.Active != 0 || s.Queued != 0 {
			t.Errorf("%+v", s)
		}
		futureIs(t, f, executor.Pending, 0, nil)
		f.Complete(3)
		futureIs(t, f, executor.Succeeded, 3, nil)
	})
}

// The pool does not terminate before the function of a canceled task has returned (JDK-8347039).
func TestFutureCancelHoldsTermination(t *testing.T) {
	for name, cancel := range cancels {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := executor.Fixed(1)
				start := time.Now()
				f := executor.Submit(t.Context(), p, func(context.Context) (int, error) {
					time.Sleep(time.Hour)
					return 1, nil
				})
				synctest.Wait()
				cancel(f)
				p.Close()
				if d := time.Since(start); d != time.Hour {
					t.Errorf("terminated after %v", d)
				}
			})
		})
	}
}

// A future that is submitted several times.

// A future that is submitted to two executors, or twice to one, runs once.
func TestFutureSubmittedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := newPool(t, executor.Config{Core: 1}), newPool(t, executor.Config{Core: 1})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		runs := 0
		f := executor.NewFuture(func(context.Context) (int, error) { runs++; return runs, nil })
		for _, p := range []*executor.Pool{p, p, q} {
			if err := p.Execute(t.Context(), f); err != nil {
				t.Error(err)
			}
		}
		if v, err := f.Get(t.Context()); v != 1 || err != nil { // by q
			t.Errorf("Get: %d, %v", v, err)
		}
		b.Release()
		for _, p := range []*executor.Pool{p, q} {
			if s := waitStats(t, p); s.Queued != 0 || s.Active != 0 {
				t.Errorf("%+v", s)
			}
		}
		if runs != 1 {
			t.Errorf("%d runs", runs)
		}
	})
}

// A future that waits in one pool and is submitted to a second keeps the context of the first
// submission; when the second pool has run it, it has left the queue of the first.
func TestFutureInTwoPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		first := newPool(t, executor.Config{Core: 1})
		second := newPool(t, executor.Config{Core: 1})
		b := newBlocker(t)
		b.Fill(t, first, 1)
		f := executor.NewFuture(func(ctx context.Context) (any, error) { return ctx.Value(key{}), nil })
		for i, pool := range []*executor.Pool{first, second} {
			if err := pool.Execute(context.WithValue(t.Context(), key{}, i), f); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, "Queued", waitStats(t, first).Queued, 0)
		v, err := f.Get(t.Context())
		expect(t, "value", v, any(0))
		expect(t, "error", err, nil)
	})
}

// The context of a running task does not change when the future is submitted to a pool.
func TestFutureSubmittedWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		gate := make(chan struct{})
		runs := 0
		var before, after any
		var cause error
		f := executor.NewFuture(func(ctx context.Context) (int, error) {
			runs++
			before = ctx.Value(contextKey{})
			<-gate
			after, cause = ctx.Value(contextKey{}), context.Cause(ctx)
			return 1, nil
		})
		go f.Run(context.WithValue(t.Context(), contextKey{}, "own"))
		synctest.Wait()
		p.Execute(context.WithValue(t.Context(), contextKey{}, "pool's"), f)
		synctest.Wait()
		p.ShutdownNow()
		close(gate)
		f.Get(t.Context())
		if before != "own" || after != "own" || cause != nil || runs != 1 {
			t.Errorf("the task function saw %v, then %v with the cause %v, in %d runs", before, after, cause, runs)
		}
	})
}

// A context that a task function left behind does not change when its future, which is done, is
// submitted to a pool.
func TestFutureSubmittedAfterRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		var leaked context.Context
		f := executor.NewFuture(func(ctx context.Context) (int, error) { leaked = ctx; return 1, nil })
		f.Run(context.WithValue(t.Context(), contextKey{}, "own"))
		p.Execute(context.WithValue(t.Context(), contextKey{}, "pool's"), f)
		synctest.Wait()
		if v := leaked.Value(contextKey{}); v != "own" {
			t.Errorf("the context that was left behind has the value %v", v)
		}
		futureIs(t, f, executor.Succeeded, 1, nil)
	})
}
