package durable_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A bubble is Jobs that run in one, with a kind of one handler.
type bubble struct {
	*testing.T
	store *faulty
	jobs  *durable.Jobs
	kind  *durable.Kind[string, string]
}

// inBubble runs a test with a handler in a bubble.
func inBubble(t *testing.T, handler func(ctx context.Context, payload string) (string, error), test func(b *bubble),
	opts ...durable.HandlerOption) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, store: newFaulty(memory.New())}
		b.jobs = newJobs(t, b.store, func(c *durable.Config) {
			c.Executor = executor.Scheduled(1)
			t.Cleanup(c.Executor.Close)
		})
		b.kind = durable.Handle(b.jobs, "k", handler, opts...)
		start(t, b.jobs)
		test(b)
	})
}

// add adds a job.
func (b *bubble) add(opts ...durable.Option) durable.ID {
	b.Helper()
	return must(b.kind.Add(b.Context(), "", opts...))
}

// tallies counts calls by name.
type tallies struct {
	mu sync.Mutex
	of map[string]int
}

func (t *tallies) note(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = make(map[string]int)
	}
	t.of[name]++
}

func (t *tallies) all() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.of)
}

func (t *tallies) count(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[name]
}

// A step whose result is kept is not run again by the next attempt, which gets the result.
func TestStepRunsOnce(t *testing.T) {
	var calls tallies
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		calls.note("handler")
		n, err := durable.Step(ctx, "reserve", func(context.Context) (int, error) {
			calls.note("reserve")
			return 7, nil
		})
		if err != nil {
			return "", err
		}
		return durable.Step(ctx, "charge", func(context.Context) (string, error) {
			calls.note("charge")
			if calls.count("charge") < 3 {
				return "", errBoom
			}
			return fmt.Sprint("charged for ", n), nil
		})
	}, func(b *bubble) {
		if got, err := b.kind.Await(b.Context(), b.add()); got != "charged for 7" || err != nil {
			b.Errorf("got %q, %v", got, err)
		}
		if h, r, c := calls.count("handler"), calls.count("reserve"), calls.count("charge"); h != 3 || r != 1 || c != 3 {
			b.Errorf("%d runs, %d and %d calls; want 3, 1 and 3", h, r, c)
		}
	})
}

// The result is what JSON makes of it in the first run, too.
func TestStepReturnsWhatIsKept(t *testing.T) {
	type result struct{ Kept, lost int }
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		r, err := durable.Step(ctx, "s", func(context.Context) (result, error) { return result{1, 2}, nil })
		if r != (result{Kept: 1}) {
			t.Errorf("the result is %+v", r)
		}
		return "", err
	}, func(b *bubble) {
		if _, err := b.kind.Await(b.Context(), b.add()); err != nil {
			b.Error(err)
		}
	})
}

// A name is for one step in a run: the same step returns its result again, and anything else is an error that says so.
func TestStepNames(t *testing.T) {
	one := func(context.Context) (int, error) { return 1, nil }
	step := func(ctx context.Context, name string) error {
		_, err := durable.Step(ctx, name, one)
		return err
	}
	for name, test := range map[string]struct {
		do   func(ctx context.Context) error
		want error
	}{
		"the same twice": {func(ctx context.Context) error { return errors.Join(step(ctx, "s"), step(ctx, "s")) }, nil},
		"another type": {func(ctx context.Context) error {
			_, err := durable.Step(ctx, "s", func(context.Context) (string, error) { return "", nil })
			return errors.Join(err, step(ctx, "s"))
		}, executor.ErrInvalid},
		"a sleep": {func(ctx context.Context) error {
			return errors.Join(durable.SnoozeOnce(ctx, "s", 0), step(ctx, "s"))
		}, executor.ErrInvalid},
		"a signal": {func(ctx context.Context) error {
			_, err := durable.Wait[int](ctx, "s")
			if _, waits := durable.Snoozed(err); !waits {
				return err
			}
			return step(ctx, "s")
		}, nil},
		"at once": {func(ctx context.Context) error {
			_, err := durable.Step(ctx, "s", func(ctx context.Context) (int, error) { return 1, step(ctx, "s") })
			return err
		}, executor.ErrInvalid},
		"one in another": {func(ctx context.Context) error {
			_, err := durable.Step(ctx, "s", func(ctx context.Context) (int, error) { return 1, step(ctx, "inner") })
			return err
		}, nil},
		"after an error": {func(ctx context.Context) error {
			_, err := durable.Step(ctx, "s", func(context.Context) (int, error) { return 0, errBoom })
			if err != errBoom {
				return errors.New("the error of the function is lost")
			}
			return step(ctx, "s")
		}, nil},
		"after a panic": {func(ctx context.Context) error {
			func() {
				defer func() { recover() }()
				durable.Step(ctx, "s", func(context.Context) (int, error) { panic("boom") })
			}()
			return step(ctx, "s")
		}, nil},
		"none":         {func(ctx context.Context) error { return step(ctx, "") }, executor.ErrInvalid},
		"nil function": {func(ctx context.Context) error { _, err := durable.Step[int](ctx, "s", nil); return err }, executor.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(ctx context.Context, _ string) (string, error) {
				if err := test.do(ctx); !errors.Is(err, test.want) {
					t.Errorf("got %v, want %v", err, test.want)
				}
				return "", nil
			}, func(b *bubble) { must(b.kind.Await(b.Context(), b.add())) })
		})
	}
}

