package durable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Current has the job as the store has it, also in a run that was confirmed long after it was claimed.
func TestCurrentIsAsInTheStore(t *testing.T) {
	for name, add := range map[string]func(t *testing.T, store *confirming, k *durable.Kind[string, int]){
		"claimed ahead": func(t *testing.T, _ *confirming, k *durable.Kind[string, int]) {
			must(k.AddAfter(t.Context(), 1500*time.Millisecond, ""))
		},
		"for another occurrence": func(t *testing.T, store *confirming, _ *durable.Kind[string, int]) {
			store.before = func(durablestore.CommitRequest) { time.Sleep(time.Second) }
			neglected(t, store, time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &confirming{Store: memory.New()}
				jobs := newJobs(t, store)
				var current, has durable.Job
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (int, error) {
					current, _ = durable.Current(ctx)
					time.Sleep(untilNoted)
					has = must(jobs.Get(ctx, current.ID))
					<-ctx.Done()
					return 0, nil
				})
				add(t, store, k)
				start(t, jobs)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if !current.Updated.Equal(has.Updated) || !current.Occurrence.Equal(has.Occurrence) ||
					current.State != has.State || !current.Started.Equal(has.Started) ||
					current.Attempt != has.Attempt {
					t.Errorf("Current is %+v, and the store has %+v", current, has)
				}
			})
		})
	}
}

// A handler's context has the values of Run's context, though not its end.
func TestHandlerContextHasValuesOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (any, error) {
			time.Sleep(time.Second)
			return ctx.Value(key{}), ctx.Err()
		})
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		done := make(chan error, 1)
		go func() { done <- jobs.Run(ctx) }()
		synctest.Wait()
		id := must(k.Add(t.Context(), ""))
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := must(k.Await(t.Context(), id)); got != "value" {
			t.Errorf("the handler saw %v", got)
		}
	})
}

// A nil pointer that a handler returns as an error, whose methods panic, or panics with, fails the run as any error
// does, and the job names it.
func TestHandlerNilPointerAsError(t *testing.T) {
	var err *fs.PathError
	for want, handler := range map[string]func(context.Context, int) (int, error){
		"*fs.PathError": func(context.Context, int) (int, error) { return 0, err },
		"task panicked": func(context.Context, int) (int, error) { panic(err) },
	} {
		synctest.Test(t, func(t *testing.T) {
			jobs := newJobs(t, memory.New())
			k := durable.Handle(jobs, "k", handler)
			start(t, jobs)
			id := must(k.Add(t.Context(), 1, durable.Attempts(2)))
			time.Sleep(time.Minute)
			j := must(jobs.Get(t.Context(), id))
			if j.State != durable.Dead || j.Runs != 2 || !strings.Contains(j.Error, want) {
				t.Errorf("%v after %d runs: %s", j.State, j.Runs, j.Error)
			}
		})
	}
}

// The hooks and counters of the pool distinguish the runs that fail from those that succeed, and the pool logs nothing
// that the jobs do not.
func TestPoolHooksSeeOutcomeOfHandler(t *testing.T) {
	type traced struct{}
	no := errors.New("no")
	var panicked *executor.PanicError
	snoozed := false
	for name, c := range map[string]struct {
		handler func() (any, error)
		sees    func(error) bool
		runs    int
		failed  int64
	}{
		"value": {func() (any, error) { return 1, nil }, func(err error) bool { return err == nil }, 1, 0},
		"Done":  {func() (any, error) { return nil, executor.ErrStop }, func(err error) bool { return err == nil }, 1, 0},
		"snooze": {func() (any, error) {
			if snoozed = !snoozed; snoozed {
				return nil, durable.Snooze(time.Hour)
			}
			return 1, nil
		}, func(err error) bool { return err == nil }, 2, 0},
		"error": {func() (any, error) { return nil, no }, func(err error) bool { return err == no }, 3, 3},
		"panic": {func() (any, error) { panic(no) },
			func(err error) bool { return errors.As(err, &panicked) && errors.Is(err, no) }, 3, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			var after []error
			pool := must(executor.NewScheduled(executor.ScheduledConfig{
				Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Hooks: executor.Hooks{
					BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
						return context.WithValue(ctx, traced{}, info.Name)
					},
					AfterTask: func(ctx context.Context, _ executor.TaskInfo, err error) {
						if ctx.Value(traced{}) != "k" {
							t.Errorf("%s: AfterTask has another context", name)
						}
						after = append(after, err)
					},
				},
			}))
			jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
			k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (any, error) {
				if ctx.Value(traced{}) != "k" {
					t.Errorf("%s: the handler has another context", name)
				}
				return c.handler()
			})
			stop := start(t, jobs)
			if _, err := jobs.Await(t.Context(),
				must(k.Add(t.Context(), 1, durable.Attempts(3)))); (err != nil) != (c.failed > 0) {
				t.Errorf("%s: %v", name, err)
			}
			stop()
			pool.Close()
			for _, err := range after {
				if !c.sees(err) {
					t.Errorf("%s: AfterTask got %v", name, err)
				}
			}
			if s := pool.Stats(); len(after) != c.runs || s.Failed != c.failed ||
				s.Succeeded != int64(len(after))-c.failed {
				t.Errorf("%s: %d runs, %+v", name, len(after), s)
			}
			if log.Len() > 0 {
				t.Errorf("%s: the pool logged %s", name, &log)
			}
		})
	}
}

