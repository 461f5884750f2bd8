package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// What each policy does in each phase of a pool.

// policyCase is what a policy does with a task that the pool rejects.
type policyCase struct {
	name                string
	policy              executor.RejectPolicy
	saturated, shutdown verdict // by phase
}

// verdict is the result for a task that the pool rejects.
type verdict struct {
	submission error // what the submission fails with, nil if it succeeds
	future     error // what the future fails with, nil if it is not done
	runs       bool  // the task function ran, in the submitter's goroutine
}

var policyCases = []policyCase{
	{"Abort", executor.Abort,
		verdict{executor.ErrSaturated, executor.ErrSaturated, false},
		verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"Discard", executor.Discard,
		verdict{nil, executor.ErrSaturated, false}, verdict{nil, executor.ErrShutdown, false}},
	{"CallerRuns", executor.CallerRuns, // the JDK's drops the task silently after a shutdown
		verdict{nil, nil, true}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"DiscardOldest", executor.DiscardOldest, // has tests of its own while the pool runs
		verdict{}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"Block", executor.Block,
		verdict{}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"BlockFor", executor.BlockFor(-1),
		verdict{executor.ErrSaturated, executor.ErrSaturated, false},
		verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"RejectFunc that forgets", policyReturning(nil),
		verdict{nil, executor.ErrSaturated, false}, verdict{nil, executor.ErrShutdown, false}},
	{"RejectFunc that keeps", policyReturning(executor.ErrKept), verdict{}, verdict{}},
	{"RejectFunc that fails", executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return errTask }),
		verdict{errTask, errTask, false}, verdict{errTask, errTask, false}},
}

// Each policy does what its documentation says with a rejected task, once for each task, in each
// phase of the pool and for each way to submit; only the counter of rejections changes. This is
// testSubmittedTasksRejectedWhenSaturatedOrShutdown; unlike the JDK's, a future that is not taken
// fails.
func TestRejectPolicyInEachPhase(t *testing.T) {
	for _, phase := range []string{"saturated", "shut down by Shutdown", "shut down by ShutdownNow", "terminated"} {
		for _, c := range policyCases {
			want := c.shutdown
			if phase == "saturated" {
				if want = c.saturated; c.policy == executor.Block || c.policy == executor.DiscardOldest {
					continue // these admit it
				}
			}
			t.Run(phase+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { rejects(t, phase, c.policy, want) })
			})
		}
	}
}

// rejects brings a pool with one worker and one place into a phase, and checks what the policy does
// for each way to submit.
func rejects(t *testing.T, phase string, policy executor.RejectPolicy, want verdict) {
	pool := newPool(t, executor.Config{Name: "full", Workers: 1, Queue: executor.Bounded(1)})
	block := newBlocker(t)
	block.Fill(t, pool, 2)
	switch phase {
	case "shut down by Shutdown":
		pool.Shutdown()
	case "shut down by ShutdownNow":
		expect(t, "returned", len(pool.ShutdownNow()), 1)
	case "terminated":
		block.Release()
		pool.Close()
	}
	calls := counting{policy: policy}
	set := policy
	if _, own := policy.(executor.RejectFunc); own {
		set = &calls
	}
	expect(t, "SetReject", setReject(pool, set), nil)
	before := waitStats(t, pool)

	ran := 0
	body := func(context.Context) error { ran++; return nil }
	judge := func(form string, err error) {
		t.Helper()
		expectIs(t, form, err, want.submission)
		expect(t, form+": matches ErrRejected", errors.Is(err, executor.ErrRejected), want.submission != nil && want.submission != errTask)
	}
	judge("Go", pool.Go(t.Context(), body))
	judge("Go with an option", pool.Go(t.Context(), body, executor.Named("x")))
	judge("Execute", pool.Execute(t.Context(), executor.Func(body)))
	f := executor.NewTask(executor.Func(body).Call)
	judge("Execute of a future", pool.Execute(t.Context(), f))
	g := executor.Submit(t.Context(), pool, executor.Func(body).Call)

	const forms = 5
	for _, f := range []*executor.Future[struct{}]{f.Future(), g} {
		switch err := f.Err(); {
		case want.future != nil:
			expectIs(t, "future", err, want.future)
			expect(t, "state", f.State(), executor.Failed)
		case want.runs:
			expect(t, "future", err, nil)
		default:
			expectIs(t, "future", err, executor.ErrNotDone)
		}
	}
	if want.runs {
		expect(t, "runs", ran, forms)
	} else {
		expect(t, "runs", ran, 0)
	}
	if set != policy {
		expect(t, "calls", calls.n, forms)
		expect(t, "the future itself", calls.tasks[3], any(f))
		expect(t, "the future itself", calls.tasks[4].(*executor.Task[struct{}]).Future(), g)
		expect(t, "states in the policy", fmt.Sprint(calls.states), "[pending pending]")
	}

	after := waitStats(t, pool)
	expect(t, "Rejected", after.Rejected-before.Rejected, forms)
	expect(t, "Submitted", after.Submitted-before.Submitted, forms)
	after.Rejected, after.Submitted, after.Uptime = before.Rejected, before.Submitted, before.Uptime
	after.Rejections = before.Rejections
	expect(t, "all other counters", after, before)

	block.Release()
	synctest.Wait()
	ended := map[string]int64{"saturated": 2, "shut down by Shutdown": 2, "shut down by ShutdownNow": 1, "terminated": 2}[phase]
	expect(t, "task functions that ran in the pool", block.Ended.Load(), ended)
	expect(t, "runs in the end", ran > 0, want.runs)
}

