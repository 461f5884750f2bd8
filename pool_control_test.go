package executor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

// Remove and Waiting.

// Remove removes a waiting task, once, and no other; it does not find a running task.
func TestPoolRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
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
		waits := func(want ...any) {
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

// A future that is removed is canceled.
func TestPoolRemoveFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, other := newPool(t, executor.Config{Workers: 1}), newPool(t, executor.Config{Workers: 1})
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

// Remove removes one of the entries of a Runnable that was submitted several times.
func TestPoolRemoveOneOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Prioritized()})
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

// Remove never finds a function, which cannot be compared.
func TestPoolRemoveFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
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

// holder is a comparable type of which two values may not be comparable: == of held panics.
type holder struct{ held any }

func (holder) Run(context.Context) error { return nil }

// Remove never finds a Runnable that cannot be compared, and does not panic.
func TestPoolRemoveIncomparable(t *testing.T) {
	ctx := t.Context()
	pool := executor.Fixed(1)
	release := make(chan struct{})
	if err := pool.Go(ctx, func(context.Context) error { <-release; return nil }); err != nil {
		t.Fatal(err)
	}
	task := holder{[]int{1}}
	if err := pool.Execute(ctx, task); err != nil { // waits in the queue
		t.Fatal(err)
	}

	func() {
		defer func() {
			if v := recover(); v != nil {
				t.Fatalf("Remove panicked: %v", v) // with the lock held, so that there is no closing the pool
			}
		}()
		if pool.Remove(task) {
			t.Error("Remove found a task that is equal to nothing")
		}
	}()
	close(release)
	pool.Close()
}

// Remove panics for a nil or zero future without holding the pool's lock: after a recover the pool
// still works.
func TestPoolRemoveInvalidFuture(t *testing.T) {
	var zero executor.Future[int]
	var zeroTask executor.Task[int]
	for _, task := range []any{(*executor.Future[int])(nil), (*executor.Task[int])(nil), &zero, &zeroTask} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 1})
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("Remove(%#v) does not panic", task)
					}
				}()
				pool.Remove(task)
			}()
			expect(t, "stage", pool.Stats().Stage, executor.StageRunning)
		})
	}
}

// Removing or canceling the last waiting task lets a pool that is shut down terminate.
func TestPoolRemoveLetsTerminate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, remove := range []func(*executor.Pool, *executor.Future[int]){
			func(p *executor.Pool, f *executor.Future[int]) { p.Remove(f) },
			func(_ *executor.Pool, f *executor.Future[int]) { f.Cancel() },
		} {
			pool := newPool(t, executor.Config{Workers: 1})
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

// Waiting iterates over a snapshot: the loop may use the pool, remove the tasks, and be left early.
func TestPoolWaitingIsSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Prioritized()})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		testkit.SubmitAll(t.Context(), pool, block.Value, block.Value, block.Value)
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

// Tasks that are done before their turn.

// A canceled task leaves the queue at once and frees its place; nothing is left to remove.
func TestPoolCanceledTaskLeavesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(4)})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		fs := testkit.SubmitAll(t.Context(), pool, block.Value, block.Value, block.Value, block.Value)
		expect(t, "Cancel", fs[2].Cancel(), true)
		expect(t, "Abandon", fs[0].Abandon(), true)
		s := checkStats(t, pool)
		expect(t, "queued", s.Queued, 2)
		expect(t, "canceled", s.Canceled, 2)
		if got := slices.Collect(pool.Waiting()); !slices.Equal(got, []any{fs[1], fs[3]}) {
			t.Errorf("waiting: %v", got)
		}
		mustGo(t, pool, block.Run)
		mustGo(t, pool, block.Run)
		expectIs(t, "full again", pool.Go(t.Context(), block.Run), executor.ErrSaturated)
	})
}

// A waiting future that is completed leaves the queue, and counts by its outcome.
func TestPoolCompletedTaskLeavesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		fs := []*executor.Task[int]{testkit.SubmitTask(t.Context(), pool, block.Value),
			testkit.SubmitTask(t.Context(), pool, block.Value)}
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