// A policy that a newer program has made is left to nodes that know it, as a schedule is: the job loses nothing by it.
func TestNodeLeavesUnknownPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		var d diary
		durable.Handle(jobs, "k", d.handler)
		n := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Payload: []byte(`""`), Schedule: "rate 1m0s", Missed: "newest", Attempts: 1}
		must(store.Insert(t.Context(), []durable.NewJob{n}, durablestore.Placement{}))
		start(t, jobs)
		time.Sleep(time.Minute)
		j := must(jobs.Get(t.Context(), n.ID))
		if j.State == durable.Dead || j.Attempt > 1 || j.Runs != 0 || d.count() != 0 {
			t.Errorf("it is %v after %d runs, in attempt %d; the handler was called %d times", j.State, j.Runs, j.Attempt, d.count())
		}
	})
}

// A job that fails is tried again, each time after a longer wait, until it succeeds.
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
		}, durable.WithBackoff(executor.Backoff(time.Second, time.Minute)))
		start(t, jobs)
		id := must(k.Add(t.Context(), ""))
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
		if len(runs) != 4 || runs[0].Verdict != durable.RunSucceeded || runs[1].Verdict != durable.RunFailed ||
			runs[1].Error != "boom" {
			t.Errorf("history is %+v", runs)
		}
	})
}

// Whatever a handler does instead of returning a value is a failure of that run with the reason: an error, a panic, a
// Goexit, a payload that does not decode, a result that does not encode.
func TestFailureHasItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		kinds := map[string]*durable.Kind[any, any]{}
		for name, fn := range map[string]func(context.Context, any) (any, error){
			"boom":            func(context.Context, any) (any, error) { return nil, errBoom },
			"oh no":           func(context.Context, any) (any, error) { panic("oh no") },
			"Goexit":          func(context.Context, any) (any, error) { runtime.Goexit(); return nil, nil },
			"chan int":        func(context.Context, any) (any, error) { return make(chan int), nil },
			"are allowed":     func(context.Context, any) (any, error) { return strings.Repeat("x", durable.MaxResult), nil },
			"\uFFFDnul\uFFFD": func(context.Context, any) (any, error) { return nil, errors.New("\x00nul\xff") },
		} {
			kinds[name] = durable.Handle(jobs, name, fn)
		}
		durable.Handle(jobs, "cannot unmarshal", func(context.Context, int) (any, error) { return nil, nil })
		kinds["cannot unmarshal"] = durable.KindOf[any, any](jobs, "cannot unmarshal")
		start(t, jobs)
		for reason, k := range kinds {
			id := must(k.Add(t.Context(), "text", durable.Attempts(1)))
			_, err := k.Await(t.Context(), id)
			var je *durable.JobError
			if !errors.Is(err, durable.ErrDead) || !errors.As(err, &je) || !strings.Contains(je.Text, reason) {
				t.Errorf("%s: %v", reason, err)
			}
		}
	})
}