// counting is a policy that records its calls.
type counting struct {
	policy executor.RejectPolicy
	n      int
	tasks  []any
	states []executor.State // of futures
}

func (c *counting) Reject(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
	c.n++
	c.tasks = append(c.tasks, task)
	if f, ok := task.(executor.Awaitable); ok {
		c.states = append(c.states, f.State())
	}
	return c.policy.Reject(ctx, task, pool)
}

// The error of a rejection has the pool's name and the reason.
func TestRejectedErrorNamesPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "thumbnails", Workers: 1, Queue: executor.Handoff()})
		newBlocker(t).Fill(t, pool, 1)
		var rejected *executor.RejectedError
		err := pool.Go(t.Context(), nop)
		if !errors.As(err, &rejected) {
			t.Fatalf("error is %T", err)
		}
		expect(t, "Executor", rejected.Executor, "thumbnails")
		expect(t, "Reason", rejected.Reason, executor.ErrSaturated)
		expect(t, "text", err.Error(), `executor: task rejected by "thumbnails": saturated`)
	})
}

// The policies of this package print as their names.
func TestRejectPolicyNames(t *testing.T) {
	for want, policy := range map[string]executor.RejectPolicy{
		"executor.Abort": executor.Abort, "executor.CallerRuns": executor.CallerRuns, "executor.Discard": executor.Discard,
		"executor.DiscardOldest": executor.DiscardOldest, "executor.Block": executor.Block,
		"executor.DropLowest": executor.DropLowest,
	} {
		expect(t, "name", fmt.Sprint(policy), want)
	}
}

// A policy that is called while there is room admits a plain Runnable to a scheduled pool too.
func TestRejectPolicyAdmitsToScheduledPool(t *testing.T) {
	for _, policy := range []executor.RejectPolicy{executor.Block, executor.DiscardOldest} {
		synctest.Test(t, func(t *testing.T) {
			p, err := executor.NewScheduled(executor.ScheduledConfig{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			ran := false
			err = policy.Reject(t.Context(), executor.Func(func(context.Context) error { ran = true; return nil }),
				p.Pool)
			p.Close()
			if err != nil || !ran {
				t.Errorf("%v: %v, ran: %v", policy, err, ran)
			}
		})
	}
}

// DiscardOldest.

// DiscardOldest drops the task that has waited longest, whose future fails, and admits the new one
// (JDK-8286463: the JDK's stays pending).
func TestDiscardOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.DiscardOldest)
		oldest := executor.Submit(t.Context(), pool, value(2))
		newest := executor.Submit(t.Context(), pool, value(3))
		expectIs(t, "oldest", oldest.Err(), executor.ErrRejected)
		expectIs(t, "oldest", oldest.Err(), executor.ErrSaturated)
		s := waitStats(t, pool)
		expect(t, "Rejected", s.Rejected, 1)
		expect(t, "Queued", s.Queued, 1)
		expect(t, "Submitted", s.Submitted, 3)
		block.Release()
		v, err := newest.Get(t.Context())
		expect(t, "newest", v, 3)
		expect(t, "error", err, nil)
		expect(t, "Runs", waitStats(t, pool).Runs, 2)
	})
}

// DiscardOldest drops one task for each new one, always the one that would run next.
func TestDiscardOldestDropsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(3), Reject: executor.DiscardOldest})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var fs []*executor.Future[int]
		for i := range 9 {
			fs = append(fs, executor.Submit(t.Context(), pool, value(i)))
		}
		block.Release()
		s := waitStats(t, pool)
		for i, f := range fs {
			expect(t, "state", f.State(), map[bool]executor.State{true: executor.Failed, false: executor.Succeeded}[i < 6])
		}
		expect(t, "Rejected", s.Rejected, 6)
		expect(t, "Submitted", s.Submitted, 10)
	})
}

