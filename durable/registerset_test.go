package durable_test

import (
	"context"
	"errors"
	"fmt"
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

// hourlies returns schedules with these keys.
func hourlies(kind *durable.Kind[string, string], keys ...string) (all []durable.PreparedSchedule) {
	for _, key := range keys {
		all = append(all, kind.PrepareAtFixedRate(key, time.Hour, time.Hour, ""))
	}
	return all
}

// What is under the prefix and not in the set is kept, paused or deleted; what is in the set, runs once, has another
// key or is over is left alone.
func TestRegisterSetTreatsTheAbsent(t *testing.T) {
	for _, absent := range []durable.Absent{durable.KeepAbsent, durable.PauseAbsent, durable.DeleteAbsent} {
		t.Run(absent.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs, kind, _ := newNode(t, memory.New())
				ctx := t.Context()
				set := durable.ScheduleSet{Prefix: "app/", Absent: absent}
				must(jobs.RegisterSet(ctx, set, hourlies(kind, "app/a", "app/b", "app/over")...))
				must(jobs.Register(ctx, hourlies(kind, "user/b")...))
				must(kind.AddAfter(ctx, time.Hour, "", durable.Key("app/once")))
				over := must(jobs.Find(ctx, "app/over"))
				must(jobs.Cancel(ctx, over.ID))

				got := must(jobs.RegisterSet(ctx, set, hourlies(kind, "app/c", "app/a")...))
				effects := []durable.Effect{got.Schedules[0].Effect, got.Schedules[1].Effect}
				if !slices.Equal(effects, []durable.Effect{durable.EffectAdded, durable.EffectNone}) {
					t.Errorf("effects are %v", effects)
				}
				if len(got.Absent) != 1 || got.Absent[0].Job.Key != "app/b" || got.Absent[0].Answer != durable.Applied {
					t.Errorf("absent are %+v, want app/b", got.Absent)
				}
				want := map[string]string{"app/a": "waiting", "app/b": "waiting", "app/c": "waiting", "app/over": "canceled",
					"app/once": "waiting", "user/b": "waiting"}
				switch absent {
				case durable.PauseAbsent:
					want["app/b"] = "paused"
				case durable.DeleteAbsent:
					delete(want, "app/b")
				}
				states := make(map[string]string)
				for _, j := range must(jobs.List(ctx, durable.Filter{})) {
					states[j.Key] = j.State.String()
				}
				if fmt.Sprint(states) != fmt.Sprint(want) {
					t.Errorf("the jobs are %v, want %v", states, want)
				}
			})
		})
	}
}

// A schedule that is absent while it runs ends with that run.
func TestRegisterSetDeletesWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		start(t, jobs)
		set := durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}
		must(jobs.RegisterSet(t.Context(), set, kind.PrepareAtFixedRate("app/a", 0, time.Hour, "")))
		time.Sleep(time.Minute)
		got := must(jobs.RegisterSet(t.Context(), set))
		if len(got.Absent) != 1 || got.Absent[0].Answer != durable.Deferred {
			t.Errorf("absent are %+v, want one that is deferred", got.Absent)
		}
		time.Sleep(time.Minute)
		if j := must(jobs.Find(t.Context(), "app/a")); j.State != durable.Canceled {
			t.Errorf("the job is %v, want canceled", j.State)
		}
	})
}

// A schedule that a version of the program lacks while it runs goes on if the next call of RegisterSet has it again: in
// the same run, after it, and if the call that lacks it comes while the other one is under way. What was canceled by
// hand stays so.
func TestRegisterSetAgainAfterDelete(t *testing.T) {
	for name, ends := range map[string]bool{"during the run": false, "after the run": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newJobs(t, memory.New())
				var runs atomic.Int32
				kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					runs.Add(1)
					time.Sleep(10 * time.Minute)
					return "", nil
				})
				start(t, jobs)
				ctx, set := t.Context(), durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}
				schedule := kind.PrepareAtFixedRate("app/a", 0, time.Hour, "")
				must(jobs.RegisterSet(ctx, set, schedule))
				time.Sleep(time.Minute)
				for range 2 { // the programs alternate
					must(jobs.RegisterSet(ctx, set))
					if ends {
						time.Sleep(10 * time.Minute)
					}
					got := must(jobs.RegisterSet(ctx, set, schedule)).Schedules[0]
					if got.Effect == durable.EffectNone || got.Job.State.Done() || got.Job.Pending == durable.PendingCancel {
						t.Errorf("registered again: %+v", got)
					}
					time.Sleep(time.Minute)
				}
				synctest.Wait()
				before := runs.Load()
				time.Sleep(4*time.Hour + time.Minute)
				synctest.Wait()
				if n := runs.Load() - before; n < 4 {
					t.Errorf("%d runs in four hours", n)
				}
			})
		})
	}
}

// A schedule that a person has canceled stays canceled, whether sets have it or not.
func TestRegisterSetKeepsWhatWasCanceledByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			time.Sleep(10 * time.Minute)
			return "", nil
		})
		start(t, jobs)
		ctx, set := t.Context(), durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}
		schedule := kind.PrepareAtFixedRate("app/a", 0, time.Hour, "")
		id := must(jobs.RegisterSet(ctx, set, schedule)).Schedules[0].Job.ID
		time.Sleep(time.Minute)
		must(jobs.Cancel(ctx, id))
		must(jobs.RegisterSet(ctx, set))
		must(jobs.RegisterSet(ctx, set, schedule))
		time.Sleep(2 * time.Hour)
		if got := must(jobs.RegisterSet(ctx, set, schedule)).Schedules[0]; got.Job.ID != id || got.Job.State != durable.Canceled {
			t.Errorf("the schedule is %+v, want canceled", got.Job)
		}
	})
}

