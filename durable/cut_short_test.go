package durable_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A run that was cut short, since its node was told to end, is for the same time
// when it is begun again, though the next time has come meanwhile.
func TestRunCutShortKeepsItsOccurrence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		jobs := newJobs(t, store, func(c *durable.Config) { c.Drain = time.Second })
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		stop := start(t, jobs)
		must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, ""))
		time.Sleep(time.Hour + time.Minute)
		stop()
		time.Sleep(time.Hour)
		next := newJobs(t, store)
		durable.Handle(next, "k", d.handler)
		start(t, next)
		time.Sleep(time.Second)
		if runs := d.all(); len(runs) < 2 || !runs[1].Occurrence.Equal(runs[0].Occurrence) {
			t.Errorf("runs are %+v", runs)
		}
	})
}

// A run that was cut short, since its node could not renew its lease, is no attempt
// if the node was not declared dead.
func TestRunCutShortByAnOutageIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(4 * time.Second):
				return "", nil
			}
		})
		start(t, jobs)
		synctest.Wait()
		id := must(k.Schedule(t.Context(), 0, "", durable.Attempts(1)))
		synctest.Wait()
		line.down()
		time.Sleep(time.Minute)
		line.up()
		must(k.Await(t.Context(), id))
		if runs := d.all(); len(runs) != 2 || runs[1].Attempt != 1 {
			t.Errorf("runs are %+v", runs)
		}
		if runs := must(jobs.History(t.Context(), id, 0, 10)); len(runs) != 1 {
			t.Errorf("history is %+v", runs)
		}
	})
}

// The handlers of a node that was declared dead are canceled at its next beat, though
// by its own clock the lease is not over.
func TestHandlersOfADeadNodeAreCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		var cause error
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			if durable.FencingToken(ctx) > 1 {
				return "", nil
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
			cause = context.Cause(ctx)
			return "", cause
		})
		start(t, jobs)
		synctest.Wait()
		id := must(k.Schedule(t.Context(), 0, ""))
		synctest.Wait()
		if err := store.Leave(t.Context(), must(jobs.Get(t.Context(), id)).Owner); err != nil { // what frees its jobs, too
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(cause, durable.ErrLeaseLost) {
			t.Errorf("after a second its context has ended with %v", cause)
		}
	})
}
