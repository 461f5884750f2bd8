package executor_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// decorating makes a pool that decorates its tasks with copies of like; all
// gets them.
func decorating(t *testing.T, c executor.ScheduledConfig, like testkit.Decoration) (p *executor.ScheduledPool, all *[]*testkit.Decoration) {
	all = new([]*testkit.Decoration)
	c.Core = 1
	c.Decorate = func(inner executor.ScheduledTask) executor.ScheduledTask {
		w := like
		w.ScheduledTask = inner
		*all = append(*all, &w)
		return &w
	}
	return newScheduled(t, c), all
}

// Each task of Schedule, At, AtFixedRate, WithFixedDelay and On is decorated
// once, those of Execute, Go and Submit are not; the futures have the outcomes.
func TestDecorateEachTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		ctx := t.Context()
		fs := []executor.Awaitable{
			executor.Schedule(ctx, p, time.Second, func(context.Context) (int, error) { return 42, nil }),
			executor.At(ctx, p, time.Now().Add(time.Second), nopValue),
		}
		rate, _ := p.AtFixedRate(ctx, 0, time.Second, nop, executor.Times(3))
		delay, _ := p.WithFixedDelay(ctx, 0, time.Second, nop, executor.Times(3))
		on, _ := p.On(ctx, testkit.Hourly, nop, executor.Times(3))
		fs = append(fs, rate, delay, on)
		p.Go(ctx, nop)
		p.Execute(ctx, executor.Func(nop))
		executor.Submit(ctx, p, nopValue)
		expect(t, "decorated tasks", len(*all), 5)
		elapse(24 * time.Hour)
		for i, want := range []int{1, 1, 3, 3, 3} {
			expect(t, "decorated runs", (*all)[i].Runs, want)
			expect(t, "outcome", fs[i].Err(), nil)
		}
		v, _ := fs[0].(*executor.ScheduledFuture[int]).Result()
		expect(t, "value", v, 42)
	})
}

// A decoration stays around its task for all runs. JDK-6560953.
func TestDecorationSurvivesRequeueing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		end := func(f **executor.ScheduledFuture[struct{}]) func(context.Context) error {
			return func(context.Context) error {
				if (*f).Runs() == 99 {
					return executor.Stop
				}
				return nil
			}
		}
		var rate, delay *executor.ScheduledFuture[struct{}]
		release := testkit.Occupy(t, p)
		rate, _ = p.AtFixedRate(t.Context(), 0, 1, end(&rate))
		delay, _ = p.WithFixedDelay(t.Context(), 0, 1, end(&delay))
		release()
		rate.Get(t.Context())
		delay.Get(t.Context())
		expect(t, "decorated runs at a fixed rate", (*all)[0].Runs, 100)
		expect(t, "decorated runs with a fixed delay", (*all)[1].Runs, 100)
	})
}

// A decoration's Next decides when the task runs, and in which order.
func TestDecorationDecidesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{
			NextFunc: func(inner time.Time) time.Time { return inner.Add(250 * time.Millisecond).Truncate(time.Second / 2) },
		})
		d := newDiary()
		f := executor.Schedule(t.Context(), p, 400*time.Millisecond, d.Value("a"))
		executor.Schedule(t.Context(), p, 300*time.Millisecond, d.Value("b")) // at the same time now, but later submitted
		executor.At(t.Context(), p, time.Now().Add(800*time.Millisecond), d.Value("c"))
		p.AtFixedRate(t.Context(), 1600*time.Millisecond, 700*time.Millisecond, d.Func("d"), executor.Times(2))
		expect(t, "Next", f.Next().Sub(d.Begin), 500*time.Millisecond)
		elapse(time.Minute)
		d.Check(t, "a@500ms", "b@500ms", "c@1s", "d@1.5s", "d@2.5s")
	})
}

// A decoration whose Next is the zero time, or far in the past, runs at once;
// one that is far in the future does not.
func TestDecorationExtremeTimes(t *testing.T) {
	for _, c := range []struct {
		next time.Time
		runs int
	}{
		{time.Time{}, 2},
		{time.Unix(0, 0), 2},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{NextFunc: func(time.Time) time.Time { return c.next }})
			d := newDiary()
			executor.Schedule(t.Context(), p, time.Hour, d.Value("x"))
			executor.At(t.Context(), p, time.Now().Add(time.Hour), d.Value("x"))
			elapse(time.Minute)
			expect(t, "runs", len(d.Names()), c.runs)
		})
	}
}

// A decorated task is removed by its decoration or by its future; Waiting shows
// the future.
func TestRemoveDecorated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		fs := testkit.FarTasks(t, p, 4)
		expect(t, "Remove by decoration", p.Remove((*all)[2]), true)
		expect(t, "Remove again", p.Remove((*all)[2]), false)
		expect(t, "Remove by future", p.Remove(fs[1]), true)
		expect(t, "Remove by its decoration", p.Remove((*all)[1]), false)
		expect(t, "states", fs[2].State(), executor.Canceled)
		waiting := slices.Collect(p.Waiting())
		expect(t, "waiting", len(waiting), 2)
		expect(t, "a future waits", slices.Contains(waiting, executor.Runnable(fs[0])), true)
		for _, u := range p.ShutdownNow() {
			expect(t, "a future is given back", u.Task() == fs[0] || u.Task() == fs[3], true)
		}
	})
}