// The new task takes the place of the one that is dropped, also where more tasks wait than there is room for now that a
// share has a lower limit, or a lower rate.
func TestReplacedTaskLeavesItsPlace(t *testing.T) {
	policies := map[string]executor.ShareConfig{
		"DiscardOldest": {Queue: executor.Bounded(1), Reject: executor.DiscardOldest},
		"DropLowest":    {Queue: executor.BoundedPrioritized(1), Reject: executor.DropLowest},
	}
	lower := map[string]func(*executor.Settings){
		"limit": func(s *executor.Settings) { s.Max = 1 },
		"rate":  func(s *executor.Settings) { s.Rate = executor.Rate{PerSecond: 1} },
	}
	for name, c := range policies {
		for of, change := range lower {
			t.Run(name+"/"+of, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := newPool(t, executor.Config{Workers: 3})
					block := newBlocker(t)
					block.Fill(t, pool, 3)
					c.Limit, c.Rate = 3, executor.Rate{PerSecond: 1, Burst: 5}
					share := newShare(t, pool, c)
					for range 4 { // three that ask for a worker, and one that waits
						executor.Submit(t.Context(), share, value(1), executor.Priority(5))
					}
					expect(t, "Queued", share.Stats().Queued, 4)
					expect(t, "Reconfigure", share.Reconfigure(change), nil)
					last := executor.Submit(t.Context(), share, value(2))
					expect(t, "state", last.State(), executor.Pending)
					s := share.Stats()
					expect(t, "Queued", s.Queued, 4)
					expect(t, "Rejected", s.Rejected, 1)
					expect(t, "Evicted", s.Rejections.Evicted, 1)
					block.Release()
					_, err := last.Get(t.Context())
					expect(t, "error", err, nil)
				})
			})
		}
	}
}

// DropLowest drops the least urgent task that waits, the latest of several, and the new one
// if that is not more urgent than any.
func TestDropLowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.BoundedPrioritized(3), Reject: executor.DropLowest})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var ran []int
		submit := func(name, priority int) *executor.Future[struct{}] {
			return executor.Submit(t.Context(), pool, executor.Func(func(context.Context) error {
				ran = append(ran, name)
				return nil
			}).Call, executor.Priority(priority))
		}
		first, second, third := submit(1, 5), submit(2, 5), submit(3, 1)
		equal, lower := submit(4, 5), submit(5, 9)
		for _, f := range []*executor.Future[struct{}]{equal, lower} {
			expectIs(t, "a new task that is not more urgent", f.Err(), executor.ErrSaturated)
		}
		fourth, fifth := submit(6, 4), submit(7, 0)
		expectIs(t, "the latest of the lowest", second.Err(), executor.ErrSaturated)
		expectIs(t, "the next lowest", first.Err(), executor.ErrRejected)
		s := waitStats(t, pool)
		expect(t, "Rejected", s.Rejected, 4)
		expect(t, "Queued", s.Queued, 3)
		block.Release()
		waitStats(t, pool)
		if !slices.Equal(ran, []int{7, 3, 6}) {
			t.Errorf("ran in the order %v", ran)
		}
		for _, f := range []*executor.Future[struct{}]{third, fourth, fifth} {
			expect(t, "what is left", f.Err(), nil)
		}
	})
}

// A task without options, as of Execute, has priority 0, and its place is its own: one that
// is canceled leaves at once, and makes room.
func TestDropLowestKeepsPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t,
			executor.Config{Workers: 1, Queue: executor.BoundedPrioritized(20), Reject: executor.DropLowest})
		newBlocker(t).Fill(t, pool, 1)
		var fs []*executor.Future[struct{}]
		for i := range 20 {
			fs = append(fs, executor.Submit(t.Context(), pool, executor.Func(nop).Call, executor.Priority(i*7%20)))
		}
		for i, f := range fs {
			if i%3 > 0 {
				expect(t, "Cancel", f.Cancel(), true)
			}
		}
		expect(t, "Queued", waitStats(t, pool).Queued, 7)
		mustGo(t, pool, nop)
		for i, f := range fs {
			if i%3 == 0 {
				expect(t, "Remove", pool.Remove(f), true)
			}
		}
		expect(t, "Queued", waitStats(t, pool).Queued, 1)
	})
}

