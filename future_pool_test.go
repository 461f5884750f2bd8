package executor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
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
	if err := p.Execute(t.Context(), executor.Func(nop)); !errors.Is(err, executor.ErrRejected) {
		t.Errorf("Execute: %v", err)
	}
}

// A task that is submitted with an ended context is canceled with the context's cause, and does not
// run.
func TestSubmitWithEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
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
		p := newPool(t, executor.Config{Workers: 1})
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
				p := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1), Reject: policy})
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
	for name, op := range map[string]func(*executor.Task[int]) bool{
		"Cancel":   (*executor.Task[int]).Cancel,
		"Abandon":  (*executor.Task[int]).Abandon,
		"Complete": func(f *executor.Task[int]) bool { return f.Complete(9) },
		"Fail":     func(f *executor.Task[int]) bool { return f.Fail(errTask) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 1})
				b := newBlocker(t)
				b.Fill(t, p, 1)
				ran := 0
				fs := make([]*executor.Task[int], 5)
				for i := range fs {
					body := func(context.Context) (int, error) { ran++; return 0, nil }
					fs[i] = testkit.SubmitTask(t.Context(), p, body)
				}
				for _, i := range []int{2, 0, 4} {
					if !op(fs[i]) {
						t.Error("false")
					}
				}
				var left []any
				for r := range p.Waiting() {
					left = append(left, r)
				}
				if !slices.Equal(left, []any{fs[1].Future(), fs[3].Future()}) {
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
	for name, end := range map[string]func(*executor.Task[int]) bool{
		"Cancel":   (*executor.Task[int]).Cancel,
		"Abandon":  (*executor.Task[int]).Abandon,
		"Complete": func(f *executor.Task[int]) bool { return f.Complete(1) },
		"Fail":     func(f *executor.Task[int]) bool { return f.Fail(errTask) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1})
				b := newBlocker(t)
				b.Fill(t, pool, 1)
				f := testkit.SubmitTask(t.Context(), pool, value(1))
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
	type handOver = func(ctx context.Context, r executor.Runnable, p, other *executor.Pool) error
	for name, delegate := range map[string]handOver{
		"to another pool": func(ctx context.Context, r executor.Runnable, _, other *executor.Pool) error {
			return other.Execute(ctx, r)
		},
		"to a policy": func(ctx context.Context, r executor.Runnable, p, other *executor.Pool) error {
			return executor.DiscardOldest.Reject(ctx, r, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				other := newPool(t, executor.Config{Workers: 1})
				p := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1),
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
							if r == any(f) {
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

// Run of a task that a pool has, in whatever state, is an error, and changes nothing.
func TestTaskRunOfPoolsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		runs := 0
		f := executor.NewTask(func(ctx context.Context) (int, error) { runs++; return runs, b.Run(ctx) })
		expect(t, "Execute", p.Execute(t.Context(), f), nil)
		for _, state := range []executor.State{executor.Pending, executor.Running, executor.Succeeded} {
			synctest.Wait()
			expect(t, "state", f.State(), state)
			expectIs(t, "Run", f.Run(t.Context()), executor.ErrInvalid)
			if state != executor.Succeeded {
				b.ReleaseOne()
			}
		}
		futureIs(t, f, executor.Succeeded, 1, nil)
		expect(t, "Runs", waitStats(t, p).Runs, 2)
	})
}

// A wait in a task runs another one only where both are of the same pool, the other was submitted
// by a task of it, and is due: else another pool's limit would not hold.
func TestFutureGetByTaskRunsOnlyItsOwn(t *testing.T) {
	type intBody = func(context.Context) (int, error)
	for name, c := range map[string]struct {
		runs bool
		get  func(ctx context.Context, pool, other *executor.ScheduledPool, body intBody) error
	}{
		"its own": {true, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			_, err := executor.Submit(ctx, pool, body).Get(ctx)
			return err
		}},
		"with values": {true, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			_, err := executor.Submit(ctx, pool, body).Get(context.WithValue(ctx, contextKey{}, 1))
			return err
		}},
		"with another deadline": {true, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := executor.Submit(ctx, pool, body).Get(short)
			return err
		}},
		"without cancellation": {true, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			_, err := executor.Submit(ctx, pool, body).Get(context.WithoutCancel(ctx))
			return err
		}},
		"by Join": {true, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return executor.Submit(ctx, pool, body).Join(short)
		}},
		"by Done": {false, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			select {
			case <-executor.Submit(ctx, pool, body).Done():
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}},
		"with the outer context": {true, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			_, err := executor.Submit(context.Background(), pool, body).Get(ctx)
			return err
		}},
		"of another pool": {false, func(ctx context.Context, _, other *executor.ScheduledPool, body intBody) error {
			_, err := executor.Submit(ctx, other, body).Get(ctx)
			return err
		}},
		"not due": {false, func(ctx context.Context, pool, _ *executor.ScheduledPool, body intBody) error {
			_, err := executor.SubmitAfter(ctx, pool, time.Hour, body).Get(ctx)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, other := scheduled(t, 1), scheduled(t, 1)
				testkit.Occupy(t, other)
				var ran, over atomic.Bool
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				outer := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
					defer over.Store(true)
					return 0, c.get(ctx, pool, other, func(context.Context) (int, error) {
						ran.Store(!over.Load())
						return 1, nil
					})
				})
				outer.Join(context.Background())
				err := outer.Err()
				expect(t, "ran in the task that waits", ran.Load(), c.runs)
				if !c.runs {
					expectIs(t, "error", err, context.DeadlineExceeded)
				} else {
					expect(t, "error", err, nil)
				}
			})
		})
	}
}

