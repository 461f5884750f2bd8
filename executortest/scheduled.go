package executortest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// Scheduled is a pool that runs tasks on a schedule. [executor.ScheduledPool] implements it and documents the methods.
// A type that embeds an executor.ScheduledPool implements it, too.
type Scheduled interface {
	Pool
	AtFixedRate(ctx context.Context, initial, period time.Duration,
		fn func(context.Context) error, opts ...executor.Option) (*executor.Series, error)
	WithFixedDelay(ctx context.Context, initial, delay time.Duration,
		fn func(context.Context) error, opts ...executor.Option) (*executor.Series, error)
	On(ctx context.Context, trigger executor.Trigger,
		fn func(context.Context) error, opts ...executor.Option) (*executor.Series, error)
}

// TestScheduled tests that a [Scheduled] pool with one worker runs each task when it is due, in order, and that
// schedules end as documented. Run [TestPool] on such a pool, too.
//
// The suite calls make for each subtest. make returns a new pool with one worker. The suite shuts the pools down.
func TestScheduled(t *testing.T, make func(*testing.T) Scheduled) {
	t.Helper()
	runAll(t, scheduledChecks, make)
}

// A timeline is a diary of runs with their times, in seconds since its creation.
type timeline struct {
	diary
	begin time.Time
}

func newTimeline() *timeline { return &timeline{begin: time.Now()} }

// body returns a body that takes d and then returns err.
func (l *timeline) body(name string, d time.Duration, err error) func(context.Context) error {
	return func(ctx context.Context) error {
		l.note("%s %v", name, time.Since(l.begin).Seconds())
		if sleep(ctx, d) != nil {
			return ctx.Err()
		}
		return err
	}
}

// series is a schedule of the pool.
type series = executor.Series

// mustSchedule returns a function that requires that a pool accepted a schedule.
func mustSchedule(t testing.TB) func(*series, error) *series {
	return func(f *series, err error) *series {
		t.Helper()
		if err != nil {
			t.Fatalf("a schedule was rejected: %v", err)
		}
		return f
	}
}

// seconds is a Trigger that is due every n seconds from start.
type seconds struct {
	start time.Time
	n     int
}

func (s seconds) Next(t time.Time) time.Time {
	d := time.Duration(s.n) * time.Second
	return s.start.Add((t.Sub(s.start)/d + 1) * d)
}

var bg = context.Background()

