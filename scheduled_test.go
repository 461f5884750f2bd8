package executor_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/internal/testkit"
)

// One-shots.

// Schedule runs a task when its delay is over, not earlier and not later, and its future has the
// value.
func TestScheduledPoolSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		start := time.Now()
		f := executor.SubmitAfter(t.Context(), p, 50*time.Millisecond, func(context.Context) (time.Duration, error) {
			return time.Since(start), nil
		})
		if got, err := f.Get(t.Context()); got != 50*time.Millisecond || err != nil {
			t.Errorf("ran after %v, %v", got, err)
		}
	})
}

// A delay of zero or less runs the task at once.
func TestScheduledPoolScheduleWithoutDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		for _, delay := range []time.Duration{0, -1, -time.Hour, math.MinInt64} {
			executor.SubmitAfter(t.Context(), p, delay, d.Value("x"))
		}
		d.Check(t, "x@0s", "x@0s", "x@0s", "x@0s")
	})
}

// After runs a function when its delay is over, unless its future is canceled by then.
func TestScheduledPoolAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, err1 := p.GoAfter(t.Context(), time.Minute, d.Func("x"), executor.Named("one"))
		g, err2 := p.GoAfter(t.Context(), time.Second, d.Func("y"))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		expect(t, "Name", f.Name(), "one")
		expect(t, "time left", time.Until(f.Next()), time.Minute)
		expect(t, "Cancel", g.Cancel(), true)
		elapse(time.Hour)
		d.Check(t, "x@1m0s")
		expect(t, "outcome", f.Err(), nil)
	})
}

// An error and a panic of a function of After are reported, as those of Go are, and are in its
// future.
func TestScheduledPoolAfterReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs []error
		var panics []any
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { errs = append(errs, err) },
			OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
				panics = append(panics, err.Value)
			},
		}})
		f, _ := p.GoAfter(t.Context(), time.Second, func(context.Context) error { return errTask })
		g, _ := p.GoAfter(t.Context(), time.Minute, func(context.Context) error { panic("bad") })
		elapse(time.Hour)
		expect(t, "errors", len(errs), 2)
		expect(t, "error", errs[0], errTask)
		expect(t, "panics", fmt.Sprint(panics), "[bad]")
		expect(t, "outcome", f.Err(), errTask)
		testkit.StateIs(t, "the one that panicked", g, executor.Failed)
	})
}

// GoAfter returns the error of a task that is not accepted.
func TestScheduledPoolAfterRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		_, err := p.GoAfter(t.Context(), 0, nil)
		expectIs(t, "a nil function", err, executor.ErrInvalid)
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = p.GoAfter(ended, 0, nop)
		expect(t, "a context that has ended", err, context.Canceled)
		p.Shutdown()
		_, err = p.GoAfter(t.Context(), 0, nop)
		expectIs(t, "after a shutdown", err, executor.ErrShutdown)
		expectIs(t, "after a shutdown", err, executor.ErrRejected)
	})
}

// The error and the panic of a one-shot are in its future, and the worker continues.
func TestScheduledPoolScheduleFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		failure := errors.New("failure")
		f := executor.SubmitAfter(t.Context(), p, time.Second, func(context.Context) (int, error) { return 0, failure })
		g := executor.SubmitAfter(t.Context(), p, time.Second, func(context.Context) (int, error) { panic("bad") })
		if _, err := f.Get(t.Context()); err != failure {
			t.Errorf("outcome %v, want %v", err, failure)
		}
		var perr *executor.PanicError
		if _, err := g.Get(t.Context()); !errors.As(err, &perr) || perr.Value != "bad" {
			t.Errorf("outcome %v, want a PanicError of bad", err)
		}
		synctest.Wait() // a task is counted after it is done
		if s := p.Stats(); s.Largest != 1 || s.Failed != 2 {
			t.Errorf("%d workers ever, %d failures, want 1 and 2", s.Largest, s.Failed)
		}
	})
}

