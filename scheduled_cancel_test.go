package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Cancel.

// A waiting task that is canceled leaves the queue at once, wherever it is in the heap, and the
// others run in the order of their times (JDK-8370887).
func TestScheduledTaskCancelAnywhere(t *testing.T) {
	// The order that made the JDK's heap, which sifted only down, fire late.
	delays := []int{10, 100, 20, 30, 40, 110, 120, 130, 140, 25, 9}
	for gone := range delays {
		for _, cancel := range cancellations {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 1), newDiary()
				var fs []*executor.Future[struct{}]
				for i, delay := range delays {
					fs = append(fs, executor.SubmitAfter(testkit.Contexts(t)[i%2], p, time.Duration(delay),
						d.Value(fmt.Sprint(delay))))
				}
				expect(t, cancel.name, cancel.call(fs[gone], p), true)
				expect(t, cancel.name+" again", cancel.call(fs[gone], p), false)
				expect(t, "queued", p.Stats().Queued, len(delays)-1)
				testkit.StateIs(t, "the canceled task", fs[gone], executor.Canceled)
				elapse(time.Second)
				var want []string
				for _, delay := range []int{9, 10, 20, 25, 30, 40, 100, 110, 120, 130, 140} {
					if delay != delays[gone] {
						want = append(want, fmt.Sprint(delay, "@", time.Duration(delay)))
					}
				}
				d.Check(t, want...)
			})
		}
	}
}

// cancellations are the ways to remove a task from its pool.
var cancellations = []struct {
	name string
	call func(timedTask, *executor.ScheduledPool) bool
}{
	{"Cancel", func(f timedTask, _ *executor.ScheduledPool) bool { return f.Cancel() }},
	{"Abandon", func(f timedTask, _ *executor.ScheduledPool) bool { return f.Abandon() }},
	{"Remove", func(f timedTask, p *executor.ScheduledPool) bool { return p.Remove(f) }},
}

// Any tasks of a large heap can be canceled; all others run in order.
func TestScheduledTaskCancelMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newScheduled(t, executor.ScheduledConfig{Workers: 1, Slack: -1}), newDiary()
		const n = 3000
		byDelay := make(map[int]*executor.Future[struct{}])
		for _, delay := range rand.Perm(n) {
			byDelay[delay] = executor.SubmitAfter(testkit.Contexts(t)[delay/2%2], p, time.Duration(delay+1),
				d.Value(fmt.Sprint(delay)))
		}
		var want []string
		for delay := range n {
			if rand.IntN(2) == 0 {
				byDelay[delay].Cancel()
			} else {
				want = append(want, fmt.Sprint(delay, "@", time.Duration(delay+1)))
			}
		}
		expect(t, "queued", p.Stats().Queued, len(want))
		elapse(time.Second)
		d.Check(t, want...)
	})
}

// When the first task is canceled the next still runs at its time.
func TestScheduledTaskCancelHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		head := executor.SubmitAfter(t.Context(), p, time.Second, d.Value("head"))
		executor.SubmitAfter(t.Context(), p, 2*time.Second, d.Value("next"))
		synctest.Wait()
		head.Cancel()
		elapse(time.Minute)
		d.Check(t, "next@2s")
	})
}

// A task that becomes the first runs at its time, even if all workers wait for a later one.
func TestScheduledPoolNewHead(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, core), newDiary()
			p.Prestart(math.MaxInt)
			for _, s := range []int{30, 20, 10} {
				executor.SubmitAfter(t.Context(), p, time.Duration(s)*time.Second, d.Value(fmt.Sprint(s)))
				synctest.Wait()
			}
			elapse(time.Minute)
			d.Check(t, "10@10s", "20@20s", "30@30s")
		})
	}
}

