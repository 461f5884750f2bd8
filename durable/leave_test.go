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

// What a node could not give back when it ended is free all the same, as it signs
// off: another one runs it in time, and not when the lease is over.
func TestNodeThatEndsSignsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		f := newFaulty(store)
		var d diary
		leaving, heir := newJobs(t, f), newJobs(t, store)
		k := durable.Handle(leaving, "k", d.handler)
		durable.Handle(heir, "k", d.handler)
		stop := start(t, leaving)
		synctest.Wait()
		added := time.Now()
		must(k.Schedule(t.Context(), time.Second, ""))
		f.set(func(op string) (error, error) {
			if op == "release" {
				return errDown, nil
			}
			return nil, nil
		})
		stop()
		start(t, heir)
		time.Sleep(time.Minute)
		d.wants(t, added, time.Second)
	})
}

// slowed is a store of which one sort of call takes a while to get there.
type slowed struct {
	durable.Store
	op             string
	underWay, left atomic.Bool
	broken, early  atomic.Bool // a settle was given up, Leave did not wait
}

func (s *slowed) call(ctx context.Context, op string) {
	if op == s.op {
		s.underWay.Store(true)
		time.Sleep(50 * time.Millisecond)
		s.underWay.Store(false)
		s.broken.Store(op == "commit" && ctx.Err() != nil)
	}
}

func (s *slowed) Commit(ctx context.Context, b durable.CommitRequest) (durable.CommitResult, error) {
	s.call(ctx, "commit")
	return s.Store.Commit(ctx, b)
}

func (s *slowed) Heartbeat(ctx context.Context, node string, lease time.Duration, w durable.Watch) (durable.HeartbeatResult, error) {
	s.call(ctx, "heartbeat")
	return s.Store.Heartbeat(ctx, node, lease, w)
}

func (s *slowed) Leave(ctx context.Context, node string) error {
	s.left.Store(true)
	s.early.Store(s.underWay.Load())
	return s.Store.Leave(ctx, node)
}

// A node signs off when no call of it is under way, and breaks no confirm off: one
// that the database is about would count as lost with the node, though it never
// began.
func TestNodeSignsOffLast(t *testing.T) {
	for _, op := range []string{"commit", "heartbeat"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slowed{Store: memory.New(), op: op}
				jobs := newJobs(t, store)
				k := durable.Handle(jobs, "k", new(diary).handler)
				stop := start(t, jobs)
				synctest.Wait()
				must(k.Schedule(t.Context(), 40*time.Millisecond, "")) // confirmed a little before
				for !store.underWay.Load() {
					time.Sleep(time.Millisecond)
				}
				stop()
				if !store.left.Load() || store.early.Load() || store.broken.Load() {
					t.Errorf("it signed off: %t, during the call: %t; the call was broken off: %t",
						store.left.Load(), store.early.Load(), store.broken.Load())
				}
			})
		})
	}
}

// A node that is told to end gives back what has not begun as soon as the store answers
// again, and not when it would look next.
func TestDrainGivesBackWhenTheStoreIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		ends, other := newJobs(t, line, lazy), newJobs(t, store)
		free := make(chan struct{})
		long := durable.Handle(ends, "long", func(context.Context, string) (string, error) { <-free; return "", nil })
		var d, own diary
		k := durable.Handle(ends, "k", own.handler)
		durable.Handle(other, "k", d.handler)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- ends.Run(ctx) }()
		start(t, other)
		synctest.Wait()
		must(long.Schedule(t.Context(), 0, ""))
		synctest.Wait() // it has begun
		added := time.Now()
		must(k.Schedule(t.Context(), 5*time.Minute, "")) // claimed at once, by the node that ends
		line.down()
		end()
		time.Sleep(time.Minute)
		line.up()
		time.Sleep(8 * time.Minute)
		d.wants(t, added, 5*time.Minute)
		close(free)
		if err := <-ended; err != nil || own.count() > 0 {
			t.Errorf("the node that ends began it %d times: %v", own.count(), err)
		}
	})
}