// SubmitAt runs a task at a time of day, and at once if that has passed.
func TestScheduledPoolAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		executor.SubmitAt(t.Context(), p, time.Now().Add(26*time.Hour), d.Value("tomorrow"))
		executor.SubmitAt(t.Context(), p, time.Now().UTC().Round(0).Add(time.Minute), d.Value("soon"))
		synctest.Wait()
		executor.SubmitAt(t.Context(), p, time.Now().Add(-time.Hour), d.Value("past"))
		synctest.Wait()
		executor.SubmitAt(t.Context(), p, time.Unix(0, 0), d.Value("1970"))
		synctest.Wait()
		never := executor.SubmitAt(t.Context(), p, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), d.Value("never"))
		elapse(100 * 24 * time.Hour)
		d.Check(t, "past@0s", "1970@0s", "soon@1m0s", "tomorrow@26h0m0s")
		testkit.StateIs(t, "the task of the year 9999", never, executor.Pending)
	})
}

// A zero time was never set, and a trigger without a time has none: both are errors that say which.
func TestScheduledPoolZeroTime(t *testing.T) {
	p, _ := scheduled(t, 1), newDiary()
	_, at := p.GoAt(t.Context(), time.Time{}, nop)
	_, on := p.On(t.Context(), cron.Schedule{}, nop)
	for err, want := range map[error]string{
		executor.SubmitAt(t.Context(), p, time.Time{}, nopValue).Err(): "executor: SubmitAt and GoAt: zero time; use Go or Submit for what is to run at once",
		at: "executor: SubmitAt and GoAt: zero time; use Go or Submit for what is to run at once",
		on: "executor: On: the trigger cron.Schedule has no time after now",
	} {
		if !errors.Is(err, executor.ErrInvalid) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Execute, Go and Submit run at once on a scheduled pool.
func TestScheduledPoolIsExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		if err := p.Execute(t.Context(), executor.Func(d.Func("execute"))); err != nil {
			t.Error(err)
		}
		if err := p.Go(t.Context(), d.Func("go")); err != nil {
			t.Error(err)
		}
		f := executor.Submit(t.Context(), p, func(context.Context) (int, error) { d.Note("submit"); return 42, nil })
		if v, err := f.Get(t.Context()); v != 42 || err != nil {
			t.Errorf("the future of Submit has %d, %v", v, err)
		}
		d.Check(t, "execute@0s", "go@0s", "submit@0s")
	})
}

// Arguments and the configuration.

// Each way to schedule rejects a nil task before anything changes.
func TestScheduledPoolNilTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ctx := scheduled(t, 1), t.Context()
		var none func(context.Context) (int, error)
		_, rate := p.AtFixedRate(ctx, 0, time.Second, nil)
		_, delay := p.WithFixedDelay(ctx, 0, time.Second, nil)
		_, on := p.On(ctx, testkit.Hourly, nil)
		for what, err := range map[string]error{
			"Execute":        p.Execute(ctx, nil),
			"Go":             p.Go(ctx, nil),
			"Submit":         executor.Submit(ctx, p, none).Err(),
			"Schedule":       executor.SubmitAfter(ctx, p, time.Second, none).Err(),
			"At":             executor.SubmitAt(ctx, p, time.Now(), none).Err(),
			"AtFixedRate":    rate,
			"WithFixedDelay": delay,
			"On":             on,
		} {
			if !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%s: %v, want ErrInvalid", what, err)
			}
		}
		if s := p.Stats(); s.Submitted != 0 || s.Workers != 0 {
			t.Errorf("something has happened: %+v", s)
		}
	})
}

