package durable_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Who asks is told whether his call has added the job, or changed it, or has found it
// as he wants it.
func TestTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", new(diary).handler)
		for i, call := range []struct {
			period  time.Duration
			payload string
			changed bool
		}{
			{time.Hour, "one", true},
			{time.Hour, "one", false},
			{time.Hour, "two", true},
			{time.Minute, "two", true},
			{time.Minute, "two", false},
		} {
			var placed durable.InsertResult
			id := must(k.AtFixedRate(t.Context(), "key", call.period, call.period, call.payload, durable.WithResult(&placed)))
			if placed.Changed != call.changed || placed.ID != id || string(placed.Payload) != `"`+call.payload+`"` {
				t.Errorf("call %d: %+v", i, placed)
			}
		}
	})
}

// One place can't tell of many jobs.
func TestTellOfMany(t *testing.T) {
	k := durable.Handle(newJobs(t, memory.New()), "k", new(diary).handler)
	_, err := k.ScheduleAll(t.Context(), 0, []string{"a", "b"}, durable.WithResult(new(durable.InsertResult)))
	if !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}