// A job that runs once stands for the same occurrence in each of its runs, also if it is run at once, moved or revived
// after it was begun: what a system outside knows of it, by its ID and occurrence, stays true.
func TestJobThatRunsOnceKeepsOccurrence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var seen []time.Time
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			job, _ := durable.Current(ctx)
			seen = append(seen, job.Occurrence)
			return "", errBoom
		}, durable.WithBackoff(executor.Backoff(time.Hour, time.Hour)))
		stop := start(t, jobs)
		id := must(k.AddAfter(t.Context(), 24*time.Hour, "", durable.Attempts(2)))
		for _, change := range []func() (durable.Answer, error){
			// It may be moved as long as it was not begun.
			func() (durable.Answer, error) { return jobs.Reschedule(t.Context(), id, time.Now().Add(time.Minute)) },
			func() (durable.Answer, error) { return jobs.RunNow(t.Context(), id) },
			func() (durable.Answer, error) { return jobs.Reschedule(t.Context(), id, time.Now().Add(time.Minute)) },
			func() (durable.Answer, error) { time.Sleep(2 * time.Hour); return jobs.Revive(t.Context(), id) },
		} {
			if a := must(change()); a != durable.Applied {
				t.Error(a)
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
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

// Periodic work goes on with its next occurrence though its handler ends each run by a Goexit, and the history has how
// long they took.
func TestFailureByGoexitKeepsSchedule(t *testing.T) {
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
		begun := time.Now()
		id := must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, "", durable.Attempts(1)))
		time.Sleep(2*time.Hour + time.Minute)
		d.wants(t, begun, time.Hour, 2*time.Hour)
		runs := must(jobs.History(t.Context(), id, 0, 10))
		if len(runs) != 2 || runs[0].Verdict != durable.RunFailed ||
			runs[0].Finished.Sub(runs[0].Started) != time.Second {
			t.Errorf("history is %+v", runs)
		}
	})
}

// An error marked as permanent is not retried.
func TestFailurePermanentIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		n := 0
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			n++
			return "", executor.Permanent(errBoom)
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), ""))
		if _, err := k.Await(t.Context(), id); !errors.Is(err, durable.ErrDead) || n != 1 {
			t.Errorf("after %d runs: %v", n, err)
		}
	})
}

// A schedule goes on after an occurrence whose attempts are used up.
func TestFailureKeepsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			return "", errBoom
		}, durable.WithBackoff(executor.Backoff(time.Second, time.Second)))
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
func TestTimeoutEndsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		start(t, jobs)
		begun := time.Now()
		id := must(k.Add(t.Context(), "", durable.Timeout(time.Minute), durable.Attempts(1)))
		_, err := k.Await(t.Context(), id)
		if !errors.Is(err, durable.ErrDead) || !strings.Contains(err.Error(), executor.ErrTimeout.Error()) {
			t.Error(err)
		}
		if d := time.Since(begun); d < time.Minute || d > time.Minute+time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// A node that does not know a job's trigger, as in the middle of a deployment, does the job no harm: each occurrence is
// run by one that does, and no attempt is used up.
func TestNodeLeavesUnknownTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var log strings.Builder
		old := newJobs(t, store, func(c *durable.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		durable.Handle(old, "k", func(context.Context, string) (string, error) { return "", nil })
		stop := start(t, old)

		jobs := newJobs(t, store, func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"often": cron.MustParse("CRON_TZ=UTC */10 * * * *")}
		})
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		id := must(k.On(t.Context(), "key", durable.NamedTrigger("often"), "", durable.Attempts(1)))
		time.Sleep(15 * time.Minute) // no node knows it
		if job := must(jobs.Get(t.Context(), id)); job.Attempt > 1 || job.Runs > 0 || !strings.Contains(job.Error, `has no "often"`) {
			t.Errorf("job is %+v", job)
		}
		start(t, jobs)
		time.Sleep(47 * time.Minute)
		stop() // before its log is read
		if n := strings.Count(log.String(), "can't read the schedule of a job"); n != 1 {
			t.Errorf("the log says so %d times", n)
		}
		runs := must(jobs.History(t.Context(), id, 0, 100))
		if len(runs) != 6 {
			t.Errorf("%d runs", len(runs))
		}
		for i, run := range runs {
			if want := time.Date(2000, 1, 1, 0, 10*(6-i), 0, 0, time.UTC); !run.Occurrence.Equal(want) ||
				run.Attempt != 1 || run.Verdict != durable.RunSucceeded {
				t.Errorf("run %d, which is to be for %v, is %+v", i, want, run)
			}
		}
	})
}

// A handler ends its schedule in peace with executor.ErrStop.
func TestStopEndsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		n := 0
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			if n++; n == 3 {
				return "", executor.ErrStop
			}
			return "", nil
		})
		start(t, jobs)
		id := must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, ""))
		must(k.Await(t.Context(), id))
		time.Sleep(time.Hour)
		synctest.Wait()
		if n != 3 {
			t.Errorf("it ran %d times", n)
		}
	})
}

