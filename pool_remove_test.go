package executor_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Remove takes out a task that waits, once, and no other; a task that runs is
// not there.
func TestPoolRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		running := executor.Submit(t.Context(), pool, block.Value)
		synctest.Wait()
		steps := make([]*testkit.Step, 4)
		for i := range steps {
			steps[i] = new(testkit.Step)
			if err := pool.Execute(t.Context(), steps[i]); err != nil {
				t.Fatal(err)
			}
		}
		waits := func(want ...executor.Runnable) {
			t.Helper()
			if got := slices.Collect(pool.Waiting()); !slices.Equal(got, want) {
				t.Errorf("waiting: %v, want %v", got, want)
			}
		}
		waits(steps[0], steps[1], steps[2], steps[3])
		expect(t, "running", pool.Remove(running), false)
		expect(t, "steps[3]", pool.Remove(steps[3]), true)
		expect(t, "steps[3] again", pool.Remove(steps[3]), false)
		waits(steps[0], steps[1], steps[2])
		expect(t, "steps[1]", pool.Remove(steps[1]), true)
		expect(t, "stranger", pool.Remove(new(testkit.Step)), false)
		expect(t, "nil", pool.Remove(nil), false)
		waits(steps[0], steps[2])
		expect(t, "Canceled", checkStats(t, pool).Canceled, 2)
		block.Release()
		waitStats(t, pool)
		for i, s := range steps {
			expect(t, "ran", s.Ran, i%2 == 0)
		}
	})
}

// A future that is removed is complete, canceled by hand.
func TestPoolRemoveFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, other := newPool(t, executor.Config{Core: 1}), newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		block.Fill(t, other, 1)
		f := executor.Submit(t.Context(), pool, block.Value)
		expect(t, "in another pool", other.Remove(f), false)
		expect(t, "in its pool", pool.Remove(f), true)
		expect(t, "again", pool.Remove(f), false)
		expect(t, "state", f.State(), executor.Canceled)
		expectIs(t, "Err", f.Err(), executor.ErrCanceled)
		expect(t, "Canceled", checkStats(t, pool).Canceled, 1)
	})
}

// Each removal takes out one of the entries of a Runnable that was submitted
// several times.
func TestPoolRemoveOneOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Prioritized()})
		newBlocker(t).Fill(t, pool, 1)
		s := new(testkit.Step)
		for range 2 {
			if err := pool.Execute(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, "first", pool.Remove(s), true)
		expect(t, "queued", checkStats(t, pool).Queued, 1)
		expect(t, "second", pool.Remove(s), true)
		expect(t, "third", pool.Remove(s), false)
	})
}

// So it is with a future that was submitted several times, also if it is done by
// then: the others find it complete, and wait their turn.
func TestPoolRemoveOneOfSeveralFutures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, pool := range []*executor.Pool{newPool(t, executor.Config{Core: 1}), scheduled(t, 1).Pool} {
			done := executor.NewFuture(value(1))
			pool.Execute(t.Context(), done)
			synctest.Wait()
			newBlocker(t).Fill(t, pool, 1)
			twice := executor.NewFuture(value(1))
			for _, f := range []*executor.Future[int]{twice, done, twice} {
				if err := pool.Execute(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			expect(t, "done", pool.Remove(done), true)
			expect(t, "done again", pool.Remove(done), false)
			expect(t, "first", pool.Remove(twice), true)
			expect(t, "state", twice.State(), executor.Canceled)
			expect(t, "queued", checkStats(t, pool).Queued, 1)
			expect(t, "second", pool.Remove(twice), true)
			expect(t, "third", pool.Remove(twice), false)
			expect(t, "canceled", checkStats(t, pool).Canceled, 3)
		}
	})
}

// A function can't be compared and is never found; its submitter can't have
// meant another one either.
func TestPoolRemoveFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		f := executor.Func(block.Run)
		if err := pool.Execute(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		expect(t, "Remove", pool.Remove(f), false)
		expect(t, "queued", checkStats(t, pool).Queued, 1)
	})
}

