package durable_test

import (
	"context"
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
