package executor_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// DiscardOldest drops the task that waits longest, whose future fails, and
// admits the new one in its place (JDK-8286463: the JDK's stays pending).
func TestDiscardOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.DiscardOldest)
		oldest := executor.Submit(t.Context(), pool, value(2))
		newest := executor.Submit(t.Context(), pool, value(3))
		expectIs(t, "oldest", oldest.Err(), executor.ErrRejected)
		expectIs(t, "oldest", oldest.Err(), executor.ErrSaturated)
		s := waitStats(t, pool)
		expect(t, "Rejected", s.Rejected, 1)
		expect(t, "Queued", s.Queued, 1)
		expect(t, "Submitted", s.Submitted, 3)
		block.Release()
		v, err := newest.Get(t.Context())
		expect(t, "newest", v, 3)
		expect(t, "error", err, nil)
		expect(t, "Runs", waitStats(t, pool).Runs, 2)
	})
}

// DiscardOldest drops one task for each new one, always the one that would be
// next.
func TestDiscardOldestDropsTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(3), Reject: executor.DiscardOldest})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var fs []*executor.Future[int]
		for i := range 9 {
			fs = append(fs, executor.Submit(t.Context(), pool, value(i)))
		}
		block.Release()
		s := waitStats(t, pool)
		for i, f := range fs {
			expect(t, "state", f.State(), map[bool]executor.State{true: executor.Failed, false: executor.Succeeded}[i < 6])
		}
		expect(t, "Rejected", s.Rejected, 6)
		expect(t, "Submitted", s.Submitted, 10)
	})
}

// With nothing to drop, DiscardOldest rejects the new task.
func TestDiscardOldestWithoutQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.DiscardOldest})
		newBlocker(t).Fill(t, pool, 1)
		expectIs(t, "Go", pool.Go(t.Context(), nop), executor.ErrSaturated)
		expect(t, "Rejected", checkStats(t, pool).Rejected, 1)
	})
}

// CallerRuns runs the task in the goroutine that submits, which cannot go on
// until the task is done, with the submitter's context, and reports its panic.
func TestCallerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		hooks := log.Hooks()
		hooks.BeforeTask, hooks.AfterTask = nil, nil
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns, Hooks: hooks})
		newBlocker(t).Fill(t, pool, 1)
		parent := context.WithValue(t.Context(), contextKey{}, 5)
		start := time.Now()
		f := executor.Submit(parent, pool, func(ctx context.Context) (any, error) {
			time.Sleep(time.Minute)
			return ctx.Value(contextKey{}), ctx.Err()
		})
		expect(t, "took", time.Since(start), time.Minute)
		v, err := f.Result()
		expect(t, "value", v, any(5))
		expect(t, "error", err, nil)

		expect(t, "Go", pool.Go(parent, func(context.Context) error { panic("bang") }, executor.Named("p")), nil)
		expect(t, "Go", pool.Go(parent, func(context.Context) error { panic("bang") }), nil)
		log.Check(t, "panic p: bang", "panic : bang")
		g := executor.Submit(parent, pool, func(context.Context) (int, error) { panic("bang") })
		var perr *executor.PanicError
		expect(t, "panic in the future", errors.As(g.Err(), &perr), true)
		log.Check(t)
		expect(t, "Rejected", waitStats(t, pool).Rejected, 4)
	})
}

// An error that a fire-and-forget task returns under CallerRuns is heard of,
// though no hook is called.
func TestCallerRunsLogsError(t *testing.T) {
	for _, hooks := range []executor.Hooks{{}, {AfterTask: func(context.Context, executor.TaskInfo, error) {}}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns, Hooks: hooks,
				Logger: slog.New(slog.NewTextHandler(&out, nil))})
			newBlocker(t).Fill(t, pool, 1)
			mustGo(t, pool, func(context.Context) error { return errTask })
			if !strings.Contains(out.String(), errTask.Error()) {
				t.Errorf("logged %q", out.String())
			}
		})
	}
}

