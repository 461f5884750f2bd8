package durable_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// hanging is a store that may fall silent: then a call of a node lasts as long as its
// context does, and has no effect.
type hanging struct {
	durable.Store
	silent atomic.Bool
}

func (h *hanging) call(ctx context.Context) error {
	if h.silent.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (h *hanging) Heartbeat(ctx context.Context, node string, lease time.Duration, w durable.Watch) (durable.HeartbeatResult, error) {
	if err := h.call(ctx); err != nil {
		return durable.HeartbeatResult{}, err
	}
	return h.Store.Heartbeat(ctx, node, lease, w)
}

func (h *hanging) Claim(ctx context.Context, r durable.ClaimRequest) (durable.ClaimResult, error) {
	if err := h.call(ctx); err != nil {
		return durable.ClaimResult{}, err
	}
	return h.Store.Claim(ctx, r)
}

func (h *hanging) Release(ctx context.Context, node string, keep []durable.ID) (bool, error) {
	if err := h.call(ctx); err != nil {
		return false, err
	}
	return h.Store.Release(ctx, node, keep)
}

func (h *hanging) Commit(ctx context.Context, b durable.CommitRequest) (durable.CommitResult, error) {
	if err := h.call(ctx); err != nil {
		return durable.CommitResult{}, err
	}
	return h.Store.Commit(ctx, b)
}

func (h *hanging) Leave(ctx context.Context, node string) error {
	if err := h.call(ctx); err != nil {
		return err
	}
	return h.Store.Leave(ctx, node)
}

// A handler is canceled when it has had Config.Drain, also if the store has not taken
// back by then what had not begun.
func TestDrainIsPunctualWhenTheStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hanging{Store: memory.New()}
		jobs := newJobs(t, store, lazy, func(c *durable.Config) { c.Drain = 10 * time.Second })
		var canceled time.Time
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			canceled = time.Now()
			return "", ctx.Err()
		})
		stop := start(t, jobs)
		synctest.Wait()
		must(k.Schedule(t.Context(), 0, ""))
		must(k.Schedule(t.Context(), time.Minute, "")) // claimed ahead, to be given back
		synctest.Wait()
		store.silent.Store(true)
		ended := time.Now()
		stop()
		if d := canceled.Sub(ended); d != 10*time.Second {
			t.Errorf("the handler was canceled after %v", d)
		}
	})
}

// Run returns within four leases from the return of the handlers, whenever the store
// falls silent: what it has of the node then is freed when the lease ends.
func TestRunReturnsWhenTheStoreHangs(t *testing.T) {
	const lease = 3 * time.Second
	for silent := range 20 {
		synctest.Test(t, func(t *testing.T) {
			store := &hanging{Store: memory.New()}
			jobs := newJobs(t, store, func(c *durable.Config) { c.Lease = lease })
			var returned time.Time
			k := durable.Handle(jobs, "k", func(ctx context.Context, work time.Duration) (string, error) {
				time.Sleep(work)
				returned = time.Now()
				return "", nil
			})
			stop := start(t, jobs)
			synctest.Wait()
			must(k.Schedule(t.Context(), 0, 2*time.Second))
			must(k.Schedule(t.Context(), time.Second, 0)) // claimed ahead, to be given back
			synctest.Wait()
			time.AfterFunc(time.Duration(silent)*150*time.Millisecond, func() { store.silent.Store(true) })
			time.Sleep(500 * time.Millisecond)
			stop()
			if d := time.Since(returned); d > 4*lease {
				t.Errorf("Run returned %v after the handlers, when the store hung from %d on", d, silent)
			}
		})
	}
}

// grudging is a store that may answer all but releases.
type grudging struct{ hanging }

func (g *grudging) Heartbeat(ctx context.Context, node string, lease time.Duration, w durable.Watch) (durable.HeartbeatResult, error) {
	return g.Store.Heartbeat(ctx, node, lease, w)
}

func (g *grudging) Commit(ctx context.Context, b durable.CommitRequest) (durable.CommitResult, error) {
	return g.Store.Commit(ctx, b)
}

func (g *grudging) Leave(ctx context.Context, node string) error { return g.Store.Leave(ctx, node) }

// A node that ends gives nothing back any more once its handlers have returned: what it
// could not, is free when it signs off.
func TestNothingIsGivenBackAfterTheHandlers(t *testing.T) {
	const lease = 3 * time.Second
	for range 20 { // which of the node's reasons to go on comes first is left to chance
		synctest.Test(t, func(t *testing.T) {
			store := &grudging{hanging{Store: memory.New()}}
			jobs := newJobs(t, store, func(c *durable.Config) { c.Lease = lease })
			var returned time.Time
			k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
				time.Sleep(2 * time.Second)
				returned = time.Now()
				return "", nil
			})
			stop := start(t, jobs)
			synctest.Wait()
			must(k.Schedule(t.Context(), 0, ""))
			must(k.Schedule(t.Context(), time.Second, ""))
			synctest.Wait()
			store.silent.Store(true)
			time.Sleep(500 * time.Millisecond)
			stop()
			if d := time.Since(returned); d > lease {
				t.Errorf("Run returned %v after the handlers", d)
			}
		})
	}
}