// A future that is done when it is submitted does not enter the queue.
func TestPoolDoneTaskDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1)})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		f := executor.NewTask(block.Value)
		f.Cancel()
		expect(t, "Execute", pool.Execute(t.Context(), f), nil)
		s := waitStats(t, pool)
		expect(t, "Queued", s.Queued, 0)
		expect(t, "Canceled", s.Canceled, 1)
	})
}

// A future that is canceled while its submitter waits for room takes none later.
func TestPoolDoneTaskTakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1), Reject: executor.Block})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		queued := executor.Submit(t.Context(), pool, block.Value)
		f := executor.NewTask(block.Value)
		waits := testkit.StartExecute(t.Context(), pool, f)
		f.Cancel()
		queued.Cancel() // makes room
		expect(t, "Execute", <-waits, nil)
		s := waitStats(t, pool)
		expect(t, "Queued", s.Queued, 0)
		expect(t, "Canceled", s.Canceled, 2)
	})
}

// In a recursive computation whose tasks are run by workers and by their submitters, all count as
// succeeded, and the counters add up at any time.
func TestPoolRunByCallerForkJoin(t *testing.T) {
	for _, q := range []executor.Queue{executor.Unbounded(), executor.Prioritized()} {
		pool := newPool(t, executor.Config{Workers: 3, Queue: q})
		var sum func(ctx context.Context, from, to int) (int, error)
		sum = func(ctx context.Context, from, to int) (int, error) {
			if to-from == 1 {
				return from, nil
			}
			half := (from + to) / 2
			left := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) { return sum(ctx, from, half) })
			right, _ := sum(ctx, half, to)
			v, err := left.Get(ctx)
			checkStats(t, pool)
			return v + right, err
		}
		v, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			return sum(ctx, 0, 2000)
		}).Get(t.Context())
		expect(t, "sum", v, 2000*1999/2)
		expect(t, "error", err, nil)
		pool.Close()
		s := checkStats(t, pool)
		expect(t, "Succeeded", s.Succeeded, 2000)
		expect(t, "Submitted", s.Submitted, 2000)
	}
}

// Changes of the configuration.

// Growing, shrinking and timing out through the whole life of a pool: a change never affects a busy
// worker. This is ConfigChanges, with its optional prestart, after which workers take tasks from
// the queue (JDK-6450200).
func TestPoolSetConfig(t *testing.T) {
	const n = 3
	for _, prestart := range []bool{false, true} {
		t.Run(fmt.Sprintf("prestart=%v", prestart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t,
					executor.Config{Workers: n, Max: 3 * n, KeepAlive: 3 * time.Minute, Queue: executor.Bounded(3 * n)})
				if prestart {
					expect(t, "prestarted", pool.Prestart(math.MaxInt), n)
				}
				block := newBlocker(t)
				synctest.Wait()
				block.Fill(t, pool, 6*n)
				sizes := func(what string, workers, queued, largest int) {
					t.Helper()
					s := waitStats(t, pool)
					expect(t, what+": workers", s.Workers, workers)
					expect(t, what+": queued", s.Queued, queued)
					expect(t, what+": largest", s.Largest, largest)
				}
				sizes("filled", 3*n, 3*n, 3*n)

				expect(t, "SetMax", setMax(pool, 4*n), nil)
				sizes("max raised", 3*n, 3*n, 3*n)
				block.Fill(t, pool, n)
				sizes("grown", 4*n, 3*n, 4*n)

				expect(t, "SetMax", setMax(pool, 2*n), nil)
				sizes("max lowered", 4*n, 3*n, 4*n)
				block.Release()
				sizes("released", 2*n, 0, 4*n)
				expect(t, "all ran", block.Ended.Load(), 7*n)

				expect(t, "SetKeepAlive", setKeepAlive(pool, 7*time.Millisecond), nil)
				time.Sleep(7*time.Millisecond - 1)
				sizes("before keep-alive", 2*n, 0, 4*n)
				time.Sleep(time.Nanosecond)
				sizes("after keep-alive", n, 0, 4*n)

				expect(t, "SetKeepNone", setKeepNone(pool, true), nil)
				sizes("core timed out", 0, 0, 4*n)

				pool.Shutdown()
				expired, cancel := context.WithCancel(t.Context())
				cancel()
				expect(t, "AwaitTermination", pool.AwaitTermination(expired), nil)
				s := checkStats(t, pool)
				expect(t, "Submitted == Completed", s.Submitted, s.Ended())
				expectIs(t, "rejects", pool.Go(t.Context(), block.Run), executor.ErrRejected)
			})
		})
	}
}

