package durable_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// withHooks sets the hooks of a node.
func withHooks(h durable.Hooks) func(*durable.Config) { return func(c *durable.Config) { c.Hooks = h } }

// What Adding sets as Meta is with the job in the handler and in the store, beside that of WithMeta.
func TestHooksAddingSetsMeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type ctxKey struct{}
		jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
			Adding: func(ctx context.Context, jobs []durable.NewJob, add func(context.Context) error) error {
				for i := range jobs {
					jobs[i].Meta = map[string]string{"tag": jobs[i].Meta["tag"], "by": fmt.Sprint(ctx.Value(ctxKey{}))}
				}
				return add(ctx)
			},
		}))
		seen := make(chan map[string]string, 1)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			j, _ := durable.Current(ctx)
			seen <- j.Meta
			return 0, nil
		})
		start(t, jobs)
		ctx := context.WithValue(t.Context(), ctxKey{}, "me")
		id := must(k.Add(ctx, 1, durable.WithMeta(map[string]string{"tag": "x"})))
		want := map[string]string{"tag": "x", "by": "me"}
		if got := <-seen; !reflect.DeepEqual(got, want) {
			t.Errorf("the handler has %v", got)
		}
		if got := must(jobs.Get(ctx, id)).Meta; !reflect.DeepEqual(got, want) {
			t.Errorf("the store has %v", got)
		}
	})
}

// Adding can't change what the caller has asked for, apart from Meta.
func TestHooksAddingChangesNothingButMeta(t *testing.T) {
	jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
		Adding: func(ctx context.Context, jobs []durable.NewJob, add func(context.Context) error) error {
			jobs[0].Kind, jobs[0].ID, jobs[0].Payload = "other", durable.NewID(), nil
			return add(nil)
		},
	}))
	var r durable.InsertResult
	id := must(durable.KindOf[int, int](jobs, "k").AddAfter(t.Context(), time.Hour, 7, durable.WithResult(&r)))
	if got := must(jobs.Get(t.Context(), id)); got.Kind != "k" || string(got.Payload) != "7" || r.ID != id || !r.Changed {
		t.Errorf("job is %+v, result %+v", got, r)
	}
}

// An Adding that does not add is an error of the caller's, its own if it has one.
func TestHooksAddingThatDoesNotAdd(t *testing.T) {
	full := errors.New("quota is used up")
	for _, err := range []error{nil, full} {
		jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
			Adding: func(context.Context, []durable.NewJob, func(context.Context) error) error { return err },
		}))
		_, got := durable.KindOf[int, int](jobs, "k").Add(t.Context(), 1)
		if got == nil || err != nil && !errors.Is(got, err) {
			t.Errorf("%v: the error is %v", err, got)
		}
		if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) > 0 {
			t.Errorf("%v: added all the same: %+v", err, all)
		}
	}
}

// Around has the job, sees how the handler ended, and decides on the error of the run.
func TestHooksAroundSeesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
			Around: func(ctx context.Context, job durable.Job, run func(context.Context) error) error {
				err := run(nil)
				var panicked *executor.PanicError
				seen = append(seen, fmt.Sprintf("%s/%d %v", job.Payload, job.Attempt, errors.As(err, &panicked)))
				if err != nil {
					return executor.Permanent(err)
				}
				return err
			},
		}))
		k := durable.Handle(jobs, "k", func(_ context.Context, n int) (int, error) {
			if n == 0 {
				panic("no")
			}
			return 10 / n, nil
		})
		start(t, jobs)
		if got := must(k.Await(t.Context(), must(k.Add(t.Context(), 5)))); got != 2 {
			t.Errorf("the result is %d", got)
		}
		if _, err := k.Await(t.Context(), must(k.Add(t.Context(), 0))); !errors.Is(err, durable.ErrDead) {
			t.Errorf("after Permanent: %v", err)
		}
		if want := []string{"5/1 false", "0/1 true"}; !slices.Equal(seen, want) {
			t.Errorf("saw %q", seen)
		}
	})
}

