package executor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// sloppy is a context that panics when it is asked for a key that is no string.
type sloppy struct{ context.Context }

func (s sloppy) Value(key any) any { return s.Context.Value(key.(string)) }

// A context of the submitter's that panics in a worker fails the task that came
// with it, and is made known. The worker lives on.
func TestContextThatPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		told := 0
		hooks := executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ }}
		ctx := sloppy{context.Background()}
		check := func(submitted int, pool interface{ Stats() executor.Stats }, futures ...executor.Awaitable) {
			t.Helper()
			for i, f := range futures {
				var perr *executor.PanicError
				if !errors.As(f.Err(), &perr) {
					t.Errorf("future %d: %v", i, f.Err())
				}
			}
			s := addsUp(t, pool)
			if s.Failed != int64(submitted) || s.Active != 0 || s.Panics != s.Failed || told != submitted {
				t.Errorf("%d told, %+v", told, s)
			}
		}

		pool := newPool(t, executor.Config{Core: 1, Hooks: hooks})
		f := executor.Submit(ctx, pool, constant(1))
		g := executor.Submit(ctx, pool, constant(1), executor.Timeout(time.Second))
		pool.Go(ctx, func(context.Context) error { return nil })
		pool.Go(ctx, func(context.Context) error { return nil }, executor.Named("x"))
		settled(t, pool)
		check(4, pool, f, g)

		told = 0
		s := scheduledPool(t, executor.ScheduledConfig{Core: 1, Hooks: hooks})
		once := executor.Schedule(ctx, s, time.Second, constant(1))
		beat, err := s.AtFixedRate(ctx, 0, time.Second, func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		settled(t, s.Pool)
		check(2, s, once, beat)
	})
}

// So does a panic in what OnDone was given: the outcome stands.
func TestOnDonePanicsInWorker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		told := 0
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ },
		}})
		f := executor.NewFuture(constant(1))
		f.OnDone(func() { panic("boom") })
		pool.Execute(t.Context(), f)
		settled(t, pool)
		if v, err := f.Result(); v != 1 || err != nil || told != 1 {
			t.Errorf("%d, %v, told %d times", v, err, told)
		}
		if s := pool.Stats(); s.Succeeded != 1 || s.Runs != 1 || s.Workers != 1 {
			t.Errorf("%+v", s)
		}
	})
}
