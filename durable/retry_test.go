package durable_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

var errBoom = errors.New("boom")

// A job that fails is tried again, each time after a longer wait, until it
// succeeds.
func TestFailureIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			if d.count() < 4 {
				return "", errBoom
			}
			return "done", nil
		}, durable.Backoff(time.Second, time.Minute))
		start(t, jobs)
		id := must(k.Schedule(t.Context(), 0, ""))
		if got := must(k.Await(t.Context(), id)); got != "done" {
			t.Errorf("result %q", got)
		}
		for i, j := range d.all() {
			if j.Attempt != i+1 || !j.Occurrence.Equal(d.all()[0].Occurrence) {
				t.Errorf("run %d was attempt %d for %v", i, j.Attempt, j.Occurrence)
			}
			if i == 0 {
				continue
			}
			most := time.Second << (i - 1)
			if wait := d.begun[i].Sub(d.begun[i-1]); wait < most/2 || wait > most+time.Millisecond {
				t.Errorf("waited %v before attempt %d, want %v to %v", wait, i+1, most/2, most)
			}
		}
		runs := must(jobs.History(t.Context(), id, 0, 10))
		if len(runs) != 4 || runs[0].Verdict != durable.RunSucceeded || runs[1].Verdict != durable.RunFailed || runs[1].Error != "boom" {
			t.Errorf("history is %+v", runs)
		}
	})
}

// Whatever a handler does instead of returning a value is a failure of that run
// with the reason: an error, a panic, a Goexit, a payload that does not decode, a
// result that does not encode.
func TestEveryFailureHasItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		kinds := map[string]*durable.Kind[any, any]{}
		for name, fn := range map[string]func(context.Context, any) (any, error){
			"boom":              func(context.Context, any) (any, error) { return nil, errBoom },
			"oh no":             func(context.Context, any) (any, error) { panic("oh no") },
			"Goexit":            func(context.Context, any) (any, error) { runtime.Goexit(); return nil, nil },
			"chan int":          func(context.Context, any) (any, error) { return make(chan int), nil },
			"must have no more": func(context.Context, any) (any, error) { return strings.Repeat("x", durable.MaxResult), nil },
			"\uFFFDnul\uFFFD":   func(context.Context, any) (any, error) { return nil, errors.New("\x00nul\xff") },
		} {
			kinds[name] = durable.Handle(jobs, name, fn)
		}
		durable.Handle(jobs, "cannot unmarshal", func(context.Context, int) (any, error) { return nil, nil })
		kinds["cannot unmarshal"] = durable.Client[any, any](jobs, "cannot unmarshal")
		start(t, jobs)
		for reason, k := range kinds {
			id := must(k.Schedule(t.Context(), 0, "text", durable.Attempts(1)))
			_, err := k.Await(t.Context(), id)
			var je *durable.JobError
			if !errors.Is(err, durable.ErrDead) || !errors.As(err, &je) || !strings.Contains(je.Text, reason) {
				t.Errorf("%s: %v", reason, err)
			}
		}
	})
}

// A job whose attempts are used up is dead, can be listed, and can be revived.
func TestDeadJobIsListedAndRevived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		n := 0
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			if n++; n <= 3 {
				return "", errBoom
			}
			return "alive", nil
		})
		start(t, jobs)
		id := must(k.Schedule(t.Context(), 0, "", durable.Attempts(3)))
		if _, err := k.Await(t.Context(), id); !errors.Is(err, durable.ErrDead) {
			t.Fatal(err)
		}
		dead := must(jobs.List(t.Context(), durable.Filter{States: []durable.State{durable.Dead}}))
		if len(dead) != 1 || dead[0].ID != id || dead[0].Error != "boom" || n != 3 {
			t.Errorf("after %d runs the dead are %+v", n, dead)
		}
		if a := must(jobs.Revive(t.Context(), id)); a != durable.Applied {
			t.Errorf("Revive: %v", a)
		}
		if got := must(k.Await(t.Context(), id)); got != "alive" {
			t.Errorf("result %q", got)
		}
	})
}

