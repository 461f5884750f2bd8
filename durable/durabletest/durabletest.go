// Package durabletest helps to test programs that use durable jobs, with a store in memory. In a bubble of
// [testing/synctest] hours pass at once:
//
//	func TestWelcome(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			jobs := durabletest.New(t)
//			welcomes := newWelcomes(jobs) // the code under test: calls durable.Handle
//			durabletest.Start(t, jobs)
//			signUp(t.Context(), welcomes, "gopher") // the code under test: adds a job
//			if err := durabletest.Idle(t.Context(), jobs); err != nil {
//				t.Fatal(err)
//			}
//			// The handler has run. Look at what it has done.
//		})
//	}
//
// [Added] and [AddedOne] return the jobs that a program has added, so that a test can look at them without running
// them. All functions may also be used without a bubble; times then pass as they do.
package durabletest

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// New returns Jobs on a new store in memory. Their pool has four workers and is closed at the end of the test. Their
// log discards its lines. Each of changes is called once, in order, and may set fields of the Config; an Executor that
// it sets is closed by the caller. New ends the test if durable.New returns an error.
//
// If changes set none of Store, Lease and Poll, Lease is 30 s and Poll is 10 s, ten times what they are in production,
// so that a test of many days takes little time. As no other program uses the store, jobs begin in time all the same.
// What a node learns from its next heartbeat, such as that it is to drain, and what it reports with one, such as
// progress, comes up to nine seconds later: to see that sooner, set Lease.
func New(t testing.TB, changes ...func(*durable.Config)) *durable.Jobs {
	t.Helper()
	own := memory.New()
	c := durable.Config{Store: own, Logger: slog.New(slog.DiscardHandler)}
	for _, change := range changes {
		change(&c)
	}
	if c.Store == durable.Store(own) && c.Lease == 0 && c.Poll == 0 {
		c.Lease, c.Poll = 30*time.Second, 10*time.Second
	}
	if c.Executor == nil {
		c.Executor = executor.Scheduled(4)
		t.Cleanup(c.Executor.Close)
	}
	jobs, err := durable.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// Start calls jobs.Run in a goroutine. Set all handlers before, and call Start once. Run ends when stop is called, or
// at the end of the test; both wait until the handlers in progress have returned. Start fails the test if Run returns
// an error.
func Start(t testing.TB, jobs *durable.Jobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := jobs.Run(ctx); err != nil {
			t.Errorf("durabletest: Run: %v", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// idlePause is how long Idle waits between two looks at the store.
const idlePause = 10 * time.Millisecond

// Idle waits until every job that is due has run: no job is running, and none is due. It does not wait for a job that
// is due later, such as the next attempt after a failed one, nor for a job that is paused or blocked. Idle looks at the
// store every 10 ms; in a bubble that time passes at once.
//
// If ctx ends first, the error matches the cause of ctx and names a job that has not run. A job never runs if no node
// handles its kind and serves its queue, or if the kind is paused. Idle returns the store's error if the store fails.
func Idle(ctx context.Context, jobs *durable.Jobs) error {
	timer := time.NewTicker(idlePause)
	defer timer.Stop()
	for {
		job, busy, err := due(ctx, jobs)
		if err != nil || !busy {
			return err
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("durabletest: job %s of kind %q, key %q, is still %v: %w", job.ID, job.Kind, job.Key, job.State,
				context.Cause(ctx))
		}
	}
}

// due returns a job that runs, or whose time has come.
func due(ctx context.Context, jobs *durable.Jobs) (durable.Job, bool, error) {
	f := durable.Filter{Limit: 1000,
		States: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running}}
	for {
		page, err := jobs.List(ctx, f)
		if err != nil {
			return durable.Job{}, false, err
		}
		now, err := jobs.Now(ctx)
		if err != nil {
			return durable.Job{}, false, err
		}
		for _, j := range page {
			if j.State == durable.Running || !j.Due.After(now) {
				return j, true, nil
			}
		}
		if len(page) < f.Limit {
			return durable.Job{}, false, nil
		}
		f.After = page[len(page)-1].ID
	}
}
