package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// policyCase says what a policy does with a task in a phase of its pool.
type policyCase struct {
	name   string
	policy executor.RejectPolicy
	// outcomes by phase: saturated, then shut down
	live, dead verdict
}

// verdict is what becomes of a task that the pool can't take.
type verdict struct {
	submission error // what the submission fails with, nil if it succeeds
	future     error // what the future fails with, nil if it is not done
	runs       bool  // the body ran, in the submitter's goroutine
}

var policyCases = []policyCase{
	{"Abort", executor.Abort,
		verdict{executor.ErrSaturated, executor.ErrSaturated, false}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"Discard", executor.Discard,
		verdict{nil, executor.ErrSaturated, false}, verdict{nil, executor.ErrShutdown, false}},
	{"CallerRuns", executor.CallerRuns, // the JDK's drops it silently after a shutdown
		verdict{nil, nil, true}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"DiscardOldest", executor.DiscardOldest, // what it does alive has a test of its own
		verdict{}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"Block", executor.Block,
		verdict{}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"BlockFor", executor.BlockFor(-1),
		verdict{executor.ErrSaturated, executor.ErrSaturated, false}, verdict{executor.ErrShutdown, executor.ErrShutdown, false}},
	{"RejectFunc that takes", executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return nil }),
		verdict{}, verdict{}},
	{"RejectFunc that fails", executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return errTask }),
		verdict{errTask, errTask, false}, verdict{errTask, errTask, false}},
}

// Each policy does its own with a task that is rejected, once a task, in every
// phase of the pool and for every form of submission; nothing but the counter
// of rejections moves. It is the port of
// testSubmittedTasksRejectedWhenSaturatedOrShutdown; other than the JDK's, a
// future that nobody takes fails.
func TestRejectedWhenSaturatedOrShutdown(t *testing.T) {
	for _, phase := range []string{"saturated", "shut down gently", "shut down abruptly", "terminated"} {
		for _, c := range policyCases {
			want := c.dead
			if phase == "saturated" {
				if want = c.live; c.policy == executor.Block || c.policy == executor.DiscardOldest {
					continue // they admit it
				}
			}
			t.Run(phase+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { rejects(t, phase, c.policy, want) })
			})
		}
	}
}

// rejects brings a pool with one worker and one place into a phase and judges
// what the policy does with each form of submission.
func rejects(t *testing.T, phase string, policy executor.RejectPolicy, want verdict) {
	pool := newPool(t, executor.Config{Name: "full", Core: 1, Queue: executor.Bounded(1)})
	block := newBlocker(t)
	block.Fill(t, pool, 2)
	switch phase {
	case "shut down gently":
		pool.Shutdown()
	case "shut down abruptly":
		expect(t, "given back", len(pool.ShutdownNow()), 1)
	case "terminated":
		block.Release()
		pool.Close()
	}
	asked := counting{policy: policy}
	set := policy
	if _, own := policy.(executor.RejectFunc); own {
		set = &asked
	}
	expect(t, "SetReject", pool.SetReject(set), nil)
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
	f := executor.NewFuture(executor.Callable(body))
	judge("Execute of a future", pool.Execute(t.Context(), f))
	g := executor.Submit(t.Context(), pool, executor.Callable(body))

	const forms = 5
	for _, f := range []*executor.Future[struct{}]{f, g} {
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
		expect(t, "asked", asked.asked, forms)
		expect(t, "the future itself", asked.tasks[3], executor.Runnable(f))
		expect(t, "the future itself", asked.tasks[4], executor.Runnable(g))
		expect(t, "state when asked", fmt.Sprint(asked.states), "[pending pending]")
	}

	after := waitStats(t, pool)
	expect(t, "Rejected", after.Rejected-before.Rejected, forms)
	expect(t, "Submitted", after.Submitted-before.Submitted, forms)
	after.Rejected, after.Submitted, after.Uptime = before.Rejected, before.Submitted, before.Uptime
	expect(t, "all other counters", after, before)

	block.Release()
	synctest.Wait()
	ended := map[string]int64{"saturated": 2, "shut down gently": 2, "shut down abruptly": 1, "terminated": 2}[phase]
	expect(t, "bodies that ran in the pool", block.Ended.Load(), ended)
	expect(t, "runs in the end", ran > 0, want.runs)
}

// counting is a policy that records what it is asked about.
type counting struct {
	policy executor.RejectPolicy
	asked  int
	tasks  []executor.Runnable
	states []executor.State // of futures
}

func (c *counting) Reject(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
	c.asked++
	c.tasks = append(c.tasks, task)
	if f, ok := task.(executor.Awaitable); ok {
		c.states = append(c.states, f.State())
	}
	return c.policy.Reject(ctx, task, pool)
}

// The error of a rejection names the pool and gives the reason.
func TestRejectedError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "thumbnails", Core: 1, Queue: executor.Handoff()})
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
	} {
		expect(t, "name", fmt.Sprint(policy), want)
	}
}

// A panic in a body that its submitter runs is counted, whoever hears of it.
func TestCallerRunsCountsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Max: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns, Hooks: executor.Hooks{
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