// Each way to schedule panics if the context is nil.
func TestScheduledPoolNilContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		var ctx context.Context
		for what, f := range map[string]func(){
			"Go":             func() { p.Go(ctx, nop) },
			"Schedule":       func() { executor.SubmitAfter(ctx, p, 0, nopValue) },
			"At":             func() { executor.SubmitAt(ctx, p, time.Now(), nopValue) },
			"After":          func() { p.GoAfter(ctx, 0, nil) }, // whatever else is wrong
			"AtFixedRate":    func() { p.AtFixedRate(ctx, 0, 1, nop) },
			"WithFixedDelay": func() { p.WithFixedDelay(ctx, 0, 1, nop) },
			"On":             func() { p.On(ctx, testkit.Hourly, nop) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", what)
					}
				}()
				f()
			}()
		}
	})
}

// A period must be positive, whatever the initial delay is.
func TestScheduledPoolPeriodInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		for _, period := range []time.Duration{0, -1, math.MinInt64} {
			for _, initial := range []time.Duration{math.MinInt64, -1, 0, 1, math.MaxInt64} {
				f, err := p.AtFixedRate(t.Context(), initial, period, nop)
				g, err2 := p.WithFixedDelay(t.Context(), initial, period, nop)
				if f != nil || g != nil || !errors.Is(err, executor.ErrInvalid) ||
					!errors.Is(err2, executor.ErrInvalid) {
					t.Errorf("period %d: %v and %v, want ErrInvalid", period, err, err2)
				}
			}
		}
		if s := p.Stats(); s.Submitted != 0 {
			t.Errorf("%d tasks were submitted", s.Submitted)
		}
	})
}

// An option that does not apply or is out of range fails the submission, and nothing runs.
func TestScheduledPoolOptionsInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ctx := scheduled(t, 1), t.Context()
		for what, opt := range map[string]executor.Option{
			"Times(0)":   executor.Times(0),
			"Until(0)":   executor.Until(time.Time{}),
			"Jitter(0)":  executor.Jitter(0),
			"Jitter(-1)": executor.Jitter(-1),
			"Timeout(0)": executor.Timeout(0),
			"nil":        nil,
		} {
			if _, err := p.AtFixedRate(ctx, 0, 1, nop, opt); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("AtFixedRate with %s: %v, want ErrInvalid", what, err)
			}
		}
		for what, opt := range map[string]executor.Option{
			"Times":   executor.Times(1),
			"Until":   executor.Until(time.Now().Add(time.Hour)),
			"CatchUp": executor.CatchUp(0),
		} {
			if err := executor.SubmitAfter(ctx, p, 0, nopValue, opt).Err(); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("Schedule with %s: %v, want ErrInvalid", what, err)
			}
		}
		if err := p.Go(ctx, nop, executor.Jitter(1)); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("Go with Jitter: %v, want ErrInvalid", err)
		}
		if s := p.Stats(); s.Submitted != 0 {
			t.Errorf("%d tasks were submitted", s.Submitted)
		}
	})
}

// NewScheduled fails if a field is out of range, and the error names the field.
func TestScheduledPoolConfigInvalid(t *testing.T) {
	for what, c := range map[string]executor.ScheduledConfig{
		"Workers":   {Workers: -1},
		"KeepAlive": {KeepAlive: -1},
		"KeepNone":  {Workers: 1, KeepNone: true},
	} {
		if _, err := executor.NewScheduled(c); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", what, err)
		}
	}
}

// Settings returns what the configuration said, or the documented default, and what it was changed
// to.
func TestScheduledPoolConfigGetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Name: "ticks", Workers: 3, KeepAlive: time.Second})
		want := executor.Settings{Workers: 3, Max: math.MaxInt, KeepAlive: time.Second, Reject: executor.Abort}
		expect(t, "name", p.Name(), "ticks")
		expect(t, "settings", p.Settings(), want)
		want.DropDelayed, want.KeepPeriodic = true, true
		expect(t, "Reconfigure", p.Reconfigure(func(s *executor.Settings) { *s = want }), nil)
		expect(t, "new settings", p.Settings(), want)
	})
}

