package java_test

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

// What programs do by decorateTask in Java: the recipe of docs/java.md.

// decorations has what surrounds each task of a pool, by its future, its series or its Runnable.
type decorations struct {
	runs   map[any]int
	around func(ctx context.Context, run func(context.Context) error) error
}

// decorating returns a scheduled pool of one worker in which around is called for each run; nil only
// counts the runs.
func decorating(
	t *testing.T, hooks executor.Hooks, around func(context.Context, func(context.Context) error) error,
) (*executor.ScheduledPool, *decorations) {
	d := &decorations{make(map[any]int), around}
	hooks.Around = func(ctx context.Context, info executor.TaskInfo, run func(context.Context) error) error {
		d.runs[info.Task]++
		if d.around == nil {
			return run(ctx)
		}
		return d.around(ctx, run)
	}
	return testkit.NewScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: hooks}), d
}

func nop(context.Context) error { return nil }

// Each run of each kind of task is surrounded, and the futures have the outcomes.
func TestDecorateEachTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := decorating(t, executor.Hooks{}, nil)
		ctx := t.Context()
		once := executor.SubmitAfter(ctx, p, time.Second, testkit.Value(42))
		rate, _ := p.AtFixedRate(ctx, 0, time.Second, nop, executor.Times(3))
		delay, _ := p.WithFixedDelay(ctx, 0, time.Second, nop, executor.Times(3))
		on, _ := p.On(ctx, testkit.Hourly, nop, executor.Times(3))
		mine := new(testkit.Step)
		p.Execute(ctx, mine)
		runs := map[any]int{
			once: 1, executor.SubmitAt(ctx, p, time.Now().Add(time.Second), testkit.Value(1)): 1,
			rate: 3, delay: 3, on: 3, mine: 1, executor.Submit(ctx, p, testkit.Value(1)): 1,
		}
		testkit.Elapse(24 * time.Hour)
		for task, want := range runs {
			expect(t, "runs", d.runs[task], want)
			if f, ok := task.(executor.Awaitable); ok {
				expect(t, "outcome", f.Err(), nil)
			}
		}
		v, _ := once.Result()
		expect(t, "value", v, 42)
	})
}

// What surrounds a task stays with it for all runs (JDK-6560953).
func TestDecorateAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := decorating(t, executor.Hooks{}, nil)
		var rate, delay *executor.Series
		end := func(s **executor.Series) func(context.Context) error {
			return func(context.Context) error {
				if (*s).Runs() == 99 {
					return executor.ErrStop
				}
				return nil
			}
		}
		rate, _ = p.AtFixedRate(t.Context(), 1, 1, end(&rate))
		delay, _ = p.WithFixedDelay(t.Context(), 1, 1, end(&delay))
		rate.Wait(t.Context())
		delay.Wait(t.Context())
		expect(t, "runs at a fixed rate", d.runs[rate], 100)
		expect(t, "runs with a fixed delay", d.runs[delay], 100)
	})
}

// The times that a decoration returns in Java are those of a Trigger here, which may change those of
// another.
func TestDecorateNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.Hooks{}, nil)
		d := testkit.NewDiary()
		every := executor.FixedRate(700 * time.Millisecond)
		halves := testkit.TriggerFunc(func(at time.Time) time.Time {
			return every.Next(at).Add(250 * time.Millisecond).Truncate(time.Second / 2)
		})
		p.On(t.Context(), halves, d.Func("rounded"), executor.Times(3))
		executor.SubmitAfter(t.Context(), p, 1200*time.Millisecond, d.Value("between"))
		testkit.Elapse(time.Minute)
		d.Check(t, "rounded@500ms", "rounded@1s", "between@1.2s", "rounded@1.5s")
	})
}