// A change of the configuration never ends the context of a running task (JDK-6576792).
func TestPoolSetConfigLeavesRunningTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		pool := newPool(t, executor.Config{Workers: n, KeepAlive: 1, Queue: executor.Handoff()})
		block := newBlocker(t)
		mustGo(t, pool, func(ctx context.Context) error {
			block.Run(ctx)
			for _, set := range []error{
				setWorkers(pool, n), setWorkers(pool, 1), setMax(pool, 1), setKeepAlive(pool, 0), setKeepAlive(pool, 1),
				setKeepNone(pool, true), setReject(pool, executor.Discard),
			} {
				expect(t, "setter", set, nil)
			}
			expect(t, "workers inside", pool.Stats().Workers, n)
			return ctx.Err()
		})
		for range n - 1 {
			mustGo(t, pool, func(ctx context.Context) error {
				block.Run(ctx)
				time.Sleep(time.Second)
				return ctx.Err()
			})
		}
		synctest.Wait()
		block.Release()
		s := waitStats(t, pool)
		expect(t, "workers while busy", s.Workers, n-1)
		time.Sleep(time.Second)
		s = waitStats(t, pool)
		expect(t, "Succeeded", s.Succeeded, n)
		expect(t, "workers afterwards", s.Workers, 1)
		time.Sleep(time.Second)
		expect(t, "workers in the end", waitStats(t, pool).Workers, 0)
	})
}

// Raising Workers starts workers at once for the tasks that wait, and no more (JDK-6522773).
func TestPoolSetWorkersStartsWorkers(t *testing.T) {
	for _, c := range []struct{ queued, core, started int }{
		{10, 7, 7}, {3, 10, 4}, {0, 10, 1}, {10, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 1, Max: 20, Queue: executor.Bounded(50)})
			block := newBlocker(t)
			block.Fill(t, pool, 1+c.queued)
			expect(t, "SetWorkers", setWorkers(pool, c.core), nil)
			s := waitStats(t, pool)
			expect(t, "workers", s.Workers, c.started)
			expect(t, "started", int(block.Started.Load()), c.started)
		})
	}
}

// After Workers was lowered surplus workers leave when they have been idle for KeepAlive, counted from
// when they became idle.
func TestPoolSetWorkersLowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 10, KeepAlive: 10 * time.Second})
		block := newBlocker(t)
		block.Fill(t, pool, 10)
		block.Release()
		time.Sleep(4 * time.Second)
		expect(t, "SetWorkers", setWorkers(pool, 7), nil)
		expect(t, "workers at first", waitStats(t, pool).Workers, 10)
		time.Sleep(6*time.Second - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 10)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 7)
		time.Sleep(time.Hour)
		expect(t, "workers for good", waitStats(t, pool).Workers, 7)
		expect(t, "SetWorkers(0)", setWorkers(pool, 0), nil)
		expect(t, "workers at last", waitStats(t, pool).Workers, 0)
	})
}

// Raising KeepAlive applies to workers that are idle already.
func TestPoolSetKeepAliveRaises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 1, KeepAlive: time.Second})
		mustGo(t, pool, func(context.Context) error { return nil })
		waitStats(t, pool)
		expect(t, "SetKeepAlive", setKeepAlive(pool, time.Minute), nil)
		time.Sleep(time.Minute - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 1)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Lowering KeepAlive applies to the time that workers have been idle already.
func TestPoolSetKeepAliveLowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 2, KeepAlive: time.Hour, Queue: executor.Handoff()})
		mustGo(t, pool, func(context.Context) error { return nil })
		mustGo(t, pool, func(context.Context) error { time.Sleep(time.Minute); return nil })
		time.Sleep(3 * time.Minute)
		expect(t, "SetKeepAlive", setKeepAlive(pool, 150*time.Second), nil)
		expect(t, "workers at once", waitStats(t, pool).Workers, 1)
		time.Sleep(30*time.Second - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 1)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Lowering Max dismisses idle workers above it at once, whatever KeepAlive is.
func TestPoolSetMaxDismissesIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 5, KeepAlive: time.Hour, Queue: executor.Handoff()})
		block := newBlocker(t)
		block.Fill(t, pool, 5)
		for range 3 {
			block.ReleaseOne()
		}
		expect(t, "idle", waitStats(t, pool).Idle, 3)
		expect(t, "SetMax", setMax(pool, 3), nil)
		s := waitStats(t, pool)
		expect(t, "idle after", s.Idle, 1)
		expect(t, "active after", s.Active, 2)
		expect(t, "SetMax", setMax(pool, 1), nil)
		s = waitStats(t, pool)
		expect(t, "idle at Max below the busy", s.Idle, 0)
		expect(t, "active at Max below the busy", s.Active, 2)
		block.Release()
		expect(t, "workers at last", waitStats(t, pool).Workers, 1)
	})
}

// A busy worker above a lowered Max leaves after its task, even if others wait.
func TestPoolSetMaxDismissesBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocker(t)
		pool := newPool(t, executor.Config{Workers: 3})
		b.Fill(t, pool, 10)
		b.ReleaseOne()
		waitStats(t, pool) // its worker has the next, so that tasks wait behind the gate
		expect(t, "SetWorkers", setWorkers(pool, 1), nil)
		expect(t, "SetMax", setMax(pool, 1), nil)
		expect(t, "workers while all are busy", waitStats(t, pool).Workers, 3)
		for _, left := range []int{2, 1, 1} {
			b.ReleaseOne()
			expect(t, "workers after a task", waitStats(t, pool).Workers, left)
		}
		b.Release()
	})
}

// Setting KeepNone lets core workers leave that have been idle for long enough, and
// clearing it keeps the rest.
func TestPoolSetKeepNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 3, KeepAlive: time.Minute})
		pool.Prestart(math.MaxInt)
		synctest.Wait()
		time.Sleep(59 * time.Second)
		expect(t, "on", setKeepNone(pool, true), nil)
		expect(t, "off", setKeepNone(pool, false), nil)
		time.Sleep(time.Hour)
		expect(t, "workers kept", waitStats(t, pool).Workers, 3)
		expect(t, "on", setKeepNone(pool, true), nil)
		expect(t, "workers gone", waitStats(t, pool).Workers, 0)
	})
}

// Cancel among many waiting tasks.

// many is the number of waiting tasks: so many that most are far from the head of the queue.
const many = 4000

// waitingPool is a pool with many waiting tasks.
type waitingPool struct {
	*executor.Pool
	waiting []canceler // in random order
	ran     atomic.Int64
	free    func() // ends the tasks that its workers are busy with
}

type canceler interface{ Cancel() bool }

// waitingPools are pools whose queues are ordered.
var waitingPools = map[string]func(*testing.T) *waitingPool{
	"scheduled": func(t *testing.T) *waitingPool {
		p := scheduled(t, 2)
		c := &waitingPool{Pool: p.Pool, free: func() {}}
		for i := range many {
			f := executor.SubmitAfter(testkit.Contexts(t)[i%2], p, time.Hour+rand.N(time.Hour),
				func(context.Context) (int, error) { return int(c.ran.Add(1)), nil })
			c.waiting = append(c.waiting, f)
		}
		return c
	},
	"prioritized": func(t *testing.T) *waitingPool {
		p := newPool(t, executor.Config{Workers: 2, Queue: executor.Prioritized()})
		busy := make(chan struct{})
		c := &waitingPool{Pool: p, free: sync.OnceFunc(func() { close(busy) })}
		t.Cleanup(c.free)
		for range 2 {
			p.Go(t.Context(), func(context.Context) error { <-busy; return nil })
		}
		for i := range many {
			f := executor.Submit(testkit.Contexts(t)[i%2], p,
				func(context.Context) (int, error) { return int(c.ran.Add(1)), nil }, executor.Priority(rand.Int()))
			c.waiting = append(c.waiting, f)
		}
		return c
	},
}

