package durable_test

import (
	"context"
	"errors"
	"runtime"
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

// Await sees within half a second that a job has ended on another node, however long it took.
func TestJobsAwaitSeesJobThatEndsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		var ended time.Time
		durable.Handle(jobs, "k", func(context.Context, string) (string, error) { ended = time.Now(); return "", nil })
		start(t, jobs)
		k := durable.KindOf[string, string](newJobs(t, store), "k")
		id := must(k.AddAfter(t.Context(), time.Hour, ""))
		must(k.Await(t.Context(), id))
		if d := time.Since(ended); d > time.Second/2 {
			t.Errorf("it was seen after %v", d)
		}
	})
}

// Counts are ordered by kind, and by state within a kind.
func TestJobsCountsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var want []durable.Count
		for _, name := range []string{"a", "b", "c", "d"} {
			k := durable.KindOf[string, string](jobs, name)
			for _, state := range []durable.State{durable.Waiting, durable.Canceled, durable.Paused} {
				id := must(k.AddAfter(t.Context(), time.Hour, ""))
				switch state {
				case durable.Canceled:
					must(jobs.Cancel(t.Context(), id))
				case durable.Paused:
					must(jobs.Pause(t.Context(), id))
				}
				want = append(want, durable.Count{Kind: name, State: state, Jobs: 1,
					Due: must(jobs.Get(t.Context(), id)).Due})
			}
		}
		if got := must(jobs.Counts(t.Context(), durable.Filter{})); !slices.Equal(got, want) {
			t.Errorf("counts are %+v", got)
		}
	})
}

// Callers that give up waiting for a job leave nothing behind, however many they were at the same time, while another
// one still waits.
func TestJobsAwaitKeepsNoMemory(t *testing.T) {
	// Each processor keeps goroutines that have ended for its own next ones: the
	// more there are, the more are made, and never freed, in a second wave.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 10_000
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.KindOf[string, string](jobs, "k")
		id, other := must(k.AddAfter(t.Context(), time.Hour, "")), must(k.AddAfter(t.Context(), time.Hour, ""))
		giveUp := func(id durable.ID) {
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() { jobs.Await(ctx, id) })
			}
			synctest.Wait()
			cancel()
			wg.Wait()
			time.Sleep(time.Second) // the bubble lets go of timers
		}
		giveUp(other) // the runtime keeps what goroutines are made of
		stay, leave := context.WithCancel(t.Context())
		var last sync.WaitGroup
		last.Go(func() { jobs.Await(stay, id) })
		synctest.Wait()
		before := heap()
		giveUp(id)
		if kept := heap() - before; kept > 8*n {
			t.Errorf("%d bytes are kept of %d who waited", kept, n)
		}
		leave()
		last.Wait()
	})
}

// A job that is canceled while it waits for a worker finds its context ended when it begins.
func TestJobsCancelEndsContextOfWaitingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		t.Cleanup(pool.Close)
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
		var ended []bool
		k := durable.Handle(jobs, "k", func(ctx context.Context, d time.Duration) (string, error) {
			ended = append(ended, ctx.Err() != nil)
			time.Sleep(d)
			return "", ctx.Err()
		})
		stop := start(t, jobs)
		must(k.Add(t.Context(), time.Second/2))
		synctest.Wait()
		waits := must(k.Add(t.Context(), 0))
		if a := must(jobs.Cancel(t.Context(), waits)); a != durable.Deferred {
			t.Fatalf("Cancel: %v", a)
		}
		time.Sleep(5 * time.Second)
		stop()
		if len(ended) != 2 || ended[0] || !ended[1] {
			t.Errorf("their contexts had ended: %v", ended)
		}
	})
}

// An answer to Cancel that comes late does not cancel the next run of the job, on the node where it was called.
func TestJobsCancelAnsweredLateSparesNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs, elsewhere := newJobs(t, line), newJobs(t, store)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			select {
			case <-ctx.Done():
				return "", context.Cause(ctx)
			case <-time.After(10 * time.Second):
				return "", nil
			}
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), ""))
		synctest.Wait()
		line.delay("change", 5*time.Second)
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			must(jobs.Cancel(t.Context(), id))
		}()
		time.Sleep(2 * time.Second) // a heartbeat has said so by then
		if a := must(elsewhere.Revive(t.Context(), id)); a != durable.Applied {
			t.Fatalf("Revive: %v", a)
		}
		if _, err := k.Await(t.Context(), id); err != nil {
			t.Error(err)
		}
		<-answered
	})
}

// A job that was canceled before it began never begins, at whatever distance.
func TestJobsCancelKeepsJobFromBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		for _, delay := range []time.Duration{500 * time.Millisecond, time.Minute} {
			id := must(k.AddAfter(t.Context(), delay, ""))
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

// A handler whose job is canceled, here or elsewhere, finds its context ended, at once or at the next heartbeat, and
// the job ends canceled.
func TestJobsCancelEndsHandlerContext(t *testing.T) {
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
				id := must(k.Add(t.Context(), ""))
				time.Sleep(untilNoted)
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
func TestJobsResumeKeepsGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		begun := time.Now()
		id := must(k.AtFixedRate(t.Context(), "key", time.Minute, time.Minute, "",
			durable.OnMissed(durable.Skip(time.Second))))
		time.Sleep(90 * time.Second)
		must(jobs.Pause(t.Context(), id))
		time.Sleep(3 * time.Minute)
		must(jobs.Resume(t.Context(), id))
		time.Sleep(time.Minute)
		d.wants(t, begun, time.Minute, 5*time.Minute)
	})
}