// Outside of a handler, and with a store that keeps none, steps are errors that say so.
func TestStepOutsideOfHandler(t *testing.T) {
	calls := func(ctx context.Context) []error {
		_, step := durable.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
		_, wait := durable.Wait[int](ctx, "s")
		return []error{step, wait, durable.SnoozeOnce(ctx, "s", time.Second)}
	}
	for _, err := range calls(t.Context()) {
		if !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("outside of a handler: %v", err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		defer pool.Close()
		jobs := must(durable.New(durable.Config{Store: bare{memory.New()}, Executor: pool}))
		kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			for _, err := range calls(ctx) {
				if !errors.Is(err, executor.ErrInvalid) {
					t.Errorf("with a bare store: %v", err)
				}
			}
			return "", nil
		})
		start(t, jobs)
		must(kind.Await(t.Context(), must(kind.Add(t.Context(), ""))))
		if _, err := jobs.Signal(t.Context(), durable.NewID(), "s", 1); !errors.Is(err, executor.ErrInvalid) {
			t.Error(err)
		}
		if _, err := jobs.Steps(t.Context(), durable.NewID()); !errors.Is(err, executor.ErrInvalid) {
			t.Error(err)
		}
	})
}

// A run that is no longer its node's keeps nothing, and gets an error.
func TestStepOfALostRunIsRefused(t *testing.T) {
	var store *faulty
	lost := false
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		if lost {
			return "", nil
		}
		lost = true
		j, _ := durable.Current(ctx)
		must(store.Release(ctx, j.Owner, nil))
		_, err := durable.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
		if !errors.Is(err, durable.ErrRefused) {
			t.Errorf("got %v, want ErrRefused", err)
		}
		return "", err
	}, func(b *bubble) {
		store = b.store
		id := b.add()
		must(b.kind.Await(b.Context(), id))
		if kept := must(b.jobs.Steps(b.Context(), id)); len(kept) > 0 {
			b.Errorf("kept are %+v", kept)
		}
	})
}

