package durable_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Many schedules of several kinds take one call of the store, and the results say what became of each.
func TestJobsRegisterIsOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		jobs := newJobs(t, store)
		mail, backup := durable.KindOf[int, int](jobs, "mail"), durable.KindOf[string, int](jobs, "backup")
		set := func(payload string) []durable.PreparedSchedule {
			all := []durable.PreparedSchedule{
				mail.PrepareAtFixedRate("rate", time.Minute, time.Hour, 1),
				mail.PrepareWithFixedDelay("delay", time.Minute, time.Hour, 2),
				backup.PrepareOn("cron", cron.MustParse("CRON_TZ=UTC 30 2 * * *"), payload),
			}
			for i := range 100 {
				all = append(all, backup.PrepareOn(fmt.Sprint("more", i), cron.MustParse("CRON_TZ=UTC @hourly"), ""))
			}
			return all
		}
		registered := set("a")
		first := must(jobs.Register(t.Context(), registered...))
		if calls := store.callsOf("insert"); calls != 1 || store.count() > 2 {
			t.Errorf("%d calls of insert, %d in all", calls, store.count())
		}
		for i, r := range first {
			if r.Effect != durable.EffectAdded || r.Err != nil || r.Job.Key != registered[i].Key() {
				t.Errorf("%d: %v, %v, key %q", i, r.Effect, r.Err, r.Job.Key)
			}
			if job := must(jobs.Get(t.Context(), r.Job.ID)); !reflect.DeepEqual(job, r.Job) {
				t.Errorf("the result has\n%+v, the store\n%+v", r.Job, job)
			}
		}
		second := must(jobs.Register(t.Context(), set("b")...))
		for i, r := range second {
			want := durable.EffectNone
			if r.Job.Key == "cron" {
				want = durable.EffectChanged
			}
			if r.Effect != want || r.Err != nil || r.Job.ID != first[i].Job.ID {
				t.Errorf("%s: %v, %v; want %v", r.Job.Key, r.Effect, r.Err, want)
			}
		}
	})
}

// A PreparedSchedule does what the method of the Kind does, also once it is old.
func TestPreparedScheduleIsAsTheMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.KindOf[int, int](jobs, "k")
		nightly := cron.MustParse("CRON_TZ=UTC 30 2 * * *")
		opts := []durable.Option{durable.Attempts(3), durable.OnMissed(durable.CatchUp(5))}
		all := []durable.PreparedSchedule{
			k.PrepareAtFixedRate("a", time.Minute, time.Hour, 1, opts...), k.PrepareWithFixedDelay("b", time.Minute, time.Hour, 1, opts...),
			k.PrepareOn("c", nightly, 1, opts...),
		}
		time.Sleep(40 * time.Hour)
		ids := []durable.ID{
			must(k.AtFixedRate(t.Context(), "A", time.Minute, time.Hour, 1, opts...)),
			must(k.WithFixedDelay(t.Context(), "B", time.Minute, time.Hour, 1, opts...)),
			must(k.On(t.Context(), "C", nightly, 1, opts...)),
		}
		for i, r := range must(jobs.Register(t.Context(), all...)) {
			want := must(jobs.Get(t.Context(), ids[i]))
			want.ID, want.Key = r.Job.ID, r.Job.Key
			if !reflect.DeepEqual(r.Job, want) {
				t.Errorf("registered\n%+v, want\n%+v", r.Job, want)
			}
		}
	})
}

// If one schedule is wrong, none is registered, and the results name each that is.
func TestJobsRegisterIsAllOrNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		jobs := newJobs(t, store, func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"never": until(time.Time{})}
		})
		k, other := durable.KindOf[int, int](jobs, "k"), durable.KindOf[int, int](jobs, "other")
		must(other.AtFixedRate(t.Context(), "taken", 0, time.Hour, 1))
		must(other.Add(t.Context(), 1, durable.Key("once")))
		stranger := durable.KindOf[int, int](newJobs(t, memory.New()), "k")
		never := durable.NamedTrigger("never")
		calls := store.callsOf("insert")
		var result durable.InsertResult
		for _, test := range []struct {
			name  string
			wrong map[int]error
			set   []durable.PreparedSchedule
		}{
			{"period", map[int]error{1: executor.ErrInvalid}, []durable.PreparedSchedule{k.PrepareAtFixedRate("a", 0, time.Hour, 1), k.PrepareAtFixedRate("b", 0, 0, 1)}},
			{"option", map[int]error{0: executor.ErrInvalid, 1: executor.ErrInvalid},
				[]durable.PreparedSchedule{k.PrepareWithFixedDelay("a", 0, 1, 1), k.PrepareAtFixedRate("b", 0, 1, 1, durable.Attempts(0))}},
			{"no time", map[int]error{0: executor.ErrInvalid}, []durable.PreparedSchedule{k.PrepareOn("a", never, 1), k.PrepareAtFixedRate("b", 0, time.Hour, 1)}},
			{"twice", map[int]error{2: executor.ErrInvalid}, []durable.PreparedSchedule{
				k.PrepareAtFixedRate("a", 0, time.Hour, 1), k.PrepareAtFixedRate("b", 0, time.Hour, 1), other.PrepareAtFixedRate("a", 0, time.Hour, 1)}},
			{"zero", map[int]error{1: executor.ErrInvalid}, []durable.PreparedSchedule{k.PrepareAtFixedRate("a", 0, time.Hour, 1), {}}},
			{"stranger", map[int]error{0: executor.ErrInvalid}, []durable.PreparedSchedule{stranger.PrepareAtFixedRate("a", 0, time.Hour, 1)}},
			{"taken", map[int]error{0: durable.ErrKeyTaken, 2: durable.ErrKeyTaken}, []durable.PreparedSchedule{k.PrepareAtFixedRate("taken", 0, time.Hour, 1),
				k.PrepareAtFixedRate("a", 0, time.Hour, 1, durable.WithResult(&result)), other.PrepareAtFixedRate("once", 0, time.Hour, 1)}},
		} {
			results, err := jobs.Register(t.Context(), test.set...)
			if len(results) != len(test.set) {
				t.Fatalf("%s: %d results, %v", test.name, len(results), err)
			}
			for i, r := range results {
				want := test.wrong[i]
				if !errors.Is(r.Err, want) || want != nil && !errors.Is(err, want) || r.Effect != durable.EffectNone {
					t.Errorf("%s: %d: %v, error %v; want %v", test.name, i, r.Effect, r.Err, want)
				}
			}
		}
		if calls = store.callsOf("insert") - calls; calls != 1 {
			t.Errorf("%d calls of the store; what is invalid needs none", calls)
		}
		if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) != 2 {
			t.Errorf("there are %d jobs, want 2", len(all))
		}
		if result.Changed {
			t.Error("WithResult has what was not done")
		}
		if none, err := jobs.Register(t.Context()); none != nil || err != nil {
			t.Errorf("no schedules: %v, %v", none, err)
		}
	})
}