// A pool that is shut down, and a queue without room, drop nothing in favor of a new task.
func TestDropLowestAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.BoundedPrioritized(1), Reject: executor.DropLowest})
		newBlocker(t).Fill(t, pool, 2)
		pool.Shutdown()
		err := pool.Go(t.Context(), nop, executor.Priority(-1))
		expectIs(t, "after Shutdown", err, executor.ErrShutdown)
		expect(t, "Queued", waitStats(t, pool).Queued, 1)

		other := newPool(t, executor.Config{Workers: 1, Queue: executor.Prioritized()})
		expectIs(t, "SetReject", setReject(other, executor.DropLowest), executor.ErrInvalid)
		expect(t, "RejectPolicy", other.Settings().Reject, executor.Abort)
	})
}

// DiscardOldest rejects the new task if there is nothing to drop.
func TestDiscardOldestWithoutQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: executor.DiscardOldest})
		newBlocker(t).Fill(t, pool, 1)
		expectIs(t, "Go", pool.Go(t.Context(), nop), executor.ErrSaturated)
		expect(t, "Rejected", checkStats(t, pool).Rejected, 1)
	})
}

// DiscardOldest drops nothing if there is room when it is called.
func TestDiscardOldestFindsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone, stays *executor.Future[int]
		makesRoom := executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
			gone.Cancel()
			return executor.DiscardOldest.Reject(ctx, task, pool)
		})
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(2), Reject: makesRoom})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		stays = executor.Submit(t.Context(), pool, value(1))
		gone = executor.Submit(t.Context(), pool, value(2))
		late := executor.Submit(t.Context(), pool, value(3))
		expect(t, "State of the oldest", stays.State(), executor.Pending)
		expect(t, "State of the late one", late.State(), executor.Pending)
		block.Release()
	})
}

// CallerRuns.

// CallerRuns runs the task in the submitting goroutine, with the submitter's context, and reports
// its panic.
func TestCallerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		hooks := log.Hooks()
		hooks.BeforeTask, hooks.AfterTask = nil, nil
		pool := newPool(t,
			executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns, Hooks: hooks})
		newBlocker(t).Fill(t, pool, 1)
		parent := context.WithValue(t.Context(), contextKey{}, 5)
		start := time.Now()
		f := executor.Submit(parent, pool, func(ctx context.Context) (any, error) {
			time.Sleep(time.Minute)
			return ctx.Value(contextKey{}), ctx.Err()
		})
		expect(t, "took", time.Since(start), time.Minute)
		v, err := f.Result()
		expect(t, "value", v, any(5))
		expect(t, "error", err, nil)

		expect(t, "Go", pool.Go(parent, func(context.Context) error { panic("bang") }, executor.Named("p")), nil)
		expect(t, "Go", pool.Go(parent, func(context.Context) error { panic("bang") }), nil)
		log.Check(t, "panic p: bang", "panic : bang")
		g := executor.Submit(parent, pool, func(context.Context) (int, error) { panic("bang") })
		var perr *executor.PanicError
		expect(t, "panic in the future", errors.As(g.Err(), &perr), true)
		log.Check(t)
		expect(t, "Rejected", waitStats(t, pool).Rejected, 4)
	})
}

// The context of a task that CallerRuns ran has ended when the submission returns.
func TestCallerRunsEndsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t, executor.CallerRuns)
		mustGo(t, pool, block.Run)
		var seen context.Context
		mustGo(t, pool, func(ctx context.Context) error { seen = ctx; return ctx.Err() })
		expect(t, "error of the context", seen.Err(), context.Canceled)
		block.Release()
	})
}

// Cancel, Timeout and ShutdownNow end the context of a task that CallerRuns runs.
func TestCallerRunsCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			cancel func(*executor.Pool, *executor.Task[struct{}])
			want   error
		}{
			"Cancel":      {func(_ *executor.Pool, f *executor.Task[struct{}]) { f.Cancel() }, executor.ErrCanceled},
			"ShutdownNow": {func(p *executor.Pool, _ *executor.Task[struct{}]) { p.ShutdownNow() }, executor.ErrShutdown},
			"Timeout":     {func(*executor.Pool, *executor.Task[struct{}]) {}, executor.ErrTimeout},
		} {
			pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			var seen error
			f := executor.NewTask(
				executor.Func(func(ctx context.Context) error { seen = testkit.AnHour(ctx); return nil }).Call,
				executor.Timeout(2*time.Second))
			time.AfterFunc(time.Second, func() { c.cancel(pool, f) })
			expect(t, name, pool.Execute(t.Context(), f), nil)
			expectIs(t, name, seen, c.want)
		}
	})
}