// A canceled task leaves the queue at once and gives its room to others; there
// is nothing to purge.
func TestPoolCanceledTaskLeavesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(4)})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		fs := executor.SubmitAll(t.Context(), pool, block.Value, block.Value, block.Value, block.Value)
		expect(t, "Cancel", fs[2].Cancel(), true)
		expect(t, "Abandon", fs[0].Abandon(), true)
		s := checkStats(t, pool)
		expect(t, "queued", s.Queued, 2)
		expect(t, "canceled", s.Canceled, 2)
		if got := slices.Collect(pool.Waiting()); !slices.Equal(got, []executor.Runnable{fs[1], fs[3]}) {
			t.Errorf("waiting: %v", got)
		}
		expect(t, "Purge", pool.Purge(), 0)
		mustGo(t, pool, block.Run)
		mustGo(t, pool, block.Run)
		expectIs(t, "full again", pool.Go(t.Context(), block.Run), executor.ErrSaturated)
	})
}

// A future that is completed by hand while it waits leaves the queue, and
// counts by its outcome.
func TestPoolCompletedTaskLeavesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		fs := executor.SubmitAll(t.Context(), pool, block.Value, block.Value)
		expect(t, "Complete", fs[0].Complete(5), true)
		expect(t, "Fail", fs[1].Fail(executor.ErrNotDone), true)
		s := checkStats(t, pool)
		expect(t, "queued", s.Queued, 0)
		expect(t, "succeeded", s.Succeeded, 1)
		expect(t, "failed", s.Failed, 1)
		expect(t, "runs", s.Runs, 0)
		block.Release()
		expect(t, "started", waitStats(t, pool).Runs, 1)
	})
}

// Removing or canceling the last task that waits lets a pool that is shut down
// terminate.
func TestPoolRemoveLetsTerminate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, remove := range []func(*executor.Pool, *executor.Future[int]){
			func(p *executor.Pool, f *executor.Future[int]) { p.Remove(f) },
			func(_ *executor.Pool, f *executor.Future[int]) { f.Cancel() },
		} {
			pool := newPool(t, executor.Config{Core: 1})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			f := executor.Submit(t.Context(), pool, block.Value)
			pool.Shutdown()
			remove(pool, f)
			block.Release()
			if err := pool.AwaitTermination(context.Background()); err != nil {
				t.Error(err)
			}
			expect(t, "ended", block.Ended.Load(), 1)
		}
	})
}

// The snapshot that Waiting iterates over can be left early, and the pool may
// be used meanwhile, also to remove what it gives.
func TestPoolWaitingIsASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Prioritized()})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		executor.SubmitAll(t.Context(), pool, block.Value, block.Value, block.Value)
		for range pool.Waiting() {
			break
		}
		seen := 0
		for r := range pool.Waiting() {
			seen++
			expect(t, "Remove", pool.Remove(r), true)
		}
		expect(t, "seen", seen, 3)
		expect(t, "queued", checkStats(t, pool).Queued, 0)
	})
}

// A future that is done before it is given to the pool does not wait in the
// queue, and takes no room there.
func TestPoolDoneTaskDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1)})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		f := executor.NewFuture(block.Value)
		f.Cancel()
		expect(t, "Execute", pool.Execute(t.Context(), f), nil)
		s := waitStats(t, pool)
		expect(t, "Queued", s.Queued, 0)
		expect(t, "Canceled", s.Canceled, 1)
	})
}

// A future that is canceled while its submitter waits for room does not take
// that room later.
func TestPoolDoneTaskTakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1), Reject: executor.Block})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		queued := executor.Submit(t.Context(), pool, block.Value)
		f := executor.NewFuture(block.Value)
		waits := testkit.StartExecute(t.Context(), pool, f)
		f.Cancel()
		queued.Cancel() // makes room
		expect(t, "Execute", <-waits, nil)
		s := waitStats(t, pool)
		expect(t, "Queued", s.Queued, 0)
		expect(t, "Canceled", s.Canceled, 2)
	})
}

// Remove of a nil future, or of the zero one, panics without the pool's lock: whoever
// recovers has a pool that still works.
func TestPoolRemoveOfUnusableFuture(t *testing.T) {
	var zero executor.Future[int]
	for _, task := range []executor.Runnable{(*executor.Future[int])(nil), (*executor.ScheduledFuture[int])(nil), &zero} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Core: 1})
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("Remove(%#v) does not panic", task)
					}
				}()
				pool.Remove(task)
			}()
			expect(t, "stage", pool.Stage(), executor.StageRunning)
		})
	}
}
