package durable_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// While a kind is paused no job of it begins on any node, whether it was claimed before its time, waited for a worker,
// was added meanwhile or was to run now; those of other kinds do. When it is resumed they begin, each in its first
// attempt.
func TestPauseKindKeepsJobsFromBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d, other diary
		operator := newJobs(t, store)
		k := durable.KindOf[string, string](operator, "k")
		for _, long := range []string{"long", "longer"} { // keeps the one worker of its node busy
			jobs := newJobs(t, store, func(c *durable.Config) {
				c.Executor = executor.Scheduled(1)
				t.Cleanup(c.Executor.Close)
			})
			durable.Handle(jobs, "k", d.handler)
			durable.Handle(jobs, "other", other.handler)
			durable.Handle(jobs, long, func(context.Context, string) (string, error) {
				time.Sleep(10 * time.Second)
				return "", nil
			})
			start(t, jobs)
			must(durable.KindOf[string, string](operator, long).Add(t.Context(), ""))
		}
		time.Sleep(2 * time.Second)
		for _, delay := range []time.Duration{0, 0, 2 * time.Second, time.Minute} {
			must(k.AddAfter(t.Context(), delay, ""))
		}
		time.Sleep(1500 * time.Millisecond) // what is due soon is claimed
		must(0, operator.PauseKind(t.Context(), "k"))
		time.Sleep(900 * time.Millisecond)
		must(k.Add(t.Context(), ""))
		now := must(k.AddAfter(t.Context(), time.Hour, ""))
		must(operator.RunNow(t.Context(), now))
		must(durable.KindOf[string, string](operator, "other").Add(t.Context(), ""))
		time.Sleep(time.Hour)
		if d.count() != 0 || other.count() != 1 {
			t.Fatalf("%d of the paused kind have begun, and %d of another one", d.count(), other.count())
		}
		must(0, operator.ResumeKind(t.Context(), "k"))
		time.Sleep(1900 * time.Millisecond)
		if d.count() != 6 {
			t.Errorf("%d of 6 have begun", d.count())
		}
		for _, j := range d.all() {
			if j.Attempt != 1 {
				t.Errorf("job %v had attempt %d", j.ID, j.Attempt)
			}
		}
	})
}

// A program that pauses a kind begins no more of it from then on, whatever answers of the store are on their way, and
// goes on at once when it resumes it.
func TestPauseKindHereIsAtOnce(t *testing.T) {
	for _, late := range []string{"none", "heartbeat", "claim", "insert", "commit"} {
		t.Run(late, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFaulty(memory.New())
				jobs, k, d := newNode(t, store)
				start(t, jobs)
				store.delay(late, 700*time.Millisecond)
				time.Sleep(500 * time.Millisecond)
				added := make(chan bool)
				go func() {
					defer close(added)
					for _, delay := range []time.Duration{200 * time.Millisecond, 510 * time.Millisecond,
						900 * time.Millisecond} {
						must(k.AddAfter(context.WithoutCancel(t.Context()), delay, ""))
					}
				}()
				time.Sleep(500 * time.Millisecond)
				must(0, jobs.PauseKind(t.Context(), "k"))
				begun := d.count()
				<-added
				time.Sleep(10 * time.Minute)
				if n := d.count(); n != begun {
					t.Errorf("%d have begun during the pause", n-begun)
				}
				store.delay(late, 0)
				resumed := time.Now()
				must(0, jobs.ResumeKind(t.Context(), "k"))
				synctest.Wait()
				if d.count() != 3 || time.Since(resumed) != 0 {
					t.Errorf("%d of 3 have begun", d.count())
				}
			})
		})
	}
}

// A program that pauses a kind while its node starts knows also of the kinds that were paused before, and begins no job
// of either.
func TestPauseKindHereDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		must(0, newJobs(t, store).PauseKind(t.Context(), "before"))
		jobs := newJobs(t, store)
		var d diary
		for _, kind := range []string{"before", "here"} {
			must(durable.Handle(jobs, kind, d.handler).Add(t.Context(), ""))
		}
		store.delay("join", 500*time.Millisecond)
		start(t, jobs)
		time.Sleep(100 * time.Millisecond)
		must(0, jobs.PauseKind(t.Context(), "here"))
		time.Sleep(time.Hour)
		if d.count() != 0 {
			t.Errorf("%d have begun", d.count())
		}
	})
}