// A body that CallerRuns runs is canceled by Cancel, by its timeout and by
// ShutdownNow like every other.
func TestCallerRunsIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			cancel func(*executor.Pool, *executor.Future[struct{}])
			want   error
		}{
			"Cancel":      {func(_ *executor.Pool, f *executor.Future[struct{}]) { f.Cancel() }, executor.ErrCanceled},
			"ShutdownNow": {func(p *executor.Pool, _ *executor.Future[struct{}]) { p.ShutdownNow() }, executor.ErrShutdown},
			"Timeout":     {func(*executor.Pool, *executor.Future[struct{}]) {}, executor.ErrTimeout},
		} {
			pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			var seen error
			f := executor.NewFuture(executor.Callable(func(ctx context.Context) error { seen = testkit.AnHour(ctx); return nil }),
				executor.Timeout(2*time.Second))
			time.AfterFunc(time.Second, func() { c.cancel(pool, f) })
			expect(t, name, pool.Execute(t.Context(), f), nil)
			expectIs(t, name, seen, c.want)
		}
	})
}

// DiscardOldest drops nothing if there is room by the time that it is asked.
func TestDiscardOldestFindsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone, stays *executor.Future[int]
		makesRoom := executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
			gone.Cancel()
			return executor.DiscardOldest.Reject(ctx, task, pool)
		})
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(2), Reject: makesRoom})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		stays = executor.Submit(t.Context(), pool, value(1))
		gone = executor.Submit(t.Context(), pool, value(2))
		late := executor.Submit(t.Context(), pool, value(3))
		expect(t, "State of the oldest", stays.State(), executor.Pending)
		expect(t, "State of the late one", late.State(), executor.Pending)
		block.Release()
	})
}

// The context of a task that CallerRuns ran has ended when the submission
// returns, as that of any task has.
func TestCallerRunsEndsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.CallerRuns)
		mustGo(t, pool, block.Run)
		var seen context.Context
		mustGo(t, pool, func(ctx context.Context) error { seen = ctx; return ctx.Err() })
		expect(t, "error of the context", seen.Err(), context.Canceled)
		block.Release()
	})
}

// Goexit in a body that CallerRuns runs ends the submitter's goroutine, as it
// says, and the future fails.
func TestCallerRunsGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, _ := testkit.BusyPool(t, executor.CallerRuns)
		mustGo(t, pool, nop)
		f := executor.NewFuture(func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
		went := true
		done := make(chan struct{})
		go func() {
			defer close(done)
			pool.Execute(t.Context(), f)
			went = false
		}()
		<-done
		expect(t, "ended the goroutine", went, true)
		expectIs(t, "Err", f.Err(), executor.ErrGoexit)
		expect(t, "Active", checkStats(t, pool).Active, 1)
	})
}

// A RejectFunc is called without a lock, with the submitter's context, the task
// and the pool, and may use the pool.
func TestRejectFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		var parent context.Context
		var want executor.Runnable
		pool, _ := testkit.BusyPool(t, executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
			calls++
			expect(t, "task", task, want)
			expect(t, "value", ctx.Value(contextKey{}), any(5))
			expect(t, "Active", pool.Stats().Active, 1)
			pool.SetKeepAlive(time.Second)
			return nil
		}))
		mustGo(t, pool, nop)
		parent = context.WithValue(t.Context(), contextKey{}, 5)
		want = new(testkit.Step)
		expect(t, "Execute", pool.Execute(parent, want), nil)
		f := executor.NewFuture(value(1))
		want = f
		expect(t, "Execute", pool.Execute(parent, f), nil)
		expect(t, "calls", calls, 2)
		expect(t, "state", f.State(), executor.Pending)
	})
}

// A task that a RejectFunc gives to another pool runs there, with a live
// context that belongs to that pool alone.
func TestRejectFuncHandsOver(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		spare := newPool(t, executor.Config{Core: 1})
		pool, block := testkit.BusyPool(t, executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return spare.Execute(ctx, task)
		}))
		mustGo(t, pool, block.Run)
		parent := context.WithValue(t.Context(), contextKey{}, 5)
		cause := make(chan error, 1)
		expect(t, "submit", submit(parent, pool, func(ctx context.Context) error {
			expect(t, "value", ctx.Value(contextKey{}), any(5))
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return nil
		}), nil)
		synctest.Wait()
		expect(t, "Active in the other pool", checkStats(t, spare).Active, 1)
		expect(t, "Rejected", checkStats(t, pool).Rejected, 1)

		pool.ShutdownNow() // has nothing to do with it
		block.Release()
		synctest.Wait()
		expect(t, "canceled by the first pool", len(cause), 0)
		spare.ShutdownNow()
		expectIs(t, "cause", <-cause, executor.ErrShutdown)
	})
}

