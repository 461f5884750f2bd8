package durable_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// What a handler is told of its job is what the store has, also in a run that was
// confirmed long after it was claimed.
func TestCurrentIsAsTheStoreHasIt(t *testing.T) {
	for name, add := range map[string]func(t *testing.T, store *confirming, k *durable.Kind[string, int]){
		"claimed ahead": func(t *testing.T, _ *confirming, k *durable.Kind[string, int]) {
			must(k.Schedule(t.Context(), 1500*time.Millisecond, ""))
		},
		"for another occurrence": func(t *testing.T, store *confirming, _ *durable.Kind[string, int]) {
			store.before = func(durable.CommitRequest) { time.Sleep(time.Second) }
			neglected(t, store, time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &confirming{Store: memory.New()}
				jobs := newJobs(t, store)
				var told, has durable.Job
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (int, error) {
					told, _ = durable.Current(ctx)
					has = must(jobs.Get(ctx, told.ID))
					<-ctx.Done()
					return 0, nil
				})
				add(t, store, k)
				start(t, jobs)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if !told.Updated.Equal(has.Updated) || !told.Occurrence.Equal(has.Occurrence) || told.State != has.State || told.Attempt != has.Attempt {
					t.Errorf("told %+v, and the store has %+v", told, has)
				}
			})
		})
	}
}
