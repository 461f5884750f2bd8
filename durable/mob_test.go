package durable_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
)

// A mob is many jobs on three nodes whose lines to the store fail, and are up in the end.
type mob struct {
	store   durable.Store
	seed    uint64
	jobs    int
	pause   time.Duration // the longest between two jobs
	work    time.Duration // the longest of a run, whatever becomes of its context
	limits  []durable.HandlerOption
	nodes   func(i int, c *durable.Config)                     // how they differ, or nil
	options func(r *rand.Rand) []durable.Option                // of a job, or nil
	enter   func(node int, ctx context.Context) (leave func()) // is called as a run begins, and leave at its end
	between func(r *rand.Rand)                                 // is called after each job that was added, or nil
}

// run lets all jobs come to their ends.
func (m mob) run(t *testing.T) {
	t.Helper()
	var lines []*faulty
	for i := range 3 {
		line := newFaulty(m.store)
		line.set(trouble(rand.New(rand.NewPCG(m.seed, uint64(i)))))
		lines = append(lines, line)
		jobs := newJobs(t, line, func(c *durable.Config) {
			if c.History = 1 << 20; m.nodes != nil {
				m.nodes(i, c)
			}
		})
		durable.Handle(jobs, "k", func(ctx context.Context, work time.Duration) (int, error) {
			defer m.enter(i, ctx)()
			time.Sleep(work)
			return 0, ctx.Err()
		}, m.limits...)
		start(t, jobs)
	}
	k := durable.KindOf[time.Duration, int](newJobs(t, m.store), "k")
	r := rand.New(rand.NewPCG(m.seed, 99))
	for i := range m.jobs {
		opts := []durable.Option{durable.Key(fmt.Sprint(i)), durable.Attempts(1000), durable.WithPriority(durable.Priority(r.IntN(3) - 1))}
		if m.options != nil {
			opts = append(opts, m.options(r)...)
		}
		if _, err := k.AddAfter(t.Context(), upTo(r, 2*time.Second), upTo(r, m.work), opts...); err != nil {
			t.Fatal(err)
		}
		if m.between != nil {
			m.between(r)
		}
		time.Sleep(upTo(r, m.pause))
	}
	for _, line := range lines {
		line.up()
	}
	time.Sleep(30 * time.Minute)
	synctest.Wait()
}

// lost says what is wrong with the history, and returns how many runs were lost with their nodes.
func (m mob) lost(t *testing.T, starts []history.Start) int {
	t.Helper()
	v := must(history.Check(t.Context(), m.store, starts))
	for _, f := range v.Faults {
		t.Error(f)
	}
	return v.Lost
}
