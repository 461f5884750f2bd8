package durable_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Jobs of a kind that no program handles are kept, and the log has a line about them.
func TestNodeKeepsJobsOfUnknownKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		log := new(logLines)
		jobs := newJobs(t, store, func(c *durable.Config) { c.Logger = log.logger() })
		durable.Handle(jobs, "known", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		synctest.Wait() // the node could have it at once
		id := must(durable.KindOf[string, string](jobs, "unknown").Add(t.Context(), ""))
		time.Sleep(10 * time.Minute)
		if job := must(jobs.Get(t.Context(), id)); job.State != durable.Waiting || job.Attempt != 0 {
			t.Errorf("job is %+v", job)
		}
		if n := log.count("no handler for waiting jobs"); n != 1 {
			t.Errorf("said %d times, want once", n)
		}
	})
}

// However much has been kept for long enough, it is removed within some minutes.
func TestNodePrunesMuchInMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &heap{Store: memory.New()}
		store.left.Store(1_000_000)
		start(t, newJobs(t, store))
		time.Sleep(5 * time.Minute)
		if n := store.left.Load(); n > 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}
