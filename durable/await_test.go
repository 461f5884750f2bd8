package durable_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Who waits for a job that ends elsewhere sees it within half a second, however long
// it took.
func TestAwaitSeesWhatEndsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		var ended time.Time
		durable.Handle(jobs, "k", func(context.Context, string) (string, error) { ended = time.Now(); return "", nil })
		start(t, jobs)
		k := durable.Refer[string, string](newJobs(t, store), "k")
		id := must(k.Schedule(t.Context(), time.Hour, ""))
		must(k.Await(t.Context(), id))
		if d := time.Since(ended); d > time.Second/2 {
			t.Errorf("it was seen after %v", d)
		}
	})
}

// Counts are ordered by kind, and by state within a kind.
func TestCountsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var want []durable.Count
		for _, name := range []string{"a", "b", "c", "d"} {
			k := durable.Refer[string, string](jobs, name)
			for _, state := range []durable.State{durable.Waiting, durable.Canceled, durable.Paused} {
				id := must(k.Schedule(t.Context(), time.Hour, ""))
				switch state {
				case durable.Canceled:
					must(jobs.Cancel(t.Context(), id))
				case durable.Paused:
					must(jobs.Pause(t.Context(), id))
				}
				want = append(want, durable.Count{Kind: name, State: state, Jobs: 1, Due: must(jobs.Get(t.Context(), id)).Due})
			}
		}
		if got := must(jobs.Counts(t.Context())); !slices.Equal(got, want) {
			t.Errorf("counts are %+v", got)
		}
	})
}