// ShutdownNow ends the context of a task that CallerRuns runs, even if the pool has terminated
// meanwhile.
func TestCallerRunsShutdownNowAfterTermination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		err := pool.Execute(context.Background(), executor.Func(func(ctx context.Context) error {
			pool.Shutdown()
			block.Release()
			<-pool.Terminated()
			pool.ShutdownNow()
			if ctx.Err() == nil {
				t.Error("the context of a task function that runs has not ended")
			}
			return nil
		}))
		if err != nil {
			t.Error(err)
		}
	})
}

// Shutdown does not end the context of a task that CallerRuns runs, even if the pool terminates
// meanwhile.
func TestCallerRunsShutdown(t *testing.T) {
	body := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Minute): // the pool terminates during this
			return nil
		}
	}
	for _, c := range []struct {
		name string
		run  func(context.Context, *executor.Pool) error
	}{
		{"future", func(ctx context.Context, pool *executor.Pool) error {
			return executor.Submit(ctx, pool, executor.Func(body).Call).Err()
		}},
		{"plain", func(ctx context.Context, pool *executor.Pool) (got error) {
			err := pool.Go(ctx, func(ctx context.Context) error {
				got = body(ctx)
				return nil
			})
			if err != nil {
				return err
			}
			return got
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				pool, err := executor.New(executor.Config{Workers: 1, Queue: executor.Handoff(),
					Reject: executor.CallerRuns})
				if err != nil {
					t.Fatal(err)
				}
				busy := func(context.Context) error { time.Sleep(time.Second); return nil }
				if err := pool.Go(ctx, busy); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Second/2, pool.Shutdown)
				if err := c.run(ctx, pool); err != nil {
					t.Errorf("the task function that the submitter runs was disturbed: %v", err)
				}
				pool.Close()
			})
		})
	}
}

// Goexit in a task that CallerRuns runs ends the submitter's goroutine, and the future fails.
func TestCallerRunsGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, _ := testkit.BusyPool(t, executor.CallerRuns)
		mustGo(t, pool, nop)
		f := executor.NewTask(func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
		went := true
		done := make(chan struct{})
		go func() {
			defer close(done)
			pool.Execute(t.Context(), f)
			went = false
		}()
		<-done
		expect(t, "ended the goroutine", went, true)
		expectIs(t, "Err", f.Err(), executor.ErrGoexit)
		expect(t, "Active", checkStats(t, pool).Active, 1)
	})
}

// A panic of a task that CallerRuns runs is counted, whether it is an outcome or reported.
func TestCallerRunsCountsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t,
			executor.Config{Max: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns, Hooks: executor.Hooks{
				OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {},
			}})
		block := newBlocker(t)
		block.Fill(t, p, 1)
		f := executor.Submit(t.Context(), p, func(context.Context) (int, error) { panic("bang") })
		mustGo(t, p, func(context.Context) error { panic("bang") })
		expect(t, "future", f.State(), executor.Failed)
		expect(t, "panics", waitStats(t, p).Panics, 2)
		block.Release()
	})
}

// The error of a fire-and-forget task that CallerRuns runs is logged, since AfterTask is not
// called.
func TestCallerRunsLogsError(t *testing.T) {
	for _, hooks := range []executor.Hooks{{}, {AfterTask: func(context.Context, executor.TaskInfo, error) {}}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			pool := newPool(t,
				executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns, Hooks: hooks,
					Logger: slog.New(slog.NewTextHandler(&out, nil))})
			newBlocker(t).Fill(t, pool, 1)
			mustGo(t, pool, func(context.Context) error { return errTask })
			if !strings.Contains(out.String(), errTask.Error()) {
				t.Errorf("logged %q", out.String())
			}
		})
	}
}

// RejectFunc.

// A RejectFunc is called without a lock, with the submitter's context, the task and the pool, and
// may use the pool.
func TestRejectFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		var parent context.Context
		var want executor.Runnable
		pool, _ := testkit.BusyPool(t,
			executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
				calls++
				expect(t, "task", task, want)
				expect(t, "value", ctx.Value(contextKey{}), any(5))
				expect(t, "Active", pool.Stats().Active, 1)
				setKeepAlive(pool, time.Second)
				return executor.ErrKept
			}))
		mustGo(t, pool, nop)
		parent = context.WithValue(t.Context(), contextKey{}, 5)
		want = new(testkit.Step)
		expect(t, "Execute", pool.Execute(parent, want), nil)
		f := executor.NewTask(value(1))
		want = f
		expect(t, "Execute", pool.Execute(parent, f), nil)
		expect(t, "calls", calls, 2)
		expect(t, "state", f.State(), executor.Pending)
	})
}

