package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

// Keeping and dismissing workers.

// As many workers as Workers says stay by default, however long they are idle.
func TestPoolKeptWorkersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2, KeepAlive: time.Second})
		mustGo(t, pool, func(context.Context) error { return nil })
		time.Sleep(time.Hour)
		expect(t, "workers", waitStats(t, pool).Workers, 1)
	})
}

// With KeepNone each worker leaves after KeepAlive, not earlier, and the next task starts
// one; the setting holds after a shutdown (JDK-6233235, JDK-6268386).
func TestPoolWorkersCoreTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 10, KeepAlive: 30 * time.Millisecond, KeepNone: true})
		for range 3 {
			for i := range 10 {
				mustGo(t, pool, func(context.Context) error { return nil })
				expect(t, "workers", waitStats(t, pool).Workers, i+1)
			}
			time.Sleep(30*time.Millisecond - 1)
			expect(t, "workers before", waitStats(t, pool).Workers, 10)
			time.Sleep(time.Nanosecond)
			expect(t, "workers after", waitStats(t, pool).Workers, 0)
		}
		pool.Close()
		expect(t, "KeepNone", pool.Settings().KeepNone, true)
	})
}

// Workers above Workers leave after KeepAlive, the longest idle first, and never below Workers, even if
// all time out in the same moment (JDK-6458662).
func TestPoolWorkersLeaveDownToCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			pool := newPool(t, executor.Config{Workers: 4, Max: 10, KeepAlive: time.Second, Queue: executor.Handoff()})
			block := newBlocker(t)
			block.Fill(t, pool, 10)
			block.Release()
			synctest.Wait()
			time.Sleep(time.Second - 1)
			expect(t, "workers before", waitStats(t, pool).Workers, 10)
			time.Sleep(time.Nanosecond)
			expect(t, "workers after", waitStats(t, pool).Workers, 4)
			time.Sleep(time.Minute)
			expect(t, "workers for good", waitStats(t, pool).Workers, 4)
		}
	})
}

// KeepAlive counts from the end of a worker's last task, and the worker that became idle first
// leaves first.
func TestPoolWorkersLongestIdleLeavesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := func(pool *executor.Pool, want int) {
			t.Helper()
			expect(t, "workers", waitStats(t, pool).Workers, want)
		}
		pool := newPool(t, executor.Config{Max: 3, KeepAlive: 10 * time.Second, Queue: executor.Handoff()})
		for i := range 3 {
			mustGo(t, pool, func(context.Context) error { time.Sleep(time.Duration(i+1) * time.Second); return nil })
		}
		time.Sleep(11*time.Second - 1)
		left(pool, 3)
		for i := range 3 {
			time.Sleep(time.Nanosecond)
			left(pool, 2-i)
			time.Sleep(time.Second - 1)
		}
	})
}

// The worker that became idle last gets the next task, so that the others can leave.
func TestPoolWorkersLastIdleWorksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 5, KeepAlive: time.Minute, Queue: executor.Handoff()})
		block := newBlocker(t)
		block.Fill(t, pool, 5)
		block.Release()
		synctest.Wait()
		for range 120 { // a trickle that one worker can do
			mustGo(t, pool, func(context.Context) error { return nil })
			time.Sleep(time.Second)
		}
		expect(t, "workers", waitStats(t, pool).Workers, 1)
	})
}

// Without KeepAlive a worker above Workers leaves as soon as it has nothing to do, and not before the
// queue is empty.
func TestPoolWorkersNoKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Max: 3, Queue: executor.Bounded(2)})
		block := newBlocker(t)
		block.Fill(t, pool, 5)
		block.ReleaseOne()
		s := waitStats(t, pool)
		expect(t, "workers with a queue", s.Workers, 3)
		expect(t, "queued", s.Queued, 1)
		block.Release()
		expect(t, "workers at last", waitStats(t, pool).Workers, 1)
	})
}

// With Workers 0 the last worker runs all waiting tasks before it leaves, and no other worker is
// started meanwhile.
func TestPoolWorkersLastRunsQueue(t *testing.T) {
	for _, keepAlive := range []time.Duration{0, 1, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Max: 1, KeepAlive: keepAlive})
			workers := map[int]int{}
			for range 10 {
				mustGo(t, pool, func(context.Context) error {
					workers[pool.Stats().Largest]++
					time.Sleep(time.Hour) // longer than any KeepAlive
					return nil
				})
			}
			time.Sleep(11 * time.Hour)
			synctest.Wait()
			expect(t, "workers at last", waitStats(t, pool).Workers, 0)
			expect(t, "tasks with one worker", workers[1], 10)
		})
	}
}