// scheduledWaiting returns a pool with many waiting tasks, and their futures in random order.
func scheduledWaiting(t *testing.T, core int) (*executor.ScheduledPool, []*anyFuture) {
	p := scheduled(t, core)
	var fs []*anyFuture
	for i := range many {
		fs = append(fs, executor.SubmitAfter(testkit.Contexts(t)[i%2], p, time.Hour+rand.N(time.Hour), nopValue))
	}
	rand.Shuffle(many, func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
	return p, fs
}

// eachWaitingPool runs test with each of these pools.
func eachWaitingPool(t *testing.T, test func(*testing.T, *waitingPool)) {
	for name, open := range waitingPools {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t)
				rand.Shuffle(many, func(i, j int) { c.waiting[i], c.waiting[j] = c.waiting[j], c.waiting[i] })
				test(t, c)
			})
		})
	}
}

// cancel cancels the first n tasks of waiting.
func (c *waitingPool) cancel(t *testing.T, n int) {
	t.Helper()
	for _, f := range c.waiting[:n] {
		if !f.Cancel() {
			t.Fatal("a task that waits could not be canceled")
		}
	}
	c.waiting = c.waiting[n:]
}

// A canceled task has left the queue when Cancel returns, even among many.
func TestPoolCancelManyRemovesAll(t *testing.T) {
	eachWaitingPool(t, func(t *testing.T, c *waitingPool) {
		for canceled := 0; len(c.waiting) > 0; {
			n := min(1+rand.IntN(100), len(c.waiting))
			gone := c.waiting[0]
			c.cancel(t, n)
			canceled += n
			if rand.IntN(20) == 0 && slices.Contains(slices.Collect(c.Waiting()), any(gone)) {
				t.Error("a canceled task waits")
			}
			s := c.Stats()
			expect(t, "queued", s.Queued, len(c.waiting))
			expect(t, "canceled", s.Canceled, int64(canceled))
		}
	})
}

// A pool that is shut down ends with the last of its tasks, whether that is canceled before
// or after the shutdown.
func TestPoolCancelManyEndsThePool(t *testing.T) {
	for name, before := range map[string]int{"before": many, "half before": many / 2, "after": 0} {
		t.Run(name, func(t *testing.T) {
			eachWaitingPool(t, func(t *testing.T, c *waitingPool) {
				c.cancel(t, before)
				c.Shutdown()
				c.cancel(t, many-before)
				c.free()
				synctest.Wait()
				expect(t, "stage", c.Stats().Stage, executor.StageTerminated)
			})
		})
	}
}

// A first-in, first-out queue retains no canceled future.
func TestPoolCancelReleasesFutures(t *testing.T) {
	for name, queue := range map[string]executor.Queue{"unbounded": executor.Unbounded(), "bounded": executor.Bounded(20)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 2, Queue: queue})
				newBlocker(t).Fill(t, p, 2)
				var fs []*executor.Future[int]
				for range 20 {
					fs = append(fs,
						executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, nil }))
				}
				var held []weak.Pointer[executor.Future[int]]
				for _, f := range fs {
					held = append(held, weak.Make(f))
					f.Cancel()
				}
				clear(fs)
				for _, w := range held {
					check.Collected(t, "a future", w)
				}
			})
		})
	}
}

// Each task counts once while many are canceled and others schedule and shut down.
func TestPoolCancelCountsOnce(t *testing.T) {
	for range 20 {
		p, fs := scheduledWaiting(t, 2)
		var wg sync.WaitGroup
		var canceled, scheduled, returned atomic.Int64
		for k := range 3 {
			wg.Go(func() {
				for _, f := range fs[k*many/4 : (k+2)*many/4] { // two for each in the middle
					if f.Cancel() {
						canceled.Add(1)
					}
				}
			})
		}
		wg.Go(func() {
			for range 200 {
				scheduled.Add(1)
				executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
				if s := p.Stats(); s.Submitted != int64(s.Queued+s.Active)+s.Ended()+s.Rejected {
					t.Errorf("%+v does not add up", s)
				}
			}
			returned.Store(int64(len(p.ShutdownNow())))
		})
		wg.Wait()
		<-p.Terminated()
		s := p.Stats()
		expect(t, "canceled or returned", s.Canceled, canceled.Load()+returned.Load())
		expect(t, "submitted", s.Submitted, many+scheduled.Load())
		expect(t, "all that ended", s.Ended()+s.Rejected, s.Submitted)
	}
}

