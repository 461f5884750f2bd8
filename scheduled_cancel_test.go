package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A task that is canceled while it waits leaves the queue at once, wherever it
// is in the heap, and the others run in the order of their times. JDK-8370887.
func TestCancelAnywhereInHeap(t *testing.T) {
	// The order that made the JDK's heap, which sifted only down, fire late.
	delays := []int{10, 100, 20, 30, 40, 110, 120, 130, 140, 25, 9}
	for gone := range delays {
		for _, cancel := range withdrawals {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 1), newDiary()
				var fs []*executor.ScheduledFuture[struct{}]
				for i, delay := range delays {
					fs = append(fs, executor.Schedule(testkit.Contexts(t)[i%2], p, time.Duration(delay), d.Value(fmt.Sprint(delay))))
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

// withdrawals are the ways to take a task out of its pool.
var withdrawals = []struct {
	name string
	call func(*executor.ScheduledFuture[struct{}], *executor.ScheduledPool) bool
}{
	{"Cancel", func(f *executor.ScheduledFuture[struct{}], _ *executor.ScheduledPool) bool { return f.Cancel() }},
	{"Abandon", func(f *executor.ScheduledFuture[struct{}], _ *executor.ScheduledPool) bool { return f.Abandon() }},
	{"Remove", func(f *executor.ScheduledFuture[struct{}], p *executor.ScheduledPool) bool { return p.Remove(f) }},
}

// Any tasks of a large heap can be canceled; all others run in order.
func TestCancelManyInHeap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		const n = 3000
		byDelay := make(map[int]*executor.ScheduledFuture[struct{}])
		for _, delay := range rand.Perm(n) {
			byDelay[delay] = executor.Schedule(testkit.Contexts(t)[delay/2%2], p, time.Duration(delay+1), d.Value(fmt.Sprint(delay)))
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

// When the head is canceled the next task still runs at its time.
func TestCancelHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		head := executor.Schedule(t.Context(), p, time.Second, d.Value("head"))
		executor.Schedule(t.Context(), p, 2*time.Second, d.Value("next"))
		synctest.Wait()
		head.Cancel()
		elapse(time.Minute)
		d.Check(t, "next@2s")
	})
}

// When a new task becomes the head it runs at its time, though all workers wait
// for a later one.
func TestNewHead(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, core), newDiary()
			p.PrestartAll()
			for _, s := range []int{30, 20, 10} {
				executor.Schedule(t.Context(), p, time.Duration(s)*time.Second, d.Value(fmt.Sprint(s)))
				synctest.Wait()
			}
			elapse(time.Minute)
			d.Check(t, "10@10s", "20@20s", "30@30s")
		})
	}
}

// Cancel ends the context of a periodic run in progress, Abandon does not; both
// complete the future at once and there is no further run.
func TestCancelPeriodicDuringRun(t *testing.T) {
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

// A periodic task that is canceled before its first run, or between two, leaves
// the queue at once and does not run again.
func TestCancelPeriodicBetweenRuns(t *testing.T) {
	for _, cancel := range withdrawals {
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

// A body may cancel its own task: that run is the last. JDK-6362121.
func TestCancelFromInside(t *testing.T) {
	for _, cancel := range withdrawals[:2] {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 1)
			var self atomic.Pointer[executor.ScheduledFuture[struct{}]]
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

// A late outcome of a body that was abandoned, value, error or panic, changes
// nothing, and the pool does not terminate before it has returned. JDK-8347039.
func TestAbandonedBodyHoldsTermination(t *testing.T) {
	for what, end := range map[string]func() error{
		"value": func() error { return nil },
		"error": func() error { return context.Canceled },
		"panic": func() error { panic("late") },
		"done":  func() error { return executor.Stop },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Core: 2, Hooks: executor.Hooks{
				OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {},
			}})
			late := func(context.Context) error { time.Sleep(time.Hour); return end() }
			f := executor.Schedule(t.Context(), p, 0, executor.Callable(late))
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

// Millions of tasks that are scheduled and canceled leave nothing behind.
// JDK-6602600.
func TestScheduleAndCancelLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		n := 20_000
		for i := range n {
			if !executor.Schedule(testkit.Contexts(t)[i%2], p, 10*time.Minute, nopValue).Cancel() {
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
