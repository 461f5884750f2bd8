package durable_test

import (
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A run that was to make up for an occurrence which had passed only while the database's
// clock was ahead waits until that time comes round again, and is nobody's meanwhile: it
// keeps no other job from running, costs no attempt, and can be moved.
func TestMissedWhileTheClockWasAheadHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chronicle{store: memory.New()}
		line := newFaulty(c.store)
		pool := executor.Scheduled(1)
		t.Cleanup(pool.Close)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
		k := durable.Handle(jobs, "k", c.handler)
		id := must(k.AtFixedRate(t.Context(), "tick", 0, time.Minute, 0))
		c.store.Shift(time.Hour)
		line.delay("commit", 2*time.Second)
		start(t, jobs)
		time.Sleep(time.Second) // it is confirmed for the latest
		c.store.Shift(-time.Hour)
		time.Sleep(2 * time.Second)
		line.delay("commit", 0)

		begun := time.Now()
		must(k.Await(t.Context(), must(k.Schedule(t.Context(), 0, 0))))
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("the next job took %v", took)
		}
		synctest.Wait()
		if j := must(jobs.Get(t.Context(), id)); j.State != durable.Waiting || j.Attempt != 0 || !j.Due.Equal(j.Occurrence) {
			t.Errorf("it is %v in attempt %d, due at %v for %v", j.State, j.Attempt, j.Due, j.Occurrence)
		}
		calls := line.count()
		time.Sleep(10 * time.Second)
		if n := line.count() - calls; n > 20 {
			t.Errorf("%d calls in ten seconds", n)
		}
		if a := must(jobs.RunNow(t.Context(), id)); a != durable.Applied {
			t.Errorf("RunNow: %v", a)
		}
		synctest.Wait()
		if n := len(c.begun(t)); n != 2 {
			t.Errorf("%d of 2 were begun", n)
		}
	})
}
