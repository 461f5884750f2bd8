package executor_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A task that was accepted runs exactly once.
func TestPoolRunsTaskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(10)})
		runs := 0
		mustGo(t, pool, func(context.Context) error { runs++; return nil })
		s := waitStats(t, pool)
		expect(t, "runs", runs, 1)
		expect(t, "Succeeded", s.Succeeded, 1)
		expect(t, "Runs", s.Runs, 1)
	})
}

// A new pool has no worker and has counted nothing.
func TestPoolStartsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "empty", Core: 3})
		s := waitStats(t, pool)
		s.Uptime = 0
		expect(t, "Stats", s, executor.Stats{Name: "empty"})
		expect(t, "Stage", pool.Stage(), executor.StageRunning)
		expect(t, "Name", pool.Name(), "empty")
	})
}

// A task counts as active when its body begins, and until its body has
// returned.
func TestPoolActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2})
		inside := make(chan executor.Stats, 1)
		block := newBlocker(t)
		mustGo(t, pool, func(ctx context.Context) error {
			inside <- pool.Stats()
			return block.Run(ctx)
		})
		first := <-inside
		expect(t, "Active inside", first.Active, 1)
		expect(t, "Workers inside", first.Workers, 1)
		expect(t, "Completed inside", first.Ended(), 0)
		s := waitStats(t, pool)
		expect(t, "Active while blocked", s.Active, 1)
		block.Release()
		s = waitStats(t, pool)
		expect(t, "Active after", s.Active, 0)
		expect(t, "Idle after", s.Idle, 1)
		expect(t, "Completed after", s.Ended(), 1)
	})
}

// The counters of tasks move one by one as tasks come and go.
func TestPoolCountsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		for i := range 4 {
			block.Fill(t, pool, 1)
			s := checkStats(t, pool)
			expect(t, "Submitted", s.Submitted, int64(i+1))
			expect(t, "Queued", s.Queued, i)
			expect(t, "Completed", s.Ended(), 0)
		}
		block.Release()
		pool.Close()
		expect(t, "Completed after termination", checkStats(t, pool).Ended(), 4)
	})
}

// The largest number of workers is remembered after they have left.
func TestPoolLargestSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 3})
		block := newBlocker(t)
		block.Fill(t, pool, 3)
		expect(t, "Largest", checkStats(t, pool).Largest, 3)
		block.Release()
		pool.Close()
		s := checkStats(t, pool)
		expect(t, "Largest after termination", s.Largest, 3)
		expect(t, "Workers after termination", s.Workers, 0)
	})
}

// Below Core, each task starts a worker even if others are idle, and does not
// pass through the queue; above it the queue must refuse first; and then Max is
// the limit.
func TestPoolGrowthRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2, Max: 4, KeepAlive: time.Hour, Queue: executor.Bounded(3)})
		nop := func(context.Context) error { return nil }
		for i := range 2 {
			mustGo(t, pool, nop)
			expect(t, "workers while others idle", waitStats(t, pool).Workers, i+1)
		}
		mustGo(t, pool, nop)
		expect(t, "workers at Core with idle ones", waitStats(t, pool).Workers, 2)

		block := newBlocker(t)
		for _, step := range []struct{ workers, queued int }{
			{2, 0}, {2, 0}, // taken by the idle workers
			{2, 1}, {2, 2}, {2, 3}, // queued
			{3, 3}, {4, 3}, // new workers, ahead of those that wait
		} {
			block.Fill(t, pool, 1)
			s := checkStats(t, pool)
			expect(t, "workers", s.Workers, step.workers)
			expect(t, "queued", s.Queued, step.queued)
		}
		err := pool.Go(t.Context(), block.Run)
		expectIs(t, "beyond Max", err, executor.ErrSaturated)
		expectIs(t, "beyond Max", err, executor.ErrRejected)
		expect(t, "started", block.Started.Load(), 4)
	})
}

// With an unbounded queue a pool never grows beyond Core.
func TestPoolUnboundedNeverGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Max: 10, Queue: executor.Unbounded()})
		newBlocker(t).Fill(t, pool, 100)
		s := checkStats(t, pool)
		expect(t, "Largest", s.Largest, 1)
		expect(t, "Queued", s.Queued, 99)
	})
}

// A pool with Core zero starts a worker for a task that it queues.
func TestPoolZeroCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, q := range []executor.Queue{executor.Unbounded(), executor.Bounded(1), executor.Handoff(), executor.Prioritized()} {
			pool := newPool(t, executor.Config{Max: 3, Queue: q})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			expect(t, "started", block.Started.Load(), 1)
			block.Release()
			expect(t, "workers after", waitStats(t, pool).Workers, 0)
		}
	})
}

// Tasks that wait run in the order in which they came.
func TestPoolOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var got []int
		for i := range 10 {
			mustGo(t, pool, func(context.Context) error { got = append(got, i); return nil })
		}
		block.Release()
		waitStats(t, pool)
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(got, want) {
			t.Errorf("ran in order %v", got)
		}
	})
}

// In a pool whose queue is Prioritized the task with the least priority number
// runs first, and equals keep their order.
func TestPoolPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Prioritized()})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var got []string
		add := func(name string, opts ...executor.Option) {
			mustGo(t, pool, func(context.Context) error { got = append(got, name); return nil }, opts...)
		}
		add("later", executor.Priority(5))
		add("plain")
		add("first", executor.Priority(-1))
		add("zero", executor.Priority(0))
		add("later too", executor.Priority(5))
		block.Release()
		waitStats(t, pool)
		if want := []string{"first", "plain", "zero", "later", "later too"}; !slices.Equal(got, want) {
			t.Errorf("ran in order %v, want %v", got, want)
		}
	})
}