// A job that is put off runs again after that time, as often as its handler likes, and keeps its occurrence and all its
// attempts.
func TestSnoozeKeepsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), lazy)
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
		id := must(k.Add(t.Context(), "", durable.Attempts(1)))
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
		if len(runs) != 2 || runs[1].Verdict != durable.RunSnoozed || runs[1].Error != "not ready: durable: snoozed for 1h0m0s" {
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
		id := must(k.Add(t.Context(), "", durable.Attempts(3)))
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
func TestSnoozeKeepsSchedule(t *testing.T) {
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

// A run that is put off, or cut short, at the very time of its occurrence keeps that, however late the next one is and
// whatever the policy.
func TestSnoozeAtTheTimeOfTheOccurrence(t *testing.T) {
	for name, end := range map[string]func(context.Context) error{
		"snoozed":   func(context.Context) error { return durable.Snooze(0) },
		"cut short": context.Cause,
	} {
		for _, missed := range []durable.Missed{durable.Skip(time.Second), durable.Coalesce(), durable.SkipOverlap()} {
			synctest.Test(t, func(t *testing.T) {
				store, d, began := memory.New(), new(diary), make(chan bool)
				node := func() (*durable.Jobs, *durable.Kind[string, string]) {
					jobs := newJobs(t, store, func(c *durable.Config) { c.Lease, c.Drain = time.Minute, -1 })
					return jobs, durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
						if d.note(ctx); d.count() > 1 {
							return "", nil
						}
						began <- true
						<-ctx.Done()
						return "", end(ctx)
					})
				}
				jobs, k := node()
				must(k.AtFixedRate(t.Context(), "key", time.Minute, time.Minute, "", durable.OnMissed(missed)))
				stop := start(t, jobs)
				<-began
				stop()
				time.Sleep(150 * time.Second)
				other, _ := node()
				start(t, other)
				time.Sleep(time.Second)
				synctest.Wait()
				if runs := d.all(); len(runs) < 2 || !runs[0].Due.Equal(runs[0].Occurrence) || !runs[1].Occurrence.Equal(runs[0].Occurrence) {
					t.Errorf("%s, %+v: the runs were %+v", name, missed, runs)
				}
			})
		}
	}
}

// A job that is to be canceled is not put off.
func TestSnoozeOfCanceledJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		began := make(chan struct{})
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			close(began)
			<-ctx.Done()
			return "", durable.Snooze(time.Hour)
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), ""))
		<-began
		time.Sleep(untilNoted)
		if a := must(jobs.Cancel(t.Context(), id)); a != durable.Deferred {
			t.Errorf("Cancel: %v", a)
		}
		var je *durable.JobError
		if _, err := k.Await(t.Context(), id); !errors.As(err, &je) || je.State != durable.Canceled {
			t.Error(err)
		}
		if runs := must(jobs.History(t.Context(), id, 0, 10)); len(runs) != 1 ||
			runs[0].Verdict != durable.RunCanceled {
			t.Errorf("history is %+v", runs)
		}
	})
}

// A trigger that panics, or calls runtime.Goexit, when it is asked for the time after a run that has succeeded, makes
// the job dead: the run is in the history as it was, and is not made again, and the job has the trigger's error. If it
// does so before the run, that is no attempt: the run is made a little later, for the occurrence that the job has.
func TestTriggerThatPanics(t *testing.T) {
	for name, fails := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		for _, before := range []bool{false, true} {
			t.Run(fmt.Sprint(name, before), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log logLines
					var broken atomic.Bool
					tr := &trigger{next: func(t time.Time) time.Time {
						if broken.Load() {
							fails()
						}
						return t.Add(time.Minute)
					}}
					jobs := newJobs(t, memory.New(), func(c *durable.Config) {
						c.Triggers, c.Logger = map[string]executor.Trigger{"t": tr}, log.logger()
					})
					runs := 0
					k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
						runs++
						broken.Store(true)
						return "done", nil
					})
					id := must(k.On(t.Context(), "key", durable.NamedTrigger("t"), "", durable.Attempts(1)))
					start(t, jobs)
					broken.Store(before)
					time.Sleep(5 * time.Minute)
					synctest.Wait()
					history := must(jobs.History(t.Context(), id, 0, 10))
					j := must(jobs.Get(t.Context(), id))
					want := map[string]string{"panic": "boom", "Goexit": "Goexit"}[name]
					if j.State != durable.Dead || !strings.Contains(j.Error, want) || log.count(want) == 0 {
						t.Errorf("job is %+v", j)
					}
					if runs != 1 || len(history) != 1 || history[0].Verdict != durable.RunSucceeded || history[0].Attempt != 1 ||
						before != (log.count("can't read the schedule") > 0) || string(j.Result) != `"done"` {
						t.Errorf("%d runs: %+v, %+v", runs, history, j)
					}
					if name == "panic" && log.count("perform_test.go") == 0 {
						t.Errorf("the log has no stack: %s", &log.buf)
					}
				})
			})
		}
	}
}