// A task that a RejectFunc submits to another pool runs there, with a context that only that pool
// ends.
func TestRejectFuncHandOver(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		spare := newPool(t, executor.Config{Workers: 1})
		pool, block := testkit.BusyPool(t,
			executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
				return spare.Execute(ctx, task)
			}))
		mustGo(t, pool, block.Run)
		parent := context.WithValue(t.Context(), contextKey{}, 5)
		cause := make(chan error, 1)
		expect(t, "submit", submit(parent, pool, func(ctx context.Context) error {
			expect(t, "value", ctx.Value(contextKey{}), any(5))
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return nil
		}), nil)
		synctest.Wait()
		expect(t, "Active in the other pool", checkStats(t, spare).Active, 1)
		expect(t, "Rejected", checkStats(t, pool).Rejected, 1)

		pool.ShutdownNow() // does not affect the task
		block.Release()
		synctest.Wait()
		expect(t, "canceled by the first pool", len(cause), 0)
		spare.ShutdownNow()
		expectIs(t, "cause", <-cause, executor.ErrShutdown)
	})
}

// A future that is canceled while one pool hands it to another does not affect the tasks of the
// first.
func TestRejectFuncHandOverCanceled(t *testing.T) {
	second := newPool(t, executor.Config{Workers: 1})
	first := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1),
		Reject: executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return second.Execute(ctx, task)
		})})
	gate := make(chan struct{})
	t.Cleanup(func() { close(gate) })
	wait := func(context.Context) error { <-gate; return nil }
	first.Go(context.Background(), wait)
	second.Go(context.Background(), wait)
	victim := executor.Submit(context.Background(), first, value(1))

	stop := make(chan struct{})
	var noise sync.WaitGroup
	for _, p := range []*executor.Pool{first, second} {
		for range 2 {
			noise.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						p.Stats()
						runtime.Gosched() // js/wasm does not preempt
					}
				}
			})
		}
	}
	defer noise.Wait()
	defer close(stop)
	end := time.Now().Add(500 * time.Millisecond)
	for i := 0; time.Now().Before(end); i++ {
		f := executor.NewTask(value(1))
		var cancel sync.WaitGroup
		cancel.Go(func() { f.Cancel() })
		first.Execute(context.Background(), f)
		cancel.Wait()
		if s := first.Stats(); s.Queued != 1 {
			t.Fatalf("after %d futures: %d tasks wait in the first pool, want the victim, which is %v", i, s.Queued, victim.State())
		}
	}
}

// A task that a RejectFunc leaves to a policy of this package counts once, as that one decides; no
// counter goes back meanwhile.
func TestRejectFuncCounts(t *testing.T) {
	for _, test := range []struct {
		policy             executor.RejectPolicy
		rejected, accepted int64
	}{
		{executor.Abort, 1, 0},
		{executor.Discard, 1, 0},
		{executor.CallerRuns, 1, 0},
		{executor.DiscardOldest, 1, 1},
		{executor.BlockFor(time.Nanosecond), 1, 0},
		{executor.Block, 0, 1},
	} {
		t.Run(fmt.Sprint(test.policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last executor.Stats
				look := func(p *executor.Pool) {
					s := checkStats(t, p)
					if s.Submitted < last.Submitted || s.Rejected < last.Rejected {
						t.Errorf("Submitted %d after %d, Rejected %d after %d",
							s.Submitted, last.Submitted, s.Rejected, last.Rejected)
					}
					last = s
				}
				pool, block := testkit.BusyPool(t, executor.RejectFunc(
					func(ctx context.Context, task executor.Runnable, p *executor.Pool) error {
						look(p)
						defer look(p)
						return test.policy.Reject(ctx, task, p)
					}))
				block.Fill(t, pool, 1)
				before := checkStats(t, pool)
				for _, submit := range forms {
					body := nop
					if test.policy == executor.Block {
						body = block.Run
						time.AfterFunc(time.Second, block.ReleaseOne)
					}
					submit.submit(t.Context(), pool, body)
					synctest.Wait()
					look(pool)
				}
				n := int64(len(forms))
				expect(t, "Rejected", last.Rejected-before.Rejected, n*test.rejected)
				expect(t, "Submitted", last.Submitted-before.Submitted, n*max(test.rejected, test.accepted))
				block.Release()
			})
		})
	}
}