// While the store does not answer, or its answers are lost, a step goes on trying, and its function is called once.
func TestStepWaitsForTheStore(t *testing.T) {
	for name, fault := range map[string]func() (error, error){
		"down": func() (error, error) { return errDown, nil },
		"lost": func() (error, error) { return nil, errLost },
	} {
		t.Run(name, func(t *testing.T) {
			var calls tallies
			inBubble(t, func(ctx context.Context, _ string) (string, error) {
				return durable.Step(ctx, "s", func(context.Context) (string, error) {
					calls.note("s")
					return "done", nil
				})
			}, func(b *bubble) {
				begun := time.Now()
				b.store.set(func(op string) (error, error) {
					if (op == "kept_steps" || op == "keep_step") && time.Since(begun) < 10*time.Second {
						return fault()
					}
					return nil, nil
				})
				got, err := b.kind.Await(b.Context(), b.add())
				if got != "done" || err != nil || calls.count("s") != 1 || time.Since(begun) < 10*time.Second {
					b.Errorf("got %q, %v after %v and %d calls", got, err, time.Since(begun), calls.count("s"))
				}
				if err := b.jobs.Healthy(b.Context()); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// Once the context of a run has ended no step begins; what had begun is kept all the same.
func TestStepAfterTheEndOfTheContext(t *testing.T) {
	runs := 0
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		if runs++; runs > 1 {
			return durable.Step(ctx, "late", func(context.Context) (string, error) { return "again", nil })
		}
		late, err := durable.Step(ctx, "late", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "kept", nil
		})
		if late != "kept" || err != nil {
			t.Errorf("got %q, %v", late, err)
		}
		_, err = durable.Step(ctx, "next", func(context.Context) (string, error) {
			t.Error("a step has begun")
			return "", nil
		})
		return "", err
	}, func(b *bubble) {
		id := b.add(durable.Timeout(time.Minute))
		got, err := b.kind.Await(b.Context(), id)
		runs := must(b.jobs.History(b.Context(), id, 0, 5))
		if got != "kept" || err != nil || len(runs) != 2 || runs[1].Error != executor.ErrTimeout.Error() {
			b.Errorf("got %q, %v, %+v", got, err, runs)
		}
	})
}

// Each occurrence of a periodic job has steps of its own.
func TestStepOfEachOccurrence(t *testing.T) {
	var calls tallies
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		j, _ := durable.Current(ctx)
		if _, err := durable.Step(ctx, "s", func(context.Context) (int, error) {
			calls.note(j.Occurrence.String())
			return 1, nil
		}); err != nil {
			return "", err
		}
		if calls.note("run"); calls.count("run")%2 == 1 {
			return "", errBoom
		}
		return "", nil
	}, func(b *bubble) {
		must(b.kind.AtFixedRate(b.Context(), "key", 0, 10*time.Minute, ""))
		time.Sleep(100*time.Minute + time.Minute)
		if all := calls.all(); len(all) != 12 || all["run"] != 22 {
			b.Errorf("called %v, want 22 runs, and each of 11 occurrences once", all)
		}
	})
}

// A job that is revived goes on where it was.
func TestStepOfARevivedJob(t *testing.T) {
	var calls tallies
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		if _, err := durable.Step(ctx, "s", func(context.Context) (int, error) { calls.note("s"); return 1, nil }); err != nil {
			return "", err
		}
		if calls.note("run"); calls.count("run") == 1 {
			return "", executor.Permanent(errBoom)
		}
		return "", nil
	}, func(b *bubble) {
		id := b.add()
		if _, err := b.kind.Await(b.Context(), id); !errors.Is(err, durable.ErrDead) {
			b.Fatal(err)
		}
		time.Sleep(time.Hour)
		must(b.jobs.Revive(b.Context(), id))
		if _, err := b.kind.Await(b.Context(), id); err != nil || calls.count("s") != 1 || calls.count("run") != 2 {
			b.Errorf("%v: called %v", err, calls.all())
		}
	})
}

// A handler without steps costs no call of the store, and one with some one call each and one more.
func TestStepCalls(t *testing.T) {
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		j, _ := durable.Current(ctx)
		if j.Key == "" {
			return "", nil
		}
		for i := range 3 {
			if _, err := durable.Step(ctx, fmt.Sprint(i), func(context.Context) (int, error) { return i, nil }); err != nil {
				return "", err
			}
		}
		return "", nil
	}, func(b *bubble) {
		must(b.kind.Await(b.Context(), b.add()))
		if n := b.store.callsOf("kept_steps") + b.store.callsOf("keep_step"); n != 0 {
			b.Errorf("without steps there were %d calls", n)
		}
		must(b.kind.Await(b.Context(), b.add(durable.Key("key"))))
		if reads, keeps := b.store.callsOf("kept_steps"), b.store.callsOf("keep_step"); reads != 1 || keeps != 3 {
			b.Errorf("with 3 steps there were %d reads and %d commits", reads, keeps)
		}
	})
}

