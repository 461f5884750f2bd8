package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// record is the history of one task: what was said about it and what happened.
type record struct {
	id       int
	runs     atomic.Int32
	runnable func(context.Context) error
	future   *executor.Future[int] // nil for a plain task
	rejected bool                  // the submission failed
	ends     bool                  // its submitter's context ends some time
	back     atomic.Bool           // ShutdownNow gave it back
	removed  atomic.Bool           // Remove found it
}

// Run makes a record a Runnable that ShutdownNow gives back by identity.
func (r *record) Run(ctx context.Context) error { return r.runnable(ctx) }

// While many submit, cancel, remove, retune and at last shut down, no task runs
// twice, and one that was accepted runs, is canceled or is given back, as the
// counters say; no snapshot of the counters is ever off. In real time, so that
// goroutines meet as they do in life.
func TestPoolHistory(t *testing.T) {
	for i, c := range []executor.Config{
		{Core: 4},
		{Core: 1, Max: 8, KeepAlive: time.Microsecond, Queue: executor.Bounded(4)},
		{Max: 8, Queue: executor.Handoff(), Reject: executor.Block},
		{Core: 2, Max: 4, KeepAlive: time.Millisecond, AllowCoreTimeout: true, Queue: executor.Bounded(2), Reject: executor.Block},
		{Core: 2, Max: 3, Queue: executor.Bounded(8), Reject: executor.DiscardOldest},
		{Core: 2, Queue: executor.Prioritized(), Reject: executor.CallerRuns},
		{Core: 1, Max: 2, Queue: executor.Bounded(1), Reject: executor.CallerRuns},
	} {
		for _, now := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/now=%v", i, now), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				history(t, c, now, seed)
			})
		}
	}
}

func history(t *testing.T, c executor.Config, now bool, seed uint64) {
	const submitters, tasks = 8, 250
	pool := newPool(t, c)
	all := make([][]*record, submitters)
	var work, meddle sync.WaitGroup
	stop := make(chan struct{})

	for s := range submitters {
		work.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(s)))
			for i := range tasks {
				r := &record{id: s*tasks + i}
				all[s] = append(all[s], r)
				submitOne(t, pool, r, rng)
			}
		})
	}
	meddle.Go(func() { // changes the rules, within what is legal
		rng := rand.New(rand.NewPCG(seed, 1000))
		for !isClosed(stop) {
			pool.SetMax(max(c.Max, c.Core) + rng.IntN(4))
			pool.SetCore(rng.IntN(pool.Core() + 2))
			pool.SetKeepAlive(time.Duration(1 + rng.IntN(1000)))
			pool.Prestart()
			for r := range pool.Waiting() {
				if rng.IntN(20) == 0 && pool.Remove(r) {
					if plain, ok := r.(*record); ok {
						plain.removed.Store(true)
					}
				}
			}
			runtime.Gosched()
		}
	})
	meddle.Go(func() { // looks on
		for !isClosed(stop) {
			checkStats(t, pool)
			runtime.Gosched()
		}
	})

	if now {
		rng := rand.New(rand.NewPCG(seed, 2000))
		for n := int64(rng.IntN(submitters * tasks / 2)); pool.Stats().Submitted < n; {
			runtime.Gosched()
		}
		for _, u := range pool.ShutdownNow() {
			switch task := u.Task().(type) {
			case *record:
				task.back.Store(true)
			case *executor.Future[int]: // its outcome tells
			}
		}
	}
	work.Wait()
	pool.Shutdown()
	if err := pool.AwaitTermination(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(stop)
	meddle.Wait()
	judge(t, pool, all, c.Reject == executor.DiscardOldest)
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// submitOne submits r in one form or another, perhaps with somebody who cancels
// it, and notes what it was told.
func submitOne(t *testing.T, pool *executor.Pool, r *record, rng *rand.Rand) {
	how := rng.IntN(10)
	r.runnable = func(ctx context.Context) error {
		if r.runs.Add(1) > 1 {
			t.Errorf("task %d runs again", r.id)
		}
		switch {
		case how == 7:
			runtime.Goexit()
		case how == 8:
			runtime.Gosched()
		case how == 9:
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Microsecond):
			}
		}
		return nil
	}
	if how == 7 && pool.RejectPolicy() == executor.CallerRuns {
		how = 6 // or the submitter would be lost
	}
	ctx, cancel := context.Background(), func() {}
	if rng.IntN(3) == 0 {
		ctx, cancel = context.WithCancel(ctx)
		r.ends = true
	}
	if rng.IntN(2) == 0 {
		r.rejected = pool.Execute(ctx, r) != nil
	} else {
		r.future = executor.NewFuture(func(ctx context.Context) (int, error) { return r.id, r.Run(ctx) })
		r.rejected = pool.Execute(ctx, r.future) != nil
		if rng.IntN(4) == 0 {
			r.future.Cancel()
		}
	}
	if rng.IntN(2) == 0 {
		cancel()
	} else {
		time.AfterFunc(time.Microsecond, cancel)
	}
}

// judge holds the histories against each other and against the counters.
func judge(t *testing.T, pool *executor.Pool, all [][]*record, discards bool) {
	t.Helper()
	var total, runs, given int64
	for _, rs := range all {
		for _, r := range rs {
			n := int64(r.runs.Load())
			total++
			runs += n
			if r.back.Load() {
				given++
			}
			switch {
			case n > 0:
				if r.rejected || r.back.Load() || r.removed.Load() {
					t.Errorf("task %d ran, although rejected: %v, given back: %v, removed: %v", r.id, r.rejected, r.back.Load(), r.removed.Load())
				}
			case r.rejected, r.back.Load(), r.removed.Load(), r.ends, discards:
			case r.future != nil && r.future.State() == executor.Canceled:
			default:
				t.Errorf("task %d was accepted and never ran", r.id)
			}
			if r.future != nil && !r.future.State().Done() {
				t.Errorf("task %d is %v for ever", r.id, r.future.State())
			}
		}
	}
	s := checkStats(t, pool)
	expect(t, "Submitted", s.Submitted, total)
	if inline := runs - s.Runs; inline < 0 || inline > s.Rejected {
		t.Errorf("%d bodies ran, of which the pool knows %d: %+v", runs, s.Runs, s)
	}
	if s.Canceled < given {
		t.Errorf("%d given back: %+v", given, s)
	}
}

// A task that was accepted runs, however close the pool's shutdown, or the
// departure of its last worker, was (JDK-6440728, JDK-8358601).
func TestPoolAcceptedMeansWillRun(t *testing.T) {
	for name, c := range map[string]executor.Config{
		"kept":      {Core: 2},
		"no core":   {Max: 2, Queue: executor.Bounded(3)},
		"transient": {Core: 2, KeepAlive: 1, AllowCoreTimeout: true, Queue: executor.Bounded(3)},
		"handoff":   {Max: 2, Queue: executor.Handoff()},
		"blocking":  {Max: 1, Queue: executor.Bounded(1), Reject: executor.Block},
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				pool := newPool(t, c)
				var accepted, ran atomic.Int64
				var submitters sync.WaitGroup
				for range 4 {
					submitters.Go(func() {
						for range 20 {
							if pool.Go(context.Background(), func(context.Context) error { ran.Add(1); return nil }) == nil {
								accepted.Add(1)
							}
						}
					})
				}
				for range rand.IntN(200) {
					pool.Stats()
				}
				pool.Close()
				submitters.Wait()
				expect(t, "ran", ran.Load(), accepted.Load())
			}
		})
	}
}
