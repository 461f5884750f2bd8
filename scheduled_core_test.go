package executor_test

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A pool with Core 0 runs what it is given, one task at a time. JDK-7091003.
func TestCoreZeroRunsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 0), newDiary()
		executor.Schedule(t.Context(), p, time.Second, d.Value("a", time.Second))
		executor.Schedule(t.Context(), p, time.Second, d.Value("b"))
		p.Go(t.Context(), d.Func("c"))
		p.AtFixedRate(t.Context(), 3*time.Second, time.Second, d.Func("d"), executor.Times(2))
		elapse(time.Minute)
		d.Check(t, "c@0s", "a@1s", "b@2s", "d@3s", "d@4s")
		s := p.Stats()
		expect(t, "largest", s.Largest, 1)
		expect(t, "workers", s.Workers, 0)
		expect(t, "Core", p.Core(), 0)
	})
}

// With Core 0 there is one worker as long as something waits, and none when the
// last task has run or was canceled, however often that happens.
func TestCoreZeroHasOneWorkerWhileSomethingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 0)
		for range 3 {
			expect(t, "workers of an idle pool", waitStats(t, p).Workers, 0)
			f := executor.Schedule(t.Context(), p, time.Hour, nopValue)
			g := executor.Schedule(t.Context(), p, 2*time.Hour, nopValue)
			s := waitStats(t, p)
			expect(t, "workers", s.Workers, 1)
			expect(t, "active", s.Active, 0)
			expect(t, "queued", s.Queued, 2)
			f.Cancel()
			expect(t, "workers after the first is canceled", waitStats(t, p).Workers, 1)
			g.Cancel()
			expect(t, "workers after both are canceled", waitStats(t, p).Workers, 0)
		}
		s := p.Stats()
		expect(t, "largest", s.Largest, 1)
		expect(t, "canceled", s.Canceled, 6)
	})
}

// wakeups estimates how often goroutines have been scheduled so far. The
// runtime counts one in eight.
func wakeups() uint64 {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	var n uint64
	for _, c := range s[0].Value.Float64Histogram().Counts {
		n += c
	}
	return 8 * n
}

// A worker that waits for a task far away neither spins nor wakes up again and
// again to look at its keep-alive time. JDK-8022642, JDK-8065320, JDK-8129861.
func TestWaitingWorkerSleeps(t *testing.T) {
	for _, c := range []executor.ScheduledConfig{
		{Core: 0},
		{Core: 0, KeepAlive: 10 * time.Millisecond},
		{Core: 4},
		{Core: 4, KeepAlive: time.Millisecond, AllowCoreTimeout: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, c)
			p.PrestartAll()
			f := executor.Schedule(t.Context(), p, time.Hour, nopValue)
			elapse(time.Minute)
			before := wakeups()
			elapse(58 * time.Minute)
			if n := wakeups() - before; n > 1000 {
				t.Errorf("Core %d, KeepAlive %v: some %d wake-ups in an hour of waiting", c.Core, c.KeepAlive, n)
			}
			elapse(2 * time.Minute)
			expect(t, "state", f.State(), executor.Succeeded)
		})
	}
}

// While one task waits, the last worker stays: none leaves and is replaced at
// once, however short the keep-alive time.
func TestNoWorkerChurnWhileWaiting(t *testing.T) {
	for _, coreTimeout := range []bool{true, false} {
		for _, core := range []int{0, 10} {
			synctest.Test(t, func(t *testing.T) {
				number := 0
				p := newScheduled(t, executor.ScheduledConfig{
					Core: core, KeepAlive: time.Millisecond, AllowCoreTimeout: coreTimeout,
					Hooks: executor.Hooks{BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
						number = info.Worker
						return ctx
					}},
				})
				executor.Schedule(t.Context(), p, time.Hour, nopValue)
				elapse(30 * time.Minute)
				expect(t, "workers", p.Stats().Workers, 1)
				elapse(time.Hour)
				expect(t, "number of the worker that ran the task", number, 1)
				expect(t, "largest", p.Stats().Largest, 1)
			})
		}
	}
}

// With Core 0 and a keep-alive time the worker stays for that time after the
// last task, and no longer.
func TestCoreZeroKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{KeepAlive: time.Second})
		executor.Schedule(t.Context(), p, time.Minute, nopValue)
		elapse(time.Minute + 900*time.Millisecond)
		expect(t, "workers within the keep-alive time", waitStats(t, p).Workers, 1)
		elapse(200 * time.Millisecond)
		expect(t, "workers after it", waitStats(t, p).Workers, 0)
	})
}

// Tasks without delay go to the worker that became idle last, so that those
// above Core grow old and leave, though there is always something to do.
func TestScheduledSurplusWorkersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 3, KeepAlive: 10 * time.Second})
		p.PrestartAll()
		synctest.Wait()
		if err := p.SetCore(1); err != nil {
			t.Fatal(err)
		}
		for i := range 5 { // taken in turns, each worker would be busy every 9 s
			expect(t, fmt.Sprint("workers after ", 3*i, " s"), waitStats(t, p).Workers, []int{3, 3, 3, 3, 1}[i])
			mustGo(t, p.Pool, nop)
			time.Sleep(3 * time.Second)
		}
	})
}