// SetMax fails on a scheduled pool, whose queue is never full.
func TestScheduledPoolSetMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		if err := setMax(p, 4); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("SetMax: %v, want ErrInvalid", err)
		}
		for range 10 {
			executor.SubmitAfter(t.Context(), p, time.Second, nopValue)
		}
		synctest.Wait()
		if s := p.Stats(); s.Workers != 2 || s.Queued != 10 {
			t.Errorf("%d workers and %d tasks queued, want 2 and 10", s.Workers, s.Queued)
		}
	})
}

// The order of tasks.

// Tasks run in the order of their times, in whatever order they were submitted.
func TestScheduledPoolOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		for _, s := range []int{3, 1, 2} {
			executor.SubmitAfter(t.Context(), p, time.Duration(s)*time.Second, d.Value(fmt.Sprint(s)))
		}
		elapse(time.Minute)
		d.Check(t, "1@1s", "2@2s", "3@3s")
	})
}

// Tasks with the same time run in the order of submission, whichever way they were submitted.
func TestScheduledPoolOrderOfEqualTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		ctx := t.Context()
		var want []string
		for i := range 24 {
			name := fmt.Sprint(i)
			switch i % 6 {
			case 0:
				p.Execute(ctx, executor.Func(d.Func(name)))
			case 1:
				executor.SubmitAfter(ctx, p, 0, d.Value(name))
			case 2:
				p.Go(ctx, d.Func(name))
			case 3:
				executor.Submit(ctx, p, d.Value(name))
			case 4:
				p.AtFixedRate(ctx, 0, time.Hour, d.Func(name), executor.Times(1))
			case 5:
				p.WithFixedDelay(ctx, -time.Second, time.Hour, d.Func(name), executor.Times(1))
			}
			want = append(want, name+"@0s")
		}
		release()
		d.Check(t, want...)
	})
}

// Tasks with the same time in the future run in the order of submission, even if they were
// submitted at different times.
func TestScheduledPoolOrderOfEqualTimesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var want []string
		for i := range 50 {
			name := fmt.Sprint(i)
			executor.SubmitAfter(t.Context(), p, time.Second-time.Duration(i), d.Value(name))
			want = append(want, name+"@1s")
			elapse(1)
		}
		elapse(time.Minute)
		d.Check(t, want...)
	})
}

// A time of day and a delay that end in the same instant run in the order of submission, as far as the
// two clocks agree, which they do in a bubble.
func TestScheduledPoolOrderOfTwoClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		at := time.Now().Add(time.Second)
		executor.SubmitAt(t.Context(), p, at, d.Value("a"))
		executor.SubmitAfter(t.Context(), p, time.Second, d.Value("b"))
		executor.SubmitAt(t.Context(), p, at, d.Value("c"))
		executor.SubmitAfter(t.Context(), p, time.Second, d.Value("d"))
		elapse(time.Minute)
		d.Check(t, "a@1s", "b@1s", "c@1s", "d@1s")
	})
}

// A late worker takes overdue tasks in the order of their times, including those of the wall clock.
func TestScheduledPoolOrderOfOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		now := time.Now()
		ctx := t.Context()
		executor.SubmitAt(ctx, p, now.Add(40*time.Millisecond), d.Value("wall40"))
		executor.SubmitAfter(ctx, p, 30*time.Millisecond, d.Value("mono30"))
		executor.SubmitAfter(ctx, p, 10*time.Millisecond, d.Value("mono10"))
		executor.SubmitAt(ctx, p, now.Add(20*time.Millisecond), d.Value("wall20"))
		elapse(time.Second)
		p.Go(ctx, d.Func("now"))
		release()
		d.Check(t, "mono10@1s", "wall20@1s", "mono30@1s", "wall40@1s", "now@1s")
	})
}

// Any number of tasks with any delays run in the order (time, submission), each at its time.
func TestScheduledPoolOrderOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		type due struct {
			at   time.Duration
			name string
		}
		var all []due
		for i := range 2000 {
			at := time.Duration(rand.IntN(300)) * time.Millisecond
			all = append(all, due{at, fmt.Sprint(i)})
			executor.SubmitAfter(t.Context(), p, at, d.Value(fmt.Sprint(i)))
			synctest.Wait() // a task without delay runs before the next is there
		}
		slices.SortStableFunc(all, func(a, b due) int { return int(a.at - b.at) })
		var want []string
		for _, x := range all {
			want = append(want, fmt.Sprint(x.name, "@", x.at))
		}
		elapse(time.Second)
		d.Check(t, want...)
	})
}