// A pause that comes between what a heartbeat saw and its answer holds, however little time there is between them.
func TestPauseKindHereDuringHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &answering{Store: memory.New()}
		jobs := newJobs(t, store)
		store.answer = func() { must(0, jobs.PauseKind(t.Context(), "k")) }
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		time.Sleep(time.Second)
		must(k.Add(t.Context(), ""))
		time.Sleep(time.Hour)
		if d.count() != 0 {
			t.Errorf("%d have begun", d.count())
		}
	})
}

// answering is a store that calls answer between what the first heartbeat saw and its
// answer.
type answering struct {
	durable.Store
	answer func()
	once   sync.Once
}

func (s *answering) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durablestore.Watch) (durablestore.HeartbeatResult, error) {
	p, err := s.Store.Heartbeat(ctx, node, lease, w)
	s.once.Do(s.answer)
	return p, err
}

// A run that was in progress when its kind was paused goes on to its end.
func TestPauseKindLetsRunsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			time.Sleep(time.Minute)
			return "done", ctx.Err()
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), ""))
		time.Sleep(time.Second)
		must(0, jobs.PauseKind(t.Context(), "k"))
		if got := must(k.Await(t.Context(), id)); got != "done" {
			t.Errorf("result %q", got)
		}
	})
}

// A node that starts when a kind is paused begins no job of it, not before its first heartbeat either, and logs it.
func TestPauseKindBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var log strings.Builder
		jobs, k, d := newNode(t, store, func(c *durable.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		must(k.Add(t.Context(), ""))
		must(0, newJobs(t, store).PauseKind(t.Context(), "k"))
		stop := start(t, jobs)
		time.Sleep(time.Hour)
		stop()
		if d.count() != 0 {
			t.Errorf("%d have begun", d.count())
		}
		if strings.Count(log.String(), "paused") != 1 {
			t.Errorf("log:\n%s", &log)
		}
	})
}

// What a periodic job missed while its kind was paused is treated as its policy says.
func TestPauseKindMissesOccurrences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		must(k.AtFixedRate(t.Context(), "rate", time.Minute, time.Minute, "", durable.OnMissed(durable.Skip(time.Second))))
		must(0, jobs.PauseKind(t.Context(), "k"))
		begun := time.Now()
		time.Sleep(10*time.Minute + 30*time.Second)
		must(0, jobs.ResumeKind(t.Context(), "k"))
		time.Sleep(time.Minute)
		d.wants(t, begun, 11*time.Minute)
	})
}

// A run that was begun, and is postponed since it is for another occurrence than the store has, does not begin again
// while its kind is paused.
func TestPauseKindDuringPostponedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &trigger{next: func(after time.Time) time.Time {
			time.Sleep(time.Second)
			return after.Truncate(time.Hour).Add(time.Hour)
		}}
		jobs, k, d := newNode(t, memory.New(),
			func(c *durable.Config) { c.Triggers = map[string]executor.Trigger{"slow": slow} })
		must(k.On(t.Context(), "key", durable.NamedTrigger("slow"), ""))
		time.Sleep(5 * time.Hour)
		start(t, jobs)
		time.Sleep(500 * time.Millisecond) // the trigger is asked for the latest occurrence
		must(0, jobs.PauseKind(t.Context(), "k"))
		time.Sleep(30 * time.Minute)
		if d.count() != 0 {
			t.Fatalf("%d have begun during the pause", d.count())
		}
		must(0, jobs.ResumeKind(t.Context(), "k"))
		time.Sleep(time.Minute)
		if d.count() != 1 {
			t.Errorf("%d have begun", d.count())
		}
	})
}

