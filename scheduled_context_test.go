package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A ctx that ends cancels the tasks that wait with it, at once and with its
// cause; they leave the queue.
func TestContextCancelsWaitingTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		once := executor.Schedule(ctx, p, time.Hour, d.Value("x"))
		day := executor.At(ctx, p, time.Now().Add(time.Hour), d.Value("x"))
		rate, _ := p.AtFixedRate(ctx, time.Hour, time.Hour, d.Func("x"))
		delay, _ := p.WithFixedDelay(ctx, time.Hour, time.Hour, d.Func("x"))
		on, _ := p.On(ctx, testkit.Hourly, d.Func("x"))
		other := executor.Schedule(t.Context(), p, 30*time.Minute, d.Value("other"))
		synctest.Wait()
		cancel(gone)
		for _, f := range []*executor.ScheduledFuture[struct{}]{once, day, rate, delay, on} {
			testkit.StateIs(t, "the task", f, executor.Canceled)
			expectIs(t, "outcome", f.Err(), gone)
			expectIs(t, "outcome", f.Err(), context.Canceled)
			expectIs(t, "outcome", f.Err(), executor.ErrCanceled)
		}
		expect(t, "queued", p.Stats().Queued, 1)
		elapse(2 * time.Hour)
		d.Check(t, "other@30m0s")
		expect(t, "state of the other", other.State(), executor.Succeeded)
	})
}

// A ctx that ends between two runs, or during one, ends a schedule; the run in
// progress sees its context end.
func TestContextCancelsPeriodicTask(t *testing.T) {
	for _, when := range []time.Duration{1500 * time.Millisecond, 2500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, 1), newDiary()
			ctx, cancel := context.WithTimeout(t.Context(), when)
			defer cancel()
			f, _ := p.AtFixedRate(ctx, 0, 2*time.Second, func(ctx context.Context) error {
				d.Note("begin")
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					d.Note("canceled")
				}
				return nil
			})
			elapse(time.Minute)
			expect(t, "state", f.State(), executor.Canceled)
			expectIs(t, "outcome", f.Err(), context.DeadlineExceeded)
			if when < 2*time.Second {
				d.Check(t, "begin@0s")
			} else {
				d.Check(t, "begin@0s", "begin@2s", "canceled@2.5s")
			}
		})
	}
}

// A ctx that has ended already is told to whoever submits, and nothing is
// queued.
func TestContextEndedBeforeScheduling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f := executor.Schedule(ctx, p, time.Hour, nopValue)
		expectIs(t, "outcome of Schedule", f.Err(), context.Canceled)
		expect(t, "state", f.State(), executor.Canceled)
		_, err := p.AtFixedRate(ctx, 0, time.Hour, nop)
		expectIs(t, "error of AtFixedRate", err, context.Canceled)
		expectIs(t, "error of Go", p.Go(ctx, nop), context.Canceled)
		expect(t, "workers", waitStats(t, p).Workers, 0)
		expect(t, "queued", p.Stats().Queued, 0)
	})
}

// A ctx that ends lets a pool that is shut down terminate.
func TestContextTerminatesPool(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Core: core, Periodic: executor.KeepAfterShutdown})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			executor.Schedule(ctx, p, time.Hour, nopValue)
			p.AtFixedRate(ctx, 0, time.Hour, nop)
			p.Shutdown()
			expect(t, "time until termination", testkit.Termination(t, p), time.Minute)
		})
	}
}

// The values of the submitter's ctx are there in every run.
func TestContextValues(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		for _, ctx := range []context.Context{
			context.WithValue(context.Background(), key{}, "v"),
			context.WithValue(t.Context(), key{}, "v"),
		} {
			f, _ := p.AtFixedRate(ctx, 0, time.Second, func(ctx context.Context) error {
				expect(t, "value", ctx.Value(key{}), any("v"))
				return nil
			}, executor.Times(3))
			f.Get(t.Context())
			expect(t, "runs", f.Runs(), 3)
		}
	})
}

// Each run has a context of its own, which ends with the run and stays so: one
// that leaked does not follow a later run.
func TestContextOfEachRun(t *testing.T) {
	for what, opts := range map[string][]executor.Option{"plain": nil, "with a timeout": {executor.Timeout(time.Minute)}} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 1)
			var leaked []context.Context
			f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
				expect(t, what+": the context at the start of a run", ctx.Err(), nil)
				for _, old := range leaked {
					expect(t, what+": error of an earlier run's context", old.Err(), context.Canceled)
					expect(t, what+": an earlier run's time is its own", executor.Due(old).Before(executor.Due(ctx)), true)
				}
				leaked = append(leaked, ctx)
				return nil
			}, append(opts, executor.Times(4))...)
			f.Get(t.Context())
			synctest.Wait()
			for _, old := range leaked {
				expectIs(t, "error of a run's context", old.Err(), context.Canceled)
			}
		})
	}
}

