package executor_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// hostile returns a duration that is likely to overflow, or short.
func hostile() time.Duration {
	all := []time.Duration{
		math.MinInt64, math.MinInt64 + 1, math.MinInt64 / 2, -time.Hour, -1, 0, 1,
		math.MaxInt64 / 2, math.MaxInt64/2 + 1, math.MaxInt64 - 1, math.MaxInt64,
	}
	return all[rand.IntN(len(all))]
}

// submitters are the ways to schedule a task with a delay.
var submitters = map[string]func(*executor.ScheduledPool, time.Duration, func(context.Context) error) executor.Awaitable{
	"Schedule": func(p *executor.ScheduledPool, d time.Duration, fn func(context.Context) error) executor.Awaitable {
		return executor.Schedule(context.Background(), p, d, executor.Callable(fn))
	},
	"At": func(p *executor.ScheduledPool, d time.Duration, fn func(context.Context) error) executor.Awaitable {
		return executor.At(context.Background(), p, time.Now().Add(d), executor.Callable(fn))
	},
	"AtFixedRate": func(p *executor.ScheduledPool, d time.Duration, fn func(context.Context) error) executor.Awaitable {
		f, _ := p.AtFixedRate(context.Background(), d, math.MaxInt64, fn)
		return f
	},
	"WithFixedDelay": func(p *executor.ScheduledPool, d time.Duration, fn func(context.Context) error) executor.Awaitable {
		f, _ := p.WithFixedDelay(context.Background(), d, math.MaxInt64, fn)
		return f
	},
}

// A task with the longest delay never overtakes an overdue one, of whichever kinds the two are, and
// never runs (JDK-6725789).
func TestScheduledPoolDelayLongest(t *testing.T) {
	for nowKind, now := range submitters {
		for farKind, far := range submitters {
			t.Run(nowKind+"/"+farKind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, d := scheduled(t, 1), newDiary()
					release := testkit.Occupy(t, p)
					now(p, 0, d.Func("now"))
					elapse(time.Hour)
					f := far(p, math.MaxInt64, d.Func("far"))
					release()
					d.Check(t, "now@1h0m0s")
					elapse(10 * time.Hour)
					d.Check(t, "now@1h0m0s")
					testkit.StateIs(t, "the far task", f, executor.Pending)
				})
			})
		}
	}
}

// With the longest fixed delay or period the first run is the only one, and other tasks run
// (JDK-8051859).
func TestScheduledPoolPeriodLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		again := func(name string) func(context.Context) error {
			return func(context.Context) error {
				d.Note(name)
				return p.Go(context.Background(), d.Func("after "+name))
			}
		}
		f, _ := p.WithFixedDelay(t.Context(), 0, math.MaxInt64, again("delay"))
		synctest.Wait()
		g, _ := p.AtFixedRate(t.Context(), 0, math.MaxInt64, again("rate"))
		synctest.Wait()
		h, _ := p.AtFixedRate(t.Context(), 0, math.MaxInt64, again("skip"), executor.SkipMissed())
		d.Check(t, "delay@0s", "after delay@0s", "rate@0s", "after rate@0s", "skip@0s", "after skip@0s")
		for _, f := range []*executor.ScheduledFuture[struct{}]{f, g, h} {
			testkit.StateIs(t, "the task", f, executor.Pending)
			if f.Delay() < math.MaxInt64/2 || f.Runs() != 1 {
				t.Errorf("due in %v after %d runs", f.Delay(), f.Runs())
			}
		}
	})
}

// A period of one nanosecond loses neither a run nor a worker.
func TestScheduledPoolPeriodShortest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		for _, opt := range [][]executor.Option{nil, {executor.SkipMissed()}, {executor.Jitter(1)}} {
			f, err := p.AtFixedRate(t.Context(), 0, 1, nop, append(opt, executor.Times(500))...)
			g, err2 := p.WithFixedDelay(t.Context(), 0, 1, nop, executor.Times(500))
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			f.Get(t.Context())
			g.Get(t.Context())
			if f.Runs() != 500 || g.Runs() != 500 {
				t.Errorf("%d and %d runs, want 500", f.Runs(), g.Runs())
			}
		}
	})
}

// With delays and periods that overflow, tasks whose delay is not positive run in the order of
// submission, and the others do not run.
func TestScheduledPoolDelayOverflow(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 1)
			release := testkit.Occupy(t, p)
			var order, want []int
			for i := range 30 {
				delay, period := hostile(), max(1<<62, hostile()) // a short period would run again
				body := func(context.Context) error { order = append(order, i); return nil }
				switch rand.IntN(3) {
				case 0:
					executor.Schedule(t.Context(), p, delay, executor.Callable(body))
				case 1:
					p.AtFixedRate(t.Context(), delay, period, body)
				case 2:
					p.WithFixedDelay(t.Context(), delay, period, body)
				}
				if delay <= 0 {
					want = append(want, i)
				}
			}
			elapse(rand.N(time.Duration(2)))
			release()
			synctest.Wait()
			due := 0
			for _, i := range order {
				if due < len(want) && i == want[due] {
					due++
				}
			}
			if due != len(want) {
				t.Errorf("ran %v, want %v among them", order, want)
			}
			for f := range p.Waiting() {
				if d := f.(*executor.ScheduledFuture[struct{}]).Delay(); d <= 0 {
					t.Errorf("a task that waits is overdue by %v", -d)
				}
			}
		})
	}
}

// Delay and Next are right for delays that overflow: a positive delay is never reported as over.
func TestScheduledPoolDelayOverflowReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.Occupy(t, p)
		for range 100 {
			delay := hostile()
			f := executor.Schedule(t.Context(), p, delay, nopValue)
			want := max(delay, 0)
			if got := f.Delay(); got > want || got < want-10 {
				t.Errorf("Delay is %d for a delay of %d", got, delay)
			}
			if left := time.Until(f.Next()); delay < 1<<62 && left != want {
				t.Errorf("Next is in %d for a delay of %d", left, delay)
			}
		}
	})
}

// The remaining delay of an overdue task is negative.
func TestScheduledPoolDelayNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.Occupy(t, p)
		f := executor.Schedule(t.Context(), p, time.Second, nopValue)
		g := executor.At(t.Context(), p, time.Now().Add(2*time.Second), nopValue)
		elapse(time.Minute)
		if f.Delay() != -59*time.Second || g.Delay() != -58*time.Second {
			t.Errorf("Delay is %v and %v, want -59s and -58s", f.Delay(), g.Delay())
		}
	})
}

// A pool sets no alarm for a task that is never due. In a bubble, whose clock runs to its end if a
// goroutine waits for that, an alarm would go off again and again.
func TestScheduledPoolDelayForeverSetsNoAlarm(t *testing.T) {
	for name, submit := range submitters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Scheduled(1)
				time.Sleep(time.Second)
				ran := false
				never := submit(pool, math.MaxInt64, func(context.Context) error { ran = true; return nil })
				soon := submit(pool, time.Minute, func(context.Context) error { return executor.Stop })
				start := time.Now()
				<-soon.Done()
				if took := time.Since(start); took != time.Minute {
					t.Errorf("a task due in a minute has ended after %v", took)
				}
				time.Sleep(math.MaxInt64)
				synctest.Wait()
				select {
				case <-never.Done():
					t.Error("it has ended")
				default:
				}
				pool.ShutdownNow()
				<-never.Done()
				if ran {
					t.Error("it ran")
				}
			})
		})
	}
}
