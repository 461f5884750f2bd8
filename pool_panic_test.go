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

	"github.com/executor-go/executor"
)

// leaving are the ways of a function to end other than by returning nil.
var leaving = []struct {
	name  string
	leave func() error
}{
	{"return nil", func() error { return nil }},
	{"return error", func() error { return errors.New("mine") }},
	{"panic value", func() error { panic("value") }},
	{"panic error", func() error { panic(errors.New("mine")) }},
	{"panic nil", func() error { panic(nil) }},
	{"runtime error", func() error { var none []error; return none[len(none)] }},
	{"Goexit", func() error { runtime.Goexit(); return nil }},
}

// Whatever a BeforeTask hook and a body do, each task counts once, a hook that
// did not return leaves out body and AfterTask, a body's end reaches AfterTask,
// each panic is reported once, and the pool is at full strength afterwards. It
// is the port of ThrowingTasks (JDK-6450200, JDK-6450205, JDK-6450207,
// JDK-6450211).
func TestPoolSurvivesWhateverTasksDo(t *testing.T) {
	for _, before := range leaving {
		for _, body := range leaving {
			t.Run(before.name+", then "+body.name, func(t *testing.T) {
				bubble(t, func(t *testing.T) { survives(t, before.leave, body.leave) })
			})
		}
	}
}

func survives(t *testing.T, before, body func() error) {
	type calls struct{ before, body, after, panics, terminated int }
	var got calls
	lives := returns(before)
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
	s := settled(t, pool)

	want := calls{before: 1}
	if lives {
		want.body, want.after = 1, 1
	}
	if panics(before) || lives && panics(body) {
		want.panics = 1
	}
	expect(t, "calls", got, want)
	expect(t, "Completed", s.Ended(), 1)
	succeeds := lives && returns(body) && body() == nil
	expect(t, "Succeeded", s.Succeeded == 1, succeeds)
	expect(t, "Panics", s.Panics, int64(want.panics))
	expect(t, "idle workers", s.Idle, 1)
	pool.Close()
	expect(t, "terminated", got.terminated, 1)
}

// returns reports whether f comes back, panics whether it panics.
func returns(f func() error) bool {
	how := make(chan bool, 1)
	go func() {
		back := false
		defer func() { recover(); how <- back }()
		f()
		back = true
	}()
	return <-how
}

func panics(f func() error) bool {
	how := make(chan bool, 1)
	go func() {
		defer func() { how <- recover() != nil }()
		f()
	}()
	return <-how
}

// A BeforeTask hook that does not return fails the future of its task.
func TestPoolBeforeTaskFailsFuture(t *testing.T) {
	for _, how := range leaving[2:] {
		t.Run(how.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
					BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context { how.leave(); return ctx },
				}})
				f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { t.Error("ran"); return 1, nil })
				_, err := f.Get(t.Context())
				var perr *executor.PanicError
				if errors.As(err, &perr) != panics(how.leave) || !panics(how.leave) && err != executor.ErrGoexit {
					t.Errorf("Get: %v", err)
				}
				expect(t, "Failed", settled(t, pool).Failed, 1)
			})
		})
	}
}

// Runs counts bodies: not one that a BeforeTask hook kept from running.
func TestPoolRunsCountsBodies(t *testing.T) {
	bubble(t, func(t *testing.T) {
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
		s := settled(t, pool)
		expect(t, "Runs", s.Runs, 1)
		expect(t, "Completed", s.Ended(), 2)
	})
}

// A future carries what its body did, and so nothing is reported; but a panic
// is counted.
func TestPoolPanicInFuture(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log trace
		pool := newPool(t, executor.Config{Core: 1, Hooks: log.hooks()})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { panic("x") }, executor.Named("f"))
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || perr.Value != "x" || !strings.Contains(string(perr.Stack), "TestPoolPanicInFuture") {
			t.Errorf("Get: %v", err)
		}
		log.check(t, "before f", "after f: panic x")
		s := settled(t, pool)
		expect(t, "Failed", s.Failed, 1)
		expect(t, "Panics", s.Panics, 1)
	})
}

// A panic in AfterTask is reported and changes nothing.
func TestPoolPanicInAfterTask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log trace
		hooks := log.hooks()
		hooks.AfterTask = func(context.Context, executor.TaskInfo, error) { panic("after") }
		pool := newPool(t, executor.Config{Core: 1, Hooks: hooks})
		mustGo(t, pool, func(context.Context) error { return nil }, executor.Named("a"))
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 1, nil }, executor.Named("b"))
		s := settled(t, pool)
		expect(t, "Err", f.Err(), nil)
		expect(t, "Succeeded", s.Succeeded, 2)
		expect(t, "Panics", s.Panics, 2)
		log.check(t, "before a", "panic a: after", "before b", "panic b: after")
	})
}

// Goexit in AfterTask costs no task and no worker, and changes no outcome.
func TestPoolGoexitInAfterTask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			AfterTask: func(context.Context, executor.TaskInfo, error) { runtime.Goexit() },
		}})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 1, nil })
		mustGo(t, pool, func(context.Context) error { return nil })
		mustGo(t, pool, func(context.Context) error { return errors.New("mine") })
		s := settled(t, pool)
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
	for _, how := range leaving[2:] {
		t.Run(how.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var out bytes.Buffer
				pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.NewTextHandler(&out, nil)), Hooks: executor.Hooks{
					OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { how.leave() },
				}})
				mustGo(t, pool, func(context.Context) error { panic("the first one") })
				mustGo(t, pool, func(context.Context) error { return nil })
				s := settled(t, pool)
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
	for _, how := range leaving[2:] {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, busy=%v", how.name, busy), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					pool := newPool(t, executor.Config{Core: 1,
						Hooks: executor.Hooks{Terminated: func() { how.leave() }}})
					block := newBlocker(t)
					if busy {
						block.fill(t, pool, 1)
					}
					go pool.Shutdown() // Goexit may end it
					settled(t, pool)
					block.release()
					if err := pool.AwaitTermination(context.Background()); err != nil {
						t.Error(err)
					}
					s := settled(t, pool)
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
	bubble(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 10})
		for range 8 {
			mustGo(t, pool, func(context.Context) error { runtime.Goexit(); return nil })
		}
		s := settled(t, pool)
		expect(t, "Workers", s.Workers, 8)
		expect(t, "Failed", s.Failed, 8)
		block := newBlocker(t)
		block.fill(t, pool, 10)
		expect(t, "started", block.started.Load(), 10)
		block.release()
		pool.Close()
	})
}

// Goexit in the last task of a pool that is shut down lets it terminate.
func TestPoolGoexitDuringShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		fs := executor.SubmitAll(t.Context(), pool, func(ctx context.Context) (int, error) {
			block.run(ctx)
			runtime.Goexit()
			return 0, nil
		}, block.value)
		settled(t, pool)
		pool.Shutdown()
		block.release()
		if err := pool.AwaitTermination(context.Background()); err != nil {
			t.Error(err)
		}
		expectIs(t, "first", fs[0].Err(), executor.ErrGoexit)
		expect(t, "second", fs[1].Err(), nil)
	})
}
