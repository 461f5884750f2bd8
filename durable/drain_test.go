package durable_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Run drains: runs in progress end and are committed, what has not begun is released at once, with no attempt lost.
func TestNodeDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(10 * time.Second)
			return "", nil
		})
		stop := start(t, jobs)
		running := must(k.Add(t.Context(), ""))
		claimed := must(k.AddAfter(t.Context(), 900*time.Millisecond, ""))
		synctest.Wait()
		begun := time.Now()
		stop()
		if d := time.Since(begun); d != 10*time.Second {
			t.Errorf("Run returned after %v", d)
		}
		if job := must(jobs.Get(t.Context(), running)); job.State != durable.Succeeded {
			t.Errorf("the running job is %v", job.State)
		}
		if job := must(jobs.Get(t.Context(), claimed)); job.State != durable.Waiting || job.Attempt != 0 {
			t.Errorf("the claimed job is %v in attempt %d", job.State, job.Attempt)
		}
	})
}

// A handler that is canceled by a drain, and says by a permanent error of its own that the job has failed for good, is
// not run again; one whose error is that of its context is, whoever has marked it.
func TestNodeDrainKeepsPermanentErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		err  func(ctx context.Context) error
		want durable.State
	}{
		{"its own", func(context.Context) error { return executor.Permanent(errors.New("no such customer")) }, durable.Dead},
		{"of the context", func(ctx context.Context) error { return executor.Permanent(ctx.Err()) }, durable.Waiting},
		{"the cause", func(ctx context.Context) error { return executor.Permanent(context.Cause(ctx)) }, durable.Waiting},
		{"not permanent", func(context.Context) error { return errors.New("interrupted") }, durable.Waiting},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Drain = time.Minute })
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					<-ctx.Done()
					return "", test.err(ctx)
				})
				stop := start(t, jobs)
				id := must(k.Add(t.Context(), ""))
				time.Sleep(time.Second)
				stop()
				if job := must(jobs.Get(t.Context(), id)); job.State != test.want {
					t.Errorf("the job is %v, want %v", job.State, test.want)
				}
			})
		})
	}
}

// A handler that outlasts Config.Drain is canceled, and its job runs again elsewhere without loss of an attempt.
func TestNodeDrainCancelsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store, func(c *durable.Config) { c.Drain = time.Minute })
		var cause error
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return "", ctx.Err()
		})
		stop := start(t, jobs)
		id := must(k.Add(t.Context(), ""))
		time.Sleep(time.Second)
		synctest.Wait()
		begun := time.Now()
		stop()
		if d := time.Since(begun); d != time.Minute || !errors.Is(cause, executor.ErrShutdown) {
			t.Errorf("Run returned after %v, the handler was canceled with %v", d, cause)
		}
		heir := newJobs(t, store)
		k2 := durable.Handle(heir, "k", func(ctx context.Context, _ string) (int, error) {
			j, _ := durable.Current(ctx)
			return j.Attempt, nil
		})
		start(t, heir)
		if attempt := must(k2.Await(t.Context(), id)); attempt != 1 {
			t.Errorf("the heir had attempt %d", attempt)
		}
	})
}

// While a node that drains waits for a handler, it releases what it gets from an insert that was under way, and what
// could not be released at first: other nodes run it soon, and it does not.
func TestNodeDrainReleasesLateJobs(t *testing.T) {
	for what, disturb := range map[string]func(*faulty, *reluctant){
		"insert under way": func(line *faulty, _ *reluctant) { line.delay("insert", 20*time.Millisecond) },
		"locked":           func(_ *faulty, store *reluctant) { store.stuck.Store(2) },
		"store away": func(line *faulty, _ *reluctant) {
			line.set(func(op string) (error, error) {
				if op == "release" {
					return errDown, nil
				}
				return nil, nil
			})
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &reluctant{Store: memory.New()}
				line := newFaulty(store)
				ends, other := newJobs(t, line), newJobs(t, store)
				free := make(chan struct{})
				durable.Handle(ends, "long", func(context.Context, string) (string, error) { <-free; return "", nil })
				var d, own diary
				k := durable.Handle(ends, "k", own.handler)
				durable.Handle(other, "k", d.handler)
				ctx, end := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- ends.Run(ctx) }()
				start(t, other)
				must(durable.KindOf[string, string](ends, "long").Add(t.Context(), ""))
				synctest.Wait()
				disturb(line, store)
				added := time.Now()
				go k.AddAfter(t.Context(), 500*time.Millisecond, "")
				time.Sleep(10 * time.Millisecond)
				end()
				time.Sleep(2 * time.Second)
				line.up()
				time.Sleep(2 * time.Second)
				close(free)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if since := d.since(added); len(since) != 1 || since[0] > 4*time.Second || own.count() != 0 {
					t.Errorf("it was run after %v by the other, and %d times by the one that ends", since, own.count())
				}
			})
		})
	}
}

// Run returns though the store does not answer.
func TestNodeDrainEndsWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			return "", nil
		})
		stop := start(t, jobs)
		must(k.Add(t.Context(), ""))
		synctest.Wait()
		line.down()
		begun := time.Now()
		stop()
		if d := time.Since(begun); d > 5*time.Second {
			t.Errorf("Run returned after %v", d)
		}
	})
}