// A job that sleeps holds no worker and counts no attempt, and goes on at the time.
func TestSleep(t *testing.T) {
	var begun []time.Duration
	var since time.Time
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		if j, _ := durable.Current(ctx); j.Key == "" {
			return "other", nil
		}
		begun = append(begun, time.Since(since))
		if err := durable.SnoozeOnce(ctx, "hours", 3*time.Hour); err != nil {
			return "", err
		}
		if err := durable.SnoozeOnce(ctx, "an hour", time.Hour); err != nil {
			return "", err
		}
		return "slept", nil
	}, func(b *bubble) {
		since = time.Now()
		id := b.add(durable.Key("key"), durable.Attempts(1))
		time.Sleep(time.Minute)
		if got, err := b.kind.Await(b.Context(), b.add()); got != "other" || err != nil || time.Since(since) != time.Minute {
			b.Errorf("beside it: %q, %v after %v", got, err, time.Since(since)) // there is one worker
		}
		must(b.jobs.RunNow(b.Context(), id))
		got, err := b.kind.Await(b.Context(), id)
		if want := []time.Duration{0, time.Minute, 3 * time.Hour, 4 * time.Hour}; got != "slept" || err != nil || !slices.Equal(begun, want) {
			b.Errorf("got %q, %v; begun after %v, want %v", got, err, begun, want)
		}
		for _, r := range must(b.jobs.History(b.Context(), id, 0, 9))[1:] {
			if r.Verdict != durable.RunSnoozed {
				b.Errorf("a run is %+v", r)
			}
		}
	})
}

// A job that waits for a signal goes on when it comes, with its payload; the signal may come before.
func TestWait(t *testing.T) {
	type answer struct{ By string }
	var calls tallies
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		calls.note("run")
		if _, err := durable.Step(ctx, "ask", func(context.Context) (int, error) { calls.note("ask"); return 1, nil }); err != nil {
			return "", err
		}
		a, err := durable.Wait[answer](ctx, "approve")
		if err != nil {
			return "", err
		}
		if calls.note("approved"); calls.count("approved") == 1 {
			return "", errBoom // the next attempt gets the same
		}
		return a.By, nil
	}, func(b *bubble) {
		id := b.add(durable.Attempts(2))
		time.Sleep(3 * time.Hour)
		if j := must(b.jobs.Get(b.Context(), id)); j.State != durable.Waiting || calls.count("run") != 1 {
			b.Errorf("after %d runs it is %+v", calls.count("run"), j)
		}
		signaled := time.Now()
		if a := must(b.jobs.Signal(b.Context(), id, "approve", answer{"ann"})); a != durable.Applied {
			b.Errorf("the signal was answered %v", a)
		}
		got, err := b.kind.Await(b.Context(), id)
		if got != "ann" || err != nil || calls.count("ask") != 1 || time.Since(signaled) > 2*time.Second {
			b.Errorf("got %q, %v after %v, and asked %d times", got, err, time.Since(signaled), calls.count("ask"))
		}
		early := must(b.kind.AddAfter(b.Context(), time.Hour, ""))
		must(b.jobs.Signal(b.Context(), early, "approve", answer{"bob"}))
		if got, err := b.kind.Await(b.Context(), early); got != "bob" || err != nil {
			b.Errorf("got %q, %v", got, err)
		}
		for id, want := range map[durable.ID]durable.Answer{early: durable.TooLate, durable.NewID(): durable.NotFound} {
			if a := must(b.jobs.Signal(b.Context(), id, "approve", answer{"eve"})); a != want {
				b.Errorf("a signal was answered %v, want %v", a, want)
			}
		}
	})
}

// A wait for a signal or a time ends with what comes first.
func TestWaitUntil(t *testing.T) {
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		by, err := durable.Wait[string](ctx, "approve")
		if _, waits := durable.Snoozed(err); waits {
			if err := durable.SnoozeOnce(ctx, "deadline", 3*time.Hour); err != nil {
				return "", err
			}
			return "nobody", nil
		}
		return by, err
	}, func(b *bubble) {
		since := time.Now()
		answered, ignored := b.add(), b.add()
		time.Sleep(time.Hour)
		must(b.jobs.Signal(b.Context(), answered, "approve", "ann"))
		if got, err := b.kind.Await(b.Context(), answered); got != "ann" || err != nil || time.Since(since) > 2*time.Hour {
			b.Errorf("got %q, %v after %v", got, err, time.Since(since))
		}
		if got, err := b.kind.Await(b.Context(), ignored); got != "nobody" || err != nil || time.Since(since) < 3*time.Hour {
			b.Errorf("got %q, %v after %v", got, err, time.Since(since))
		}
	})
}

