package durable_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
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
		k := durable.Client[string, string](newJobs(t, store), "k")
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
			k := durable.Client[string, string](jobs, name)
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

// Those who give up waiting for a job leave nothing behind, however many they were at
// the same time, while somebody still waits for it.
func TestAwaitReturnsMemory(t *testing.T) {
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
		k := durable.Client[string, string](jobs, "k")
		id, other := must(k.Schedule(t.Context(), time.Hour, "")), must(k.Schedule(t.Context(), time.Hour, ""))
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