// A decorated task is canceled through its future, and leaves the queue.
func TestCancelDecorated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		fs := testkit.FarTasks(t, p, 3)
		fs[1].Cancel()
		expect(t, "queued", p.Stats().Queued, 2)
		elapse(24 * time.Hour)
		expect(t, "runs of the canceled task", (*all)[1].Runs, 0)
	})
}

// A decoration sees the body's error, and what it returns instead changes
// nothing in the future.
func TestDecorationSeesError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sour, sweet := errors.New("sour"), errors.New("sweet")
		var seen error
		p, _ := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{RunFunc: func(ctx context.Context, inner executor.ScheduledTask) error {
			seen = inner.Run(ctx)
			return sweet
		}})
		f := executor.Schedule(t.Context(), p, 0, func(context.Context) (int, error) { return 0, sour })
		_, err := f.Get(t.Context())
		synctest.Wait()
		expect(t, "the outcome", err, sour)
		expect(t, "what the decoration saw", seen, sour)
	})
}

// A decoration that does not call Run fails a one-shot; a periodic task records
// an error and goes on.
func TestDecorationDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{RunFunc: func(context.Context, executor.ScheduledTask) error { return nil }})
		d := newDiary()
		f := executor.Schedule(t.Context(), p, time.Second, d.Value("x"))
		g, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x"), executor.Times(3))
		elapse(time.Minute)
		d.Check(t)
		expect(t, "state of the one-shot", f.State(), executor.Failed)
		expect(t, "state of the periodic task", g.State(), executor.Succeeded)
		expect(t, "the error is recorded", g.LastError() != nil, true)
	})
}

// A panic in a decoration, before the body, fails the task and is made known; one
// after the body is made known and leaves the outcome alone.
func TestDecorationPanics(t *testing.T) {
	for _, c := range []struct {
		what           string
		run            func(context.Context, executor.ScheduledTask) error
		once, periodic executor.State
		runs           int64
	}{
		{"before", func(context.Context, executor.ScheduledTask) error { panic("bad") }, executor.Failed, executor.Failed, 1},
		{"after", func(ctx context.Context, inner executor.ScheduledTask) error {
			inner.Run(ctx)
			panic("bad")
		}, executor.Succeeded, executor.Succeeded, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			told := int64(0)
			p, _ := decorating(t, executor.ScheduledConfig{Hooks: executor.Hooks{
				OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
					told++
					expect(t, "value", err.Value, any("bad"))
				},
			}}, testkit.Decoration{RunFunc: c.run})
			f := executor.Schedule(t.Context(), p, time.Second, nopValue)
			g, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop, executor.Times(3))
			elapse(time.Minute)
			expect(t, c.what+": state of the one-shot", f.State(), c.once)
			expect(t, c.what+": state of the periodic task", g.State(), c.periodic)
			expect(t, c.what+": runs of the periodic task", g.Runs(), c.runs)
			expect(t, c.what+": panics told", told, 1+c.runs)
			expect(t, c.what+": panics counted", p.Stats().Panics, 1+c.runs)
			expect(t, c.what+": workers", p.Stats().Workers, 1)
		})
	}
}

// A decoration that ends its goroutine fails the task, and the worker is
// replaced.
func TestDecorationCallsGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{RunFunc: func(context.Context, executor.ScheduledTask) error {
			runtime.Goexit()
			return nil
		}})
		f := executor.Schedule(t.Context(), p, time.Second, nopValue)
		g, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop)
		elapse(time.Minute)
		expectIs(t, "outcome", f.Err(), executor.ErrGoexit)
		expectIs(t, "outcome", g.Err(), executor.ErrGoexit)
		expect(t, "workers", waitStats(t, p).Workers, 1)
	})
}

// A decoration's Next that panics when the task is put back ends the schedule as
// a failure, loudly.
func TestDecorationNextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, asked := 0, 0
		p, _ := decorating(t, executor.ScheduledConfig{Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ },
		}}, testkit.Decoration{NextFunc: func(next time.Time) time.Time {
			if asked++; asked > 1 {
				panic("bad")
			}
			return next
		}})
		f, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop)
		elapse(time.Minute)
		expect(t, "state", f.State(), executor.Failed)
		expect(t, "panics told", told, 1)
	})
}

// A Decorate that returns nil, or the task itself, leaves it undecorated.
func TestDecorateDeclines(t *testing.T) {
	for _, decline := range []func(executor.ScheduledTask) executor.ScheduledTask{
		func(executor.ScheduledTask) executor.ScheduledTask { return nil },
		func(inner executor.ScheduledTask) executor.ScheduledTask { return inner },
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newScheduled(t, executor.ScheduledConfig{Core: 1, Decorate: decline}), newDiary()
			p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"), executor.Times(2))
			elapse(time.Minute)
			d.Check(t, "x@0s", "x@1s")
		})
	}
}