// With many workers each task starts at its time.
func TestScheduledPoolManyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 5)
		start := time.Now()
		for i := range 20 {
			due := time.Duration(1+i/5) * time.Second
			executor.SubmitAfter(t.Context(), p, due, func(context.Context) (int, error) {
				if late := time.Since(start) - due; late != 0 {
					t.Errorf("a task due at %v is late by %v", due, late)
				}
				time.Sleep(time.Second)
				return 0, nil
			})
		}
		elapse(time.Minute)
		if s := p.Stats(); s.Succeeded != 20 {
			t.Errorf("%d of 20 tasks ran", s.Succeeded)
		}
	})
}

// Tasks that are scheduled while all workers are busy.

// delays are ways in which the times of tasks follow each other.
var delays = map[string]func(r *rand.Rand, i int) time.Duration{
	"none":           func(*rand.Rand, int) time.Duration { return 0 },
	"equal":          func(*rand.Rand, int) time.Duration { return time.Second },
	"growing":        func(_ *rand.Rand, i int) time.Duration { return time.Duration(i) },
	"shrinking":      func(_ *rand.Rand, i int) time.Duration { return time.Hour - time.Duration(i) },
	"random":         func(r *rand.Rand, _ int) time.Duration { return time.Duration(r.IntN(500)) },
	"random or none": func(r *rand.Rand, _ int) time.Duration { return time.Duration(max(0, r.IntN(1000)-500)) },
}

// booking is a task that was scheduled while the workers were busy.
type booking struct {
	due time.Time
	seq int
	*executor.Future[struct{}]
}

// bookings schedules n tasks with the delays, some in the same instant and some later. Function ran
// returns the order in which they ran.
func bookings(t *testing.T, p *executor.ScheduledPool, n int,
	delay func(*rand.Rand, int) time.Duration) (all []booking, ran func() []int) {
	var mu sync.Mutex
	var order []int
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		if r.IntN(20) == 0 {
			time.Sleep(10 * time.Nanosecond)
		}
		d := delay(r, i)
		f := executor.SubmitAfter(t.Context(), p, d, func(context.Context) (struct{}, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, i)
			return struct{}{}, nil
		})
		all = append(all, booking{time.Now().Add(d), i, f})
	}
	return all, func() []int { mu.Lock(); defer mu.Unlock(); return slices.Clone(order) }
}

// Tasks that are scheduled while the workers are busy run in the order of their times, equal ones
// in the order of submission, whether they are due when a worker is free or later.
func TestScheduledPoolBusyOrder(t *testing.T) {
	for name, delay := range delays {
		for _, late := range []time.Duration{0, 250 * time.Nanosecond, 2 * time.Hour} {
			t.Run(name+"/"+late.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := scheduled(t, 1)
					free := testkit.Occupy(t, p)
					all, ran := bookings(t, p, 3000, delay)
					time.Sleep(late)
					free()
					for _, b := range all {
						if _, err := b.Get(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					slices.SortFunc(all, func(a, b booking) int {
						return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.seq, b.seq))
					})
					for i, seq := range ran() {
						if all[i].seq != seq {
							t.Fatalf("task %d ran as number %d, and task %d belongs there", seq, i, all[i].seq)
						}
					}
				})
			})
		}
	}
}