// An Around that does not call the handler fails the run; a nil error is no success.
func TestHooksAroundThatDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
			Around: func(context.Context, durable.Job, func(context.Context) error) error { return nil },
		}))
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) {
			t.Error("the handler was called")
			return 0, nil
		})
		start(t, jobs)
		_, err := k.Await(t.Context(), must(k.Add(t.Context(), 5, durable.Attempts(1))))
		var failed *durable.JobError
		if !errors.As(err, &failed) || !strings.Contains(failed.Text, "Around") {
			t.Errorf("error is %v", err)
		}
	})
}

// Hooks that panic end nothing: jobs are added, run and committed, and the log has a line for each hook.
func TestHooksThatPanicEndNothing(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := new(logLines)
			jobs := newJobs(t, memory.New(), func(c *durable.Config) {
				c.Logger = log.logger()
				c.Hooks = durable.Hooks{
					Adding: func(ctx context.Context, _ []durable.NewJob, add func(context.Context) error) error {
						if late {
							add(ctx)
						}
						panic("in Adding")
					},
					Around: func(ctx context.Context, _ durable.Job, run func(context.Context) error) error {
						if late {
							run(ctx)
						}
						panic("in Around")
					},
					Settled: func(durable.Job, durable.Outcome, bool) { panic("in Settled") },
					Call:    func(string, time.Duration, error) { panic("in Call") },
				}
			})
			runs := 0
			k := durable.Handle(jobs, "k", func(_ context.Context, n int) (int, error) {
				runs++
				return n + 1, nil
			})
			start(t, jobs)
			if got := must(k.Await(t.Context(), must(k.Add(t.Context(), 5)))); got != 6 || runs != 1 {
				t.Errorf("the result is %d after %d runs", got, runs)
			}
			synctest.Wait()
			for _, hook := range []string{"Adding", "Around", "Settled", "Call"} {
				if log.count("in "+hook) == 0 {
					t.Errorf("late %v: the log has nothing of %s", late, hook)
				}
			}
		})
	}
}

// Hooks that end their goroutine, as a failing test does, end nothing else: the node commits the outcomes of all jobs,
// calls the other hooks, and stops; and the log has a line for each hook.
func TestHooksThatCallGoexitEndNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(logLines)
		settled := 0
		jobs := newJobs(t, memory.New(), func(c *durable.Config) {
			c.Logger, c.Lease = log.logger(), time.Minute
			c.Hooks = durable.Hooks{
				Settled: func(durable.Job, durable.Outcome, bool) { runtime.Goexit() },
				Failed:  func(durable.Job, durable.Run) { runtime.Goexit() },
				Call:    func(string, time.Duration, error) { runtime.Goexit() },
			}.Join(durable.Hooks{Settled: func(durable.Job, durable.Outcome, bool) { settled++ }})
		})
		k := durable.Handle(jobs, "k", func(_ context.Context, fails bool) (int, error) {
			if fails {
				return 0, errors.New("no")
			}
			return 1, nil
		})
		stop := start(t, jobs)
		ids := must(k.AddAll(t.Context(), 0, []bool{false, true, false}, durable.Attempts(1)))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for i, want := range []durable.State{durable.Succeeded, durable.Dead, durable.Succeeded} {
			if job := must(jobs.Get(t.Context(), ids[i])); job.State != want {
				t.Errorf("job %d is %v, want %v", i, job.State, want)
			}
		}
		if settled != 3 {
			t.Errorf("the other hook was called %d times", settled)
		}
		stop()
		for _, hook := range []string{"Settled", "Failed", "Call"} {
			if log.count("hook="+hook) == 0 {
				t.Errorf("the log has nothing of %s", hook)
			}
		}
	})
}

// A handler that calls runtime.Goexit below Around fails, as it does without.
func TestHooksAroundOfGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
			Around: func(ctx context.Context, _ durable.Job, run func(context.Context) error) error {
				defer func() { ended = true }()
				return run(ctx)
			},
		}))
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) {
			runtime.Goexit()
			return 0, nil
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), 5, durable.Attempts(1)))
		if _, err := k.Await(t.Context(), id); !errors.Is(err, durable.ErrDead) || !ended {
			t.Errorf("error is %v, the hook ended %v", err, ended)
		}
	})
}