// Of many that are absent none is forgotten.
func TestRegisterSetOfMany(t *testing.T) {
	jobs, kind, _ := newNode(t, memory.New())
	var keys []string
	for i := range 1203 {
		keys = append(keys, fmt.Sprint("app/", i))
	}
	set := durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}
	must(jobs.RegisterSet(t.Context(), set, hourlies(kind, keys...)...))
	got := must(jobs.RegisterSet(t.Context(), set, hourlies(kind, keys[:2]...)...))
	if left := must(jobs.List(t.Context(), durable.Filter{Limit: 2000})); len(got.Absent) != 1201 || len(left) != 2 {
		t.Errorf("%d were absent, and %d are left, want 1201 and 2", len(got.Absent), len(left))
	}
}

// What is wrong is an error, and then nothing is done to the absent.
func TestRegisterSetChecksArguments(t *testing.T) {
	jobs, kind, _ := newNode(t, memory.New())
	must(jobs.Register(t.Context(), hourlies(kind, "app/a")...))
	for name, c := range map[string]struct {
		set       durable.ScheduleSet
		schedules []durable.PreparedSchedule
	}{
		"no prefix":      {set: durable.ScheduleSet{Absent: durable.DeleteAbsent}},
		"absent":         {set: durable.ScheduleSet{Prefix: "app/", Absent: 9}},
		"another prefix": {durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}, hourlies(kind, "user/a")},
		"twice":          {durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}, hourlies(kind, "app/b", "app/b")},
	} {
		got, err := jobs.RegisterSet(t.Context(), c.set, c.schedules...)
		if !errors.Is(err, executor.ErrInvalid) || len(got.Absent) > 0 {
			t.Errorf("%s: got %+v and %v, want ErrInvalid", name, got, err)
		}
	}
	if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) != 1 || all[0].State != durable.Waiting {
		t.Errorf("the jobs are %+v, want app/a alone", all)
	}
}

// A schedule that runs, and that another program cancels as absent while this one's call is under way, goes on.
func TestRegisterSetPutsBackWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, ctx := newFaulty(memory.New()), t.Context()
		early, late := newJobs(t, store.Store), newJobs(t, store)
		kind := durable.Handle(early, "k", func(ctx context.Context, _ string) (string, error) {
			time.Sleep(10 * time.Minute)
			return "", nil
		})
		start(t, early)
		set := durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}
		must(early.RegisterSet(ctx, set, kind.PrepareAtFixedRate("app/runs", 0, time.Hour, ""), kind.PrepareAtFixedRate("app/other", time.Hour, time.Hour, "")))
		time.Sleep(time.Minute)
		once := sync.OnceFunc(func() {
			must(early.RegisterSet(ctx, set, kind.PrepareAtFixedRate("app/other", time.Hour, time.Hour, "")))
		})
		store.set(func(op string) (error, error) {
			if op == "change" { // late is about to delete app/other
				once()
			}
			return nil, nil
		})
		must(late.RegisterSet(ctx, set, durable.KindOf[string, string](late, "k").PrepareAtFixedRate("app/runs", 0, time.Hour, "")))
		time.Sleep(time.Hour)
		if j := must(early.Find(ctx, "app/runs")); j.State.Done() || j.Pending == durable.PendingCancel {
			t.Errorf("the schedule of the call that ended last is %+v", j)
		}
	})
}

// Two programs with different sets, which delete what is not in theirs, at the same time: the set of the call that ends
// last is there as a whole.
func TestRegisterSetOfTwoProgramsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, ctx := newFaulty(memory.New()), t.Context()
		early, late := newJobs(t, store.Store), newJobs(t, store)
		register := func(jobs *durable.Jobs, keys ...string) durable.RegisteredSet {
			kind := durable.KindOf[string, string](jobs, "k")
			return must(jobs.RegisterSet(ctx, durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}, hourlies(kind, keys...)...))
		}
		register(early, "app/a")
		listed, ended := make(chan bool), make(chan durable.RegisteredSet)
		once := sync.OnceFunc(func() { listed <- true; <-listed })
		store.set(func(op string) (error, error) {
			if op == "change" { // late is about to delete app/a
				once()
			}
			return nil, nil
		})
		go func() { ended <- register(late, "app/b", "app/c") }()
		<-listed
		register(early, "app/a") // deletes what late has registered
		listed <- true
		got := <-ended
		var keys []string
		for _, j := range must(early.List(ctx, durable.Filter{})) {
			keys = append(keys, j.Key)
		}
		slices.Sort(keys)
		if !slices.Equal(keys, []string{"app/b", "app/c"}) {
			t.Errorf("there are %q, want the set of the call that ended last", keys)
		}
		for i, r := range got.Schedules {
			if j, err := early.Get(ctx, r.Job.ID); err != nil || j.Key != r.Job.Key || r.Effect != durable.EffectAdded {
				t.Errorf("schedule %d is %+v, and in the store %v, %v", i, r, j, err)
			}
		}
	})
}
