package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/internal/testkit"
)

// A triggered task runs at each time that its trigger gives, beginning with the
// first after now.
func TestOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary() // a bubble begins at midnight, UTC
		elapse(30 * time.Minute)
		f, err := p.On(t.Context(), testkit.Hourly, d.Func("x"))
		if err != nil {
			t.Fatal(err)
		}
		if d := f.Delay(); d != 30*time.Minute {
			t.Errorf("the first run is due in %v, want 30m", d)
		}
		elapse(3 * time.Hour)
		d.Check(t, "x@1h0m0s", "x@2h0m0s", "x@3h0m0s")
	})
}

// A cron schedule is a Trigger, and Next has its location.
func TestOnCron(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s, err := cron.Parse("30 2 * * *")
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.On(t.Context(), s, d.Func("nightly"), executor.Times(2))
		if err != nil {
			t.Fatal(err)
		}
		want := s.Next(time.Now())
		if next := f.Next(); !next.Equal(want) || next.Location() != want.Location() {
			t.Errorf("Next is %v, want %v", next, want)
		}
		first := want.Sub(d.Begin)
		elapse(72 * time.Hour)
		d.Check(t, "nightly@"+first.String(), "nightly@"+(first+24*time.Hour).String())
		testkit.StateIs(t, "the schedule", f, executor.Succeeded)
	})
}

// Times of a trigger that pass during a run are left out; runs never overlap.
func TestOnLeavesOutMissedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 2), newDiary()
		p.On(t.Context(), testkit.Hourly, d.Func("x", 150*time.Minute))
		elapse(5*time.Hour + time.Minute)
		d.Check(t, "x@1h0m0s", "x@4h0m0s", "x@5h0m0s")
	})
}

// A trigger that gives no further time ends the schedule in peace.
func TestOnTriggerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, _ := p.On(t.Context(), testkit.TriggerFunc(func(from time.Time) time.Time {
			if next := testkit.Hourly(from); next.Sub(d.Begin) < 3*time.Hour {
				return next
			}
			return time.Time{}
		}), d.Func("x"))
		if _, err := f.Get(t.Context()); err != nil {
			t.Errorf("outcome %v, want success", err)
		}
		d.Check(t, "x@1h0m0s", "x@2h0m0s")
	})
}

// A nil trigger, and one without any time, are errors, and nothing is
// submitted.
func TestOnWithoutTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		never := testkit.TriggerFunc(func(time.Time) time.Time { return time.Time{} })
		for _, trigger := range []executor.Trigger{nil, never} {
			if _, err := p.On(t.Context(), trigger, nop); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%v, want ErrInvalid", err)
			}
		}
		if s := p.Stats(); s.Submitted != 0 {
			t.Errorf("%d tasks were submitted", s.Submitted)
		}
	})
}

// rogue is a trigger that is right once and then does as then says.
func rogue(then func(time.Time) time.Time) executor.Trigger {
	asked := false
	return testkit.TriggerFunc(func(t time.Time) time.Time {
		if asked {
			return then(t)
		}
		asked = true
		return testkit.Hourly(t)
	})
}

// A trigger that gives a time which is not later ends the schedule with an
// error, instead of running the task for ever.
func TestOnTriggerGoesBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, then := range []testkit.TriggerFunc{
			func(t time.Time) time.Time { return t },
			func(t time.Time) time.Time { return t.Add(-time.Nanosecond) },
			func(t time.Time) time.Time { return time.Unix(1, 0) },
		} {
			p, d := scheduled(t, 1), newDiary()
			f, _ := p.On(t.Context(), rogue(then), d.Func("x"))
			if _, err := f.Get(t.Context()); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("outcome %v, want ErrInvalid", err)
			}
			if n := len(d.Names()); n != 1 {
				t.Errorf("ran %d times, want once", n)
			}
		}
	})
}

// A trigger that panics fails the schedule with that panic, which is made known
// like one of the body.
func TestOnTriggerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []*executor.PanicError
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) { told = append(told, err) },
		}})
		f, _ := p.On(t.Context(), rogue(func(time.Time) time.Time { panic("no calendar") }), nop)
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || perr.Value != "no calendar" {
			t.Errorf("outcome %v, want a PanicError", err)
		}
		synctest.Wait()
		if len(told) != 1 || told[0].Value != "no calendar" {
			t.Errorf("OnPanic was told %v, want the panic once", told)
		}
		if s := p.Stats(); s.Panics != 1 || s.Failed != 1 {
			t.Errorf("%d panics and %d failures are counted, want 1 and 1", s.Panics, s.Failed)
		}
	})
}

// A trigger that ends its goroutine by runtime.Goexit fails the schedule; the
// future does not stay pending and the worker is replaced.
func TestOnTriggerCallsGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		f, _ := p.On(t.Context(), rogue(func(time.Time) time.Time { runtime.Goexit(); return time.Time{} }), nop)
		elapse(2 * time.Hour)
		testkit.StateIs(t, "the schedule", f, executor.Failed)
		if !errors.Is(f.Err(), executor.ErrGoexit) {
			t.Errorf("outcome %v, want ErrGoexit", f.Err())
		}
		if v, err := executor.Submit(t.Context(), p, func(context.Context) (int, error) { return 7, nil }).Get(t.Context()); v != 7 || err != nil {
			t.Errorf("the next task gives %d, %v", v, err)
		}
	})
}

// A trigger may use the pool: it is called with no lock held.
func TestOnTriggerMayUseThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var once sync.Once
		p.On(t.Context(), testkit.TriggerFunc(func(from time.Time) time.Time {
			p.Stats()
			once.Do(func() { p.Go(t.Context(), d.Func("go")) })
			return testkit.Hourly(from)
		}), d.Func("x"), executor.Times(2))
		elapse(3 * time.Hour)
		d.Check(t, "go@0s", "x@1h0m0s", "x@2h0m0s")
	})
}