// If Around calls runtime.Goexit, what its handler has returned counts, and the handler is not called again for that; a
// schedule goes on also if the handler was not called, in the last attempt.
func TestHooksAroundThatCallsGoexit(t *testing.T) {
	for _, calls := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
				Around: func(ctx context.Context, _ durable.Job, run func(context.Context) error) error {
					if calls {
						run(ctx)
					}
					runtime.Goexit()
					return nil
				},
			}))
			k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, nil })
			id := must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, 5, durable.Attempts(1)))
			start(t, jobs)
			time.Sleep(90 * time.Second)
			synctest.Wait()
			job, runs := must(jobs.Get(t.Context(), id)), must(jobs.History(t.Context(), id, 0, 10))
			if job.State != durable.Waiting || len(runs) != 2 || (runs[0].Verdict == durable.RunSucceeded) != calls {
				t.Errorf("handler called %v: the job is %v, and its runs are %+v", calls, job.State, runs)
			}
		})
	}
}

// Settled has what became of each run, as the history has it.
func TestHooksSettledHasTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var runs []durable.Run
		var states []durable.State
		jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
			Settled: func(j durable.Job, o durable.Outcome, committed bool) {
				mu.Lock()
				defer mu.Unlock()
				if !committed {
					t.Errorf("refused: %+v", o)
				}
				if o.Run.Attempt != j.Attempt {
					t.Errorf("job is in attempt %d, the run was %d", j.Attempt, o.Run.Attempt)
				}
				runs, states = append(runs, o.Run), append(states, o.State)
			},
		}))
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, errors.New("no") })
		start(t, jobs)
		id := must(k.Add(t.Context(), 5, durable.Attempts(2)))
		k.Await(t.Context(), id)
		synctest.Wait()
		want := must(jobs.History(t.Context(), id, 0, 10))
		slices.Reverse(want)
		mu.Lock()
		defer mu.Unlock()
		if len(want) != 2 || !reflect.DeepEqual(runs, want) {
			t.Errorf("Settled had\n%+v, the history has\n%+v", runs, want)
		}
		if !slices.Equal(states, []durable.State{durable.Waiting, durable.Dead}) {
			t.Errorf("states are %v", states)
		}
	})
}

// Settled reports what the store refused.
func TestHooksSettledReportsRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		refused := make(chan bool, 1)
		jobs := newJobs(t, store, withHooks(durable.Hooks{
			Settled: func(_ durable.Job, _ durable.Outcome, committed bool) { refused <- !committed },
		}))
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			j, _ := durable.Current(ctx)
			_, err := store.Release(ctx, j.Owner, nil) // as if another node had declared it dead
			return 0, errors.Join(err, durable.Snooze(time.Hour))
		})
		start(t, jobs)
		must(k.Add(t.Context(), 5))
		if !<-refused {
			t.Error("it was reported as committed")
		}
	})
}

// Call has each call of the store, with its error.
func TestHooksCallHasEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		var mu sync.Mutex
		calls, failed := map[string]int{}, map[string]int{}
		jobs := newJobs(t, store, withHooks(durable.Hooks{Call: func(op string, took time.Duration, err error) {
			mu.Lock()
			defer mu.Unlock()
			if calls[op]++; errors.Is(err, errDown) {
				failed[op]++
			}
			if op == "insert" && err == nil && took != time.Second {
				t.Errorf("insert took %v", took)
			}
		}}))
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, nil })
		stop := start(t, jobs)
		store.delay("insert", time.Second)
		k.Await(t.Context(), must(k.Add(t.Context(), 5)))
		store.down()
		k.Add(t.Context(), 5)
		store.up()
		stop()
		mu.Lock()
		defer mu.Unlock()
		for _, op := range []string{"join", "insert", "heartbeat", "commit", "get", "leave", "paused_kinds"} {
			if calls[op] == 0 {
				t.Errorf("no call of %s in %v", op, calls)
			}
		}
		if failed["insert"] != 1 || calls["insert"] != 2 {
			t.Errorf("failed %v of %v", failed, calls)
		}
	})
}