// PausedKinds returns the kinds that are paused, in order, until they are resumed; a name that no kind can have is an
// error.
func TestPausedKindsAreInOrder(t *testing.T) {
	jobs := newJobs(t, memory.New())
	for _, kind := range []string{"b", "a", "b"} {
		must(0, jobs.PauseKind(t.Context(), kind))
	}
	must(0, jobs.ResumeKind(t.Context(), "never paused"))
	if got := must(jobs.PausedKinds(t.Context())); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("paused are %q", got)
	}
	for _, kind := range []string{"", "a\x00", strings.Repeat("k", durable.MaxKind+1)} {
		if err := jobs.PauseKind(t.Context(), kind); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("pause of %q: %v", kind, err)
		}
		if err := jobs.ResumeKind(t.Context(), kind); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("resume of %q: %v", kind, err)
		}
	}
}

// A kind that is paused until a time begins again then, if a node with any handler is there, and its jobs begin late.
func TestPauseKindUntilEndsAtTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs, k, d := newNode(t, store)
		start(t, jobs)
		operator := newJobs(t, store)
		until := must(store.Now(t.Context())).Add(time.Hour)
		must(0, operator.PauseKindUntil(t.Context(), "k", until))
		time.Sleep(time.Second) // until the node knows
		must(k.Add(t.Context(), ""))
		time.Sleep(time.Hour - 2*time.Second)
		if d.count() != 0 {
			t.Fatal("a job of the paused kind has begun")
		}
		time.Sleep(time.Minute)
		if kinds := must(operator.PausedKinds(t.Context())); d.count() != 1 || len(kinds) > 0 {
			t.Errorf("%d of 1 have begun; paused are %q", d.count(), kinds)
		}
	})
}

// The latest of the calls that pause and resume a kind counts, whatever ends the others named.
func TestPauseKindUntilLatestCallCounts(t *testing.T) {
	type call func(*durable.Jobs) error
	until := func(d time.Duration) call {
		return func(j *durable.Jobs) error { return j.PauseKindUntil(context.Background(), "k", time.Now().Add(d)) }
	}
	pause := func(j *durable.Jobs) error { return j.PauseKind(context.Background(), "k") }
	resume := func(j *durable.Jobs) error { return j.ResumeKind(context.Background(), "k") }
	for name, test := range map[string]struct {
		calls  []call
		paused [3]bool // after half a minute, a minute and a half, two and a half
	}{
		"until":            {[]call{until(time.Minute)}, [3]bool{true, false, false}},
		"later":            {[]call{until(time.Minute), until(2 * time.Minute)}, [3]bool{true, true, false}},
		"sooner":           {[]call{until(2 * time.Minute), until(time.Minute)}, [3]bool{true, false, false}},
		"then for good":    {[]call{until(time.Minute), pause}, [3]bool{true, true, true}},
		"no longer always": {[]call{pause, until(time.Minute)}, [3]bool{true, false, false}},
		"resumed, paused":  {[]call{until(time.Minute), resume, pause}, [3]bool{true, true, true}},
		"resumed":          {[]call{until(time.Minute), resume}, [3]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs, _, _ := newNode(t, memory.New())
				start(t, jobs)
				for _, c := range test.calls {
					must(0, c(jobs))
					time.Sleep(time.Second)
				}
				time.Sleep(30 * time.Second)
				for i, want := range test.paused {
					if is := len(must(jobs.PausedKinds(t.Context()))) > 0; is != want {
						t.Errorf("paused after %d minutes and a half: %v", i, is)
					}
					time.Sleep(time.Minute)
				}
			})
		})
	}
}

// A time that has passed, and one that no store can have, are errors, and pause nothing.
func TestPauseKindUntilRefusesPassedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, _, _ := newNode(t, memory.New())
		for _, until := range []time.Time{{}, time.Now().Add(-time.Second), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)} {
			if err := jobs.PauseKindUntil(t.Context(), "k", until); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("until %v: %v", until, err)
			}
			if _, err := jobs.PauseUntil(t.Context(), durable.NewID(), until); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("until %v: %v", until, err)
			}
		}
		if kinds := must(jobs.PausedKinds(t.Context())); len(kinds) > 0 {
			t.Errorf("paused are %q", kinds)
		}
	})
}