// Workers are numbered from 1 as they are started, and an idle one is not replaced by a new one.
func TestPoolWorkersDoNotChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		highest := 0
		pool := newPool(t, executor.Config{Workers: 2, Max: 2, KeepAlive: time.Millisecond, KeepNone: true,
			Hooks: executor.Hooks{BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				highest = max(highest, info.Worker)
				return ctx
			}}})
		for range 1000 {
			mustGo(t, pool, func(context.Context) error { return nil })
			waitStats(t, pool)
		}
		expect(t, "highest worker", highest, 2)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		mustGo(t, pool, func(context.Context) error { return nil })
		waitStats(t, pool)
		expect(t, "worker after a rest", highest, 3)
	})
}

// A task that comes in the moment in which the last worker may leave runs.
func TestPoolWorkersTaskAtTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, KeepAlive: time.Second, KeepNone: true})
		runs := 0
		for range 1000 {
			mustGo(t, pool, func(context.Context) error { runs++; return nil })
			synctest.Wait()
			time.Sleep(time.Second) // wakes together with the pool's own timer
		}
		waitStats(t, pool)
		expect(t, "runs", runs, 1000)
	})
}

// No goroutine without work.

// A pool that keeps no worker has no goroutine while it has nothing to do.
func TestPoolWorkersIdlePoolHasNone(t *testing.T) {
	for name, c := range map[string]executor.Config{
		"handed over": {Max: 4, Queue: executor.Handoff(), Reject: executor.Block},
		"queued":      {Max: 1},
		"impatient":   {Workers: 2, KeepAlive: 1, KeepNone: true},
	} {
		t.Run(name, func(t *testing.T) {
			const workers = "executor.(*Pool)"
			expect(t, "goroutines before", check.Goroutines(workers, 0), 0)
			p := newPool(t, c)
			for range 8 {
				mustGo(t, p, nop)
			}
			expect(t, "goroutines", check.Goroutines(workers, 0), 0)
			expect(t, "stage", p.Stats().Stage, executor.StageRunning)
		})
	}
}

// Prestart.

// PrestartAll starts workers up to Workers, once; raising Workers with nothing queued starts none.
func TestPoolPrestartAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2, Max: 6, Queue: executor.Bounded(1)})
		expect(t, "first", pool.Prestart(math.MaxInt), 2)
		expect(t, "again", pool.Prestart(math.MaxInt), 0)
		expect(t, "idle", waitStats(t, pool).Idle, 2)
		expect(t, "SetWorkers", setWorkers(pool, 4), nil)
		expect(t, "workers", waitStats(t, pool).Workers, 2)
		expect(t, "after SetWorkers", pool.Prestart(math.MaxInt), 2)
		expect(t, "workers", waitStats(t, pool).Workers, 4)
	})
}

// Prestart starts as many workers as are asked for, and none above Workers.
func TestPoolPrestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2, Max: 6, Queue: executor.Bounded(1)})
		for i, want := range []int{1, 1, 0, 0} {
			expect(t, "Prestart", pool.Prestart(1), want)
			expect(t, "workers", waitStats(t, pool).Workers, min(i+1, 2))
		}
	})
}

// A prestarted worker counts as one of Workers and gets the first task.
func TestPoolPrestartedWorkerWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff()})
		pool.Prestart(1)
		synctest.Wait()
		newBlocker(t).Fill(t, pool, 1)
		s := checkStats(t, pool)
		expect(t, "workers", s.Workers, 1)
		expect(t, "active", s.Active, 1)
	})
}

// With KeepNone a prestarted worker leaves after KeepAlive.
func TestPoolPrestartedWorkerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 3, KeepAlive: time.Minute, KeepNone: true})
		pool.Prestart(math.MaxInt)
		synctest.Wait()
		time.Sleep(time.Minute - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 3)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Prestart starts nothing in a pool that is shut down and has nothing to do.
func TestPoolPrestartAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stop := range []func(*executor.Pool){
			(*executor.Pool).Shutdown, func(p *executor.Pool) { p.ShutdownNow() },
		} {
			pool := newPool(t, executor.Config{Workers: 4})
			block := newBlocker(t)
			block.Fill(t, pool, 1) // keeps it from terminating
			stop(pool)
			expect(t, "Prestart", pool.Prestart(1), 0)
			expect(t, "PrestartAll", pool.Prestart(math.MaxInt), 0)
			block.Release()
			waitStats(t, pool)
			expect(t, "Prestart at the end", pool.Prestart(1), 0)
		}
	})
}

// A pool that is shut down while workers are being prestarted terminates.
func TestPoolPrestartDuringShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			pool := newPool(t, executor.Config{Workers: 4})
			go pool.Prestart(math.MaxInt)
			go func() { pool.Go(context.Background(), func(context.Context) error { return nil }) }()
			pool.Shutdown()
			if err := pool.AwaitTermination(context.Background()); err != nil {
				t.Fatal(err)
			}
			expect(t, "workers", waitStats(t, pool).Workers, 0)
		}
	})
}

// GrowWhenBusy.

// With GrowWhenBusy a task goes to an idle worker first, then to a new one up to Max, then
// into the queue, and then to the policy; the workers above Workers leave after KeepAlive.
func TestPoolGrowsWhenBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Max: 4, KeepAlive: time.Minute,
			GrowWhenBusy: true, Queue: executor.Bounded(2)})
		for range 3 {
			mustGo(t, pool, func(context.Context) error { return nil })
			expect(t, "workers while one is idle", waitStats(t, pool).Workers, 1)
		}
		block := newBlocker(t)
		block.Fill(t, pool, 4)
		expect(t, "workers", waitStats(t, pool).Workers, 4)
		block.Fill(t, pool, 2)
		expect(t, "queued", waitStats(t, pool).Queued, 2)
		err := pool.Go(t.Context(), nop)
		expectIs(t, "beyond the queue", err, executor.ErrSaturated)
		block.Release()
		expect(t, "workers after", waitStats(t, pool).Workers, 4)
		time.Sleep(time.Minute)
		expect(t, "workers after KeepAlive", waitStats(t, pool).Workers, 1)
	})
}

// Over an unbounded queue an elastic pool that keeps no workers grows to Max, and tasks that
// wait run in order.
func TestPoolGrowsWhenBusyWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 16, GrowWhenBusy: true})
		block := newBlocker(t)
		block.Fill(t, pool, 100)
		s := waitStats(t, pool)
		expect(t, "workers", s.Workers, 16)
		expect(t, "queued", s.Queued, 84)
		block.Release()
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Raising Max of an elastic pool starts workers for the tasks that wait.
func TestPoolGrowsWhenMaxIsRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 1, GrowWhenBusy: true})
		block := newBlocker(t)
		block.Fill(t, pool, 4)
		expect(t, "SetMax", setMax(pool, 10), nil)
		s := waitStats(t, pool)
		expect(t, "active", s.Active, 4)
		expect(t, "workers", s.Workers, 4)
	})
}

// Panics of task functions and hooks, and Goexit of task functions.

// Whatever a BeforeTask hook and a task function do, each task counts once, a hook that panics
// prevents the task function and AfterTask, AfterTask gets the end of the function, each
// panic is reported once, and the pool has all its workers afterwards. This is ThrowingTasks
// (JDK-6450200, JDK-6450205, JDK-6450207, JDK-6450211).
func TestPoolRunExits(t *testing.T) {
	for _, before := range testkit.HookExits {
		for _, body := range testkit.Exits {
			t.Run(before.Name+", then "+body.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { survives(t, before.Leave, body.Leave) })
			})
		}
	}
}