// Tasks that are scheduled while the workers are busy are counted and can be canceled at once.
func TestScheduledPoolBusyCancel(t *testing.T) {
	for name, delay := range delays {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 2500
				p := scheduled(t, 1)
				free := testkit.Occupy(t, p)
				all, ran := bookings(t, p, n, delay)
				if s := p.Stats(); s.Queued != n || s.Submitted != n+1 {
					t.Errorf("%d queued and %d submitted, want %d and one more", s.Queued, s.Submitted, n)
				}
				left := n
				for i := 0; i < n; i += 3 {
					all[i].Cancel()
					left--
				}
				if s := p.Stats(); s.Queued != left || s.Canceled != int64(n-left) {
					t.Errorf("%d queued and %d canceled, want %d and %d", s.Queued, s.Canceled, left, n-left)
				}
				free()
				p.Close()
				for _, i := range ran() {
					if i%3 == 0 {
						t.Errorf("task %d was canceled, and ran", i)
					}
				}
				if len(ran()) != left {
					t.Errorf("%d tasks ran, want %d", len(ran()), left)
				}
			})
		})
	}
}

// ShutdownNow returns tasks that were scheduled while the workers are busy.
func TestScheduledPoolBusyShutdownNow(t *testing.T) {
	for name, delay := range delays {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 1500
				p := scheduled(t, 1)
				free := testkit.Occupy(t, p)
				_, ran := bookings(t, p, n, delay)
				if dropped := p.ShutdownNow(); len(dropped) != n {
					t.Errorf("%d tasks were returned, want %d", len(dropped), n)
				}
				free()
				p.Close()
				if len(ran()) > 0 {
					t.Errorf("%d tasks ran", len(ran()))
				}
			})
		})
	}
}

// A task of the wall clock runs in its turn among those that were scheduled while the workers were
// busy.
func TestScheduledPoolBusyAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		free := testkit.Occupy(t, p)
		var order []string
		note := func(s string) func(context.Context) (struct{}, error) {
			return func(context.Context) (struct{}, error) { order = append(order, s); return struct{}{}, nil }
		}
		ctx := t.Context()
		executor.SubmitAfter(ctx, p, 3*time.Second, note("third"))
		executor.SubmitAt(ctx, p, time.Now().Add(2*time.Second), note("second"))
		executor.SubmitAfter(ctx, p, time.Second, note("first"))
		executor.SubmitAt(ctx, p, time.Now().Add(time.Minute), note("last"))
		executor.SubmitAfter(ctx, p, 30*time.Second, note("fourth"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		free()
		p.Close()
		if want := []string{"first", "second", "third", "fourth", "last"}; !slices.Equal(order, want) {
			t.Errorf("they ran in the order %v, want %v", order, want)
		}
	})
}

// Delays and periods that overflow.

// hostile returns a duration that is likely to overflow, or short.
func hostile() time.Duration {
	all := []time.Duration{
		math.MinInt64, math.MinInt64 + 1, math.MinInt64 / 2, -time.Hour, -1, 0, 1,
		math.MaxInt64 / 2, math.MaxInt64/2 + 1, math.MaxInt64 - 1, math.MaxInt64,
	}
	return all[rand.IntN(len(all))]
}

// A submitter schedules a task with a delay.
type submitter = func(*executor.ScheduledPool, time.Duration, func(context.Context) error) executor.Awaitable

// submitters are the ways to schedule a task with a delay.
var submitters = map[string]submitter{
	"Schedule": func(p *executor.ScheduledPool, d time.Duration, fn func(context.Context) error) executor.Awaitable {
		return executor.SubmitAfter(context.Background(), p, d, executor.Func(fn).Call)
	},
	"At": func(p *executor.ScheduledPool, d time.Duration, fn func(context.Context) error) executor.Awaitable {
		return executor.SubmitAt(context.Background(), p, time.Now().Add(d), executor.Func(fn).Call)
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
		h, _ := p.AtFixedRate(t.Context(), 0, math.MaxInt64, again("skip"), executor.CatchUp(0))
		d.Check(t, "delay@0s", "after delay@0s", "rate@0s", "after rate@0s", "skip@0s", "after skip@0s")
		for _, f := range []*executor.Series{f, g, h} {
			testkit.StateIs(t, "the task", f, executor.Pending)
			if time.Until(f.Next()) < math.MaxInt64/2 || f.Runs() != 1 {
				t.Errorf("due in %v after %d runs", time.Until(f.Next()), f.Runs())
			}
		}
	})
}