// The future of a promise is completed by the promise alone; canceled by one that waits, it is
// canceled for all.
func TestPromise(t *testing.T) {
	p := executor.NewPromise[int]()
	f := p.Future()
	futureIs(t, f, executor.Pending, 0, nil)
	if !p.Complete(3) || p.Complete(4) || p.Fail(errTask) || f.Cancel() {
		t.Error("completed more than once, or not at all")
	}
	futureIs(t, f, executor.Succeeded, 3, nil)
	futureIs(t, p, executor.Succeeded, 3, nil)

	q := executor.NewPromise[int]()
	g := q.Future()
	if !g.Cancel() || q.Complete(1) || q.Future() != g {
		t.Error("not canceled, or another future")
	}
	futureIs(t, q, executor.Canceled, 0, executor.ErrCanceled)
}

// A future is for those that wait: nothing about it completes or runs the task.
func TestFutureHasNoRights(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	for _, f := range []any{executor.Submit(t.Context(), pool, value(1)), executor.NewPromise[int]().Future(),
		executor.NewTask(value(1)).Future()} {
		methods := reflect.TypeOf(f)
		for _, name := range []string{"Complete", "Fail", "Run"} {
			if _, ok := methods.MethodByName(name); ok {
				t.Errorf("%T has the method %s", f, name)
			}
		}
	}
}

// The pool does not terminate before the function of a canceled task has returned (JDK-8347039).
func TestFutureCancelHoldsTermination(t *testing.T) {
	for name, cancel := range cancels {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := executor.Fixed(1)
				start := time.Now()
				f := testkit.SubmitTask(t.Context(), p, func(context.Context) (int, error) {
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

// A task is submitted once: another submission, to whichever pool, is an error, and changes nothing.
func TestFutureSubmittedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := newPool(t, executor.Config{Workers: 1}), newPool(t, executor.Config{Workers: 1})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		f := executor.NewTask(func(ctx context.Context) (any, error) { return ctx.Value(contextKey{}), nil })
		expect(t, "Execute", p.Execute(context.WithValue(t.Context(), contextKey{}, 1), f), nil)
		again := func() {
			t.Helper()
			for _, ex := range []executor.Executor{p, q, newKeyed[string](t, q, 1).For("k")} {
				expectIs(t, "Execute again", ex.Execute(t.Context(), f), executor.ErrInvalid)
			}
		}
		again()
		expect(t, "Queued", p.Stats().Queued, 1)
		b.Release()
		synctest.Wait()
		again()
		v, err := f.Result()
		expect(t, "value", v, any(1))
		expect(t, "error", err, nil)
		expect(t, "Submitted to the first", waitStats(t, p).Submitted, 2)
		expect(t, "Submitted to the second", waitStats(t, q).Submitted, 0)
	})
}

// A task that runs by hand can't be submitted to a pool, and its context does not change.
func TestFutureSubmittedWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		gate := make(chan struct{})
		runs := 0
		var before, after any
		var cause error
		f := executor.NewTask(func(ctx context.Context) (int, error) {
			runs++
			before = ctx.Value(contextKey{})
			<-gate
			after, cause = ctx.Value(contextKey{}), context.Cause(ctx)
			return 1, nil
		})
		go f.Run(context.WithValue(t.Context(), contextKey{}, "own"))
		synctest.Wait()
		expectIs(t, "Execute", p.Execute(context.WithValue(t.Context(), contextKey{}, "pool's"), f), executor.ErrInvalid)
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
		p := newPool(t, executor.Config{Workers: 1})
		var leaked context.Context
		f := executor.NewTask(func(ctx context.Context) (int, error) { leaked = ctx; return 1, nil })
		f.Run(context.WithValue(t.Context(), contextKey{}, "own"))
		expect(t, "Execute", p.Execute(context.WithValue(t.Context(), contextKey{}, "pool's"), f), nil)
		synctest.Wait()
		if v := leaked.Value(contextKey{}); v != "own" {
			t.Errorf("the context that was left behind has the value %v", v)
		}
		futureIs(t, f, executor.Succeeded, 1, nil)
	})
}

