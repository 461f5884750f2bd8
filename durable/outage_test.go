package durable_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// An outage is logged once for each sort of call, and its end not before the store answers: a node whose lease is over
// makes no call, and that is no answer.
func TestOutageEndsWhenStoreAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logLines
		line := newFaulty(memory.New())
		jobs := newJobs(t, line, func(c *durable.Config) { c.Logger = log.logger() })
		kind := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, nil })
		start(t, jobs)
		must(kind.AddAfter(t.Context(), time.Hour, 1))
		line.down()
		time.Sleep(10 * time.Minute)
		for _, call := range []string{"claim", "heartbeat"} {
			if n, m := log.outages(call); n != 1 || m != 0 {
				t.Errorf("while the store is away, %d lines say that it is and %d that it is back, of %s", n, m, call)
			}
		}
		line.up()
		time.Sleep(10 * time.Second)
		for _, call := range []string{"claim", "heartbeat"} {
			if n, m := log.outages(call); n != 1 || m != 1 {
				t.Errorf("after it, %d lines say that it was and %d that it is back, of %s", n, m, call)
			}
		}
	})
}

// A store whose disk is full is told apart from one that does not answer, in the log and for probes; the node goes on
// when there is room again.
func TestOutageOfFullStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logLines
		line := newFaulty(memory.New())
		jobs := newJobs(t, line, func(c *durable.Config) { c.Logger = log.logger() })
		runs := new(diary)
		kind := durable.Handle(jobs, "k", runs.handler)
		start(t, jobs)
		id := must(kind.AddAfter(t.Context(), time.Hour, ""))
		full := fmt.Errorf("%w: make room", durable.ErrFull)
		line.set(func(string) (error, error) { return full, nil })
		time.Sleep(time.Minute)
		if err := jobs.Healthy(t.Context()); !errors.Is(err, durable.ErrFull) {
			t.Errorf("it is healthy: %v", err)
		}
		if _, err := jobs.RunNow(t.Context(), id); !errors.Is(err, durable.ErrFull) {
			t.Errorf("run now: %v", err)
		}
		for _, call := range []string{"claim", "heartbeat"} {
			line := `takes no changes; retrying" call=` + call + ` error="the store is full: make room"`
			if n, m := log.outages(call); log.count(line) != 1 || n+m != 0 {
				t.Errorf("%s: %d lines say why, and %d that it does not answer", call, log.count(line), n)
			}
		}
		line.up()
		time.Sleep(2 * time.Hour)
		if err := jobs.Healthy(t.Context()); err != nil || len(runs.all()) != 1 {
			t.Errorf("with room again: %v, and %d runs", err, len(runs.all()))
		}
	})
}

// A node that drains while the store is away does not log that it answers again.
func TestOutageDuringDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logLines
		line := newFaulty(memory.New())
		jobs := newJobs(t, line, func(c *durable.Config) { c.Logger = log.logger() })
		begun := make(chan struct{})
		kind := durable.Handle(jobs, "k", func(context.Context, int) (int, error) {
			close(begun)
			time.Sleep(20 * time.Second)
			return 0, nil
		})
		stop := start(t, jobs)
		must(kind.Add(t.Context(), 1))
		<-begun
		must(kind.AddAfter(t.Context(), 500*time.Millisecond, 1)) // claimed ahead, to be released
		line.down()
		stop()
		if n, m := log.outages("release"); n != 1 || m != 0 {
			t.Errorf("%d lines say that the store is away and %d that it is back", n, m)
		}
	})
}

// The end of an outage of Listen is logged when it can listen again, and not when the line is lost the next time, nor
// because a try takes long.
func TestOutageOfListenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logLines
		var mu sync.Mutex
		down := false
		store := &listening{Store: memory.New(), cut: make(chan struct{})}
		store.dial = func(ctx context.Context) error {
			mu.Lock()
			silent := down
			mu.Unlock()
			if silent {
				time.Sleep(10 * time.Second)
				return errDown
			}
			return nil
		}
		set := func(d bool) { mu.Lock(); defer mu.Unlock(); down = d }
		jobs := newJobs(t, store, func(c *durable.Config) { c.Logger = log.logger() })
		durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, nil })
		start(t, jobs)
		time.Sleep(time.Minute)
		set(true)
		store.cut <- struct{}{}
		time.Sleep(5 * time.Minute)
		if n, m := log.outages("listen"); n != 1 || m != 0 {
			t.Errorf("while the line is silent, %d lines say so and %d that it is back", n, m)
		}
		set(false)
		time.Sleep(time.Minute)
		if n, m := log.outages("listen"); n != 1 || m != 1 {
			t.Errorf("after it, %d lines say that it was and %d that it is back", n, m)
		}
		store.cut <- struct{}{}
		time.Sleep(time.Minute)
		if n, m := log.outages("listen"); n != 2 || m != 2 {
			t.Errorf("after the second time, %d lines say that it was away and %d that it is back", n, m)
		}
	})
}