// A period of one nanosecond loses neither a run nor a worker.
func TestScheduledPoolPeriodShortest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		for _, opt := range [][]executor.Option{nil, {executor.CatchUp(0)}, {executor.Jitter(1)}} {
			f, err := p.AtFixedRate(t.Context(), 0, 1, nop, append(opt, executor.Times(500))...)
			g, err2 := p.WithFixedDelay(t.Context(), 0, 1, nop, executor.Times(500))
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			f.Wait(t.Context())
			g.Wait(t.Context())
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
					executor.SubmitAfter(t.Context(), p, delay, executor.Func(body).Call)
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
				if d := time.Until(f.(timedTask).Next()); d <= 0 {
					t.Errorf("a task that waits is overdue by %v", -d)
				}
			}
		})
	}
}

// Next is right for delays that overflow: a positive delay is never reported as over.
func TestScheduledPoolDelayOverflowReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.Occupy(t, p)
		for range 100 {
			delay := hostile()
			f := executor.SubmitAfter(t.Context(), p, delay, nopValue)
			want := max(delay, 0)
			if left := time.Until(f.Next()); left > want || left < want-10 {
				t.Errorf("Next is in %d for a delay of %d", left, delay)
			}
		}
	})
}

// Next of an overdue task is in the past.
func TestScheduledPoolNextOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.Occupy(t, p)
		f := executor.SubmitAfter(t.Context(), p, time.Second, nopValue)
		g := executor.SubmitAt(t.Context(), p, time.Now().Add(2*time.Second), nopValue)
		elapse(time.Minute)
		if time.Until(f.Next()) != -59*time.Second || time.Until(g.Next()) != -58*time.Second {
			t.Errorf("Next is in %v and %v, want -59s and -58s", time.Until(f.Next()), time.Until(g.Next()))
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
				soon := submit(pool, time.Minute, func(context.Context) error { return executor.ErrStop })
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

// Counters.

// While one task runs one worker is active; the counters follow tasks from the queue to their end.
func TestStatsScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		s := waitStats(t, p)
		expect(t, "active at first", s.Active, 0)
		expect(t, "workers at first", s.Workers, 0)

		block := newBlocker(t)
		executor.SubmitAfter(t.Context(), p, 0, block.Value)
		s = waitStats(t, p)
		expect(t, "active", s.Active, 1)
		expect(t, "workers", s.Workers, 1)
		expect(t, "completed", s.Ended(), 0)

		for range 3 {
			executor.SubmitAfter(t.Context(), p, time.Minute, block.Value)
		}
		s = waitStats(t, p)
		expect(t, "queued", s.Queued, 3)
		expect(t, "idle", s.Idle, 1)
		expect(t, "submitted", s.Submitted, 4)

		elapse(time.Minute)
		s = waitStats(t, p)
		expect(t, "active", s.Active, 2)
		expect(t, "queued", s.Queued, 2)
		block.Release()
		s = waitStats(t, p)
		expect(t, "completed", s.Ended(), 4)
		expect(t, "active", s.Active, 0)
		expect(t, "submitted", s.Submitted, 4)
	})
}

// A periodic task counts as one, queued between its runs and active during them; its runs are
// counted apart.
func TestStatsPeriodicTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		p.AtFixedRate(t.Context(), 0, 2*time.Second, func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		}, executor.Times(3))
		for i := range 3 {
			s := waitStats(t, p)
			expect(t, "active during a run", s.Active, 1)
			expect(t, "queued during a run", s.Queued, 0)
			elapse(time.Second)
			s = waitStats(t, p)
			expect(t, "active between runs", s.Active, 0)
			expect(t, "submitted", s.Submitted, 1)
			expect(t, "runs", s.Runs, int64(i+1))
			expect(t, "queued or done", s.Queued+int(s.Ended()), 1)
			elapse(time.Second)
		}
		expect(t, "succeeded", p.Stats().Succeeded, 1)
	})
}