func survives(t *testing.T, before, body func() error) {
	type calls struct{ before, body, after, panics, terminated int }
	var got calls
	lives := testkit.Returns(before)
	pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
		BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
			got.before++
			before()
			return ctx
		},
		AfterTask:  func(context.Context, executor.TaskInfo, error) { got.after++ },
		OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) { got.panics++ },
		Terminated: func() { got.terminated++ },
	}})
	mustGo(t, pool, func(context.Context) error { got.body++; return body() })
	s := waitStats(t, pool)

	want := calls{before: 1}
	if lives {
		want.body, want.after = 1, 1
	}
	if testkit.Panics(before) || lives && testkit.Panics(body) {
		want.panics = 1
	}
	expect(t, "calls", got, want)
	expect(t, "Completed", s.Ended(), 1)
	succeeds := lives && testkit.Returns(body) && body() == nil
	expect(t, "Succeeded", s.Succeeded == 1, succeeds)
	expect(t, "Panics", s.Panics, int64(want.panics))
	expect(t, "idle workers", s.Idle, 1)
	pool.Close()
	expect(t, "terminated", got.terminated, 1)
}

// A BeforeTask hook that panics fails the future of its task.
func TestPoolRunBeforeTaskFails(t *testing.T) {
	for _, how := range testkit.HookExits[2:] {
		t.Run(how.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
					BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
						how.Leave()
						return ctx
					},
				}})
				f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { t.Error("ran"); return 1, nil })
				_, err := f.Get(t.Context())
				var perr *executor.PanicError
				if errors.As(err, &perr) != testkit.Panics(how.Leave) || !testkit.Panics(how.Leave) &&
					err != executor.ErrGoexit {
					t.Errorf("Get: %v", err)
				}
				expect(t, "Failed", waitStats(t, pool).Failed, 1)
			})
		})
	}
}

// Runs counts task functions that started, and not a task whose BeforeTask hook did not return.
func TestPoolRunCountsFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				if info.Name == "bad" {
					panic("before")
				}
				return ctx
			},
		}})
		mustGo(t, pool, func(context.Context) error { return nil })
		mustGo(t, pool, func(context.Context) error { return nil }, executor.Named("bad"))
		s := waitStats(t, pool)
		expect(t, "Runs", s.Runs, 1)
		expect(t, "Completed", s.Ended(), 2)
	})
}

// A panic of a task with a future is the outcome and is not reported, but counted.
func TestPoolRunPanicOfFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		pool := newPool(t, executor.Config{Workers: 1, Hooks: log.Hooks()})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { panic("x") }, executor.Named("f"))
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || perr.Value != "x" || !strings.Contains(string(perr.Stack), "TestPoolRunPanicOfFuture") {
			t.Errorf("Get: %v", err)
		}
		log.Check(t, "before f", "after f: panic x")
		s := waitStats(t, pool)
		expect(t, "Failed", s.Failed, 1)
		expect(t, "Panics", s.Panics, 1)
	})
}

// A panic of AfterTask is reported and changes nothing.
func TestPoolRunAfterTaskPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		hooks := log.Hooks()
		hooks.AfterTask = func(context.Context, executor.TaskInfo, error) { panic("after") }
		pool := newPool(t, executor.Config{Workers: 1, Hooks: hooks})
		mustGo(t, pool, func(context.Context) error { return nil }, executor.Named("a"))
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 1, nil }, executor.Named("b"))
		s := waitStats(t, pool)
		expect(t, "Err", f.Err(), nil)
		expect(t, "Succeeded", s.Succeeded, 2)
		expect(t, "Panics", s.Panics, 2)
		log.Check(t, "before a", "panic a: after", "before b", "panic b: after")
	})
}

// If OnPanic panics, the panic it was called with is logged, and the worker continues.
func TestPoolRunOnPanicFails(t *testing.T) {
	for _, how := range testkit.HookExits[2:] {
		t.Run(how.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				pool := newPool(t,
					executor.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil)), Hooks: executor.Hooks{
						OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { how.Leave() },
					}})
				mustGo(t, pool, func(context.Context) error { panic("the first one") })
				mustGo(t, pool, func(context.Context) error { return nil })
				s := waitStats(t, pool)
				expect(t, "Failed", s.Failed, 1)
				expect(t, "Succeeded", s.Succeeded, 1)
				if !strings.Contains(out.String(), "the first one") {
					t.Errorf("logged: %s", out.String())
				}
			})
		})
	}
}

