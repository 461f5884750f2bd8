package executor_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Block: submitters wait for room.

// With Block submitters wait while there is no room, and are admitted one by one in the order in
// which they came.
func TestBlockOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.Block)
		mustGo(t, pool, block.Run)
		var order []int
		var waiting []<-chan error
		for i := range 10 {
			waiting = append(waiting,
				testkit.StartExecute(t.Context(), pool, executor.Func(func(ctx context.Context) error {
					order = append(order, i)
					return block.Run(ctx)
				})))
		}
		s := checkStats(t, pool)
		expect(t, "Blocked", s.Blocked, 10)
		expect(t, "Submitted", s.Submitted, 2)
		for i, w := range waiting {
			expect(t, "admitted early", len(w), 0)
			block.ReleaseOne()
			expect(t, "Blocked", waitStats(t, pool).Blocked, 9-i)
			expect(t, "Execute", <-w, nil)
		}
		block.Release()
		s = waitStats(t, pool)
		if !slices.IsSorted(order) || len(order) != 10 {
			t.Errorf("ran in order %v", order)
		}
		expect(t, "Rejected", s.Rejected, 0)
		expect(t, "Succeeded", s.Succeeded, 12)
	})
}

// When there is room for several submitters at once, all of these are admitted.
func TestBlockAdmitsAsManyAsFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.Block)
		mustGo(t, pool, block.Run)
		for range 3 {
			testkit.StartExecute(t.Context(), pool, executor.Func(block.Run))
		}
		expect(t, "SetMax", setMax(pool, 3), nil)
		s := waitStats(t, pool)
		expect(t, "Blocked", s.Blocked, 1)
		expect(t, "Workers", s.Workers, 3)
		block.Release()
	})
}

// With Block and no queue a submitter waits for a worker.
func TestBlockWithoutQueue(t *testing.T) {
	for _, keepAlive := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t,
				executor.Config{Max: 2, KeepAlive: keepAlive, Queue: executor.Handoff(), Reject: executor.Block})
			start := time.Now()
			for range 10 {
				mustGo(t, pool, func(context.Context) error { time.Sleep(time.Second); return nil })
			}
			expect(t, "took", time.Since(start), 4*time.Second)
			expect(t, "Largest", checkStats(t, pool).Largest, 2)
		})
	}
}

// A task that panics or calls Goexit makes room as any other, without a delay (ants#146: submitters
// waited for its purge).
func TestBlockWithoutQueueAfterFailures(t *testing.T) {
	for name, fail := range map[string]func() error{
		"panic": func() error { panic("oops") }, "Goexit": func() error { runtime.Goexit(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 2, Queue: executor.Handoff(), Reject: executor.Block})
			start := time.Now()
			for range 10 {
				mustGo(t, pool, func(context.Context) error { time.Sleep(time.Second); return fail() })
			}
			expect(t, name+": took", time.Since(start), 4*time.Second)
			expect(t, name+": Largest", checkStats(t, pool).Largest, 2)
		})
	}
}

// Whatever makes room lets a waiting submitter in.
func TestBlockEndsWithRoom(t *testing.T) {
	for name, makeRoom := range map[string]func(pool *executor.Pool, queued *executor.Future[int]){
		"Cancel":     func(_ *executor.Pool, queued *executor.Future[int]) { queued.Cancel() },
		"Abandon":    func(_ *executor.Pool, queued *executor.Future[int]) { queued.Abandon() },
		"Remove":     func(pool *executor.Pool, queued *executor.Future[int]) { pool.Remove(queued) },
		"SetMax":     func(pool *executor.Pool, _ *executor.Future[int]) { setMax(pool, 2) },
		"SetWorkers": func(pool *executor.Pool, _ *executor.Future[int]) { setMax(pool, 2); setWorkers(pool, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, block := testkit.BusyPool(t, executor.Block)
				queued := executor.Submit(t.Context(), pool, block.Value)
				waits := testkit.StartExecute(t.Context(), pool, executor.Func(block.Run))
				expect(t, "Blocked", checkStats(t, pool).Blocked, 1)
				makeRoom(pool, queued)
				expect(t, "Execute", <-waits, nil)
				expect(t, "Blocked", waitStats(t, pool).Blocked, 0)
			})
		})
	}
}

// Of many submitters for few places all are admitted, and all tasks run.
func TestBlockManySubmitters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2, Max: 3, KeepAlive: time.Millisecond, Queue: executor.Bounded(2),
			Reject: executor.Block})
		done := make(chan error)
		for range 20 {
			go func() {
				for range 50 {
					if err := pool.Go(t.Context(),
						func(context.Context) error { time.Sleep(time.Microsecond); return nil }); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range 20 {
			expect(t, "submitter", <-done, nil)
		}
		pool.Close()
		expect(t, "Succeeded", checkStats(t, pool).Succeeded, 1000)
	})
}

// The end of the wait without room.

// When the context of a waiting submitter ends, the task is rejected with the context's error, and
// the others keep their places.
func TestBlockContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.Block)
		mustGo(t, pool, block.Run)
		first := testkit.StartExecute(t.Context(), pool, executor.Func(nop))
		bound, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		f := executor.NewTask(value(1))
		second := testkit.StartExecute(bound, pool, f)
		third := testkit.StartExecute(t.Context(), pool, executor.Func(nop))
		err := <-second
		for _, want := range []error{executor.ErrRejected, context.DeadlineExceeded} {
			expectIs(t, "Execute", err, want)
			expectIs(t, "future", f.Err(), want)
		}
		s := checkStats(t, pool)
		expect(t, "Blocked", s.Blocked, 2)
		expect(t, "Rejected", s.Rejected, 1)
		block.Release()
		expect(t, "first", <-first, nil)
		expect(t, "third", <-third, nil)
	})
}