// Largest does not shrink when workers leave.
func TestStatsScheduledLargest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		expect(t, "largest at first", p.Stats().Largest, 0)
		block := newBlocker(t)
		block.Fill(t, p.Pool, 3)
		expect(t, "largest", p.Stats().Largest, 3)
		block.Release()
		p.Close()
		expect(t, "largest in the end", p.Stats().Largest, 3)
		expect(t, "workers in the end", p.Stats().Workers, 0)
	})
}

// A task whose BeforeTask hook failed has not run: neither its future nor the pool counts a run,
// periodic or not.
func TestStatsRunsWithoutFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(context.Context, executor.TaskInfo) context.Context { panic("no") },
		}})
		once := executor.SubmitAfter(t.Context(), p, time.Second, nopValue)
		again, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop)
		elapse(time.Minute)
		expect(t, "state of one run", once.State(), executor.Failed)
		expect(t, "state of the series", again.State(), executor.Failed)
		expect(t, "runs of the series", again.Runs(), 0)
		expect(t, "its last error", again.LastError(), nil)
		expect(t, "runs of the pool", p.Stats().Runs, 0)
	})
}

// The first attempt of a task with Retry is at its time, which the future knows, and the
// next ones are after their backoff.
func TestScheduleRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := scheduled(t, 1)
		start := time.Now()
		var at []time.Duration
		fail := func(context.Context) (struct{}, error) {
			at = append(at, time.Since(start))
			start = time.Now()
			return struct{}{}, errTask
		}
		retry := executor.Retry(3, func(n int) time.Duration { return time.Duration(n) * time.Second })
		for name, schedule := range map[string]func() (*executor.Future[struct{}], error){
			"Schedule": func() (*executor.Future[struct{}], error) {
				return executor.SubmitAfter(t.Context(), sched, time.Minute, fail, retry), nil
			},
			"At": func() (*executor.Future[struct{}], error) {
				return executor.SubmitAt(t.Context(), sched, time.Now().Add(time.Minute), fail, retry), nil
			},
			"After": func() (*executor.Future[struct{}], error) {
				return sched.GoAfter(t.Context(), time.Minute, func(ctx context.Context) error {
					_, err := fail(ctx)
					return err
				}, retry)
			},
		} {
			start, at = time.Now(), nil
			f, err := schedule()
			expect(t, name+": error", err, nil)
			expect(t, name+": Next", f.Next().Equal(start.Add(time.Minute)), true)
			expect(t, name+": Delay", time.Until(f.Next()), time.Minute)
			_, err = f.Get(t.Context())
			expectIs(t, name+": outcome", err, errTask)
			if want := []time.Duration{time.Minute, time.Second, 2 * time.Second}; !slices.Equal(at, want) {
				t.Errorf("%s: attempts after %v, want %v", name, at, want)
			}
			expect(t, name+": Next of a future that is done", f.Next(), time.Time{})
		}
	})
}

// A scheduled task with Retry is canceled while it waits for its time, by its context and by
// Cancel, and leaves the queue.
func TestScheduleRetriesCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := scheduled(t, 1)
		retry := executor.Retry(3, func(int) time.Duration { return time.Second })
		ctx, cancel := context.WithCancel(t.Context())
		byContext := executor.SubmitAfter(ctx, sched, time.Hour, value(1), retry)
		byHand := executor.SubmitAfter(t.Context(), sched, time.Hour, value(1), retry)
		expect(t, "queued", waitStats(t, sched.Pool).Queued, 2)
		cancel()
		expect(t, "Cancel", byHand.Cancel(), true)
		expect(t, "queued after", waitStats(t, sched.Pool).Queued, 0)
		expectIs(t, "by its context", byContext.Err(), context.Canceled)
		expectIs(t, "by hand", byHand.Err(), executor.ErrCanceled)
	})
}