// rejections is Stats.Rejections.
type rejections = struct{ Saturated, Shutdown, Expired, Evicted, Panicked int64 }

// Rejections are counted by their reason.
func TestRejectionsByReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := errors.New("ended")
		panics := executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { panic("no") })
		for name, test := range map[string]struct {
			policy executor.RejectPolicy
			do     func(*executor.Pool)
			want   rejections
		}{
			"Abort":       {executor.Abort, nil, rejections{Saturated: 1}},
			"Discard":     {executor.Discard, nil, rejections{Saturated: 1}},
			"CallerRuns":  {executor.CallerRuns, nil, rejections{Saturated: 1}},
			"BlockFor":    {executor.BlockFor(time.Second), nil, rejections{Saturated: 1}},
			"Block":       {executor.Block, nil, rejections{Expired: 1}},
			"oldest":      {executor.DiscardOldest, nil, rejections{Evicted: 1}},
			"panic":       {panics, nil, rejections{Panicked: 1}},
			"Shutdown":    {executor.CallerRuns, (*executor.Pool).Shutdown, rejections{Shutdown: 1}},
			"RejectFunc":  {executor.RejectFunc(executor.Abort.Reject), nil, rejections{Saturated: 1}},
			"ShutdownNow": {executor.Block, func(p *executor.Pool) { p.ShutdownNow() }, rejections{Shutdown: 1}},
		} {
			pool, block := testkit.BusyPool(t, test.policy)
			block.Fill(t, pool, 1)
			if test.do != nil {
				test.do(pool)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { cancel(ended) })
			testkit.Panics(func() error { return pool.Go(ctx, nop) })
			s := checkStats(t, pool)
			expect(t, name, s.Rejections, test.want)
			expect(t, name, s.Rejected, 1)
			block.Release()
		}
	})
}

// A RejectFunc may wait and submit the task again.
func TestRejectFuncRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, block := testkit.BusyPool(t,
			executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
				time.Sleep(time.Second)
				return pool.Execute(ctx, task)
			}))
		mustGo(t, pool, block.Run)
		time.AfterFunc(time.Minute, block.Release)
		start := time.Now()
		f := executor.Submit(t.Context(), pool, value(1))
		v, err := f.Get(t.Context())
		expect(t, "value", v, 1)
		expect(t, "error", err, nil)
		if d := time.Since(start); d != time.Minute && d != time.Minute+time.Second {
			t.Errorf("took %v", d)
		}
		s := waitStats(t, pool)
		if s.Succeeded != 3 || s.Rejected < 60 || s.Rejected > 61 {
			t.Errorf("%+v", s)
		}
	})
}

// A panic of a RejectFunc continues in the submitter; the future fails, and the pool is not affected.
func TestRejectFuncFails(t *testing.T) {
	for _, how := range testkit.HookExits[2:] {
		t.Run(how.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, block := testkit.BusyPool(t,
					executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error {
						return how.Leave()
					}))
				mustGo(t, pool, block.Run)
				f := executor.NewTask(block.Value)
				expect(t, "panics", testkit.Panics(func() error { return pool.Execute(t.Context(), f) }), true)
				var perr *executor.PanicError
				expect(t, "future", errors.As(f.Err(), &perr), true)
				s := waitStats(t, pool)
				expect(t, "Rejected", s.Rejected, 1)
				block.Release()
				expect(t, "Succeeded", waitStats(t, pool).Succeeded, 2)
			})
		})
	}
}

// A RejectFunc may call a policy of this package; the task is counted once.
func TestRejectFuncDelegates(t *testing.T) {
	for _, c := range []struct {
		policy executor.RejectPolicy
		runs   bool
	}{
		{executor.Abort, false}, {executor.Discard, false}, {executor.CallerRuns, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool, block := testkit.BusyPool(t, executor.RejectFunc(c.policy.Reject))
			mustGo(t, pool, block.Run)
			f := executor.Submit(t.Context(), pool, value(1))
			expect(t, "ran", f.Err() == nil, c.runs)
			s := waitStats(t, pool)
			expect(t, "Rejected", s.Rejected, 1)
			expect(t, "Submitted", s.Submitted, 3)
		})
	}
}

