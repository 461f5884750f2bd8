package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Whatever a BeforeTask hook and a body do, each task counts once, a hook that
// did not return leaves out body and AfterTask, a body's end reaches AfterTask,
// each panic is reported once, and the pool is at full strength afterwards. It
// is the port of ThrowingTasks (JDK-6450200, JDK-6450205, JDK-6450207,
// JDK-6450211).
func TestPoolSurvivesWhateverTasksDo(t *testing.T) {
	for _, before := range testkit.Exits {
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
	pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
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

// A BeforeTask hook that does not return fails the future of its task.
func TestPoolBeforeTaskFailsFuture(t *testing.T) {
	for _, how := range testkit.Exits[2:] {
		t.Run(how.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
					BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context { how.Leave(); return ctx },
				}})
				f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { t.Error("ran"); return 1, nil })
				_, err := f.Get(t.Context())
				var perr *executor.PanicError
				if errors.As(err, &perr) != testkit.Panics(how.Leave) || !testkit.Panics(how.Leave) && err != executor.ErrGoexit {
					t.Errorf("Get: %v", err)
				}
				expect(t, "Failed", waitStats(t, pool).Failed, 1)
			})
		})
	}
}

// Runs counts bodies: not one that a BeforeTask hook kept from running.
func TestPoolRunsCountsBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
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

// A future carries what its body did, and so nothing is reported; but a panic
// is counted.
func TestPoolPanicInFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		pool := newPool(t, executor.Config{Core: 1, Hooks: log.Hooks()})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { panic("x") }, executor.Named("f"))
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || perr.Value != "x" || !strings.Contains(string(perr.Stack), "TestPoolPanicInFuture") {
			t.Errorf("Get: %v", err)
		}
		log.Check(t, "before f", "after f: panic x")
		s := waitStats(t, pool)
		expect(t, "Failed", s.Failed, 1)
		expect(t, "Panics", s.Panics, 1)
	})
}

// A panic in AfterTask is reported and changes nothing.
func TestPoolPanicInAfterTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		hooks := log.Hooks()
		hooks.AfterTask = func(context.Context, executor.TaskInfo, error) { panic("after") }
		pool := newPool(t, executor.Config{Core: 1, Hooks: hooks})
		mustGo(t, pool, func(context.Context) error { return nil }, executor.Named("a"))
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 1, nil }, executor.Named("b"))
		s := waitStats(t, pool)
		expect(t, "Err", f.Err(), nil)
		expect(t, "Succeeded", s.Succeeded, 2)
		expect(t, "Panics", s.Panics, 2)
		log.Check(t, "before a", "panic a: after", "before b", "panic b: after")
	})
}

// Goexit in AfterTask costs no task and no worker, and changes no outcome.
func TestPoolGoexitInAfterTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			AfterTask: func(context.Context, executor.TaskInfo, error) { runtime.Goexit() },
		}})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 1, nil })
		mustGo(t, pool, func(context.Context) error { return nil })
		mustGo(t, pool, func(context.Context) error { return errors.New("mine") })
		s := waitStats(t, pool)
		expect(t, "Err", f.Err(), nil)
		expect(t, "Succeeded", s.Succeeded, 2)
		expect(t, "Failed", s.Failed, 1)
		expect(t, "Runs", s.Runs, 3)
		expect(t, "idle", s.Idle, 1)
	})
}

// A panic or Goexit in OnPanic does not lose the panic that it was told of: it
// is logged; the worker goes on.
func TestPoolOnPanicFails(t *testing.T) {
	for _, how := range testkit.Exits[2:] {
		t.Run(how.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.NewTextHandler(&out, nil)), Hooks: executor.Hooks{
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

// Terminated may panic or call Goexit: the pool is terminated nevertheless, and
// its counters are right, whoever called the hook.
func TestPoolTerminatedFails(t *testing.T) {
	for _, how := range testkit.Exits[2:] {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, busy=%v", how.Name, busy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := newPool(t, executor.Config{Core: 1,
						Hooks: executor.Hooks{Terminated: func() { how.Leave() }}})
					block := newBlocker(t)
					if busy {
						block.Fill(t, pool, 1)
					}
					go pool.Shutdown() // Goexit may end it
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

// A worker lost in its very first task gives back its place: the pool still
// terminates, and the next task has a worker (FlakyThreadFactory, as far as a
// goroutine can fail).
func TestPoolLostWorkerGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 10})
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

// Goexit in the last task of a pool that is shut down lets it terminate.
func TestPoolGoexitDuringShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		fs := executor.SubmitAll(t.Context(), pool, func(ctx context.Context) (int, error) {
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
