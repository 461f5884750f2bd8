package durable_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// outages says how often that call was said to fail, and how often to succeed again.
func (l *logLines) outages(call string) (begun, over int) {
	return l.count(`will go on trying" call=` + call), l.count(`answers again" call=` + call)
}

// An outage is told once for each sort of call, and that the store answers again
// not before it does: a node whose lease is over asks nothing, and that is no answer.
func TestLogSaysTheStoreIsBackWhenItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logLines
		line := newFaulty(memory.New())
		jobs := newJobs(t, line, func(c *durable.Config) { c.Logger = log.logger() })
		kind := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, nil })
		start(t, jobs)
		synctest.Wait()
		must(kind.Schedule(t.Context(), time.Hour, 1))
		line.down()
		time.Sleep(10 * time.Minute)
		for _, call := range []string{"claim", "beat"} {
			if n, m := log.outages(call); n != 1 || m != 0 {
				t.Errorf("while the store is away, %d lines say that it is and %d that it is back, of %s", n, m, call)
			}
		}
		line.up()
		time.Sleep(10 * time.Second)
		for _, call := range []string{"claim", "beat"} {
			if n, m := log.outages(call); n != 1 || m != 1 {
				t.Errorf("after it, %d lines say that it was and %d that it is back, of %s", n, m, call)
			}
		}
	})
}

// A node that drains while the store is away does not say that it answers again.
func TestLogOfADrainDuringAnOutage(t *testing.T) {
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
		must(kind.Schedule(t.Context(), 0, 1))
		<-begun
		must(kind.Schedule(t.Context(), 500*time.Millisecond, 1)) // claimed ahead, to be given back
		line.down()
		stop()
		if n, m := log.outages("release"); n != 1 || m != 0 {
			t.Errorf("%d lines say that the store is away and %d that it is back", n, m)
		}
	})
}