// When the time of BlockFor is over, the task is rejected as saturated, and the others keep their
// places.
func TestBlockForTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.BlockFor(time.Minute))
		mustGo(t, pool, block.Run)
		start := time.Now()
		f := executor.NewTask(value(1))
		first := testkit.StartExecute(t.Context(), pool, f)
		time.Sleep(time.Second)
		second := testkit.StartExecute(t.Context(), pool, executor.Func(nop))
		err := <-first
		expect(t, "waited", time.Since(start), time.Minute)
		for _, want := range []error{executor.ErrRejected, executor.ErrSaturated} {
			expectIs(t, "Execute", err, want)
			expectIs(t, "future", f.Err(), want)
		}
		s := checkStats(t, pool)
		expect(t, "Blocked", s.Blocked, 1)
		expect(t, "Rejected", s.Rejected, 1)
		block.Release()
		expect(t, "second", <-second, nil)
	})
}

// BlockFor limits the wait only: the context of an admitted task does not end with that time. A
// context that ends earlier ends the wait.
func TestBlockForLimitsWaitOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.BlockFor(time.Minute))
		mustGo(t, pool, block.Run)
		f := executor.NewTask(func(ctx context.Context) (bool, error) {
			_, bounded := ctx.Deadline()
			time.Sleep(time.Hour)
			return bounded, ctx.Err()
		})
		in := testkit.StartExecute(t.Context(), pool, f)
		bound, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out := testkit.StartExecute(bound, pool, executor.Func(nop))
		expectIs(t, "Execute", <-out, context.DeadlineExceeded)
		block.Release()
		expect(t, "Execute", <-in, nil)
		bounded, err := f.Get(t.Context())
		expect(t, "deadline", bounded, false)
		expect(t, "Get", err, nil)
	})
}

// Shutdown and ShutdownNow reject the tasks of all waiting submitters.
func TestBlockShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, stop := range map[string]func(*executor.Pool){
			"Shutdown": (*executor.Pool).Shutdown, "ShutdownNow": func(p *executor.Pool) { p.ShutdownNow() },
		} {
			pool, block := testkit.BusyPool(t, executor.Block)
			mustGo(t, pool, block.Run)
			f := executor.NewTask(value(1))
			waiting := []<-chan error{testkit.StartExecute(t.Context(), pool, f),
				testkit.StartExecute(t.Context(), pool, new(testkit.Step))}
			stop(pool)
			for _, w := range waiting {
				expectIs(t, name, <-w, executor.ErrShutdown)
			}
			expectIs(t, name, f.Err(), executor.ErrShutdown)
			expect(t, "Rejected", checkStats(t, pool).Rejected, 2)
			block.Release()
		}
	})
}

// If the context ends while the task is admitted, either the task is canceled or the submission
// fails: the task does not run.
func TestBlockContextEndsDuringAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 300 {
			pool, block := testkit.BusyPool(t, executor.Block)
			mustGo(t, pool, block.Run)
			bound, cancel := context.WithCancel(t.Context())
			f := executor.NewTask(func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
			result := testkit.StartExecute(bound, pool, f)
			go cancel()
			go block.Release()
			err := <-result
			f.Join(t.Context())
			s := waitStats(t, pool)
			expect(t, "rejected", s.Rejected == 1, err != nil)
			expectIs(t, "Err", f.Err(), context.Canceled)
			expect(t, "Blocked", s.Blocked, 0)
		}
	})
}

// A submitter that is admitted after its context has ended, before it has noticed that, is
// admitted: the submission succeeds, and the task is canceled.
func TestBlockAdmissionStands(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that the submitter continues when both has happened
	synctest.Test(t, func(t *testing.T) {
		stood := 0
		for range 100 {
			pool, block := testkit.BusyPool(t, executor.Block)
			queued := executor.Submit(t.Context(), pool, block.Value)
			ctx, cancel := context.WithCancel(t.Context())
			f := executor.NewTask(block.Value)
			result := testkit.StartExecute(ctx, pool, f)
			cancel()
			queued.Cancel()
			err := <-result
			s := waitStats(t, pool)
			expect(t, "state", f.State() == executor.Canceled, err == nil)
			expect(t, "Rejected", s.Rejected == 1, err != nil)
			expect(t, "Canceled", s.Canceled == 2, err == nil)
			expect(t, "Submitted", s.Submitted, 3)
			if err == nil {
				stood++
			}
		}
		expect(t, "some were admitted", stood > 0, true)
	})
}

// A task that is canceled while its submitter waits never runs.
func TestBlockTaskCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.Block)
		mustGo(t, pool, block.Run)
		f := executor.NewTask(func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
		result := testkit.StartExecute(t.Context(), pool, f)
		f.Cancel()
		block.Release()
		<-result
		s := waitStats(t, pool)
		expect(t, "state", f.State(), executor.Canceled)
		expect(t, "Canceled", s.Canceled, 1)
	})
}