// A schedule that is dead is named, and the others are registered.
func TestJobsRegisterNamesTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		k := durable.KindOf[int, int](jobs, "k")
		id := must(k.AtFixedRate(t.Context(), "dead", 0, time.Hour, 1))
		must(store.Join(t.Context(), "node", time.Hour))
		claim := must(store.Claim(t.Context(),
			durablestore.ClaimRequest{Node: "node", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}}))
		end := durable.Outcome{Ref: durablestore.Ref{ID: id, Epoch: claim.Jobs[0].Epoch}, State: durable.Dead}
		must(store.Commit(t.Context(), durablestore.CommitRequest{Outcomes: []durable.Outcome{end}}))
		results, err := jobs.Register(t.Context(), k.PrepareAtFixedRate("new", 0, time.Hour, 1),
			k.PrepareAtFixedRate("dead", 0, time.Hour, 1))
		if !errors.Is(err, durable.ErrDead) || len(results) != 2 || !errors.Is(results[1].Err, durable.ErrDead) ||
			results[1].Job.ID != id {
			t.Errorf("%+v, %v", results, err)
		}
		r := results[0]
		if r.Err != nil || r.Effect != durable.EffectAdded || must(jobs.Get(t.Context(), r.Job.ID)).Key != "new" {
			t.Errorf("the other one: %+v", r)
		}
	})
}

// An error of the store leaves no results, and the call can be made again.
func TestJobsRegisterAgainAfterError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		jobs := newJobs(t, store)
		set := []durable.PreparedSchedule{durable.KindOf[int, int](jobs, "k").PrepareAtFixedRate("a", 0, time.Hour, 1)}
		store.set(func(op string) (error, error) { return nil, errLost })
		if results, err := jobs.Register(t.Context(), set...); results != nil || !errors.Is(err, errLost) {
			t.Errorf("%v, %v", results, err)
		}
		store.up()
		if r := must(jobs.Register(t.Context(), set...)); r[0].Effect != durable.EffectNone || r[0].Job.Key != "a" {
			t.Errorf("%+v", r)
		}
	})
}

// What is registered while the node runs begins in time, and Hooks.Adding sees the set.
func TestJobsRegisterWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sets := 0
		jobs, k, d := newNode(t, memory.New(), func(c *durable.Config) {
			c.Hooks.Adding = func(ctx context.Context, jobs []durable.NewJob, add func(context.Context) error) error {
				if sets++; len(jobs) != 2 {
					t.Errorf("%d jobs", len(jobs))
				}
				return add(ctx)
			}
		})
		start(t, jobs)
		at := time.Now()
		must(jobs.Register(t.Context(), k.PrepareAtFixedRate("a", 0, time.Hour, "a"),
			k.PrepareAtFixedRate("b", 7*time.Millisecond, time.Hour, "b")))
		time.Sleep(time.Second)
		synctest.Wait()
		want := []time.Duration{0, 7 * time.Millisecond}
		if runs := d.since(at); sets != 1 || !reflect.DeepEqual(runs, want) {
			t.Errorf("%d sets; runs %v after they were registered, want %v", sets, runs, want)
		}
	})
}

// A schedule is the same when it is registered again with a timeout that is no whole number of microseconds, to which
// stores cut it.
func TestRegisterAgainWithAFractionOfAMicrosecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		nightly := durable.KindOf[int, int](jobs, "k").PrepareAtFixedRate("a", time.Hour, time.Hour, 1, durable.Timeout(time.Second/3))
		first := must(jobs.Register(t.Context(), nightly))[0]
		if again := must(jobs.Register(t.Context(), nightly))[0]; again.Effect != durable.EffectNone || !reflect.DeepEqual(again.Job, first.Job) {
			t.Errorf("%v: it was\n%+v, and is\n%+v", again.Effect, first.Job, again.Job)
		}
	})
}