// A nil task is refused by every form, before anything has changed.
func TestPoolNilTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		ctx := t.Context()
		expectIs(t, "Execute", pool.Execute(ctx, nil), executor.ErrNilTask)
		expectIs(t, "Go", pool.Go(ctx, nil), executor.ErrNilTask)
		expectIs(t, "Go with options", pool.Go(ctx, nil, executor.Named("x")), executor.ErrNilTask)
		expectIs(t, "Submit", executor.Submit[int](ctx, pool, nil).Err(), executor.ErrNilTask)
		expectIs(t, "Submit of Callable", executor.Submit(ctx, pool, executor.Callable(nil)).Err(), executor.ErrNilTask)
		s := waitStats(t, pool)
		expect(t, "Submitted", s.Submitted, 0)
		expect(t, "Workers", s.Workers, 0)
	})
}

// A type that embeds a Future is declined: its own Run would never be called, as the
// pool would see the Future.
func TestPoolDeclinesEmbeddedFuture(t *testing.T) {
	type job struct{ *executor.Future[int] }
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		scheduled := newScheduled(t, executor.ScheduledConfig{Core: 1})
		j := job{executor.NewFuture(value(1))}
		expectIs(t, "Execute", pool.Execute(t.Context(), j), executor.ErrInvalid)
		expectIs(t, "Execute of a pointer", pool.Execute(t.Context(), &j), executor.ErrInvalid)
		expectIs(t, "Execute in a scheduled pool", scheduled.Execute(t.Context(), j), executor.ErrInvalid)
		expect(t, "Submitted", waitStats(t, pool).Submitted, 0)
		expectIs(t, "Execute of the future", pool.Execute(t.Context(), j.Future), nil)
		if v, err := j.Get(t.Context()); v != 1 || err != nil {
			t.Errorf("the future gives %v, %v", v, err)
		}
	})
}

// A nil context is a mistake of the program, found at once.
func TestPoolNilContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		defer func() {
			if recover() == nil {
				t.Error("Go with a nil context did not panic")
			}
			expect(t, "Submitted", waitStats(t, pool).Submitted, 0)
		}()
		//lint:ignore SA1012 the property
		pool.Go(nil, func(context.Context) error { return nil })
	})
}

// An option that does not apply to a task that runs once and at once makes the
// submission fail, and nothing runs.
func TestPoolOptionsThatDoNotApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		for name, opt := range map[string]executor.Option{
			"Times": executor.Times(1), "Jitter": executor.Jitter(1), "SkipMissed": executor.SkipMissed(),
			"Timeout(0)": executor.Timeout(0), "nil": nil,
		} {
			expectIs(t, name, pool.Go(t.Context(), func(context.Context) error { t.Error("ran"); return nil }, opt), executor.ErrInvalid)
		}
		expect(t, "Submitted", waitStats(t, pool).Submitted, 0)
	})
}

// The same Runnable can be submitted any number of times; each time is a task
// of its own.
func TestPoolRecycledTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		pool := newPool(t, executor.Config{Core: 1, Max: 30, KeepAlive: time.Second, Queue: executor.Bounded(30)})
		var runs atomic.Int64
		task := executor.Func(func(context.Context) error { runs.Add(1); return nil })
		for range n {
			for errors.Is(pool.Execute(t.Context(), task), executor.ErrRejected) {
				synctest.Wait()
			}
		}
		s := waitStats(t, pool)
		expect(t, "runs", runs.Load(), n)
		expect(t, "Succeeded", s.Succeeded, n)
	})
}

// A Future that is given to its pool twice runs once.
func TestPoolFutureTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		runs := 0
		f := executor.NewFuture(func(context.Context) (int, error) { runs++; return runs, nil })
		for range 3 {
			if err := pool.Execute(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		waitStats(t, pool)
		expect(t, "runs", runs, 1)
		expect(t, "Err", f.Err(), nil)
	})
}

// What a function returns is what its future gives, for a value, for no value,
// and for an error.
func TestPoolSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		ctx := t.Context()
		type thing struct{ n int }
		given := &thing{7}
		f := executor.Submit(ctx, pool, func(context.Context) (*thing, error) { return given, nil })
		got, err := f.Get(ctx)
		expect(t, "value", got, given)
		expect(t, "error", err, nil)
		expect(t, "state", f.State(), executor.Succeeded)

		none := executor.Submit(ctx, pool, executor.Callable(func(context.Context) error { return nil }))
		_, err = none.Get(ctx)
		expect(t, "error of none", err, nil)

		mine := errors.New("mine")
		failed := executor.Submit(ctx, pool, func(context.Context) (int, error) { return 3, mine })
		v, err := failed.Get(ctx)
		expect(t, "value next to error", v, 3)
		expect(t, "own error", err, mine)
		expect(t, "Failed", waitStats(t, pool).Failed, 1)
	})
}

// A caller whose wait in Get is ended by its context leaves the task alone.
func TestPoolGetInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		f := executor.Submit(t.Context(), pool, block.Value)
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.Get(waiting)
		expectIs(t, "Get", err, context.DeadlineExceeded)
		expect(t, "state", f.State(), executor.Running)
		block.Release()
		v, err := f.Get(t.Context())
		expect(t, "value", v, 1)
		expect(t, "error", err, nil)
	})
}