// A future that is canceled while it is being pushed through an open gate does not
// stay in the queue. This runs outside of a bubble, where the gate would not open.
func TestPoolCancelDuringPush(t *testing.T) {
	p := scheduled(t, 1)
	busy, end := make(chan struct{}), make(chan struct{})
	mustGo(t, p.Pool, func(context.Context) error { close(busy); <-end; return nil })
	defer close(end)
	<-busy
	for range 2000 {
		f := executor.NewTask(func(context.Context) (int, error) { return 1, nil })
		var begun atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			for !begun.Load() {
				runtime.Gosched()
			}
			for range rand.IntN(100) {
				begun.Load() // some nanoseconds
			}
			f.Cancel()
		})
		begun.Store(true)
		p.Execute(context.Background(), f)
		wg.Wait()
		expect(t, "queued", p.Stats().Queued, 0)
	}
}

// Resize changes Workers and Max in one step, up and down.
func TestPoolResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		block := newBlocker(t)
		block.Fill(t, pool, 10)
		for _, n := range []int{5, 1, 8, 8} {
			expect(t, "Resize", pool.Resize(n), nil)
			expect(t, "Workers", pool.Settings().Workers, n)
			expect(t, "Max", pool.Settings().Max, n)
		}
		expect(t, "active", waitStats(t, pool).Active, 8)
		expectIs(t, "Resize(0)", pool.Resize(0), executor.ErrInvalid)
		expectIs(t, "Resize of Single", executor.Single().Resize(2), executor.ErrInvalid)

		sched := scheduled(t, 1)
		expect(t, "Resize", sched.Resize(3), nil)
		expect(t, "Workers", sched.Settings().Workers, 3)
	})
}

// However Resize and submissions race, no task is left without a worker.
func TestPoolResizeRace(t *testing.T) {
	for range 50 {
		pool := newPool(t, executor.Config{Max: 1, GrowWhenBusy: true})
		var ran atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 100 {
					mustGo(t, pool, func(context.Context) error { ran.Add(1); return nil })
				}
			})
		}
		for i := range 50 {
			expect(t, "Resize", pool.Resize(1+i%5), nil)
		}
		all.Wait()
		pool.Close()
		expect(t, "ran", ran.Load(), 400)
	}
}

// The rate of a share is a setting of its, and takes effect at once: faster for what waits,
// slower for turns that were asked for. Limit and rate change in one step.
func TestPoolReconfigureRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		rate := executor.Rate{PerSecond: 1, Burst: 2}
		share, err := pool.Share(executor.ShareConfig{Rate: rate, Limit: 3})
		expect(t, "Share", err, nil)
		expect(t, "Rate", share.Settings().Rate, rate)
		expect(t, "Max", share.Settings().Max, 3)
		change := func(r executor.Rate, limit int) {
			t.Helper()
			expect(t, "Reconfigure", share.Reconfigure(func(s *executor.Settings) { s.Rate, s.Max = r, limit }), nil)
			expect(t, "Rate", share.Settings().Rate, r)
			expect(t, "Max", share.Settings().Max, limit)
		}

		var ran atomic.Int64
		for range 100 {
			mustGo(t, share, func(context.Context) error { ran.Add(1); return nil })
		}
		after := func(d time.Duration, want int64) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			expect(t, "ran", ran.Load(), want)
		}
		after(0, 2)
		change(executor.Rate{PerSecond: 10, Burst: 2}, 4) // none is left
		after(time.Second+time.Millisecond, 12)
		change(executor.Rate{PerSecond: 0.01, Burst: 2}, 4)
		after(50*time.Second, 12)
		change(executor.Rate{PerSecond: 1, Burst: 1}, 4) // half a token is left
		after(600*time.Millisecond, 13)

		block := newBlocker(t)
		block.Fill(t, pool, 1)
		change(executor.Rate{PerSecond: 1, Burst: 20}, 4)
		after(3*time.Second, 13)
		expect(t, "requests", share.Stats().Idle, 3)
		change(executor.Rate{PerSecond: 1, Burst: 1}, 4)
		block.Release()
		after(0, 14) // the requests that are too many find no token
		change(executor.Rate{}, 1)
		after(0, 100)

		for name, p := range map[string]*executor.Pool{"pool": pool, "share": share} {
			bad := map[string]executor.Rate{"pool": rate, "share": executor.Rate{Burst: 1}}[name]
			expectIs(t, name, p.Reconfigure(func(s *executor.Settings) { s.Rate = bad }), executor.ErrInvalid)
			expect(t, "Rate", p.Settings().Rate, executor.Rate{})
		}
	})
}