// Cancel ends the context of a periodic run, Abandon does not; both complete the future at once,
// and there is no further run.
func TestScheduledTaskCancelDuringRun(t *testing.T) {
	for _, interrupt := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, 1), newDiary()
			f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
				d.Note("begin")
				select {
				case <-ctx.Done():
					d.Note("canceled")
					expectIs(t, "the cause", context.Cause(ctx), executor.ErrCanceled)
				case <-time.After(500 * time.Millisecond):
					d.Note("end")
				}
				return nil
			})
			elapse(1200 * time.Millisecond)
			if interrupt {
				expect(t, "Cancel", f.Cancel(), true)
			} else {
				expect(t, "Abandon", f.Abandon(), true)
			}
			expect(t, "state", f.State(), executor.Canceled)
			expectIs(t, "outcome", f.Err(), executor.ErrCanceled)
			expect(t, "Cancel again", f.Cancel(), false)
			elapse(5 * time.Second)
			if interrupt {
				d.Check(t, "begin@0s", "end@500ms", "begin@1s", "canceled@1.2s")
			} else {
				d.Check(t, "begin@0s", "end@500ms", "begin@1s", "end@1.5s")
			}
			expect(t, "canceled tasks", waitStats(t, p).Canceled, 1)
		})
	}
}

// A periodic task that is canceled before its first run, or between two, leaves the queue at once
// and does not run again.
func TestScheduledTaskCancelBetweenRuns(t *testing.T) {
	for _, cancel := range cancellations {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, 1), newDiary()
			before, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("before"))
			between, _ := p.WithFixedDelay(t.Context(), 0, time.Second, d.Func("between"))
			elapse(500 * time.Millisecond)
			expect(t, cancel.name, cancel.call(before, p), true)
			elapse(time.Second)
			expect(t, cancel.name, cancel.call(between, p), true)
			expect(t, "queued", p.Stats().Queued, 0)
			elapse(time.Minute)
			d.Check(t, "between@0s", "between@1s")
			expect(t, "runs", between.Runs(), 2)
			expect(t, "runs", before.Runs(), 0)
		})
	}
}

// A task may cancel itself: that run is the last (JDK-6362121).
func TestScheduledTaskCancelByOwnFunction(t *testing.T) {
	for _, cancel := range cancellations[:2] {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 1)
			var self atomic.Pointer[executor.Series]
			f, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, func(ctx context.Context) error {
				if self.Load().Runs() == 4 {
					expect(t, cancel.name, cancel.call(self.Load(), p), true)
					expect(t, "its context has ended", ctx.Err() != nil, cancel.name == "Cancel")
				}
				return nil
			})
			self.Store(f)
			elapse(time.Minute)
			expect(t, "runs", f.Runs(), 5)
			testkit.StateIs(t, "the schedule", f, executor.Canceled)
			expect(t, "queued", p.Stats().Queued, 0)
		})
	}
}

// The later outcome of an abandoned task changes nothing, and the pool does not terminate before
// the task function has returned (JDK-8347039).
func TestScheduledTaskAbandonHoldsTermination(t *testing.T) {
	for what, end := range map[string]func() error{
		"value": func() error { return nil },
		"error": func() error { return context.Canceled },
		"panic": func() error { panic("late") },
		"done":  func() error { return executor.ErrStop },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Workers: 2, Hooks: executor.Hooks{
				OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {},
			}})
			late := func(context.Context) error { time.Sleep(time.Hour); return end() }
			f := executor.SubmitAfter(t.Context(), p, 0, executor.Func(late).Call)
			g, _ := p.AtFixedRate(t.Context(), 0, time.Second, late)
			synctest.Wait()
			f.Abandon()
			g.Abandon()
			p.Shutdown()
			begin := time.Now()
			p.AwaitTermination(context.Background())
			expect(t, "time until termination", time.Since(begin), time.Hour)
			expectIs(t, what+" of a one-shot", f.Err(), executor.ErrCanceled)
			expectIs(t, what+" of a periodic task", g.Err(), executor.ErrCanceled)
		})
	}
}

// Tasks that are scheduled and canceled, however many, leave nothing behind (JDK-6602600).
func TestScheduledPoolScheduleCancelLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		n := 20_000
		for i := range n {
			if !executor.SubmitAfter(testkit.Contexts(t)[i%2], p, 10*time.Minute, nopValue).Cancel() {
				t.Fatal("a task that waits could not be canceled")
			}
		}
		s := waitStats(t, p)
		expect(t, "queued", s.Queued, 0)
		expect(t, "canceled", s.Canceled, int64(n))
		p.Shutdown()
		begin := time.Now()
		p.AwaitTermination(context.Background())
		expect(t, "time until termination", time.Since(begin), 0)
	})
}