// Whichever idle worker the alarm has woken, all the others are still found for
// the tasks that come meanwhile.
func TestScheduledIdleWorkersAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		for range 3 { // one after the other, so that the first has waited longest
			p.Prestart()
			elapse(time.Second)
		}
		block := newBlocker(t)
		in := func(d time.Duration) *executor.ScheduledFuture[int] {
			return executor.Schedule(t.Context(), p, d, block.Value)
		}
		in(time.Second).Cancel()
		elapse(time.Second) // the first worker hears the alarm in vain, so that another will next time
		for i, d := range []time.Duration{time.Second, 0, 0} {
			in(d)
			elapse(time.Second)
			expect(t, "tasks that run", block.Started.Load(), int64(i+1))
		}
	})
}

// Below Core each task starts a worker, however many are idle; above it none
// does, however many tasks wait.
func TestScheduledCoreBoundsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		for i := range 10 {
			executor.Schedule(t.Context(), p, time.Hour, nopValue)
			expect(t, "workers", waitStats(t, p).Workers, min(i+1, 3))
		}
		p.ShutdownNow()
		testkit.Termination(t, p)
		expect(t, "largest", p.Stats().Largest, 3)
	})
}

// No more than Core tasks run at the same time.
func TestScheduledCoreBoundsRunning(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, core)
			block := newBlocker(t)
			for i := range 10 {
				executor.Schedule(t.Context(), p, time.Duration(i%2), block.Value)
			}
			elapse(time.Second)
			expect(t, "running", block.Started.Load(), int64(max(core, 1)))
			expect(t, "active", p.Stats().Active, max(core, 1))
		})
	}
}

// SetCore brings the number of workers there without a new task: down to it
// when they are idle, up to it for tasks that wait. JDK-6522773.
func TestScheduledSetCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 10), newDiary()
		for i := range 10 {
			p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func(fmt.Sprint(i)))
		}
		expect(t, "workers", waitStats(t, p).Workers, 10)
		for _, n := range []int{7, 13, 1, 0, 2, 12} {
			if err := p.SetCore(n); err != nil {
				t.Fatal(err)
			}
			want := max(n, 1)
			expect(t, fmt.Sprint("workers after SetCore ", n), waitStats(t, p).Workers, want)
		}
		elapse(1500 * time.Millisecond)
		expect(t, "runs", len(d.Names()), 10)
	})
}

// Raising Core starts no more workers than tasks wait.
func TestScheduledSetCoreStartsForTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.FarTasks(t, p, 3)
		p.SetCore(100)
		expect(t, "workers", waitStats(t, p).Workers, 4)
	})
}

// SetCore below the number of busy workers leaves them and the contexts of
// their tasks alone. JDK-6576792.
func TestScheduledSetCoreLeavesBusyWorkersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 5)
		var wg sync.WaitGroup
		for range 5 {
			wg.Add(1)
			p.AtFixedRate(t.Context(), 0, time.Minute, func(ctx context.Context) error {
				defer wg.Done()
				time.Sleep(time.Second)
				expect(t, "the context has ended", ctx.Err(), nil)
				return nil
			}, executor.Times(1))
		}
		synctest.Wait()
		p.SetCore(1)
		s := waitStats(t, p)
		expect(t, "workers", s.Workers, 5)
		wg.Wait()
		expect(t, "workers afterwards", waitStats(t, p).Workers, 1)
	})
}

// A task that lowers Core to zero from inside still gets its turn later.
func TestSetCoreFromInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		run := 0
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			run++
			return p.SetCore(run % 4)
		}, executor.Times(20))
		g, _ := p.WithFixedDelay(t.Context(), 0, 300*time.Millisecond, nop, executor.Times(50))
		f.Get(t.Context())
		g.Get(t.Context())
		expect(t, "runs", f.Runs(), 20)
		expect(t, "runs", g.Runs(), 50)
	})
}

// A SingleScheduled pool cannot be retuned, and runs one task at a time.
func TestSingleScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := testkit.Closing(t, executor.SingleScheduled()), newDiary()
		expectIs(t, "SetCore", p.SetCore(2), executor.ErrInvalid)
		expectIs(t, "SetMax", p.SetMax(2), executor.ErrInvalid)
		expectIs(t, "SetKeepAlive", p.SetKeepAlive(time.Second), executor.ErrInvalid)
		expectIs(t, "SetReject", p.SetReject(executor.Discard), executor.ErrInvalid)
		executor.Schedule(t.Context(), p, time.Second, d.Value("a", time.Second))
		executor.Schedule(t.Context(), p, time.Second, d.Value("b", time.Second))
		elapse(time.Minute)
		d.Check(t, "a@1s", "b@2s")
	})
}

// Workers can be started before there is a task, up to Core.
func TestScheduledPrestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 3), newDiary()
		expect(t, "Prestart", p.Prestart(), true)
		expect(t, "PrestartAll", p.PrestartAll(), 2)
		expect(t, "Prestart at Core", p.Prestart(), false)
		expect(t, "workers", waitStats(t, p).Idle, 3)
		executor.Schedule(t.Context(), p, time.Second, d.Value("a"))
		elapse(time.Minute)
		d.Check(t, "a@1s")
	})
}

// Two tasks that come at once have two workers, though a third may be kept: who was
// hired for the second is about to look for it while the first is begun.
func TestNoWorkerForATaskThatHasOne(t *testing.T) {
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 3)
			end := make(chan struct{})
			for range 2 {
				executor.Schedule(t.Context(), p, 0, func(context.Context) (int, error) { <-end; return 0, nil })
			}
			synctest.Wait()
			expect(t, "workers", p.Stats().Workers, 2)
			close(end)
		})
	}
}