// A program may shut the pool down during the drain, to end what still runs: the node takes no job then, and the log
// does not complain.
func TestNodeDrainWithClosedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, log := executor.Scheduled(1), new(logLines)
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor, c.Logger = pool, log.logger() })
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(time.Minute)
			return "", nil
		})
		stop := start(t, jobs)
		must(k.Add(t.Context(), ""))
		synctest.Wait()
		time.AfterFunc(5*time.Second, func() { pool.ShutdownNow() })
		stop()
		if n := log.count("the pool is shut down"); n != 0 {
			t.Errorf("the log says it %d times", n)
		}
	})
}

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

func (h *hanging) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durablestore.Watch) (durablestore.HeartbeatResult, error) {
	if err := h.call(ctx); err != nil {
		return durablestore.HeartbeatResult{}, err
	}
	return h.Store.Heartbeat(ctx, node, lease, w)
}

func (h *hanging) Claim(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
	if err := h.call(ctx); err != nil {
		return durablestore.ClaimResult{}, err
	}
	return h.Store.Claim(ctx, r)
}

func (h *hanging) Release(ctx context.Context, node string, keep []durable.ID) (bool, error) {
	if err := h.call(ctx); err != nil {
		return false, err
	}
	return h.Store.Release(ctx, node, keep)
}

func (h *hanging) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	if err := h.call(ctx); err != nil {
		return durablestore.CommitResult{}, err
	}
	return h.Store.Commit(ctx, b)
}

func (h *hanging) Leave(ctx context.Context, node string) error {
	if err := h.call(ctx); err != nil {
		return err
	}
	return h.Store.Leave(ctx, node)
}

// A handler is canceled after Config.Drain, also if the store has not released by then what had not begun.
func TestNodeDrainCancelsInTimeWhenStoreHangs(t *testing.T) {
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
		must(k.Add(t.Context(), ""))
		must(k.AddAfter(t.Context(), time.Minute, "")) // claimed ahead, to be released
		synctest.Wait()
		store.silent.Store(true)
		ended := time.Now()
		stop()
		if d := canceled.Sub(ended); d != 10*time.Second {
			t.Errorf("the handler was canceled after %v", d)
		}
	})
}

// Run returns within four leases from the return of the handlers, whenever the store falls silent: what it has of the
// node then is freed when the lease ends.
func TestNodeDrainEndsWhenStoreHangs(t *testing.T) {
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
			must(k.Add(t.Context(), 2*time.Second))
			must(k.AddAfter(t.Context(), time.Second, 0)) // claimed ahead, to be released
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

func (g *grudging) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durablestore.Watch) (durablestore.HeartbeatResult, error) {
	return g.Store.Heartbeat(ctx, node, lease, w)
}

func (g *grudging) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	return g.Store.Commit(ctx, b)
}

func (g *grudging) Leave(ctx context.Context, node string) error { return g.Store.Leave(ctx, node) }

// A node that drains releases nothing any more once its handlers have returned: what it could not is free when it signs
// off.
func TestNodeDrainReleasesNothingAfterHandlers(t *testing.T) {
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
			must(k.Add(t.Context(), ""))
			must(k.AddAfter(t.Context(), time.Second, ""))
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

// reluctant is a store that can't free anything the first times.
type reluctant struct {
	durable.Store
	stuck, releases atomic.Int64
}

func (r *reluctant) Release(ctx context.Context, node string, keep []durable.ID) (left bool, err error) {
	r.releases.Add(1)
	if r.stuck.Add(-1) >= 0 {
		return true, nil
	}
	return r.Store.Release(ctx, node, keep)
}

// What a node could not release when it ended is free all the same, as it signs off: another one runs it in time, and
// not when the lease is over.
func TestNodeDrainSignsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		f := newFaulty(store)
		var d diary
		leaving, heir := newJobs(t, f), newJobs(t, store)
		k := durable.Handle(leaving, "k", d.handler)
		durable.Handle(heir, "k", d.handler)
		stop := start(t, leaving)
		added := time.Now()
		must(k.AddAfter(t.Context(), time.Second, ""))
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

func (s *slowed) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	s.call(ctx, "commit")
	return s.Store.Commit(ctx, b)
}

func (s *slowed) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durablestore.Watch) (durablestore.HeartbeatResult, error) {
	s.call(ctx, "heartbeat")
	return s.Store.Heartbeat(ctx, node, lease, w)
}

func (s *slowed) Leave(ctx context.Context, node string) error {
	s.left.Store(true)
	s.early.Store(s.underWay.Load())
	return s.Store.Leave(ctx, node)
}

// A node signs off when no call of it is under way, and breaks no confirm off: the job would count as lost with the
// node, though it never began.
func TestNodeSignsOffLast(t *testing.T) {
	for _, op := range []string{"commit", "heartbeat"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slowed{Store: memory.New(), op: op}
				jobs := newJobs(t, store)
				k := durable.Handle(jobs, "k", new(diary).handler)
				stop := start(t, jobs)
				must(k.AddAfter(t.Context(), 40*time.Millisecond, "")) // confirmed a little before
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

// A node that drains releases what has not begun as soon as the store answers again, and not at its next poll.
func TestNodeDrainReleasesWhenStoreIsBack(t *testing.T) {
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
		must(long.Add(t.Context(), ""))
		synctest.Wait() // it has begun
		added := time.Now()
		must(k.AddAfter(t.Context(), 5*time.Minute, "")) // claimed at once, by the node that ends
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