// The context of a one-shot ends with its body, also if nobody looked at it
// before.
func TestContextOfOneShotEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		var leaked context.Context
		executor.Schedule(t.Context(), p, time.Second, func(ctx context.Context) (int, error) { leaked = ctx; return 0, nil })
		elapse(time.Minute)
		expectIs(t, "its error", leaked.Err(), context.Canceled)
		expect(t, "its time", time.Since(executor.Due(leaked)), 59*time.Second)
	})
}

// Timeout bounds each run of periodic work by itself.
func TestTimeoutOfEachRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
			<-ctx.Done()
			d.Note("x")
			expect(t, "error", ctx.Err(), context.DeadlineExceeded)
			expectIs(t, "cause", context.Cause(ctx), executor.ErrTimeout)
			return ctx.Err()
		}, executor.Timeout(100*time.Millisecond), executor.Times(3))
		_, err := f.Get(t.Context())
		expect(t, "outcome", err, nil)
		expectIs(t, "last error", f.LastError(), context.DeadlineExceeded)
		d.Check(t, "x@100ms", "x@1.1s", "x@2.1s")
	})
}

// A body that returns in time, well or not, is not touched by its Timeout later.
// JDK-8303742.
func TestTimeoutNotReached(t *testing.T) {
	for _, outcome := range []error{nil, context.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 1)
			var leaked context.Context
			f := executor.Schedule(t.Context(), p, time.Second, func(ctx context.Context) (int, error) {
				leaked = ctx
				return 7, outcome
			}, executor.Timeout(time.Minute))
			elapse(time.Hour)
			v, err := f.Result()
			expect(t, "value", v, 7)
			expect(t, "error", err, outcome)
			expect(t, "cause of the end of its context", context.Cause(leaked), executor.ErrReturned)
		})
	}
}

// Due tells each body when it was due, whenever it runs and by whatever kind of
// schedule.
func TestDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		begin := time.Now()
		release := testkit.Occupy(t, p)
		late := func(want ...time.Duration) func(context.Context) error {
			return func(ctx context.Context) error {
				expect(t, "due", executor.Due(ctx).Sub(begin), want[0])
				want = want[1:]
				return nil
			}
		}
		s := time.Second
		executor.Schedule(t.Context(), p, s, executor.Callable(late(s)))
		executor.At(t.Context(), p, begin.Add(2*s), executor.Callable(late(2*s)))
		p.AtFixedRate(t.Context(), 3*s, 10*s, late(3*s, 13*s), executor.Times(2))
		p.WithFixedDelay(t.Context(), 3*s, 10*s, late(3*s, 70*s), executor.Times(2))
		p.On(t.Context(), testkit.Hourly, late(time.Hour), executor.Times(1))
		time.Sleep(time.Minute)
		release()
		elapse(2 * time.Hour)
		expect(t, "succeeded", p.Stats().Succeeded, 6)
	})
}

// Hooks are told for which run they are called, and when it was due, before the
// body as well as after it.
func TestScheduledTaskInfo(t *testing.T) {
	for _, decorate := range []func(executor.ScheduledTask) executor.ScheduledTask{
		nil, func(inner executor.ScheduledTask) executor.ScheduledTask {
			return &testkit.Decoration{ScheduledTask: inner}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			var seen []executor.TaskInfo
			p := newScheduled(t, executor.ScheduledConfig{Name: "ticks", Core: 1, Decorate: decorate, Hooks: executor.Hooks{
				BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
					seen = append(seen, info)
					return ctx
				},
				AfterTask: func(_ context.Context, info executor.TaskInfo, _ error) { seen = append(seen, info) },
			}})
			f, _ := p.AtFixedRate(t.Context(), time.Second, time.Minute, nop, executor.Named("tidy"), executor.Times(3))
			elapse(time.Hour)
			expect(t, "calls", len(seen), 6)
			for i, info := range seen {
				run := i / 2
				want := executor.TaskInfo{
					Executor: "ticks", Worker: 1, Name: "tidy", Task: f, Run: int64(run + 1),
					Due: begin.Add(time.Second + time.Duration(run)*time.Minute),
				}
				expect(t, "due", info.Due.Sub(begin), want.Due.Sub(begin))
				info.Due = want.Due
				expect(t, "info", info, want)
			}
		})
	}
}

// A series whose submitter's context ends during a run ends with that run, not
// when the next one is due.
func TestSeriesEndsWithRunDuringWhichParentEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f, err := p.AtFixedRate(ctx, 0, time.Hour, func(context.Context) error {
			time.Sleep(time.Minute)
			return nil
		})
		expect(t, "error of AtFixedRate", err, nil)
		elapse(time.Second)
		cancel()
		testkit.StateIs(t, "the series during the run", f, executor.Running)
		elapse(time.Minute)
		testkit.StateIs(t, "the series after the run", f, executor.Canceled)
		expect(t, "queued", checkStats(t, p).Queued, 0)
	})
}