// Races.

// Of all calls that complete a task at the same time exactly one returns true: its outcome is the
// only one, callbacks run once, the task function at most once.
func TestFutureRaceOneWinner(t *testing.T) {
	contenders := []struct {
		name  string
		try   func(*executor.Task[int]) bool // reports whether it won, for certain
		state executor.State
		value int
		err   error
	}{
		{"Cancel", func(f *executor.Task[int]) bool { return f.Cancel() }, executor.Canceled, 0, executor.ErrCanceled},
		{"Abandon", func(f *executor.Task[int]) bool { return f.Abandon() }, executor.Canceled, 0, executor.ErrCanceled},
		{"Complete", func(f *executor.Task[int]) bool { return f.Complete(2) }, executor.Succeeded, 2, nil},
		{"Fail", func(f *executor.Task[int]) bool { return f.Fail(errTask) }, executor.Failed, 0, errTask},
	}
	for range 500 {
		var ran, called atomic.Int32
		f := executor.NewTask(func(context.Context) (int, error) { ran.Add(1); return 1, nil })
		f.OnDone(func() { called.Add(1) })
		won := make([]bool, len(contenders))
		start := make(chan struct{})
		var wg sync.WaitGroup
		for _, i := range rand.Perm(len(contenders)) {
			wg.Go(func() {
				<-start
				won[i] = contenders[i].try(f)
			})
		}
		for range 2 {
			wg.Go(func() {
				<-start
				f.Run(t.Context())
			})
		}
		for range 2 { // Get returns the final outcome, or none
			wg.Go(func() {
				<-start
				v, err := f.Get(t.Context())
				if v2, err2 := f.Result(); v != v2 || err != err2 {
					t.Errorf("%d, %v turned into %d, %v", v, err, v2, err2)
				}
			})
		}
		close(start)
		wg.Wait()

		winners := 0
		for i, c := range contenders {
			if won[i] {
				winners++
				futureIs(t, f, c.state, c.value, c.err)
			}
		}
		if winners == 0 {
			futureIs(t, f, executor.Succeeded, 1, nil)
		}
		if winners > 1 || ran.Load() > 1 || called.Load() != 1 || winners == 0 && ran.Load() != 1 {
			t.Fatalf("%d winners, %d runs, %d calls of the callback", winners, ran.Load(), called.Load())
		}
	}
}

// Get returns however close the completion comes to its wait (FutureTask/ExplicitSet, JDK-7132378).
func TestFutureRaceGetComplete(t *testing.T) {
	for i := range 2000 {
		f := executor.NewPromise[int]()
		go f.Complete(i)
		if v, err := f.Get(t.Context()); v != i || err != nil {
			t.Fatalf("Get: %d, %v, want %d", v, err, i)
		}
	}
}

// A callback runs exactly once, however close the completion comes to its registration.
func TestFutureRaceOnDoneComplete(t *testing.T) {
	for range 2000 {
		f := executor.NewPromise[int]()
		go f.Complete(1)
		called := make(chan struct{}, 2)
		f.OnDone(func() { called <- struct{}{} })
		<-called
		if len(called) != 0 {
			t.Fatal("the callback was called twice")
		}
	}
}

// Of callbacks that many goroutines register at the same time none is lost, and none runs twice.
func TestFutureRaceOnDone(t *testing.T) {
	const goroutines, each = 8, 200
	f := executor.NewPromise[int]()
	var called [goroutines][each]atomic.Int32
	var wg sync.WaitGroup
	for g := range called {
		wg.Go(func() {
			for i := range called[g] {
				f.OnDone(func() { called[g][i].Add(1) })
			}
		})
	}
	wg.Wait()
	f.Complete(1)
	for g := range called {
		for i := range called[g] {
			if n := called[g][i].Load(); n != 1 {
				t.Fatalf("callback %d of goroutine %d was called %d times", i, g, n)
			}
		}
	}
}