// Waiting and Remove.

// Waiting returns the futures that wait, and not the one that runs.
func TestScheduledPoolWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		block := newBlocker(t)
		var fs []*executor.Future[int]
		for range 5 {
			fs = append(fs, executor.SubmitAfter(t.Context(), p, time.Millisecond, block.Value))
		}
		elapse(time.Second)
		waiting := slices.Collect(p.Waiting())
		expect(t, "waiting", len(waiting), 4)
		for i, f := range fs {
			expect(t, "a future is among them", slices.Contains(waiting, any(f)), i > 0)
		}
	})
}

// Waiting returns a Runnable that was passed to Execute itself.
func TestScheduledPoolWaitingRunnable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.Occupy(t, p)
		mine := new(testkit.Step)
		p.Execute(t.Context(), mine)
		f := executor.NewTask(nopValue)
		p.Execute(t.Context(), f)
		waiting := slices.Collect(p.Waiting())
		if len(waiting) != 2 || !slices.Contains(waiting, any(mine)) ||
			!slices.Contains(waiting, any(f.Future())) {
			t.Errorf("waiting: %v", waiting)
		}
		expect(t, "Remove", p.Remove(mine), true)
		expect(t, "Remove again", p.Remove(mine), false)
		expect(t, "Remove of the future", p.Remove(f), true)
	})
}

// Remove removes each waiting task once, and never a running one.
func TestScheduledPoolRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		block := newBlocker(t)
		running := executor.SubmitAfter(t.Context(), p, 0, block.Value)
		synctest.Wait()
		fs := testkit.FarTasks(t, p, 4)
		expect(t, "Remove of a task that runs", p.Remove(running), false)
		for _, i := range []int{3, 0, 2, 1} {
			expect(t, "Remove", p.Remove(fs[i]), true)
			expect(t, "Remove again", p.Remove(fs[i]), false)
			expectIs(t, "outcome", fs[i].Err(), executor.ErrCanceled)
		}
		s := p.Stats()
		expect(t, "queued", s.Queued, 0)
		expect(t, "canceled", s.Canceled, 4)
	})
}

// Remove does not find a task of another pool, nor a wrong one.
func TestScheduledPoolRemoveOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := scheduled(t, 1), scheduled(t, 1)
		fs, theirs := testkit.FarTasks(t, p, 2), testkit.FarTasks(t, other, 2)
		expect(t, "Remove", p.Remove(theirs[0]), false)
		expect(t, "Remove", other.Remove(fs[1]), false)
		expect(t, "queued", p.Stats().Queued, 2)
		expect(t, "queued", other.Stats().Queued, 2)
	})
}

// Contexts.

// When a context ends its waiting tasks are canceled at once, with its cause, and leave the queue.
func TestScheduledPoolContextCancelsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		once := executor.SubmitAfter(ctx, p, time.Hour, d.Value("x"))
		day := executor.SubmitAt(ctx, p, time.Now().Add(time.Hour), d.Value("x"))
		rate, _ := p.AtFixedRate(ctx, time.Hour, time.Hour, d.Func("x"))
		delay, _ := p.WithFixedDelay(ctx, time.Hour, time.Hour, d.Func("x"))
		on, _ := p.On(ctx, testkit.Hourly, d.Func("x"))
		other := executor.SubmitAfter(t.Context(), p, 30*time.Minute, d.Value("other"))
		synctest.Wait()
		cancel(gone)
		for _, f := range []timedTask{once, day, rate, delay, on} {
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

// A context that ends between two runs, or during one, ends the schedule; the context of the run
// ends too.
func TestScheduledPoolContextCancelsPeriodic(t *testing.T) {
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

// A schedule whose context ends during a run is done when that run returns, not when the next is
// due.
func TestScheduledPoolContextEndsDuringRun(t *testing.T) {
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

// With a context that has ended each way to schedule fails, and nothing is queued.
func TestScheduledPoolContextEndedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f := executor.SubmitAfter(ctx, p, time.Hour, nopValue)
		expectIs(t, "outcome of Schedule", f.Err(), context.Canceled)
		expect(t, "state", f.State(), executor.Canceled)
		_, err := p.AtFixedRate(ctx, 0, time.Hour, nop)
		expectIs(t, "error of AtFixedRate", err, context.Canceled)
		expectIs(t, "error of Go", p.Go(ctx, nop), context.Canceled)
		expect(t, "workers", waitStats(t, p).Workers, 0)
		expect(t, "queued", p.Stats().Queued, 0)
	})
}

