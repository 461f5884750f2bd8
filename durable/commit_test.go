package durable_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// picky is a store that treats the outcome of one job in a way of its own.
type picky struct {
	durable.Store
	mu     sync.Mutex
	id     durable.ID
	locked bool // somebody else has locked its row; else the store fails at it
}

func (p *picky) pick(id durable.ID, locked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.locked = id, locked
}

func (p *picky) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(b.Outcomes, func(o durable.Outcome) bool { return o.ID == p.id })
	if i < 0 {
		return p.Store.Commit(ctx, b)
	}
	if !p.locked {
		return durablestore.CommitResult{}, errors.New("this one can't be settled")
	}
	ref := b.Outcomes[i].Ref
	b.Outcomes = slices.Concat(b.Outcomes[:i], b.Outcomes[i+1:])
	s, err := p.Store.Commit(ctx, b)
	if err == nil {
		s.Committed = slices.Insert(s.Committed, i, false)
		s.Locked = append(s.Locked, ref)
	}
	return s, err
}

// An outcome that the store can't take, because another transaction has locked its row or for a reason of its own, does
// not hold up the others. It is committed when it can be. If that takes long the log says, once, what it waits for.
func TestCommitterLockedRowHoldsUpNoOther(t *testing.T) {
	for what, locked := range map[string]bool{"Locked": true, "Failing": false} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &picky{Store: memory.New()}
				var log logLines
				jobs := newJobs(t, store, func(c *durable.Config) { c.Logger = log.logger() })
				k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 1, nil })
				stop := start(t, jobs)
				first := must(k.AddAfter(t.Context(), time.Second, 1))
				store.pick(first, locked)
				rest := must(k.AddAll(t.Context(), time.Second, make([]int, 50)))
				begun := time.Now()
				for _, id := range rest {
					must(k.Await(t.Context(), id))
				}
				if d := time.Since(begun); d > 15*time.Second {
					t.Errorf("the others took %v", d)
				}
				time.Sleep(10 * time.Minute)
				for range 10 { // others come and go meanwhile
					begun := time.Now()
					must(k.Await(t.Context(), must(k.Add(t.Context(), 1))))
					if d := time.Since(begun); d > 5*time.Second {
						t.Errorf("a later one took %v", d)
					}
				}
				if j := must(jobs.Get(t.Context(), first)); !j.State.Granted() || j.Runs != 0 {
					t.Errorf("job is %+v", j)
				}
				store.pick(durable.ID{}, false)
				must(k.Await(t.Context(), first))
				if n := log.count("locked by another transaction"); locked && n != 1 || !locked && n != 0 {
					t.Errorf("the log says %d times that a transaction holds it up", n)
				}
				if j := must(jobs.Get(t.Context(), first)); j.Runs != 1 {
					t.Errorf("it has been run %d times", j.Runs)
				}
				stop()
			})
		})
	}
}
