package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A task that waits in a pool and is run by hand meanwhile has the outcome of its
// body, whatever takes it out of the queue, and runs once: it is not given back.
func TestRunByHandDecides(t *testing.T) {
	scheduled := func(t *testing.T, c executor.ScheduledConfig) (*executor.ScheduledPool, func(*testkit.Blocker) *executor.Future[int]) {
		c.Core = 1
		p := newScheduled(t, c)
		return p, func(b *testkit.Blocker) *executor.Future[int] {
			return &executor.Schedule(t.Context(), p, time.Hour, b.Value).Future
		}
	}
	busy := func(t *testing.T, c executor.Config, b *testkit.Blocker) *executor.Pool {
		c.Core = 1
		p := newPool(t, c)
		b.Fill(t, p, 1)
		return p
	}
	for name, prepare := range map[string]func(*testing.T, *testkit.Blocker) (f *executor.Future[int], takeOut func()){
		"ShutdownNow": func(t *testing.T, b *testkit.Blocker) (*executor.Future[int], func()) {
			p := busy(t, executor.Config{}, b)
			return executor.Submit(t.Context(), p, b.Value), func() { expect(t, "given back", len(p.ShutdownNow()), 0) }
		},
		"Remove": func(t *testing.T, b *testkit.Blocker) (*executor.Future[int], func()) {
			p := busy(t, executor.Config{}, b)
			f := executor.Submit(t.Context(), p, b.Value)
			return f, func() { expect(t, "Remove", p.Remove(f), true) }
		},
		"DiscardOldest": func(t *testing.T, b *testkit.Blocker) (*executor.Future[int], func()) {
			p := busy(t, executor.Config{Queue: executor.Bounded(1), Reject: executor.DiscardOldest}, b)
			return executor.Submit(t.Context(), p, b.Value), func() { mustGo(t, p, b.Run) }
		},
		"Shutdown": func(t *testing.T, b *testkit.Blocker) (*executor.Future[int], func()) {
			p, submit := scheduled(t, executor.ScheduledConfig{Delayed: executor.DropAtShutdown})
			return submit(b), p.Shutdown
		},
		"SetDelayed": func(t *testing.T, b *testkit.Blocker) (*executor.Future[int], func()) {
			p, submit := scheduled(t, executor.ScheduledConfig{})
			f := submit(b)
			p.Shutdown()
			return f, func() { expect(t, "SetDelayed", p.SetDelayed(executor.DropAtShutdown), nil) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBlocker(t)
				f, takeOut := prepare(t, b)
				go f.Run(t.Context())
				synctest.Wait()
				takeOut()
				expect(t, "state meanwhile", f.State(), executor.Running)
				b.Release()
				v, err := f.Get(t.Context())
				expect(t, "value", v, 1)
				expect(t, "error", err, nil)
			})
		})
	}
}

// A task that is rejected while somebody runs it by hand has the outcome of its
// body; the submission fails.
func TestRunByHandOutlivesRejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1), Reject: executor.Block})
		b := newBlocker(t)
		b.Fill(t, p, 2)
		f := executor.NewFuture(b.Value)
		refused := make(chan error, 1)
		go func() { refused <- p.Execute(t.Context(), f) }()
		synctest.Wait()
		go f.Run(t.Context())
		synctest.Wait()
		p.Shutdown()
		expectIs(t, "Execute", <-refused, executor.ErrShutdown)
		expect(t, "state meanwhile", f.State(), executor.Running)
		b.Release()
		v, err := f.Get(t.Context())
		expect(t, "value", v, 1)
		expect(t, "error", err, nil)
	})
}

// A task that somebody runs by hand counts by its outcome if that is there before
// its turn has come, else as canceled; in no case as a run of the pool.
func TestStatsOfRunByHand(t *testing.T) {
	for name, meanwhile := range map[string]bool{"done before its turn": false, "running at its turn": true} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Core: 1})
			worker := newBlocker(t)
			worker.Fill(t, pool, 1)
			byHand := newBlocker(t)
			f := executor.Submit(t.Context(), pool, byHand.Value)
			go f.Run(t.Context())
			synctest.Wait()
			if meanwhile {
				worker.Release()
				synctest.Wait()
				byHand.Release()
			} else {
				byHand.Release()
				synctest.Wait()
				worker.Release()
			}
			_, err := f.Get(t.Context())
			expect(t, "error", err, nil)
			s := waitStats(t, pool)
			want := executor.Stats{Succeeded: 2}
			if meanwhile {
				want = executor.Stats{Succeeded: 1, Canceled: 1}
			}
			expect(t, name+": Succeeded", s.Succeeded, want.Succeeded)
			expect(t, name+": Canceled", s.Canceled, want.Canceled)
			expect(t, name+": Runs", s.Runs, 1)
		})
	}
}
