package durable_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A job that was about to begin, and is far away since the store's clock was put back,
// keeps neither Run from returning nor the program's pool from being closed.
func TestJobThatIsFarAwayKeepsNothingOpen(t *testing.T) {
	for what, own := range map[string]bool{"pool of Run": false, "pool of the program": true} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				c := durable.Config{Store: store, Poll: time.Hour, Logger: slog.New(slog.DiscardHandler)}
				if own {
					c.Executor = executor.Scheduled(1)
				}
				jobs := must(durable.New(c))
				var d diary
				k := durable.Handle(jobs, "k", d.handler)
				stop := start(t, jobs)
				synctest.Wait()
				id := must(k.Schedule(t.Context(), 20*time.Millisecond, "")) // it is confirmed at once
				synctest.Wait()
				store.Shift(-time.Minute)
				must(k.Schedule(t.Context(), 3*time.Hour, "")) // by whose answer the node learns of it
				synctest.Wait()
				if j := must(jobs.Get(t.Context(), id)); j.State != durable.Running {
					t.Fatalf("the job is %v", j.State)
				}
				begun := time.Now()
				stop()
				if own {
					c.Executor.Close()
				}
				if took := time.Since(begun); took > time.Second {
					t.Errorf("it took %v", took)
				}
				if j := must(jobs.Get(t.Context(), id)); j.State != durable.Waiting || j.Attempt != 0 || d.count() != 0 {
					t.Errorf("the job was begun %d times, and is %+v", d.count(), j)
				}
			})
		})
	}
}