// A task function that uses its context for the first time while it is canceled finds it ended
// sooner or later.
func TestFutureRaceCancelFirstUseOfContext(t *testing.T) {
	for range 1000 {
		begun := make(chan struct{})
		f := executor.NewTask(func(ctx context.Context) (int, error) {
			close(begun)
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { <-ctx.Done() })
			}
			wg.Wait()
			if cause := context.Cause(ctx); cause != executor.ErrCanceled {
				t.Errorf("cause: %v", cause)
			}
			return 0, nil
		})
		go f.Run(t.Context())
		<-begun
		f.Cancel()
		f.Join(t.Context())
	}
}

// A task that two pools and Run get at the same time runs once, and its context does not change
// during the run.
func TestFutureRaceExecutors(t *testing.T) {
	p, q := executor.Fixed(2), executor.Fixed(2)
	defer p.Close()
	defer q.Close()
	for i := range 300 {
		var runs atomic.Int32
		f := executor.NewTask(func(ctx context.Context) (int, error) {
			runs.Add(1)
			for range 10 {
				ctx.Value(contextKey{})
				ctx.Deadline()
			}
			return i, ctx.Err()
		})
		var wg sync.WaitGroup
		wg.Go(func() { p.Execute(t.Context(), f) })
		wg.Go(func() { q.Execute(context.Background(), f) })
		wg.Go(func() { f.Run(t.Context()) })
		wg.Wait()
		if v, err := f.Get(t.Context()); v != i || err != nil || runs.Load() != 1 {
			t.Fatalf("%d, %v, after %d runs", v, err, runs.Load())
		}
	}
}

// OnDone, Get and Done of a task in a queue learn of its cancellation, once, however close that
// comes; then the task has left the queue.
func TestFutureRaceCancelWaiters(t *testing.T) {
	p := executor.Fixed(1)
	defer p.Close()
	gate := make(chan struct{})
	defer close(gate)
	p.Go(t.Context(), func(context.Context) error { <-gate; return nil })
	for range 2000 {
		f := executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
		var won, called atomic.Int32
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if f.Cancel() {
					won.Add(1)
				}
			})
		}
		wg.Go(func() { f.OnDone(func() { called.Add(1) }) })
		wg.Go(func() {
			if _, err := f.Get(t.Context()); !errors.Is(err, executor.ErrCanceled) {
				t.Errorf("Get: %v", err)
			}
			select {
			case <-f.Done():
			default:
				t.Error("the channel of a task that is done is open")
			}
		})
		wg.Wait()
		if won.Load() != 1 || called.Load() != 1 || p.Stats().Queued != 0 {
			t.Fatalf("%d calls canceled it, %d calls of the callback, %d tasks wait", won.Load(), called.Load(), p.Stats().Queued)
		}
	}
}

// A future that is canceled while a rejection policy hands it to another pool is canceled and never
// runs, and neither pool keeps it.
func TestFutureRaceCancelRejection(t *testing.T) {
	q := executor.Fixed(1)
	defer q.Close()
	p := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff(),
		Reject: executor.RejectFunc(
			func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error { return q.Execute(ctx, r) })})
	gate := make(chan struct{})
	defer close(gate)
	for _, p := range []*executor.Pool{p, q} {
		p.Go(t.Context(), func(context.Context) error { <-gate; return nil })
	}
	for range 2000 {
		f := executor.NewTask(func(context.Context) (int, error) { t.Error("it ran"); return 1, nil })
		var wg sync.WaitGroup
		wg.Go(func() { p.Execute(context.Background(), f) })
		wg.Go(func() { f.Cancel() })
		wg.Wait()
		if !errors.Is(f.Err(), executor.ErrCanceled) || p.Stats().Queued != 0 {
			t.Fatalf("%v, %d wait", f.Err(), p.Stats().Queued)
		}
	}
}

// A task that is canceled during ShutdownNow is returned by it or not, and one that is returned has
// its function or nothing to run.
func TestFutureRaceCancelShutdownNow(t *testing.T) {
	for range 200 {
		p := executor.Fixed(1)
		gate := make(chan struct{})
		p.Go(t.Context(), func(context.Context) error { <-gate; return nil })
		var ran atomic.Int32
		var futures [20]*executor.Task[int]
		for i := range futures {
			futures[i] = testkit.SubmitTask(context.Background(), p,
				func(context.Context) (int, error) { ran.Add(1); return 1, nil })
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for _, f := range futures {
				f.Cancel()
			}
		})
		back := p.ShutdownNow()
		wg.Wait()
		for _, u := range back {
			u.Run(t.Context())
		}
		if int(ran.Load()) > len(back) {
			t.Fatalf("%d ran, %d were returned", ran.Load(), len(back))
		}
		for _, f := range futures {
			if !errors.Is(f.Err(), executor.ErrCanceled) && !errors.Is(f.Err(), executor.ErrShutdown) {
				t.Fatalf("outcome: %v", f.Err())
			}
		}
		close(gate)
		p.Close()
	}
}

