package durable_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A key belongs to one kind.
func TestKeyOfAnotherKind(t *testing.T) {
	jobs := newJobs(t, memory.New())
	must(durable.KindOf[int, int](jobs, "a").AddAfter(t.Context(), time.Hour, 1, durable.Key("key")))
	_, err := durable.KindOf[int, int](jobs, "b").AddAfter(t.Context(), time.Hour, 1, durable.Key("key"))
	if !errors.Is(err, durable.ErrKeyTaken) {
		t.Error(err)
	}
}

// A key belongs to a job that runs once or to one that is periodic: with that of the other sort a job would not be
// added, nor ever run.
func TestKeyOfAnotherSort(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.KindOf[int, int](jobs, "k")
	must(k.AddAfter(t.Context(), time.Hour, 1, durable.Key("once")))
	must(k.AtFixedRate(t.Context(), "rate", 0, time.Hour, 1))
	if _, err := k.WithFixedDelay(t.Context(), "once", 0, time.Hour, 1); !errors.Is(err, durable.ErrKeyTaken) {
		t.Errorf("a schedule with the key of a job that runs once: %v", err)
	}
	if _, err := k.Add(t.Context(), 1, durable.Key("rate")); !errors.Is(err, durable.ErrKeyTaken) {
		t.Errorf("a job with the key of a schedule: %v", err)
	}
	must(k.WithFixedDelay(t.Context(), "rate", 0, time.Hour, 1))
}

// WithResult reports whether the call has added the job, or changed it, or has found it as it is to be.
func TestWithResultReportsWhatBecameOfTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", new(diary).handler)
		for i, call := range []struct {
			period  time.Duration
			payload string
			changed bool
		}{
			{time.Hour, "one", true},
			{time.Hour, "one", false},
			{time.Hour, "two", true},
			{time.Minute, "two", true},
			{time.Minute, "two", false},
		} {
			var placed durable.InsertResult
			id := must(k.AtFixedRate(t.Context(), "key", call.period, call.period, call.payload,
				durable.WithResult(&placed)))
			if placed.Changed != call.changed || placed.ID != id || string(placed.Payload) != `"`+call.payload+`"` {
				t.Errorf("call %d: %+v", i, placed)
			}
		}
	})
}

// One InsertResult can't hold what became of many jobs.
func TestWithResultOfMany(t *testing.T) {
	k := durable.Handle(newJobs(t, memory.New()), "k", new(diary).handler)
	_, err := k.AddAll(t.Context(), 0, []string{"a", "b"}, durable.WithResult(new(durable.InsertResult)))
	if !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

// What is asked for while it waits is done once, while it runs once more, and again when it is asked for after that.
func TestReuseKeyOfJobThatRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
			time.Sleep(time.Minute)
			return n, nil
		})
		start(t, jobs)
		ask := func(n int) durable.ID {
			return must(k.AddAfter(t.Context(), time.Minute, n, durable.Key("sync/17"), durable.ReuseKey()))
		}
		for round := range 3 {
			first := ask(10 * round)
			for i := range 3 { // it waits, waits, runs
				if id := ask(10*round + i); id != first {
					t.Errorf("round %d: asked again, got %v in place of %v", round, id, first)
				}
				time.Sleep(45 * time.Second)
			}
			if got := must(k.Await(t.Context(), first)); got != 10*round+2 {
				t.Errorf("round %d gave %d", round, got)
			}
		}
		if n := len(must(jobs.List(t.Context(), durable.Filter{}))); n != 3 {
			t.Errorf("there are %d jobs, want 3", n)
		}
	})
}

// A schedule that was ended or canceled begins anew when it is registered with ReuseKey, and one that goes on keeps its
// times.
func TestReuseKeyBeginsEndedScheduleAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), lazy)
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, end bool) (any, error) {
			d.note(ctx)
			if end {
				return nil, executor.ErrStop
			}
			return nil, nil
		})
		start(t, jobs)
		register := func(end bool) durable.ID {
			return must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, end, durable.ReuseKey()))
		}
		ended := register(true)
		time.Sleep(90 * time.Minute)
		canceled := register(false)
		must(jobs.Cancel(t.Context(), canceled))
		alive := register(false)
		time.Sleep(90 * time.Minute)
		if again := register(false); again != alive || alive == canceled || canceled == ended {
			t.Errorf("registered as %v, %v, %v and %v", ended, canceled, alive, again)
		}
		if got := must(jobs.Find(t.Context(), "key")); got.ID != alive || got.Runs != 1 {
			t.Errorf("the key belongs to %+v", got)
		}
		if d.count() != 2 {
			t.Errorf("there were %d runs, want 2", d.count())
		}
	})
}

// A job with a key is added once, and runs once, however often it is asked for.
func TestKeyAddsJobOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		first := must(k.AddAfter(t.Context(), time.Minute, "", durable.Key("order 17")))
		again := must(k.Add(t.Context(), "", durable.Key("order 17")))
		must(k.Await(t.Context(), first))
		after := must(k.Add(t.Context(), "", durable.Key("order 17")))
		time.Sleep(time.Hour)
		if first != again || first != after || d.count() != 1 {
			t.Errorf("ids %v, %v, %v; %d runs", first, again, after, d.count())
		}
	})
}