// A WaitFor ends with what comes first, the signal or the time, and stays so: in each later run, on another node, and if
// the signal comes later.
func TestWaitFor(t *testing.T) {
	var runs tallies
	inBubble(t, func(ctx context.Context, name string) (string, error) {
		runs.note(name)
		by, came, err := durable.WaitFor[string](ctx, "approve", 3*time.Hour)
		if err != nil {
			return "", err
		}
		if err := durable.SnoozeOnce(ctx, "after", time.Hour); err != nil { // another run
			return "", err
		}
		return fmt.Sprint(by, came), nil
	}, func(b *bubble) {
		since := time.Now()
		add := func(name string) durable.ID {
			return must(b.kind.Add(b.Context(), name, durable.Attempts(1)))
		}
		early, answered, ignored, late := add("early"), add("answered"), add("ignored"), add("late")
		must(b.jobs.Signal(b.Context(), early, "approve", "eve"))
		time.Sleep(time.Hour)
		must(b.jobs.Signal(b.Context(), answered, "approve", "ann"))
		must(b.jobs.RunNow(b.Context(), ignored)) // which makes the wait no shorter
		time.Sleep(2*time.Hour + time.Minute)
		if a := must(b.jobs.Signal(b.Context(), late, "approve", "lea")); a != durable.Applied {
			b.Errorf("a late signal: %v", a)
		}
		for name, want := range map[string]struct {
			id     durable.ID
			result string
			after  time.Duration
			runs   int
		}{
			"early": {early, "evetrue", time.Hour, 3}, "answered": {answered, "anntrue", 2 * time.Hour, 3},
			"ignored": {ignored, "false", 4 * time.Hour, 4}, "late": {late, "false", 4 * time.Hour, 4},
		} {
			got, err := b.kind.Await(b.Context(), want.id)
			j := must(b.jobs.Get(b.Context(), want.id))
			if d := j.Updated.Sub(since).Truncate(time.Minute); got != want.result || err != nil || d != want.after || runs.count(name) > want.runs {
				b.Errorf("%s: got %q, %v after %v in %d runs", name, got, err, d, runs.count(name))
			}
		}
	})
}

// A WaitFor without time asks whether the signal has come; it can't have the name of a step.
func TestWaitForNoTime(t *testing.T) {
	inBubble(t, func(ctx context.Context, _ string) (string, error) {
		if _, came, err := durable.WaitFor[string](ctx, "never", -time.Hour); came || err != nil {
			return "", fmt.Errorf("it came: %t, %w", came, err)
		}
		_, err := durable.Step(ctx, "never", func(context.Context) (int, error) { return 1, nil })
		if !errors.Is(err, executor.ErrInvalid) {
			return "", fmt.Errorf("a step of the same name: %w", err)
		}
		_, _, err = durable.WaitFor[string](context.Background(), "x", 0)
		if !errors.Is(err, executor.ErrInvalid) {
			return "", fmt.Errorf("without a handler: %w", err)
		}
		return "done", nil
	}, func(b *bubble) {
		if got, err := b.kind.Await(b.Context(), b.add(durable.Attempts(1))); got != "done" || err != nil {
			b.Errorf("got %q, %v", got, err)
		}
	})
}