// A context that ends lets a pool that is shut down terminate.
func TestScheduledPoolContextLetsTerminate(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Workers: core, KeepPeriodic: true})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			executor.SubmitAfter(ctx, p, time.Hour, nopValue)
			p.AtFixedRate(ctx, 0, time.Hour, nop)
			p.Shutdown()
			expect(t, "time until termination", testkit.Termination(t, p), time.Minute)
		})
	}
}

// Each run has the values of the submitter's context.
func TestScheduledPoolContextValues(t *testing.T) {
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
			f.Wait(t.Context())
			expect(t, "runs", f.Runs(), 3)
		}
	})
}

// Each run has a context of its own, which ends with the run and does not revive in a later one.
func TestScheduledPoolContextOfEachRun(t *testing.T) {
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
			f.Wait(t.Context())
			synctest.Wait()
			for _, old := range leaked {
				expectIs(t, "error of a run's context", old.Err(), context.Canceled)
			}
		})
	}
}

// The context of a one-shot ends with its function, even if it was never used before.
func TestScheduledPoolContextOfOneShot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		var leaked context.Context
		executor.SubmitAfter(t.Context(), p, time.Second,
			func(ctx context.Context) (int, error) { leaked = ctx; return 0, nil })
		elapse(time.Minute)
		expectIs(t, "its error", leaked.Err(), context.Canceled)
		expect(t, "its time", time.Since(executor.Due(leaked)), 59*time.Second)
	})
}

// Timeout limits each run of periodic work by itself.
func TestScheduledPoolContextTimeoutOfEachRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
			<-ctx.Done()
			d.Note("x")
			expect(t, "error", ctx.Err(), context.DeadlineExceeded)
			expectIs(t, "cause", context.Cause(ctx), executor.ErrTimeout)
			return ctx.Err()
		}, executor.Timeout(100*time.Millisecond), executor.Times(3))
		err := f.Wait(t.Context())
		expect(t, "outcome", err, nil)
		expectIs(t, "last error", f.LastError(), context.DeadlineExceeded)
		d.Check(t, "x@100ms", "x@1.1s", "x@2.1s")
	})
}

// The context of a task that returned in time does not end by its Timeout later (JDK-8303742).
func TestScheduledPoolContextTimeoutNotReached(t *testing.T) {
	for _, outcome := range []error{nil, context.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 1)
			var leaked context.Context
			f := executor.SubmitAfter(t.Context(), p, time.Second, func(ctx context.Context) (int, error) {
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

// Due returns when a run was due, whenever it runs and by whichever kind of schedule.
func TestScheduledPoolContextDue(t *testing.T) {
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
		executor.SubmitAfter(t.Context(), p, s, executor.Func(late(s)).Call)
		executor.SubmitAt(t.Context(), p, begin.Add(2*s), executor.Func(late(2*s)).Call)
		p.AtFixedRate(t.Context(), 3*s, 10*s, late(3*s, 13*s), executor.Times(2))
		p.WithFixedDelay(t.Context(), 3*s, 10*s, late(3*s, 70*s), executor.Times(2))
		p.On(t.Context(), testkit.Hourly, late(time.Hour), executor.Times(1))
		time.Sleep(time.Minute)
		release()
		elapse(2 * time.Hour)
		expect(t, "succeeded", p.Stats().Succeeded, 6)
	})
}

// Hooks get the number of the run and when it was due, before the run and after it.
func TestScheduledPoolTaskInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var seen []executor.TaskInfo
		p := newScheduled(t, executor.ScheduledConfig{Name: "ticks", Workers: 1, Hooks: executor.Hooks{
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
			expect(t, "begun", info.Begun.Sub(begin), want.Due.Sub(begin))
			info.Due, want.Begun = want.Due, info.Begun
			expect(t, "info", info, want)
		}
	})
}
