package durable_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// hinting is a node's connection to a store that gives hints when the test does.
type hinting struct {
	*faulty
	wake chan struct{}
}

func newHinting(s durable.Store) *hinting { return &hinting{newFaulty(s), make(chan struct{})} }

func (h *hinting) Listen(ctx context.Context, wake func()) error {
	wake()
	for {
		select {
		case <-h.wake:
			wake()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A node that finds nothing when it is hinted at, since others are quicker, does not
// look for each of many hints; after a while without one it looks at once again.
func TestHintsThatLeadToNothingArePutTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newHinting(store)
		jobs := newJobs(t, line)
		var d diary
		durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		time.Sleep(time.Second)
		before := line.callsOf("claim")
		for range 1000 {
			line.wake <- struct{}{}
			time.Sleep(3 * time.Millisecond)
		}
		if looks := line.callsOf("claim") - before; looks < 50 || looks > 80 {
			t.Errorf("%d looks in three seconds", looks)
		}
		time.Sleep(100 * time.Millisecond)
		elsewhere := durable.Client[string, string](newJobs(t, store), "k")
		must(elsewhere.Schedule(t.Context(), 0, ""))
		begun := time.Now()
		line.wake <- struct{}{}
		synctest.Wait()
		d.wants(t, begun, 0)
	})
}

// A hint that comes during the pause after a look that led to nothing has the node
// look at the end of the pause.
func TestHintDuringPauseIsHeededAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newHinting(store)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Poll = time.Minute })
		var d diary
		durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		time.Sleep(time.Second)
		for range 20 {
			line.wake <- struct{}{}
			time.Sleep(100 * time.Millisecond)
		}
		line.wake <- struct{}{}
		begun := time.Now()
		time.Sleep(time.Millisecond)
		elsewhere := durable.Client[string, string](newJobs(t, store), "k")
		must(elsewhere.Schedule(t.Context(), 0, ""))
		line.wake <- struct{}{}
		time.Sleep(time.Minute)
		d.wants(t, begun, 50*time.Millisecond)
	})
}

// A node that finds something each time looks for each hint.
func TestHintsThatLeadToSomethingAreHeededAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newHinting(store)
		jobs := newJobs(t, line)
		var d diary
		durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		synctest.Wait()
		elsewhere := durable.Client[string, string](newJobs(t, store), "k")
		begun := time.Now()
		var want []time.Duration
		for i := range 100 {
			time.Sleep(3 * time.Millisecond)
			must(elsewhere.Schedule(t.Context(), 0, ""))
			line.wake <- struct{}{}
			want = append(want, time.Duration(i+1)*3*time.Millisecond)
		}
		synctest.Wait()
		d.wants(t, begun, want...)
	})
}
