package durable_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// What is asked for while it waits or runs is done once, and again when it is asked
// for after that.
func TestReuseKeyOfJobThatRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
			time.Sleep(time.Minute)
			return n, nil
		})
		start(t, jobs)
		ask := func(n int) durable.ID {
			return must(k.Schedule(t.Context(), time.Minute, n, durable.Key("sync/17"), durable.ReuseKey()))
		}
		for round := range 3 {
			first := ask(10 * round)
			for i := range 3 { // it waits, runs, runs
				if id := ask(10*round + i); id != first {
					t.Errorf("round %d: asked again, got %v in place of %v", round, id, first)
				}
				time.Sleep(45 * time.Second)
			}
			if got := must(k.Await(t.Context(), first)); got != 10*round {
				t.Errorf("round %d gave %d", round, got)
			}
		}
		if n := len(must(jobs.List(t.Context(), durable.Filter{}))); n != 3 {
			t.Errorf("there are %d jobs, want 3", n)
		}
	})
}

// A schedule that was ended or canceled begins anew when it is registered with
// ReuseKey, and one that is alive keeps its times.
func TestReuseKeyBeginsAnEndedScheduleAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), lazy)
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, end bool) (any, error) {
			d.note(ctx)
			if end {
				return nil, executor.Stop
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