// A future handed over to another pool leaves that pool's queue when canceled.
func TestRejectFuncHandsOverFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spare := newPool(t, executor.Config{Core: 1})
		pool, block := testkit.BusyPool(t, executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return spare.Execute(ctx, task)
		}))
		mustGo(t, pool, block.Run)
		block.Fill(t, spare, 1)
		f := executor.Submit(t.Context(), pool, block.Value)
		expect(t, "Queued", checkStats(t, spare).Queued, 1)
		f.Cancel()
		expect(t, "Queued after Cancel", checkStats(t, spare).Queued, 0)
	})
}

// A RejectFunc that waits a moment and tries again gets the task in at last.
func TestRejectFuncRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
			time.Sleep(time.Second)
			return pool.Execute(ctx, task)
		}))
		mustGo(t, pool, block.Run)
		time.AfterFunc(time.Minute, block.Release)
		start := time.Now()
		f := executor.Submit(t.Context(), pool, value(1))
		v, err := f.Get(t.Context())
		expect(t, "value", v, 1)
		expect(t, "error", err, nil)
		if d := time.Since(start); d != time.Minute && d != time.Minute+time.Second {
			t.Errorf("took %v", d)
		}
		s := waitStats(t, pool)
		if s.Succeeded != 3 || s.Rejected < 60 || s.Rejected > 61 {
			t.Errorf("%+v", s)
		}
	})
}

// A panic in a RejectFunc is the submitter's; Goexit ends the submitter's
// goroutine; the future fails in either case, and the pool is as before.
func TestRejectFuncFails(t *testing.T) {
	for _, how := range testkit.Exits[2:] {
		t.Run(how.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, block := testkit.BusyPool(t, executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error {
					return how.Leave()
				}))
				mustGo(t, pool, block.Run)
				f := executor.NewFuture(block.Value)
				submit := func() error { return pool.Execute(t.Context(), f) }
				if testkit.Panics(how.Leave) {
					expect(t, "panics", testkit.Panics(submit), true)
					var perr *executor.PanicError
					expect(t, "future", errors.As(f.Err(), &perr), true)
				} else {
					expect(t, "returns", testkit.Returns(submit), false)
					expectIs(t, "future", f.Err(), executor.ErrGoexit)
				}
				s := waitStats(t, pool)
				expect(t, "Rejected", s.Rejected, 1)
				block.Release()
				expect(t, "Succeeded", waitStats(t, pool).Succeeded, 2)
			})
		})
	}
}

// A RejectFunc may leave the decision to a policy of this package; the task is
// counted once, and what the pool then runs is bound to the pool.
func TestRejectFuncDelegates(t *testing.T) {
	for _, c := range []struct {
		policy executor.RejectPolicy
		runs   bool
	}{
		{executor.Abort, false}, {executor.Discard, false}, {executor.CallerRuns, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool, block := testkit.BusyPool(t, executor.RejectFunc(c.policy.Reject))
			mustGo(t, pool, block.Run)
			f := executor.Submit(t.Context(), pool, value(1))
			expect(t, "ran", f.Err() == nil, c.runs)
			s := waitStats(t, pool)
			expect(t, "Rejected", s.Rejected, 1)
			expect(t, "Submitted", s.Submitted, 3)
		})
	}
}

// A future that a RejectFunc gets into its pool by way of DiscardOldest or
// Block is the pool's like every other: canceling it takes it out of the queue,
// and ShutdownNow cancels its body.
func TestRejectFuncDelegatesAdmission(t *testing.T) {
	for _, policy := range []executor.RejectPolicy{executor.DiscardOldest, executor.Block} {
		t.Run(slog.AnyValue(policy).String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, block := testkit.BusyPool(t, executor.RejectFunc(policy.Reject))
				mustGo(t, pool, block.Run)
				var f atomic.Pointer[executor.Future[struct{}]]
				submit := func() {
					f.Store(nil)
					go func() { f.Store(executor.Submit(t.Context(), pool, executor.Callable(testkit.AnHour))) }()
					synctest.Wait()
				}
				submit()
				if policy == executor.Block {
					block.ReleaseOne()
					synctest.Wait()
				}
				expect(t, "Queued", checkStats(t, pool).Queued, 1)
				f.Load().Cancel()
				expect(t, "Queued after Cancel", checkStats(t, pool).Queued, 0)

				submit() // has room
				block.Release()
				synctest.Wait()
				expect(t, "state", f.Load().State(), executor.Running)
				pool.ShutdownNow()
				synctest.Wait()
				expectIs(t, "Err", f.Load().Err(), executor.ErrShutdown)
			})
		})
	}
}