// A signal makes a job due at once that a node has claimed ahead of the end of its wait.
func TestWaitOfAJobThatIsClaimedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), lazy)
		kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			by, err := durable.Wait[string](ctx, "go")
			if _, waits := durable.Snoozed(err); waits {
				return "nobody", durable.SnoozeOnce(ctx, "deadline", 5*time.Minute)
			}
			return by, err
		})
		start(t, jobs)
		id := must(kind.Add(t.Context(), ""))
		time.Sleep(time.Minute)
		if j := must(jobs.Get(t.Context(), id)); j.State != durable.Claimed {
			t.Fatalf("it is %v, want claimed", j.State)
		}
		must(jobs.Signal(t.Context(), id, "go", "ann"))
		time.Sleep(time.Second)
		synctest.Wait()
		if j := must(jobs.Get(t.Context(), id)); j.State != durable.Succeeded {
			t.Errorf("it is %v a second after the signal", j.State)
		}
	})
}

// A signal that comes while the run ends that waits for it is not missed.
func TestWaitDuringTheEnd(t *testing.T) {
	inBubble(t, func(ctx context.Context, _ string) (string, error) { return durable.Wait[string](ctx, "go") }, func(b *bubble) {
		id := must(b.kind.AddAfter(b.Context(), time.Second, "")) // after the store was set
		b.store.set(func(op string) (error, error) {
			if op == "keep_step" {
				go func() {
					time.Sleep(time.Millisecond) // the commit is later
					must(b.jobs.Signal(b.Context(), id, "go", "gone"))
				}()
			}
			return nil, nil
		})
		b.store.delay("keep_step", 2*time.Millisecond)
		if got, err := b.kind.Await(b.Context(), id); got != "gone" || err != nil {
			b.Errorf("got %q, %v", got, err)
		}
	})
}

// Nodes that die between steps, or lose their line to the store for a while, or the answers of single calls: each step
// runs until its result is kept, and not once more.
func TestStepUnderFaults(t *testing.T) {
	const jobs, steps = 40, 5
	for seed := range uint64(50) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, random := memory.New(), rand.New(rand.NewPCG(seed, 1))
				var calls tallies
				handler := func(ctx context.Context, _ string) (string, error) {
					j, _ := durable.Current(ctx)
					result := ""
					for i := range steps {
						name := fmt.Sprint("step ", i)
						time.Sleep(300 * time.Millisecond) // between what it knows to be kept and the next step
						v, err := durable.Step(ctx, name, func(context.Context) (string, error) {
							for _, k := range must(store.KeptSteps(ctx, j.ID)) {
								if k.Name == name {
									t.Errorf("%s of job %s runs again, and its result is kept", name, j.ID)
								}
							}
							calls.note("calls")
							time.Sleep(100 * time.Millisecond)
							return fmt.Sprint(j.ID, i), nil
						})
						if err != nil {
							return "", err
						}
						if v != fmt.Sprint(j.ID, i) {
							t.Errorf("the result of %s is %q", name, v)
						}
						result += v
					}
					return result, nil
				}
				node := func() (*faulty, *durable.Kind[string, string]) {
					line := newFaulty(store)
					j := newJobs(t, line)
					kind := durable.Handle(j, "k", handler, durable.WithBackoff(executor.Backoff(time.Second, time.Second)))
					start(t, j)
					return line, kind
				}
				_, sound := node()
				var ids []durable.ID
				for range jobs {
					ids = append(ids, must(sound.Add(t.Context(), "", durable.Attempts(1000))))
				}
				for range 6 {
					line, _ := node()
					time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
					switch random.IntN(4) {
					case 0: // it dies
						line.down()
					case 1: // it is cut off, and comes back as a zombie
						line.down()
						time.Sleep(5 * time.Second)
						line.up()
					case 2: // its calls take effect when others have taken its jobs over
						late := 3*time.Second + time.Duration(random.IntN(2000))*time.Millisecond
						line.set(func(string) (error, error) {
							time.Sleep(late)
							return nil, nil
						})
					case 3: // answers are lost
						var mu sync.Mutex
						lost := rand.New(rand.NewPCG(seed, random.Uint64()))
						line.set(func(string) (error, error) {
							mu.Lock()
							defer mu.Unlock()
							if lost.IntN(3) == 0 {
								return nil, errLost
							}
							return nil, nil
						})
					}
				}
				for _, id := range ids {
					if _, err := sound.Await(t.Context(), id); err != nil {
						t.Error(err)
					}
				}
				t.Logf("%d calls for %d steps", calls.count("calls"), jobs*steps)
			})
		})
	}
}
