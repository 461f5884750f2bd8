package durable_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A job that was canceled before it began never begins, at whatever distance.
func TestCanceledJobDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		synctest.Wait()
		for _, delay := range []time.Duration{500 * time.Millisecond, time.Minute} {
			id := must(k.Schedule(t.Context(), delay, ""))
			if a := must(jobs.Cancel(t.Context(), id)); a != durable.Applied {
				t.Errorf("Cancel: %v", a)
			}
			if _, err := k.Await(t.Context(), id); !errors.Is(err, executor.ErrCanceled) {
				t.Errorf("Await: %v", err)
			}
		}
		time.Sleep(time.Hour)
		d.wants(t, time.Now())
	})
}

// A handler whose job is canceled, here or elsewhere, finds its context ended, at
// once or at the next beat, and the job ends canceled.
func TestCancelReachesTheHandler(t *testing.T) {
	for where, within := range map[string]time.Duration{"here": 0, "elsewhere": time.Second} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				jobs := newJobs(t, store)
				canceler := jobs
				if where == "elsewhere" {
					canceler = newJobs(t, store)
				}
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					<-ctx.Done()
					return "", context.Cause(ctx)
				})
				start(t, jobs)
				id := must(k.Schedule(t.Context(), 0, ""))
				time.Sleep(time.Second)
				asked := time.Now()
				if a := must(canceler.Cancel(t.Context(), id)); a != durable.Deferred {
					t.Errorf("Cancel: %v", a)
				}
				if _, err := k.Await(t.Context(), id); !errors.Is(err, executor.ErrCanceled) {
					t.Errorf("Await: %v", err)
				}
				if d := time.Since(asked); d > within {
					t.Errorf("it took %v", d)
				}
			})
		})
	}
}

// A paused schedule does not run; resumed, it goes on with its grid.
func TestPausedScheduleGoesOnWithItsGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		synctest.Wait()
		begun := time.Now()
		id := must(k.AtFixedRate(t.Context(), "key", time.Minute, time.Minute, "", durable.OnMissed(durable.Skip(time.Second))))
		time.Sleep(90 * time.Second)
		must(jobs.Pause(t.Context(), id))
		time.Sleep(3 * time.Minute)
		must(jobs.Resume(t.Context(), id))
		time.Sleep(time.Minute)
		d.wants(t, begun, time.Minute, 5*time.Minute)
	})
}

// RunNow runs a job at once, and its schedule goes on as before.
func TestRunNowLeavesTheScheduleAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		synctest.Wait()
		begun := time.Now()
		id := must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, ""))
		time.Sleep(20 * time.Minute)
		if a := must(jobs.RunNow(t.Context(), id)); a != durable.Applied {
			t.Errorf("RunNow: %v", a)
		}
		time.Sleep(2 * time.Hour)
		d.wants(t, begun, 20*time.Minute, time.Hour, 2*time.Hour)
	})
}

// A job that is run or moved before the first time of its schedule runs then, and
// its schedule begins as before.
func TestEarlyRunLeavesTheScheduleAlone(t *testing.T) {
	for what, ask := range map[string]func(*durable.Jobs, context.Context, durable.ID) (durable.Answer, error){
		"RunNow": (*durable.Jobs).RunNow,
		"Reschedule": func(j *durable.Jobs, ctx context.Context, id durable.ID) (durable.Answer, error) {
			return j.Reschedule(ctx, id, time.Now())
		},
	} {
		for _, missed := range []durable.Missed{durable.Coalesce(), durable.Skip(time.Minute), durable.CatchUp(3)} {
			synctest.Test(t, func(t *testing.T) {
				jobs := newJobs(t, memory.New())
				var d diary
				k := durable.Handle(jobs, "k", d.handler)
				start(t, jobs)
				synctest.Wait()
				begun := time.Now()
				id := must(k.AtFixedRate(t.Context(), "key", 10*time.Hour, time.Hour, "", durable.OnMissed(missed)))
				time.Sleep(20 * time.Minute)
				if a := must(ask(jobs, t.Context(), id)); a != durable.Applied {
					t.Errorf("%s: %v", what, a)
				}
				time.Sleep(11 * time.Hour)
				d.wants(t, begun, 20*time.Minute, 10*time.Hour, 11*time.Hour)
			})
		}
	}
}

// A job that is rescheduled runs at the new time and not at the old, whether
// that is nearer or further.
func TestRescheduledJobRunsAtTheNewTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		synctest.Wait()
		begun := time.Now().Round(0)
		near := must(k.Schedule(t.Context(), 700*time.Millisecond, ""))
		far := must(k.Schedule(t.Context(), time.Hour, ""))
		must(jobs.Reschedule(t.Context(), near, begun.Add(2*time.Hour)))
		must(jobs.Reschedule(t.Context(), far, begun.Add(300*time.Millisecond)))
		time.Sleep(3 * time.Hour)
		d.wants(t, begun, 300*time.Millisecond, 2*time.Hour)
	})
}

