package durable_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A job that is put off runs again after that time, as often as its handler likes,
// and keeps its occurrence and all its attempts.
func TestSnoozedJobKeepsItsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			time.Sleep(time.Minute)
			if d.count() <= 20 {
				return "", fmt.Errorf("not ready: %w", durable.Snooze(time.Hour))
			}
			return "done", nil
		})
		start(t, jobs)
		id := must(k.Schedule(t.Context(), 0, "", durable.Attempts(1)))
		if got := must(k.Await(t.Context(), id)); got != "done" {
			t.Errorf("result %q", got)
		}
		for i, j := range d.all() {
			if j.Attempt != 1 || !j.Occurrence.Equal(d.all()[0].Occurrence) {
				t.Errorf("run %d was attempt %d for %v", i, j.Attempt, j.Occurrence)
			}
			if i > 0 && d.begun[i].Sub(d.begun[i-1]) != time.Minute+time.Hour {
				t.Errorf("run %d came after %v", i, d.begun[i].Sub(d.begun[i-1]))
			}
		}
		runs := must(jobs.History(t.Context(), id, 0, 2))
		if len(runs) != 2 || runs[1].Verdict != durable.RunSnoozed || runs[1].Error != "not ready: durable: put off by 1h0m0s" {
			t.Errorf("history is %+v", runs)
		}
	})
}

// An attempt that was put off, by no time at least, fails as the same attempt later.
func TestSnoozeBetweenFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			if d.count()%2 == 1 {
				return "", durable.Snooze(-time.Hour)
			}
			return "", errBoom
		})
		start(t, jobs)
		id := must(k.Schedule(t.Context(), 0, "", durable.Attempts(3)))
		if _, err := k.Await(t.Context(), id); !errors.Is(err, durable.ErrDead) {
			t.Error(err)
		}
		for i, j := range d.all() {
			if want := i/2 + 1; j.Attempt != want {
				t.Errorf("run %d was attempt %d, want %d", i, j.Attempt, want)
			}
			if i > 0 && j.Due.Before(d.begun[i-1]) {
				t.Errorf("run %d was due %v before the one before it began", i, d.begun[i-1].Sub(j.Due))
			}
		}
		if d.count() != 6 {
			t.Errorf("it ran %d times, want 6", d.count())
		}
	})
}

// A schedule of which an occurrence was put off goes on with its grid.
func TestSnoozeLeavesTheScheduleAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			if d.count() == 2 {
				return "", durable.Snooze(90 * time.Second) // past the next two
			}
			return "", nil
		})
		start(t, jobs)
		must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, "", durable.OnMissed(durable.Skip(time.Second))))
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		first := d.all()[0].Occurrence
		want := []time.Duration{0, 1, 1, 3, 4, 5} // the one at 2 was missed while that at 1 was put off
		if d.count() != len(want) {
			t.Fatalf("it ran %d times, want %d", d.count(), len(want))
		}
		for i, j := range d.all() {
			if got := j.Occurrence.Sub(first); got != want[i]*time.Minute {
				t.Errorf("run %d was for %v, want %v", i, got, want[i]*time.Minute)
			}
		}
	})
}

// A job that is to be canceled is not put off.
func TestCanceledJobIsNotSnoozed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", durable.Snooze(time.Hour)
		})
		start(t, jobs)
		id := must(k.Schedule(t.Context(), 0, ""))
		synctest.Wait()
		if a := must(jobs.Cancel(t.Context(), id)); a != durable.Deferred {
			t.Errorf("Cancel: %v", a)
		}
		var je *durable.JobError
		if _, err := k.Await(t.Context(), id); !errors.As(err, &je) || je.State != durable.Canceled {
			t.Error(err)
		}
		if runs := must(jobs.History(t.Context(), id, 0, 10)); len(runs) != 1 || runs[0].Verdict != durable.RunCanceled {
			t.Errorf("history is %+v", runs)
		}
	})
}
