package executortest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// Scheduled is a pool whose tasks run at a time. [executor.ScheduledPool] is
// one, and so is whatever embeds one and changes some of its ways.
type Scheduled interface {
	Pool
	AtFixedRate(ctx context.Context, initial, period time.Duration, fn func(context.Context) error, opts ...executor.Option) (*executor.ScheduledFuture[struct{}], error)
	WithFixedDelay(ctx context.Context, initial, delay time.Duration, fn func(context.Context) error, opts ...executor.Option) (*executor.ScheduledFuture[struct{}], error)
	On(ctx context.Context, trigger executor.Trigger, fn func(context.Context) error, opts ...executor.Option) (*executor.ScheduledFuture[struct{}], error)
}

// TestScheduled tests that a [Scheduled] pool of one worker runs each task at
// its time and in its order, and ends schedules as it should. [TestPool] applies
// to it too. make is called once for each property; the suite shuts the pools
// down.
func TestScheduled(t *testing.T, make func(*testing.T) Scheduled) {
	t.Helper()
	runAll(t, scheduledChecks, make)
}

// log notes what runs and when, in seconds since it was made.
type log struct {
	diary
	begin time.Time
}

func newLog() *log { return &log{begin: time.Now()} }

// body gives a body that takes d and then returns err.
func (l *log) body(name string, d time.Duration, err error) func(context.Context) error {
	return func(ctx context.Context) error {
		l.note("%s %v", name, time.Since(l.begin).Seconds())
		if doze(ctx, d) != nil {
			return ctx.Err()
		}
		return err
	}
}

// must is for schedules that the pool has to take.
func must(t testing.TB) func(*executor.ScheduledFuture[struct{}], error) *executor.ScheduledFuture[struct{}] {
	return func(f *executor.ScheduledFuture[struct{}], err error) *executor.ScheduledFuture[struct{}] {
		t.Helper()
		if err != nil {
			t.Fatalf("a schedule is refused: %v", err)
		}
		return f
	}
}

// seconds is a Trigger on a grid of n seconds from start.
type seconds struct {
	start time.Time
	n     int
}

func (s seconds) Next(t time.Time) time.Time {
	d := time.Duration(s.n) * time.Second
	return s.start.Add((t.Sub(s.start)/d + 1) * d)
}