// A job that runs once stands for the same occurrence in each of its runs, also if
// somebody has it run at once, moves or revives it after it was begun: what a system
// outside knows of it, by its ID and occurrence, stays true.
func TestJobThatRunsOnceKeepsItsOccurrence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var seen []time.Time
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			job, _ := durable.Current(ctx)
			seen = append(seen, job.Occurrence)
			return "", errBoom
		}, durable.Backoff(time.Hour, time.Hour))
		stop := start(t, jobs)
		id := must(k.Schedule(t.Context(), 24*time.Hour, "", durable.Attempts(2)))
		for _, change := range []func() (durable.Answer, error){
			func() (durable.Answer, error) { return jobs.Reschedule(t.Context(), id, time.Now().Add(time.Minute)) }, // it may be moved as long as it was not begun
			func() (durable.Answer, error) { return jobs.RunNow(t.Context(), id) },
			func() (durable.Answer, error) { return jobs.Reschedule(t.Context(), id, time.Now().Add(time.Minute)) },
			func() (durable.Answer, error) { time.Sleep(2 * time.Hour); return jobs.Revive(t.Context(), id) },
		} {
			if a := must(change()); a != durable.Applied {
				t.Error(a)
			}
			time.Sleep(2 * time.Minute)
		}
		stop()
		for _, occurrence := range seen {
			if want := time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC); !occurrence.Equal(want) {
				t.Errorf("a run was for %v, not %v", occurrence, want)
			}
		}
		if len(seen) != 5 {
			t.Errorf("%d runs", len(seen))
		}
	})
}

// Periodic work goes on with its next occurrence though its handler ends each run
// by a Goexit, and the history knows how long they took.
func TestGoexitLeavesTheScheduleAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			time.Sleep(time.Second)
			runtime.Goexit()
			return "", nil
		})
		start(t, jobs)
		synctest.Wait()
		begun := time.Now()
		id := must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, "", durable.Attempts(1)))
		time.Sleep(2*time.Hour + time.Minute)
		d.wants(t, begun, time.Hour, 2*time.Hour)
		runs := must(jobs.History(t.Context(), id, 0, 10))
		if len(runs) != 2 || runs[0].Verdict != durable.RunFailed || runs[0].Finished.Sub(runs[0].Started) != time.Second {
			t.Errorf("history is %+v", runs)
		}
	})
}

// An error marked as permanent is not retried.
func TestPermanentErrorIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		n := 0
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			n++
			return "", durable.Permanent(errBoom)
		})
		start(t, jobs)
		id := must(k.Schedule(t.Context(), 0, ""))
		if _, err := k.Await(t.Context(), id); !errors.Is(err, durable.ErrDead) || n != 1 {
			t.Errorf("after %d runs: %v", n, err)
		}
	})
}

// A schedule goes on after an occurrence whose attempts are used up.
func TestScheduleOutlivesFailedOccurrence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			return "", errBoom
		}, durable.Backoff(time.Second, time.Second))
		start(t, jobs)
		begun := time.Now().UTC().Round(0)
		must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, "", durable.Attempts(2)))
		time.Sleep(2*time.Hour + time.Minute)
		if d.count() != 4 {
			t.Fatalf("%d runs, want 4", d.count())
		}
		for i, j := range d.all() {
			if want := begun.Add(time.Duration(i/2+1) * time.Hour); !j.Occurrence.Equal(want) || j.Attempt != i%2+1 {
				t.Errorf("run %d was attempt %d for %v, want %v", i, j.Attempt, j.Occurrence, want)
			}
		}
	})
}

// A run whose time is up finds its context ended.
func TestTimeoutEndsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		start(t, jobs)
		begun := time.Now()
		id := must(k.Schedule(t.Context(), 0, "", durable.Timeout(time.Minute), durable.Attempts(1)))
		_, err := k.Await(t.Context(), id)
		if !errors.Is(err, durable.ErrDead) || !strings.Contains(err.Error(), executor.ErrTimeout.Error()) {
			t.Error(err)
		}
		if d := time.Since(begun); d < time.Minute || d > time.Minute+time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// Jobs that fail at the same time are not all retried at the same time: each waits
// for between half of the backoff and all of it.
func TestRetriesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			return "", errors.New("no")
		}, durable.Backoff(time.Hour, time.Hour))
		must(k.ScheduleAll(t.Context(), 0, make([]string, 20), durable.Attempts(2)))
		begun := time.Now()
		start(t, jobs)
		time.Sleep(2 * time.Hour)
		since := d.since(begun)
		if len(since) != 40 || since[19] != 0 {
			t.Fatalf("runs began after %v", since)
		}
		if first, last := since[20], since[39]; first < 30*time.Minute || last > time.Hour+time.Second || last-first < 10*time.Minute {
			t.Errorf("retries began after %v to %v", first, last)
		}
	})
}