// RunNow runs a job at once, and its schedule goes on as before.
func TestJobsRunNowKeepsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
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

// A job that is run or moved before the first time of its schedule runs then, and its schedule begins as before.
func TestJobsRescheduleBeforeFirstTimeKeepsSchedule(t *testing.T) {
	for what, ask := range map[string]func(*durable.Jobs, context.Context, durable.ID) (durable.Answer, error){
		"RunNow": (*durable.Jobs).RunNow,
		"Reschedule": func(j *durable.Jobs, ctx context.Context, id durable.ID) (durable.Answer, error) {
			return j.Reschedule(ctx, id, time.Now())
		},
	} {
		for _, missed := range []durable.Missed{durable.Coalesce(), durable.Skip(time.Minute), durable.CatchUp(3)} {
			synctest.Test(t, func(t *testing.T) {
				jobs, k, d := newNode(t, memory.New(), lazy)
				start(t, jobs)
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

// A job that is rescheduled runs at the new time and not at the old, whether that is nearer or further.
func TestJobsRescheduleMovesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		begun := time.Now().Round(0)
		near := must(k.AddAfter(t.Context(), 700*time.Millisecond, ""))
		far := must(k.AddAfter(t.Context(), time.Hour, ""))
		must(jobs.Reschedule(t.Context(), near, begun.Add(2*time.Hour)))
		must(jobs.Reschedule(t.Context(), far, begun.Add(300*time.Millisecond)))
		time.Sleep(3 * time.Hour)
		d.wants(t, begun, 300*time.Millisecond, 2*time.Hour)
	})
}

// Await returns a job as it is when it is done, in whatever state.
func TestJobsAwaitReturnsJobThatDidNotSucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, errors.New("no such user") })
		start(t, jobs)
		dead := must(k.Add(t.Context(), 1, durable.Attempts(2)))
		canceled := must(k.AddAfter(t.Context(), time.Hour, 2))
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

// A limit that is negative is an error.
func TestJobsDeclineNegativeLimit(t *testing.T) {
	jobs := newJobs(t, memory.New())
	if _, err := jobs.List(t.Context(), durable.Filter{Limit: -1}); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("List: %v", err)
	}
	if _, err := jobs.History(t.Context(), durable.NewID(), 0, -1); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("History: %v", err)
	}
}

// heap is a store with much to remove.
type heap struct {
	durable.Store
	left atomic.Int64
}

func (h *heap) Prune(ctx context.Context, r durable.Retention) (int, error) {
	n := min(h.left.Load(), 2000) // as much as a store removes in one call
	h.left.Add(-n)
	return int(n), nil
}

// A job whose attempts are used up is dead, can be listed, and can be revived.
func TestJobsReviveDeadJob(t *testing.T) {
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
		id := must(k.Add(t.Context(), "", durable.Attempts(3)))
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

// A time that is asked for during the last run of a schedule is one more run; and then the job has succeeded.
func TestJobsRescheduleDuringLastRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		jobs := newJobs(t, memory.New(), func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"twice": until(begun.Add(2 * time.Hour))}
		})
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			if d.note(ctx); d.count() == 2 {
				j, _ := durable.Current(ctx)
				if a := must(jobs.Reschedule(ctx, j.ID, begun.Add(5*time.Hour))); a != durable.Deferred {
					t.Errorf("the answer is %v", a)
				}
			}
			return "", nil
		})
		start(t, jobs)
		id := must(k.On(t.Context(), "key", durable.NamedTrigger("twice"), ""))
		must(jobs.Await(t.Context(), id))
		d.wants(t, begun, time.Hour, 2*time.Hour, 5*time.Hour)
	})
}

// Now is the clock of the store, on a node and elsewhere.
func TestNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		store.Shift(time.Hour)
		jobs, _, _ := newNode(t, store)
		want := time.Now().Add(time.Hour)
		if got := must(jobs.Now(t.Context())); !got.Equal(want) {
			t.Errorf("without a node: got %v, want %v", got, want)
		}
		start(t, jobs)
		if got := must(jobs.Now(t.Context())); !got.Equal(want) {
			t.Errorf("on a node: got %v, want %v", got, want)
		}
	})
}

// Await returns the error of its context, whatever the store calls a read that the context has broken off.
func TestJobsAwaitReturnsTheErrorOfItsContext(t *testing.T) {
	store := newFaulty(memory.New())
	jobs := newJobs(t, store)
	k := durable.KindOf[int, int](jobs, "k")
	id := must(k.AddAfter(t.Context(), time.Hour, 1))
	ctx, cancel := context.WithCancel(t.Context())
	store.set(func(op string) (error, error) {
		if op == "get" {
			cancel()
			return errDown, nil
		}
		return nil, nil
	})
	if _, err := k.Await(ctx, id); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := k.Await(t.Context(), id); !errors.Is(err, errDown) {
		t.Errorf("got %v, want that of the store", err)
	}
}
