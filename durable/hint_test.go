package durable_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// hinting is a node's connection to a store whose hints the test sends.
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

// A node that finds nothing when it gets hints, since others are quicker, does not poll for each of many; after a while
// without one it polls at once again.
func TestHintsInVainAreMerged(t *testing.T) {
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
		elsewhere := durable.KindOf[string, string](newJobs(t, store), "k")
		must(elsewhere.Add(t.Context(), ""))
		begun := time.Now()
		line.wake <- struct{}{}
		synctest.Wait()
		d.wants(t, begun, 0)
	})
}

// A hint that comes during the pause after a poll in vain makes the node poll at the end of the pause.
func TestHintDuringPauseCountsAfterIt(t *testing.T) {
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
		elsewhere := durable.KindOf[string, string](newJobs(t, store), "k")
		must(elsewhere.Add(t.Context(), ""))
		line.wake <- struct{}{}
		time.Sleep(time.Minute)
		d.wants(t, begun, 50*time.Millisecond)
	})
}

// A node that finds something each time polls for each hint.
func TestHintsThatHelpCountAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newHinting(store)
		jobs := newJobs(t, line)
		var d diary
		durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		elsewhere := durable.KindOf[string, string](newJobs(t, store), "k")
		begun := time.Now()
		var want []time.Duration
		for i := range 100 {
			time.Sleep(3 * time.Millisecond)
			must(elsewhere.Add(t.Context(), ""))
			line.wake <- struct{}{}
			want = append(want, time.Duration(i+1)*3*time.Millisecond)
		}
		synctest.Wait()
		d.wants(t, begun, want...)
	})
}

// listening is a store that reports changes, as long as its line is there.
type listening struct {
	durable.Store
	dial func(ctx context.Context) error // how long a connection takes to be made, or to fail
	cut  chan struct{}
}

func (l *listening) Listen(ctx context.Context, wake func()) error {
	if err := l.dial(ctx); err != nil {
		return err
	}
	wake()
	select {
	case <-l.cut:
		return errDown
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A node that can't listen tries again about once a second, however quickly it fails.
func TestListenIsSpacedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		store := &listening{Store: memory.New()}
		store.dial = func(context.Context) error {
			if tries++; tries > 1000 {
				time.Sleep(time.Hour) // or time would stand still
			}
			return errDown
		}
		jobs := newJobs(t, store)
		durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, nil })
		stop := start(t, jobs)
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		if tries < 60 || tries > 70 {
			t.Errorf("%d tries in a minute", tries)
		}
	})
}