// Call names each call by its method.
func TestHooksCallNamesTheMethods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		methods := make(map[string]bool)
		for m := range reflect.TypeFor[durable.Store]().Methods() {
			methods[snake(m.Name)] = true
		}
		var mu sync.Mutex
		called := make(map[string]bool)
		jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{Call: func(op string, _ time.Duration, _ error) {
			mu.Lock()
			defer mu.Unlock()
			called[op] = true
			if !methods[op] {
				t.Errorf("%q is no method", op)
			}
		}}), func(c *durable.Config) { c.Queues = []string{"", "q"} })
		durable.Handle(jobs, "k", new(diary).handler)
		start(t, jobs)
		must(jobs.Queues(t.Context()))
		status, _ := jobs.Node()
		must(0, jobs.DrainNode(t.Context(), status.Name))
		must(jobs.Signal(t.Context(), must(durable.KindOf[int, int](jobs, "k").AddAfter(t.Context(), time.Hour, 1)), "s", 1))
		mu.Lock()
		defer mu.Unlock()
		for _, op := range []string{"claim", "claim_queue", "queue_counts", "nodes", "drain_node", "signal", "paused_kinds", "insert"} {
			if !called[op] {
				t.Errorf("no call of %s in %v", op, called)
			}
		}
	})
}

// snake returns a name of Go in snake case.
func snake(name string) string {
	return strings.ToLower(regexp.MustCompile("(.)([A-Z])").ReplaceAllString(name, "${1}_$2"))
}

// Failed is called once for a job whose last attempt has failed, in place of the line of the log; joined, all are
// called though one panics.
func TestHooksFailedReplacesTheLogLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(logLines)
		var seen []string
		jobs := newJobs(t, memory.New(), func(c *durable.Config) {
			c.Logger = log.logger()
			c.Hooks = durable.Hooks{Failed: func(durable.Job, durable.Run) { panic("in Failed") }}.Join(
				durable.Hooks{Failed: func(job durable.Job, run durable.Run) {
					seen = append(seen, fmt.Sprintf("%s after %d: %v, %s", job.Key, run.Attempt, run.Verdict, run.Error))
				}})
		})
		k := durable.Handle(jobs, "k", func(_ context.Context, fails bool) (int, error) {
			if fails {
				return 0, errors.New("no")
			}
			return 0, nil
		})
		stop := start(t, jobs)
		must(k.Add(t.Context(), true, durable.Key("fails"), durable.Attempts(3)))
		must(k.Add(t.Context(), false, durable.Key("succeeds")))
		time.Sleep(time.Hour)
		synctest.Wait()
		stop()
		if want := []string{"fails after 3: failed, no"}; !slices.Equal(seen, want) {
			t.Errorf("called for %q, want %q", seen, want)
		}
		if log.count("failed for good") != 0 || log.count("hook=Failed") != 1 {
			t.Errorf("log:\n%s", &log.buf)
		}
	})
}

// Join nests what is around, keeps the order of the rest, and calls them all though one panics.
func TestHooksJoinCallsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen []string
		note := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprintf(format, args...))
		}
		of := func(name string) durable.Hooks {
			return durable.Hooks{
				Adding: func(ctx context.Context, _ []durable.NewJob, add func(context.Context) error) error {
					note("%s adds", name)
					defer note("%s has added", name)
					return add(ctx)
				},
				Around: func(ctx context.Context, _ durable.Job, run func(context.Context) error) error {
					note("%s runs", name)
					defer note("%s has run", name)
					return run(nil)
				},
				Settled: func(durable.Job, durable.Outcome, bool) { note("%s settled", name); panic(name) },
			}
		}
		jobs := newJobs(t, memory.New(), withHooks(of("a").Join(durable.Hooks{}, of("b"))))
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { note("handler"); return 0, nil })
		id := must(k.Add(t.Context(), 5))
		start(t, jobs)
		must(k.Await(t.Context(), id))
		synctest.Wait()
		want := "a adds, b adds, b has added, a has added, a runs, b runs, handler, b has run, a has run, a settled, b settled"
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(seen, ", "); got != want {
			t.Errorf("called\n%s, want\n%s", got, want)
		}
	})
}