// If Terminated panics, the pool is terminated nevertheless, with the right counters, whichever
// goroutine called the hook.
func TestPoolRunTerminatedFails(t *testing.T) {
	for _, how := range testkit.HookExits[2:] {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, busy=%v", how.Name, busy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := newPool(t, executor.Config{Workers: 1,
						Hooks: executor.Hooks{Terminated: func() { how.Leave() }}})
					block := newBlocker(t)
					if busy {
						block.Fill(t, pool, 1)
					}
					pool.Shutdown()
					waitStats(t, pool)
					block.Release()
					if err := pool.AwaitTermination(context.Background()); err != nil {
						t.Error(err)
					}
					s := waitStats(t, pool)
					expect(t, "Workers", s.Workers, 0)
					expect(t, "Active", s.Active, 0)
					expect(t, "Failed", s.Failed, 0)
				})
			})
		}
	}
}

// A worker that ends in its first task frees its place: the next task has a worker, and the pool
// can terminate (FlakyThreadFactory, as far as a goroutine can fail).
func TestPoolRunGoexitOfFirstTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 10})
		for range 8 {
			mustGo(t, pool, func(context.Context) error { runtime.Goexit(); return nil })
		}
		s := waitStats(t, pool)
		expect(t, "Workers", s.Workers, 8)
		expect(t, "Failed", s.Failed, 8)
		block := newBlocker(t)
		block.Fill(t, pool, 10)
		expect(t, "started", block.Started.Load(), 10)
		block.Release()
		pool.Close()
	})
}

// After a Goexit in the last task a pool that is shut down terminates.
func TestPoolRunGoexitDuringShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		fs := testkit.SubmitAll(t.Context(), pool, func(ctx context.Context) (int, error) {
			block.Run(ctx)
			runtime.Goexit()
			return 0, nil
		}, block.Value)
		waitStats(t, pool)
		pool.Shutdown()
		block.Release()
		if err := pool.AwaitTermination(context.Background()); err != nil {
			t.Error(err)
		}
		expectIs(t, "first", fs[0].Err(), executor.ErrGoexit)
		expect(t, "second", fs[1].Err(), nil)
	})
}

// Callbacks that panic.

// A panic of an OnDone callback does not change the outcome and the counters.
func TestPoolRunOnDonePanicKeepsOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: slog.New(slog.DiscardHandler)})
		f := executor.SubmitAfter(context.Background(), s, time.Second, value(1))
		f.OnDone(func() { panic("boom") })
		time.Sleep(2 * time.Second)
		expect(t, "Runs", waitStats(t, s.Pool).Runs, 1)
	})
}

// A panic of an OnDone callback in a worker is reported, and the outcome stands.
func TestPoolRunOnDonePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { reports++ },
		}})
		f := executor.NewTask(value(1))
		f.OnDone(func() { panic("boom") })
		pool.Execute(t.Context(), f)
		waitStats(t, pool)
		if v, err := f.Result(); v != 1 || err != nil || reports != 1 {
			t.Errorf("%d, %v, OnPanic was called %d times", v, err, reports)
		}
		if s := pool.Stats(); s.Succeeded != 1 || s.Runs != 1 || s.Workers != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// The worker continues even if OnPanic panics, which is called because of a panic of OnDone.
func TestPoolRunReportOfPanicFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {
				reports++
				panic("OnPanic")
			},
		}})
		f := executor.NewTask(value(1))
		f.OnDone(func() { panic("OnDone") })
		pool.Execute(t.Context(), f)
		g := executor.Submit(t.Context(), pool, value(1))
		s := waitStats(t, pool)
		expect(t, "reports", reports, 1)
		expect(t, "state of the next", g.State(), executor.Succeeded)
		expect(t, "Succeeded", s.Succeeded, 2)
		expect(t, "Workers", s.Workers, 1)
	})
}

// A worker continues if a callback panics when it ends a periodic task after a shutdown.
func TestPoolRunOnDonePanicsAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		s := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { reports++ },
		}})
		f, err := s.AtFixedRate(t.Context(), time.Second, time.Second,
			func(context.Context) error { s.Shutdown(); return nil })
		if err != nil {
			t.Fatal(err)
		}
		f.OnDone(func() { panic("boom") })
		time.Sleep(time.Second)
		synctest.Wait()
		if f.State() != executor.Canceled || reports != 1 || s.Stats().Stage != executor.StageTerminated {
			t.Errorf("%v, OnPanic was called %d times, %v", f.State(), reports, s.Stats().Stage)
		}
	})
}