// A future that a RejectFunc got into its pool by DiscardOldest or Block is a task of the pool as
// any other: Cancel removes it from the queue, and ShutdownNow ends its context.
func TestRejectFuncDelegatesAdmission(t *testing.T) {
	for _, policy := range []executor.RejectPolicy{executor.DiscardOldest, executor.Block} {
		t.Run(slog.AnyValue(policy).String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, block := testkit.BusyPool(t, executor.RejectFunc(policy.Reject))
				mustGo(t, pool, block.Run)
				var f atomic.Pointer[executor.Future[struct{}]]
				submit := func() {
					f.Store(nil)
					go func() { f.Store(executor.Submit(t.Context(), pool, executor.Func(testkit.AnHour).Call)) }()
					synctest.Wait()
				}
				submit()
				if policy == executor.Block {
					block.ReleaseOne()
					synctest.Wait()
				}
				expect(t, "Queued", checkStats(t, pool).Queued, 1)
				f.Load().Cancel()
				expect(t, "Queued after Cancel", checkStats(t, pool).Queued, 0)

				submit() // has room
				block.Release()
				synctest.Wait()
				expect(t, "state", f.Load().State(), executor.Running)
				pool.ShutdownNow()
				synctest.Wait()
				expectIs(t, "Err", f.Load().Err(), executor.ErrShutdown)
			})
		})
	}
}

// A task that a RejectFunc runs has a context that the pool does not end, with and without options.
func TestRejectFuncRunsTaskAfterShutdownNow(t *testing.T) {
	for _, opts := range [][]executor.Option{nil, {executor.Named("named")}} {
		p := newPool(t, executor.Config{Workers: 1,
			Reject: executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
				return task.Run(ctx)
			})})
		p.ShutdownNow()
		f := executor.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return 1, ctx.Err() },
			opts...)
		if _, err := f.Get(context.Background()); err != nil {
			t.Errorf("with %d options: %v", len(opts), err)
		}
	}
}

// A task with Retry whose first attempt CallerRuns has run, and that failed, waits for the others in the
// pool.
func TestCallerRunsRetry(t *testing.T) {
	retry := executor.Retry(3, func(int) time.Duration { return time.Minute })
	for _, c := range []struct {
		name string
		end  func(*executor.Pool, executor.Awaitable)
		want error
	}{
		{"Retry", func(*executor.Pool, executor.Awaitable) {}, nil},
		{"Cancel", func(_ *executor.Pool, f executor.Awaitable) { f.Cancel() }, executor.ErrCanceled},
		{"Shutdown", func(p *executor.Pool, _ executor.Awaitable) { p.Shutdown() }, executor.ErrShutdown},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, block := testkit.BusyPool(t, executor.CallerRuns)
				mustGo(t, pool, block.Run)
				runs := 0
				f := pool.Submit(t.Context(), func(context.Context) error {
					if runs++; runs < 3 {
						return errTask
					}
					return nil
				}, retry)
				expect(t, "runs in the caller", runs, 1)
				expect(t, "state", f.State(), executor.Pending)
				expect(t, "queued", pool.Stats().Queued, 2)
				block.Release()
				c.end(pool, f)
				expectIs(t, "outcome", f.Wait(t.Context()), c.want)
				if c.want == nil {
					expect(t, "runs", runs, 3)
				}
			})
		})
	}
}

// A policy of this package that a program calls itself, for a task that the pool does not refuse, does what it does to
// the task, and leaves the counters alone.
func TestPolicyCalledByProgramCountsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			policy executor.RejectPolicy
			err    error
			ran    bool
			state  executor.State
		}{
			{executor.Abort, executor.ErrSaturated, false, executor.Failed},
			{executor.Discard, nil, false, executor.Failed},
			{executor.CallerRuns, nil, true, executor.Succeeded},
		} {
			pool := newPool(t, executor.Config{Workers: 1})
			before := checkStats(t, pool)
			ran := false
			run := executor.Func(func(context.Context) error { ran = true; return nil })
			expectIs(t, fmt.Sprint(c.policy), c.policy.Reject(t.Context(), run, pool), c.err)
			expect(t, fmt.Sprint(c.policy, ": ran"), ran, c.ran)
			task := executor.NewTask(value(1))
			expectIs(t, fmt.Sprint(c.policy), c.policy.Reject(t.Context(), task, pool), c.err)
			expect(t, fmt.Sprint(c.policy, ": state"), task.Future().State(), c.state)
			after := checkStats(t, pool)
			after.Uptime = before.Uptime
			expect(t, fmt.Sprint(c.policy, ": Stats"), after, before)
			pool.Close()
			if c.policy != executor.Discard {
				expectIs(t, "after a shutdown", c.policy.Reject(t.Context(), run, pool), executor.ErrShutdown)
			}
			expect(t, fmt.Sprint(c.policy, ": rejected"), checkStats(t, pool).Rejected, 0)
		}
	})
}
