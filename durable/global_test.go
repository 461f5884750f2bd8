package durable_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/memory"
)

// crowd is who runs at the moment, on nodes that have their lease: a context ends
// with it.
type crowd struct {
	mu      sync.Mutex
	running map[int]context.Context
	next    int
	most    int
	starts  []history.Start
}

// enter counts ctx's run in, and returns how it leaves.
func (c *crowd) enter(ctx context.Context) (leave func()) {
	j, _ := durable.Current(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts = append(c.starts, history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now()})
	me := c.next
	c.next++
	c.running[me] = ctx
	n := 0
	for _, other := range c.running {
		if other.Err() == nil {
			n++
		}
	}
	c.most = max(c.most, n)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, me)
	}
}

// Whatever goes wrong between three nodes and the store, no more of a kind run at
// the same time, on nodes that have their lease, than its global limit says; and
// nothing is lost, nor committed twice.
func TestGlobalLimitHoldsWhateverFails(t *testing.T) {
	const limit = 3
	full := 0
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				c := &crowd{running: make(map[int]context.Context)}
				var lines []*faulty
				for i := range 3 {
					line := newFaulty(store)
					line.set(trouble(rand.New(rand.NewPCG(seed, uint64(i)))))
					lines = append(lines, line)
					jobs := newJobs(t, line, func(c *durable.Config) { c.History = 1 << 20 })
					durable.Handle(jobs, "k", func(ctx context.Context, work time.Duration) (int, error) {
						defer c.enter(ctx)()
						time.Sleep(work) // whatever becomes of its context
						return 0, ctx.Err()
					}, durable.GlobalLimit(limit))
					start(t, jobs)
				}
				k := durable.Client[time.Duration, int](newJobs(t, store), "k")
				r := rand.New(rand.NewPCG(seed, 99))
				for i := range 200 {
					_, err := k.Schedule(t.Context(), upTo(r, 2*time.Second), upTo(r, 2*time.Second), durable.Key(fmt.Sprint(i)), durable.Attempts(1000), durable.WithPriority(durable.Priority(r.IntN(3)-1)))
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(upTo(r, 500*time.Millisecond))
				}
				for _, line := range lines {
					line.up()
				}
				time.Sleep(30 * time.Minute)
				synctest.Wait()
				c.mu.Lock()
				defer c.mu.Unlock()
				if c.most > limit {
					t.Errorf("%d ran at the same time, of %d", c.most, limit)
				}
				if c.most == limit {
					full++
				}
				v := must(history.Check(t.Context(), store, c.starts))
				for _, f := range v.Faults {
					t.Error(f)
				}
			})
		})
	}
	if full == 0 {
		t.Error("the limit was never reached: too quiet to prove anything")
	}
}
