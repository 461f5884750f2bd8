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

// A job that is canceled while it waits for a worker finds its context ended when it
// begins.
func TestCancelReachesAHandlerThatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		t.Cleanup(pool.Close)
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
		var ended []bool
		k := durable.Handle(jobs, "k", func(ctx context.Context, d time.Duration) (string, error) {
			ended = append(ended, ctx.Err() != nil)
			time.Sleep(d)
			return "", ctx.Err()
		})
		stop := start(t, jobs)
		synctest.Wait()
		must(k.Schedule(t.Context(), 0, time.Second/2))
		synctest.Wait()
		waits := must(k.Schedule(t.Context(), 0, 0))
		if a := must(jobs.Cancel(t.Context(), waits)); a != durable.Deferred {
			t.Fatalf("Cancel: %v", a)
		}
		time.Sleep(5 * time.Second)
		stop()
		if len(ended) != 2 || ended[0] || !ended[1] {
			t.Errorf("their contexts had ended: %v", ended)
		}
	})
}

// A beat that says late that a run is to be canceled does not cancel the next run of
// the job.
func TestLateCancelLeavesTheNextRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs, elsewhere := newJobs(t, line), newJobs(t, store)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			time.Sleep(1500 * time.Millisecond)
			if durable.FencingToken(ctx) == 1 {
				return "", errors.New("no")
			}
			return "", context.Cause(ctx)
		})
		start(t, jobs)
		synctest.Wait()
		id := must(k.Schedule(t.Context(), 0, "", durable.Attempts(1)))
		synctest.Wait()
		line.delay("heartbeat", time.Second) // the first asks after 900 ms, and is answered a second later
		time.Sleep(500 * time.Millisecond)
		must(elsewhere.Cancel(t.Context(), id))
		time.Sleep(1050 * time.Millisecond) // the run has returned
		if a := must(jobs.Revive(t.Context(), id)); a != durable.Applied {
			t.Fatalf("Revive: %v", a)
		}
		if _, err := k.Await(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

// An answer to Cancel that comes late does not cancel the next run of the job, on the
// node where it was called.
func TestLateAnswerToCancelLeavesTheNextRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs, elsewhere := newJobs(t, line), newJobs(t, store)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			select {
			case <-ctx.Done():
				return "", context.Cause(ctx)
			case <-time.After(10 * time.Second):
				return "", nil
			}
		})
		start(t, jobs)
		synctest.Wait()
		id := must(k.Schedule(t.Context(), 0, ""))
		synctest.Wait()
		line.delay("change", 5*time.Second)
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			must(jobs.Cancel(t.Context(), id))
		}()
		time.Sleep(2 * time.Second) // a beat has said so by then
		if a := must(elsewhere.Revive(t.Context(), id)); a != durable.Applied {
			t.Fatalf("Revive: %v", a)
		}
		if _, err := k.Await(t.Context(), id); err != nil {
			t.Error(err)
		}
		<-answered
	})
}