// What surrounds a body gets its error, and what it returns instead does not change the future.
func TestDecorateRunError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen error
		p, _ := decorating(t, executor.Hooks{}, func(ctx context.Context, run func(context.Context) error) error {
			seen = run(ctx)
			return errors.New("outer")
		})
		f := executor.SubmitAfter(t.Context(), p, 0, func(context.Context) (int, error) { return 0, errTask })
		_, err := f.Get(t.Context())
		synctest.Wait()
		expect(t, "outcome", err, errTask)
		expect(t, "what surrounds it saw", seen, errTask)
	})
}

// A task that is not run by what surrounds it has failed.
func TestDecorateRunMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.Hooks{}, func(context.Context, func(context.Context) error) error { return nil })
		d := testkit.NewDiary()
		f := executor.SubmitAfter(t.Context(), p, time.Second, d.Value("x"))
		s, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x"))
		testkit.Elapse(time.Minute)
		d.Check(t)
		expect(t, "state of the one-shot", f.State(), executor.Failed)
		expect(t, "state of the series", s.State(), executor.Failed)
	})
}

// A panic before the body fails the task and is reported; one after it is reported, and does not change
// the outcome.
func TestDecorateRunPanics(t *testing.T) {
	for _, c := range []struct {
		what   string
		around func(context.Context, func(context.Context) error) error
		state  executor.State
		runs   int64
		panics int64
	}{
		{"before", func(context.Context, func(context.Context) error) error { panic("bad") }, executor.Failed, 0, 2},
		{"after", func(ctx context.Context, run func(context.Context) error) error {
			run(ctx)
			panic("bad")
		}, executor.Succeeded, 3, 4},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reports := int64(0)
				p, _ := decorating(t, executor.Hooks{
					OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
						reports++
						expect(t, "value", err.Value, any("bad"))
					},
				}, c.around)
				bodies := int64(0)
				f := executor.SubmitAfter(t.Context(), p, time.Second, testkit.Value(1))
				s, _ := p.AtFixedRate(t.Context(), time.Second, time.Second,
					func(context.Context) error { bodies++; return nil }, executor.Times(3))
				testkit.Elapse(time.Minute)
				expect(t, "state of the one-shot", f.State(), c.state)
				expect(t, "state of the series", s.State(), c.state)
				expect(t, "calls of the series' body", bodies, c.runs)
				expect(t, "calls of OnPanic", reports, c.panics)
				expect(t, "workers", p.Stats().Workers, 1)
			})
		})
	}
}

// A run is over when the body has returned, also if what surrounds it has returned before, or panicked,
// or called Goexit: the next does not begin, and the pool counts the task as active.
func TestDecorateRunReturnsEarly(t *testing.T) {
	for name, leave := range map[string]func(){
		"returns": func() {}, "panics": func() { panic("boom") }, "Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := make(chan struct{})
				p, _ := decorating(t, executor.Hooks{}, func(ctx context.Context, run func(context.Context) error) error {
					go run(ctx)
					<-begun
					leave()
					return nil
				})
				d := testkit.NewDiary()
				s, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
					d.Note("begin")
					begun <- struct{}{}
					time.Sleep(3 * time.Second)
					d.Note("end")
					return nil
				}, executor.Times(2))
				testkit.Elapse(time.Second)
				expect(t, "active during the first run", p.Stats().Active, 1)
				testkit.Elapse(time.Hour)
				d.Check(t, "begin@0s", "end@3s", "begin@3s", "end@6s")
				expect(t, "state", s.State(), executor.Succeeded)
			})
		})
	}
}

// A task that is surrounded is found by its future, leaves its queue when it is canceled, and is not
// surrounded then.
func TestDecorateRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := decorating(t, executor.Hooks{}, nil)
		fs := testkit.FarTasks(t, p, 4)
		expect(t, "Remove", p.Remove(fs[1]), true)
		expect(t, "Remove again", p.Remove(fs[1]), false)
		fs[2].Cancel()
		waiting := slices.Collect(p.Waiting())
		expect(t, "waiting", len(waiting), 2)
		expect(t, "a future waits", slices.Contains(waiting, any(fs[0])), true)
		testkit.Elapse(48 * time.Hour)
		expect(t, "tasks that ran", len(d.runs), 2)
	})
}
