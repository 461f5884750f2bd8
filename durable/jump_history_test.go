package durable_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// The history has for how long a run went on, whatever the database's clock did meanwhile.
func TestHistoryTellsHowLongARunTookAcrossAJump(t *testing.T) {
	for _, jump := range jumps {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			jobs := newJobs(t, store)
			k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
				time.Sleep(time.Minute)
				return "", nil
			})
			start(t, jobs)
			synctest.Wait()
			id := must(k.Schedule(t.Context(), 0, ""))
			time.Sleep(30 * time.Second)
			store.Shift(jump)
			must(k.Await(t.Context(), id))
			runs := must(jobs.History(t.Context(), id, 0, 10))
			if len(runs) != 1 || runs[0].Finished.Sub(runs[0].Started) != time.Minute {
				t.Errorf("after a jump by %v the history is %+v", jump, runs)
			}
		})
	}
}