// A job that is paused until a time runs from then on, also in a program that was started meanwhile, and the latest of the
// calls that pause and resume it counts, whatever ends the others named.
func TestPauseUntilLatestCallCounts(t *testing.T) {
	type call func(*durable.Jobs, durable.ID) (durable.Answer, error)
	until := func(d time.Duration) call {
		return func(j *durable.Jobs, id durable.ID) (durable.Answer, error) {
			return j.PauseUntil(context.Background(), id, time.Now().Add(d))
		}
	}
	pause := func(j *durable.Jobs, id durable.ID) (durable.Answer, error) { return j.Pause(context.Background(), id) }
	all := func(j *durable.Jobs, _ durable.ID) (durable.Answer, error) {
		_, err := j.ChangeAll(context.Background(), durable.Change{Op: durable.OpPause}, durable.Filter{Kind: "k"})
		return durable.Applied, err
	}
	resume := func(j *durable.Jobs, id durable.ID) (durable.Answer, error) {
		return j.Resume(context.Background(), id)
	}
	for name, test := range map[string]struct {
		calls []call
		ran   [3]bool // after half a minute, a minute and a half, two and a half
	}{
		"until":            {[]call{until(time.Minute)}, [3]bool{false, true, true}},
		"later":            {[]call{until(time.Minute), until(2 * time.Minute)}, [3]bool{false, false, true}},
		"sooner":           {[]call{until(2 * time.Minute), until(time.Minute)}, [3]bool{false, true, true}},
		"then for good":    {[]call{until(time.Minute), pause}, [3]bool{}},
		"all for good":     {[]call{until(time.Minute), all}, [3]bool{}},
		"no longer always": {[]call{pause, until(time.Minute)}, [3]bool{false, true, true}},
		"resumed, paused":  {[]call{until(time.Minute), resume, pause}, [3]bool{}},
		"resumed":          {[]call{until(time.Minute), resume}, [3]bool{true, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				operator := newJobs(t, store)
				id := must(durable.KindOf[string, string](operator, "k").AddAfter(t.Context(), 10*time.Second, ""))
				for _, c := range test.calls {
					if answer := must(c(operator, id)); answer != durable.Applied {
						t.Errorf("answer %v", answer)
					}
					time.Sleep(time.Second)
				}
				jobs, _, d := newNode(t, store)
				start(t, jobs)
				time.Sleep(30 * time.Second)
				for i, want := range test.ran {
					if ran := d.count() > 0; ran != want {
						t.Errorf("it ran within %d minutes and a half: %v", i, ran)
					}
					time.Sleep(time.Minute)
				}
			})
		})
	}
}

// Whoever pauses a job for good while the end of its pause is on its way has paused it for good.
func TestPauseOutlivesEndOfPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		jobs, k, _ := newNode(t, store)
		start(t, jobs)
		id := must(k.AddAfter(t.Context(), 24*time.Hour, ""))
		operator := newJobs(t, store.Store)
		must(operator.PauseUntil(t.Context(), id, time.Now().Add(time.Hour)))
		if until := must(operator.PausedUntil(t.Context(), id, durable.NewID())); len(until) != 1 || time.Until(until[id]) != time.Hour {
			t.Errorf("paused until %v", until)
		}
		store.set(func(op string) (error, error) {
			if op == "change" {
				time.Sleep(time.Second) // before it takes effect
			}
			return nil, nil
		})
		time.Sleep(time.Hour + 500*time.Millisecond)
		must(operator.Pause(t.Context(), id))
		time.Sleep(time.Hour)
		if job := must(jobs.Get(t.Context(), id)); job.State != durable.Paused {
			t.Errorf("the job is %v", job.State)
		}
		if until := must(operator.PausedUntil(t.Context(), id)); len(until) != 0 {
			t.Errorf("paused until %v", until)
		}
	})
}

// No program can handle the kind of the jobs that end pauses.
func TestHandleRefusesResumingKind(t *testing.T) {
	jobs := newJobs(t, memory.New())
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	durable.Handle(jobs, durable.ResumingKind, new(diary).handler)
}