// Reconfigure calls users' code without a lock, and the tasks that it cancels are done before the
// pool is terminated. So it is with those of Shutdown.
func TestPoolTerminatesAfterOutcomes(t *testing.T) {
	for _, drops := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var pool *executor.ScheduledPool
			var all []*executor.Future[int]
			done := func(when string) {
				for _, f := range all {
					if !f.State().Done() {
						t.Errorf("drops %t: a task is %v %s", drops, f.State(), when)
					}
				}
			}
			pool = must(executor.NewScheduled(executor.ScheduledConfig{
				Workers: 1, DropDelayed: drops,
				Hooks: executor.Hooks{
					Dropped:    func(context.Context, executor.TaskInfo, error) { pool.Settings() },
					Terminated: func() { pool.Settings(); done("in Terminated") },
				},
			}))
			for range 2 {
				all = append(all, executor.SubmitAfter(t.Context(), pool, time.Hour, func(context.Context) (int, error) { return 0, nil }))
			}
			pool.Prestart(1)
			synctest.Wait()
			all[0].OnDone(func() {
				pool.Settings()
				select {
				case <-pool.Terminated():
					done("after Terminated")
				case <-time.After(time.Minute):
				}
			})
			pool.Shutdown()
			if !drops {
				expect(t, "error", pool.Reconfigure(func(s *executor.Settings) { s.DropDelayed = true }), nil)
			}
			<-pool.Terminated()
		})
	}
}

// A busy pool that is made smaller runs no more than that many tasks at once as soon as those in progress have ended,
// however many wait; one that is made larger runs more.
func TestPoolResizeWhileBusy(t *testing.T) {
	for name, pools := range map[string]func(t *testing.T) (runs, resized *executor.Pool){
		"Fixed": func(t *testing.T) (runs, resized *executor.Pool) {
			p := newPool(t, executor.Config{Workers: 8})
			return p, p
		},
		"Scheduled": func(t *testing.T) (runs, resized *executor.Pool) {
			p := scheduled(t, 8).Pool
			return p, p
		},
		"share": func(t *testing.T) (runs, resized *executor.Pool) {
			p := newShare(t, newPool(t, executor.Config{Workers: 8}), executor.ShareConfig{})
			return p, p
		},
		"keys": func(t *testing.T) (runs, resized *executor.Pool) {
			p := newKeyed[int](t, newPool(t, executor.Config{Workers: 8}), 8).Pool()
			return p, p
		},
		"share of a Fixed": func(t *testing.T) (runs, resized *executor.Pool) {
			p := newPool(t, executor.Config{Workers: 8})
			return newShare(t, p, executor.ShareConfig{}), p
		},
		"share of a Scheduled": func(t *testing.T) (runs, resized *executor.Pool) {
			p := scheduled(t, 8).Pool
			return newShare(t, p, executor.ShareConfig{}), p
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool, resized := pools(t)
			var mu sync.Mutex
			running, most := 0, 0
			for range 4000 {
				mustGo(t, pool, func(context.Context) error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(10 * time.Millisecond)
					mu.Lock()
					running--
					mu.Unlock()
					return nil
				})
			}
			time.Sleep(time.Second)
			for _, n := range []int{1, 3, 2} {
				expect(t, name+": Resize", resized.Resize(n), nil)
				time.Sleep(15 * time.Millisecond) // after which those have ended that were in progress
				mu.Lock()
				most = running
				mu.Unlock()
				time.Sleep(time.Second)
				synctest.Wait()
				mu.Lock()
				expect(t, name+": at once", most, n)
				mu.Unlock()
				expect(t, name+": active", checkStats(t, resized).Active, n)
			}
			pool.ShutdownNow()
		})
	}
}
