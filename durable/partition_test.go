package durable_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/memory"
)

// Of each partition no more jobs run at the same time on all nodes together than its limit; a partition with a job does
// not wait for one that has many; and the handler sees the partition.
func TestKindPartitionLimitHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var mu sync.Mutex
		running, most := make(map[string]int), make(map[string]int)
		var k *durable.Kind[string, string]
		for range 2 {
			jobs := newJobs(t, store)
			k = durable.Handle(jobs, "k", func(ctx context.Context, customer string) (string, error) {
				j, _ := durable.Current(ctx)
				if j.Partition != customer {
					t.Errorf("the job of %q is in partition %q", customer, j.Partition)
				}
				mu.Lock()
				running[customer]++
				most[customer] = max(most[customer], running[customer])
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running[customer]--
				mu.Unlock()
				return "", nil
			}, durable.PartitionLimit(2))
			start(t, jobs)
		}
		begun := time.Now()
		big := must(k.AddAll(t.Context(), 0, slices.Repeat([]string{"big"}, 100), durable.Partition("big")))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		at := time.Now()
		for i := range 5 {
			customer := fmt.Sprint("small ", i)
			must(k.Await(t.Context(), must(k.Add(t.Context(), customer, durable.Partition(customer)))))
		}
		if d := time.Since(at); d > 10*time.Second {
			t.Errorf("five jobs of a second, of other partitions, took %v", d)
		}
		for _, id := range big {
			must(k.Await(t.Context(), id))
		}
		// A place that one node frees may be taken by the other at its next poll only.
		if d := time.Since(begun); d > 75*time.Second {
			t.Errorf("100 jobs of a second, two at a time, took %v", d)
		}
		if most["big"] != 2 {
			t.Errorf("%d ran at the same time, want 2", most["big"])
		}
	})
}

// A partition that waits has its turn, however many jobs others have that may run.
func TestKindPartitionsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New()) // four workers
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(100 * time.Millisecond)
			return "", nil
		}, durable.PartitionLimit(10))
		for _, name := range []string{"a", "b", "c"} {
			must(k.AddAll(t.Context(), 0, make([]string, 1000), durable.Partition(name)))
		}
		start(t, jobs)
		time.Sleep(10 * time.Second)
		at := time.Now()
		must(k.Await(t.Context(), must(k.Add(t.Context(), "", durable.Partition("d")))))
		if d := time.Since(at); d > 5*time.Second { // what the node holds, and a round
			t.Errorf("the one job of a partition took %v, beside some %v of others", d, 60*time.Second)
		}
	})
}

// Whatever goes wrong between three nodes and the store, also where they die with jobs of a partition, no more of one
// run at the same time, on nodes that have their lease, than its limit; and nothing is lost, nor committed twice.
func TestHistoryOfPartitionLimit(t *testing.T) {
	const limit, parts = 2, 5
	full, lost := 0, 0
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var crowds [parts]*crowd
				for i := range crowds {
					crowds[i] = &crowd{running: make(map[int]context.Context)}
				}
				m := mob{store: memory.New(), seed: seed, jobs: 300, pause: 300 * time.Millisecond, work: 2 * time.Second,
					limits: []durable.HandlerOption{durable.PartitionLimit(limit)},
					options: func(r *rand.Rand) []durable.Option {
						return []durable.Option{durable.Partition(fmt.Sprint(r.IntN(parts)))}
					},
					enter: func(_ int, ctx context.Context) (leave func()) {
						j, _ := durable.Current(ctx)
						return crowds[j.Partition[0]-'0'].enter(ctx)
					}}
				m.run(t)
				var starts []history.Start
				for i, c := range crowds {
					c.mu.Lock()
					starts = append(starts, c.starts...)
					if c.most > limit {
						t.Errorf("%d of partition %d ran at the same time, of %d", c.most, i, limit)
					}
					if c.most == limit {
						full++
					}
					c.mu.Unlock()
				}
				lost += m.lost(t, starts)
			})
		})
	}
	if full == 0 || lost == 0 {
		t.Errorf("a partition was full %d times, and %d runs were lost: too quiet to prove anything", full, lost)
	}
}