// A task that waits for one of another key does not run it itself, beside the tasks of that key.
func TestFutureGetKeepsLimitOfKey(t *testing.T) {
	for name, wait := range map[string]func(context.Context, *executor.Future[int]){
		"Get":       func(ctx context.Context, f *executor.Future[int]) { f.Get(ctx) },
		"Completed": func(_ context.Context, f *executor.Future[int]) { next(executor.Completed(context.Background(), f)) },
	} {
		for _, opts := range [][]executor.Option{nil, {executor.Retry(2, executor.Backoff(1, 1))}} {
			t.Run(fmt.Sprint(name, " ", len(opts)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := executor.Fixed(4)
					defer pool.Close()
					keyed := executor.NewKeyed[string](pool, 1)
					running := 0
					body := func(context.Context) (int, error) {
						running++
						defer func() { running-- }()
						time.Sleep(time.Second)
						return running, nil
					}
					before := executor.Submit(t.Context(), keyed.For("b"), body)
					var f *executor.Future[int]
					executor.Submit(t.Context(), keyed.For("a"), func(ctx context.Context) (int, error) {
						f = executor.Submit(ctx, keyed.For("b"), body, opts...)
						wait(ctx, f)
						return 0, nil
					}).Get(t.Context())
					for _, f := range []*executor.Future[int]{before, f} {
						if n, err := f.Get(t.Context()); n != 1 || err != nil {
							t.Errorf("%d of the key ran at once, %v", n, err)
						}
					}
				})
			})
		}
	}
}

// A task that waits for one that was submitted to the pool of a Keyed itself, without a key, runs it.
func TestFutureGetRunsTaskWithoutKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		keyed := executor.NewKeyed[string](pool, 1)
		f := executor.Submit(t.Context(), keyed.For("a"), func(ctx context.Context) (int, error) {
			return executor.Submit(ctx, keyed.Pool(), value(1)).Get(ctx)
		})
		if v, err := f.Get(t.Context()); v != 1 || err != nil {
			t.Errorf("%v, %v", v, err)
		}
	})
}

// A task may wait by Completed for tasks with Retry, even on the only worker.
func TestCompletedByTaskRunsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		n, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (sum int, err error) {
			var fs []*executor.Future[int]
			for range 3 {
				attempts := 0
				fs = append(fs, executor.Submit(ctx, pool, func(context.Context) (int, error) {
					if attempts++; attempts < 3 {
						return 0, errTask
					}
					return attempts, nil
				}, executor.Retry(3, executor.Backoff(time.Second, time.Minute))))
			}
			for f := range executor.Completed(ctx, fs...) {
				v, err := f.Result()
				if err != nil {
					return 0, err
				}
				sum += v
			}
			return sum, nil
		}).Get(t.Context())
		expect(t, "sum", n, 9)
		expect(t, "error", err, nil)
	})
}

func next[T any](seq iter.Seq[T]) (v T) {
	for v = range seq {
		break
	}
	return v
}

// In a task of its own pool the loop of Completed yields what is done while a task with Retry waits for
// its next attempt, and runs that when it is due.
func TestCompletedByTaskDoesNotWaitForRetry(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 2})
			begin := time.Now()
			var yielded []string
			_, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
				tries := 0
				fs := []*executor.Future[int]{
					executor.Submit(ctx, pool, func(context.Context) (int, error) {
						if tries++; tries < 3 {
							return 0, errTask
						}
						return 3, nil
					}, executor.Retry(3, func(int) time.Duration { return time.Minute })),
					executor.Submit(ctx, pool, testkit.After(time.Second, 1)),
					executor.Submit(ctx, pool, testkit.After(time.Second, 1)),
				}
				for f := range executor.Completed(ctx, fs...) {
					v, _ := f.Result()
					yielded = append(yielded, fmt.Sprint(v, " at ", time.Since(begin)))
				}
				return 0, nil
			}).Get(t.Context())
			expect(t, "error", err, nil)
			if got := fmt.Sprint(yielded); got != "[1 at 1s 1 at 1s 3 at 2m0s]" && got != "[1 at 1s 1 at 2s 3 at 2m0s]" {
				t.Errorf("yielded: %s", got)
			}
		})
	}
}