var scheduledChecks = []check[Scheduled]{
	{"AtItsTime", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		for _, s := range []int{30, 10, 20} {
			must(t)(p.AtFixedRate(context.Background(), time.Duration(s)*time.Second, time.Hour, l.body("run", 0, nil), executor.Times(1)))
		}
		time.Sleep(time.Minute)
		l.expect(t, "run 10", "run 20", "run 30")
	}},

	{"EqualTimesInOrderOfSubmission", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		var want []string
		for i := range 20 {
			must(t)(p.AtFixedRate(context.Background(), time.Minute, time.Hour, l.body(fmt.Sprint(i), 0, nil), executor.Times(1)))
			want = append(want, fmt.Sprint(i, " ", 60))
		}
		time.Sleep(2 * time.Minute)
		l.expect(t, want...)
	}},

	{"NewHead", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		must(t)(p.AtFixedRate(context.Background(), time.Hour, time.Hour, l.body("late", 0, nil)))
		time.Sleep(time.Second)
		must(t)(p.AtFixedRate(context.Background(), time.Second, time.Hour, l.body("early", 0, nil)))
		time.Sleep(time.Second)
		l.expect(t, "early 2")
	}},

	{"FixedRate", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		f := must(t)(p.AtFixedRate(context.Background(), time.Second, 10*time.Second, l.body("run", 4*time.Second, nil), executor.Times(4)))
		outcomeOf(t, f, executor.Succeeded, nil)
		l.expect(t, "run 1", "run 11", "run 21", "run 31")
	}},

	{"FixedRateCatchesUp", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		long := true
		f := must(t)(p.AtFixedRate(context.Background(), 0, 10*time.Second, func(ctx context.Context) error {
			d := time.Duration(0)
			if long {
				long, d = false, 25*time.Second
			}
			return l.body("run", d, nil)(ctx)
		}, executor.Times(5)))
		outcomeOf(t, f, executor.Succeeded, nil)
		l.expect(t, "run 0", "run 25", "run 25", "run 30", "run 40")
	}},

	{"FixedDelay", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		f := must(t)(p.WithFixedDelay(context.Background(), time.Second, 10*time.Second, l.body("run", 4*time.Second, nil), executor.Times(3)))
		outcomeOf(t, f, executor.Succeeded, nil)
		l.expect(t, "run 1", "run 15", "run 29")
	}},

	{"Trigger", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		f := must(t)(p.On(context.Background(), seconds{time.Now(), 20}, l.body("run", 30*time.Second, nil), executor.Times(3)))
		outcomeOf(t, f, executor.Succeeded, nil)
		l.expect(t, "run 20", "run 60", "run 100") // what passed meanwhile is left out
	}},

	{"ErrorGoesOn", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		f := must(t)(p.AtFixedRate(context.Background(), 0, time.Second, func(ctx context.Context) error {
			l.body("run", 0, nil)(ctx)
			return context.Canceled // an error, but none that is worth a log line
		}, executor.Times(3)))
		outcomeOf(t, f, executor.Succeeded, nil)
		l.expect(t, "run 0", "run 1", "run 2")
		if f.LastError() != context.Canceled {
			t.Errorf("LastError: %v", f.LastError())
		}
	}},

	{"DoneEnds", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		f := must(t)(p.AtFixedRate(context.Background(), 0, time.Second, l.body("run", 0, executor.Stop)))
		outcomeOf(t, f, executor.Succeeded, nil)
		time.Sleep(time.Minute)
		l.expect(t, "run 0")
	}},

	{"CancelEnds", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		f := must(t)(p.AtFixedRate(context.Background(), 0, time.Second, l.body("run", 0, nil)))
		other := must(t)(p.AtFixedRate(context.Background(), 5*time.Second, time.Hour, l.body("other", 0, nil), executor.Times(1)))
		time.Sleep(1500 * time.Millisecond)
		f.Cancel()
		outcomeOf(t, f, executor.Canceled, executor.ErrCanceled)
		outcomeOf(t, other, executor.Succeeded, nil)
		l.expect(t, "run 0", "run 1", "other 5")
	}},

	{"ParentEndEnds", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		f := must(t)(p.AtFixedRate(ctx, 0, time.Second, l.body("run", 0, nil)))
		outcomeOf(t, f, executor.Canceled, context.DeadlineExceeded)
		time.Sleep(time.Minute)
		l.expect(t, "run 0", "run 1")
	}},

	// One that leaves the middle of the queue must not disturb the others
	// (JDK-8370887).
	{"CancelKeepsOrder", func(t testing.TB, make func() Scheduled) {
		delays := []int{0, 50, 10, 51, 60, 11, 12, 52, 53, 61, 62, 13}
		for gone := range delays {
			p, l := ending(t, make), newLog()
			var fs []*executor.ScheduledFuture[struct{}]
			for i, s := range delays {
				fs = append(fs, must(t)(p.AtFixedRate(context.Background(), time.Duration(s+1)*time.Second, time.Hour,
					l.body(fmt.Sprint(i), 0, nil), executor.Times(1))))
			}
			fs[gone].Cancel()
			var want []string
			for _, i := range []int{0, 2, 5, 6, 11, 1, 3, 7, 8, 4, 9, 10} {
				if i != gone {
					want = append(want, fmt.Sprint(i, " ", delays[i]+1))
				}
			}
			time.Sleep(2 * time.Minute)
			l.expect(t, want...)
		}
	}},

	{"ShutdownNowReleases", func(t testing.TB, make func() Scheduled) {
		p, l := ending(t, make), newLog()
		running := must(t)(p.AtFixedRate(context.Background(), 0, time.Hour, l.body("run", time.Hour, nil)))
		waiting := must(t)(p.WithFixedDelay(context.Background(), time.Minute, time.Hour, l.body("never", 0, nil)))
		time.Sleep(time.Second)
		if unrun := p.ShutdownNow(); len(unrun) != 1 || unrun[0].Task() != executor.Runnable(waiting) {
			t.Errorf("given back: %v", unrun)
		}
		for _, f := range []*executor.ScheduledFuture[struct{}]{running, waiting} {
			if _, err := f.Get(patient(t)); !errors.Is(err, executor.ErrShutdown) {
				t.Errorf("the outcome is %v", err)
			}
		}
		l.expect(t, "run 0")
	}},
}

// outcomeOf waits for the end of a schedule and requires how it ended.
func outcomeOf(t testing.TB, f *executor.ScheduledFuture[struct{}], state executor.State, target error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // one that does not end runs all the time
	defer cancel()
	if _, err := f.Get(ctx); f.State() != state || !errors.Is(err, target) {
		t.Errorf("a schedule is %v with %v, want %v with %v", f.State(), err, state, target)
	}
}