// No more jobs of a kind run at the same time on a node than its limit says, and
// other kinds are not held up.
func TestLimitOfKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var running, most atomic.Int64
		slow := durable.Handle(jobs, "slow", func(ctx context.Context, _ string) (string, error) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return "", nil
		}, durable.Limit(2))
		quick := durable.Handle(jobs, "quick", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		synctest.Wait() // the node could have some of them at once
		ids := must(slow.ScheduleAll(t.Context(), 0, make([]string, 20)))
		begun := time.Now()
		must(quick.Await(t.Context(), must(quick.Schedule(t.Context(), 10*time.Millisecond, ""))))
		if d := time.Since(begun); d > 100*time.Millisecond {
			t.Errorf("the quick one took %v", d)
		}
		for _, id := range ids {
			must(slow.Await(t.Context(), id))
		}
		if most.Load() != 2 {
			t.Errorf("%d ran at the same time, want 2", most.Load())
		}
		if d := time.Since(begun); d > 11*time.Second {
			t.Errorf("20 jobs of a second, two at a time, took %v", d)
		}
	})
}

// No more jobs of a kind run at the same time on all nodes together than its
// global limit says, as many do as it says while there are enough, the more urgent
// first, and other kinds are not held up.
func TestGlobalLimitOfKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var mu sync.Mutex
		var running, most int
		var order []durable.Priority
		var slow *durable.Kind[string, string]
		var quick *durable.Kind[string, string]
		for range 3 {
			jobs := newJobs(t, store)
			slow = durable.Handle(jobs, "slow", func(ctx context.Context, _ string) (string, error) {
				j, _ := durable.Current(ctx)
				mu.Lock()
				running++
				most = max(most, running)
				order = append(order, j.Priority)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return "", nil
			}, durable.GlobalLimit(2))
			quick = durable.Handle(jobs, "quick", func(context.Context, string) (string, error) { return "", nil })
			start(t, jobs)
			time.Sleep(100 * time.Millisecond)
		}
		low := durable.Client[string, string](newJobs(t, store), "slow") // from elsewhere
		ids := must(low.ScheduleAll(t.Context(), 0, make([]string, 10), durable.WithPriority(durable.Low)))
		ids = append(ids, must(low.ScheduleAll(t.Context(), 0, make([]string, 4), durable.WithPriority(durable.High)))...)
		begun := time.Now()
		for range 6 { // from here, where a node could have them at once
			ids = append(ids, must(slow.Schedule(t.Context(), 0, "", durable.WithPriority(durable.Low))))
		}
		for range 50 {
			at := time.Now()
			must(quick.Await(t.Context(), must(quick.Schedule(t.Context(), 10*time.Millisecond, ""))))
			if d := time.Since(at); d > 100*time.Millisecond {
				t.Errorf("a quick one took %v", d)
			}
		}
		for _, id := range ids {
			must(slow.Await(t.Context(), id))
		}
		if d := time.Since(begun); most != 2 || d > 13*time.Second {
			t.Errorf("20 jobs of a second took %v, up to %d at the same time; want two", d, most)
		}
		if want := slices.Repeat([]durable.Priority{durable.High}, 4); !slices.Equal(order[:4], want) {
			t.Errorf("the priorities in order were %v", order)
		}
	})
}

// Of a backlog, jobs of high priority begin before those that were there first.
func TestUrgentJobsOvertakeTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		t.Cleanup(pool.Close)
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
		var order []string
		k := durable.Handle(jobs, "k", func(_ context.Context, s string) (string, error) {
			order = append(order, s)
			time.Sleep(10 * time.Millisecond)
			return "", nil
		})
		for _, p := range []durable.Priority{durable.Low, durable.Normal, durable.High} {
			must(k.ScheduleAll(t.Context(), 0, []string{string(rune('a' + p)), string(rune('a' + p))}, durable.WithPriority(p)))
		}
		start(t, jobs)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"b", "b", "a", "a", "`", "`"}
		for i := range want {
			if order[i] != want[i] {
				t.Fatalf("order %q, want %q", order, want)
			}
		}
	})
}

// A kind that nobody handles is kept, and said in the log.
func TestUnknownKindIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		log := new(logLines)
		jobs := newJobs(t, store, func(c *durable.Config) { c.Logger = log.logger() })
		durable.Handle(jobs, "known", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		synctest.Wait() // the node could have it at once
		id := must(durable.Client[string, string](jobs, "unknown").Schedule(t.Context(), 0, ""))
		time.Sleep(10 * time.Minute)
		if job := must(jobs.Get(t.Context(), id)); job.State != durable.Waiting || job.Attempt != 0 {
			t.Errorf("job is %+v", job)
		}
		if n := log.count("no handler for waiting jobs"); n != 1 {
			t.Errorf("said %d times, want once", n)
		}
	})
}

// Await gives a job as it is when it is done, whatever it has come to.
func TestAwaitGivesJobsThatDidNotSucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, errors.New("no such user") })
		start(t, jobs)
		dead := must(k.Schedule(t.Context(), 0, 1, durable.Attempts(2)))
		canceled := must(k.Schedule(t.Context(), time.Hour, 2))
		if a := must(jobs.Cancel(t.Context(), canceled)); a != durable.Applied {
			t.Fatal(a)
		}
		for id, want := range map[durable.ID]durable.State{dead: durable.Dead, canceled: durable.Canceled} {
			j, err := jobs.Await(t.Context(), id)
			var failed *durable.JobError
			if !errors.As(err, &failed) || failed.State != want {
				t.Errorf("%v: error %v", want, err)
			}
			if j.ID != id || j.State != want || len(j.Payload) == 0 {
				t.Errorf("%v: %+v", want, j)
			}
		}
	})
}