var scheduledChecks = []check[Scheduled]{
	{"RunsWhenDue", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		for _, s := range []int{30, 10, 20} {
			initial := time.Duration(s) * time.Second
			mustSchedule(t)(p.AtFixedRate(bg, initial, time.Hour, l.body("run", 0, nil), executor.Times(1)))
		}
		time.Sleep(time.Minute)
		l.expect(t, "run 10", "run 20", "run 30")
	}},

	{"EqualTimesInSubmissionOrder", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		var want []string
		for i := range 20 {
			mustSchedule(t)(p.AtFixedRate(bg, time.Minute, time.Hour, l.body(fmt.Sprint(i), 0, nil), executor.Times(1)))
			want = append(want, fmt.Sprint(i, " ", 60))
		}
		time.Sleep(2 * time.Minute)
		l.expect(t, want...)
	}},

	{"EarlierTaskRunsFirst", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		mustSchedule(t)(p.AtFixedRate(bg, time.Hour, time.Hour, l.body("late", 0, nil)))
		time.Sleep(time.Second)
		mustSchedule(t)(p.AtFixedRate(bg, time.Second, time.Hour, l.body("early", 0, nil)))
		time.Sleep(time.Second)
		l.expect(t, "early 2")
	}},

	{"FixedRate", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		run := l.body("run", 4*time.Second, nil)
		f := mustSchedule(t)(p.AtFixedRate(bg, time.Second, 10*time.Second, run, executor.Times(4)))
		expectEnd(t, f, executor.Succeeded, nil)
		l.expect(t, "run 1", "run 11", "run 21", "run 31")
	}},

	{"FixedRateCatchesUp", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		long := true
		f := mustSchedule(t)(p.AtFixedRate(bg, 0, 10*time.Second, func(ctx context.Context) error {
			d := time.Duration(0)
			if long {
				long, d = false, 25*time.Second
			}
			return l.body("run", d, nil)(ctx)
		}, executor.Times(5)))
		expectEnd(t, f, executor.Succeeded, nil)
		l.expect(t, "run 0", "run 25", "run 25", "run 30", "run 40")
	}},

	{"FixedDelay", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		run := l.body("run", 4*time.Second, nil)
		f := mustSchedule(t)(p.WithFixedDelay(bg, time.Second, 10*time.Second, run, executor.Times(3)))
		expectEnd(t, f, executor.Succeeded, nil)
		l.expect(t, "run 1", "run 15", "run 29")
	}},

	{"Trigger", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		f := mustSchedule(t)(p.On(bg, seconds{time.Now(), 20}, l.body("run", 30*time.Second, nil), executor.Times(3)))
		expectEnd(t, f, executor.Succeeded, nil)
		l.expect(t, "run 20", "run 60", "run 100") // times that pass during a run are skipped
	}},

	{"ContinuesAfterError", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		f := mustSchedule(t)(p.AtFixedRate(bg, 0, time.Second, func(ctx context.Context) error {
			l.body("run", 0, nil)(ctx)
			return context.Canceled // an error that a pool does not log
		}, executor.Times(3)))
		expectEnd(t, f, executor.Succeeded, nil)
		l.expect(t, "run 0", "run 1", "run 2")
		if f.LastError() != context.Canceled {
			t.Errorf("LastError: %v", f.LastError())
		}
	}},

	{"StopEnds", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		f := mustSchedule(t)(p.AtFixedRate(bg, 0, time.Second, l.body("run", 0, executor.ErrStop)))
		expectEnd(t, f, executor.Succeeded, nil)
		time.Sleep(time.Minute)
		l.expect(t, "run 0")
	}},

	{"CancelEnds", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		f := mustSchedule(t)(p.AtFixedRate(bg, 0, time.Second, l.body("run", 0, nil)))
		body := l.body("other", 0, nil)
		other := mustSchedule(t)(p.AtFixedRate(bg, 5*time.Second, time.Hour, body, executor.Times(1)))
		time.Sleep(1500 * time.Millisecond)
		f.Cancel()
		expectEnd(t, f, executor.Canceled, executor.ErrCanceled)
		expectEnd(t, other, executor.Succeeded, nil)
		l.expect(t, "run 0", "run 1", "other 5")
	}},

	{"ParentContextEnds", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		ctx, cancel := context.WithTimeout(bg, 1500*time.Millisecond)
		defer cancel()
		f := mustSchedule(t)(p.AtFixedRate(ctx, 0, time.Second, l.body("run", 0, nil)))
		expectEnd(t, f, executor.Canceled, context.DeadlineExceeded)
		time.Sleep(time.Minute)
		l.expect(t, "run 0", "run 1")
	}},

	// A removal from the middle of the queue keeps the order of the rest
	// (JDK-8370887).
	{"CancelKeepsOrder", func(t testing.TB, make func() Scheduled) {
		delays := []int{0, 50, 10, 51, 60, 11, 12, 52, 53, 61, 62, 13}
		for removed := range delays {
			p, l := newPool(t, make), newTimeline()
			var fs []*series
			for i, s := range delays {
				fs = append(fs, mustSchedule(t)(p.AtFixedRate(bg, time.Duration(s+1)*time.Second, time.Hour,
					l.body(fmt.Sprint(i), 0, nil), executor.Times(1))))
			}
			fs[removed].Cancel()
			var want []string
			for _, i := range []int{0, 2, 5, 6, 11, 1, 3, 7, 8, 4, 9, 10} {
				if i != removed {
					want = append(want, fmt.Sprint(i, " ", delays[i]+1))
				}
			}
			time.Sleep(2 * time.Minute)
			l.expect(t, want...)
		}
	}},

	{"ShutdownNowDropsSchedules", func(t testing.TB, make func() Scheduled) {
		p, l := newPool(t, make), newTimeline()
		running := mustSchedule(t)(p.AtFixedRate(bg, 0, time.Hour, l.body("run", time.Hour, nil)))
		waiting := mustSchedule(t)(p.WithFixedDelay(bg, time.Minute, time.Hour, l.body("never", 0, nil)))
		time.Sleep(time.Second)
		if dropped := p.ShutdownNow(); len(dropped) != 1 || dropped[0].Task() != any(waiting) {
			t.Errorf("ShutdownNow returns %v, want the waiting schedule", dropped)
		}
		for _, f := range []*series{running, waiting} {
			if err := f.Wait(waitContext(t)); !errors.Is(err, executor.ErrShutdown) {
				t.Errorf("the outcome of a schedule is %v, want %v", err, executor.ErrShutdown)
			}
		}
		l.expect(t, "run 0")
	}},
}

// expectEnd waits for the end of a schedule and requires its state and error.
func expectEnd(t testing.TB, f *series, state executor.State, target error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, time.Hour) // a schedule that does not end runs all the time
	defer cancel()
	if err := f.Wait(ctx); f.State() != state || !errors.Is(err, target) {
		t.Errorf("a schedule is %v with %v, want %v with %v", f.State(), err, state, target)
	}
}
