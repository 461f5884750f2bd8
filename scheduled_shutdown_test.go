package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Shutdown.

// Due tasks run after Shutdown whatever the policies are: tasks without delay, and tasks whose
// delay is over (JDK-8176254).
func TestScheduledPoolShutdownRunsDueTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, DropDelayed: true})
		d := newDiary()
		release := testkit.Occupy(t, p)
		ctx := t.Context()
		executor.SubmitAfter(ctx, p, time.Second, d.Value("over"))
		executor.SubmitAt(ctx, p, time.Now().Add(time.Second/2), d.Value("day"))
		executor.SubmitAfter(ctx, p, time.Second+1, d.Value("dropped"))
		elapse(time.Second)
		p.Go(ctx, d.Func("go"))
		p.Execute(ctx, executor.Func(d.Func("execute")))
		executor.Submit(ctx, p, d.Value("submit"))
		executor.SubmitAfter(ctx, p, 0, d.Value("schedule"))
		p.Shutdown()
		elapse(time.Second)
		release()
		testkit.Termination(t, p)
		d.Check(t, "day@2s", "over@2s", "go@2s", "execute@2s", "submit@2s", "schedule@2s")
	})
}

// A delayed task runs at its time after Shutdown, and the pool terminates after it.
func TestScheduledPoolShutdownKeepsDelayed(t *testing.T) {
	for _, core := range []int{0, 1, 4} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, core), newDiary()
			executor.SubmitAfter(t.Context(), p, time.Hour, d.Value("hour"))
			executor.SubmitAfter(t.Context(), p, 12*time.Millisecond, d.Value("soon"))
			executor.SubmitAt(t.Context(), p, time.Now().Add(time.Minute), d.Value("minute"))
			p.Shutdown()
			expect(t, "time until termination", testkit.Termination(t, p), time.Hour)
			d.Check(t, "soon@12ms", "minute@1m0s", "hour@1h0m0s")
		})
	}
}

// With DropDelayed delayed tasks are canceled at once, and the pool does not wait for them.
func TestScheduledPoolShutdownDropsDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, DropDelayed: true})
		f := executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
		g := executor.SubmitAt(t.Context(), p, time.Now().Add(time.Hour), nopValue)
		p.Shutdown()
		expectIs(t, "outcome of Schedule", f.Err(), executor.ErrShutdown)
		expectIs(t, "outcome of At", g.Err(), executor.ErrCanceled)
		expect(t, "queued", p.Stats().Queued, 0)
		expect(t, "time until termination", testkit.Termination(t, p), 0)
	})
}

// Shutdown cancels waiting periodic tasks, even one that is due.
func TestScheduledPoolShutdownDropsPeriodic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		due, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("due"))
		later, _ := p.WithFixedDelay(t.Context(), time.Hour, time.Second, d.Func("later"))
		cron, _ := p.On(t.Context(), testkit.Hourly, d.Func("cron"))
		p.Shutdown()
		for _, f := range []*executor.Series{due, later, cron} {
			expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
			expect(t, "state", f.State(), executor.Canceled)
		}
		expect(t, "queued", p.Stats().Queued, 0)
		release()
		testkit.Termination(t, p)
		d.Check(t)
	})
}

// A periodic run is not affected by Shutdown; then its task is canceled, not pending (JDK-8177632).
func TestScheduledPoolShutdownDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
			time.Sleep(time.Minute)
			expect(t, "the context has ended", ctx.Err(), nil)
			return nil
		})
		synctest.Wait()
		p.Shutdown()
		testkit.StateIs(t, "the task during its run", f, executor.Running)
		expect(t, "time until termination", testkit.Termination(t, p), time.Minute)
		expect(t, "state", f.State(), executor.Canceled)
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
		expect(t, "runs", f.Runs(), 1)
	})
}

// A task whose last run is in progress at Shutdown succeeds.
func TestScheduledPoolShutdownDuringLastRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			time.Sleep(time.Minute)
			return nil
		}, executor.Times(1))
		synctest.Wait()
		p.Shutdown()
		testkit.Termination(t, p)
		expect(t, "state", f.State(), executor.Succeeded)
	})
}

// With KeepPeriodic periodic work continues after Shutdown until it is canceled, and then the
// pool terminates.
func TestScheduledPoolShutdownKeepsPeriodic(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Workers: core, KeepPeriodic: true})
			d := newDiary()
			f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"))
			p.Shutdown()
			elapse(2500 * time.Millisecond)
			f.Cancel()
			expect(t, "time until termination", testkit.Termination(t, p), 0)
			d.Check(t, "x@0s", "x@1s", "x@2s")
		})
	}
}

// The pool waits for kept periodic work until that ends by itself.
func TestScheduledPoolShutdownWaitsForKeptPeriodic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, KeepPeriodic: true})
		f, _ := p.WithFixedDelay(t.Context(), time.Second, time.Second, nop, executor.Times(3))
		p.Shutdown()
		expect(t, "time until termination", testkit.Termination(t, p), 3*time.Second)
		expect(t, "state", f.State(), executor.Succeeded)
	})
}

// A pool that never had a task terminates at once.
func TestScheduledPoolShutdownUnused(t *testing.T) {
	for _, core := range []int{0, 4} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, core)
			p.Shutdown()
			expect(t, "stage", p.Stats().Stage, executor.StageTerminated)
		})
	}
}

// AwaitTermination returns when its context ends, which does not affect the pool.
func TestScheduledPoolAwaitTerminationContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		executor.SubmitAfter(t.Context(), p, time.Hour, d.Value("x"))
		p.Shutdown()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		expectIs(t, "AwaitTermination", p.AwaitTermination(ctx), context.DeadlineExceeded)
		expect(t, "time until termination", testkit.Termination(t, p), 59*time.Minute)
		d.Check(t, "x@1h0m0s")
	})
}

// A pool goes from running over shutdown to terminated, not before running and waiting tasks are
// done; Terminated is called once, before that.
func TestScheduledPoolStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool *executor.ScheduledPool
		hooked := 0
		pool = newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{Terminated: func() {
			hooked++
			expect(t, "stage in the hook", pool.Stats().Stage, executor.StageTidying)
		}}})
		block := newBlocker(t)
		block.Fill(t, pool.Pool, 1)
		executor.SubmitAfter(t.Context(), pool, time.Minute, nopValue)
		expect(t, "stage", pool.Stats().Stage, executor.StageRunning)
		pool.Shutdown()
		expect(t, "stage while a task runs", pool.Stats().Stage, executor.StageShutdown)
		block.Release()
		elapse(time.Second)
		expect(t, "stage while a task waits", pool.Stats().Stage, executor.StageShutdown)
		expect(t, "time until termination", testkit.Termination(t, pool), 59*time.Second)
		expect(t, "stage", pool.Stats().Stage, executor.StageTerminated)
		pool.Shutdown()
		pool.ShutdownNow()
		expect(t, "calls of the hook", hooked, 1)
	})
}

// The policies.

// The result of Shutdown for each kind of task and each combination of policies: four tasks that
// run, and one that waits. This is testShutdown_cancellation of the JDK, which covers JDK-8176254
// and JDK-8177632.
func TestScheduledPoolShutdownPolicies(t *testing.T) {
	for _, keepDelayed := range []bool{true, false} {
		for _, keepPeriodic := range []bool{true, false} {
			for _, late := range []bool{true, false} {
				t.Run(fmt.Sprintf("delayed=%t/periodic=%t/late=%t", keepDelayed, keepPeriodic, late), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { shutdownPolicies(t, keepDelayed, keepPeriodic, late) })
				})
			}
		}
	}
}

// shutdownPolicies shuts down a pool whose policies are set in the configuration or, late, after
// everything was submitted.
func shutdownPolicies(t *testing.T, keepDelayed, keepPeriodic, late bool) {
	c := executor.ScheduledConfig{Workers: 4}
	if !late {
		c.DropDelayed, c.KeepPeriodic = !keepDelayed, keepPeriodic
	}
	p := newScheduled(t, c)
	block := newBlocker(t)
	wave := func() (fs []timedTask) {
		ctx := t.Context()
		rate, err1 := p.AtFixedRate(ctx, time.Millisecond, time.Hour, block.Run, executor.Times(2))
		delay, err2 := p.WithFixedDelay(ctx, time.Millisecond, time.Hour, block.Run, executor.Times(2))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return []timedTask{
			executor.SubmitAfter(ctx, p, 0, executor.Func(block.Run).Call),
			executor.SubmitAfter(ctx, p, time.Millisecond, executor.Func(block.Run).Call),
			rate, delay,
		}
	}
	const immediate, delayed, rate, delay = 0, 1, 2, 3
	first := wave()
	time.Sleep(time.Second)
	second := wave()
	if late {
		setDropDelayed(p, !keepDelayed)
		setKeepPeriodic(p, keepPeriodic)
	}
	p.Shutdown()

	queue := slices.Collect(p.Waiting())
	kept := func(i int) bool {
		return i == immediate || i == delayed && keepDelayed || i >= rate && keepPeriodic
	}
	for i := range 4 {
		expect(t, fmt.Sprintf("task %d of the first wave is done", i), first[i].State().Done(), false)
		expect(t, fmt.Sprintf("task %d of the second wave is queued", i), slices.Contains(queue, any(second[i])), kept(i))
		expect(t, fmt.Sprintf("task %d of the second wave is canceled", i), second[i].State() == executor.Canceled, !kept(i))
	}
	block.Release()
	testkit.Termination(t, p)

	for i := range 4 {
		one, two := first[i], second[i]
		if i >= rate && !keepPeriodic {
			expectIs(t, "outcome of a periodic task that ran at Shutdown", one.Err(), executor.ErrShutdown)
			expect(t, "its runs", one.(*executor.Series).Runs(), 1)
		} else {
			expect(t, "outcome of the first wave", one.Err(), nil)
		}
		if kept(i) {
			expect(t, "outcome of the second wave", two.Err(), nil)
		} else {
			expectIs(t, "outcome of a dropped task", two.Err(), executor.ErrShutdown)
		}
	}
	want := int64(5) // the first wave, and what is due at once of the second
	if keepDelayed {
		want++
	}
	if keepPeriodic {
		want += 6 // two of the first wave once more, two of the second twice
	}
	expect(t, "runs", p.Stats().Runs, want)
	expect(t, "task functions that ran", block.Ended.Load(), want)
}

// Policies that are set while the pool runs take effect at Shutdown only.
func TestScheduledPoolShutdownPolicySetBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		once := executor.SubmitAfter(t.Context(), p, time.Minute, nopValue)
		periodic, _ := p.AtFixedRate(t.Context(), 0, time.Minute, nop)
		setDropDelayed(p, true)
		setKeepPeriodic(p, false)
		elapse(90 * time.Second)
		expect(t, "state of the one-shot", once.State(), executor.Succeeded)
		expect(t, "runs", periodic.Runs(), 2)
	})
}

// A policy that is set to drop after Shutdown takes effect at once, and may let the pool terminate.
func TestScheduledPoolShutdownPolicySetToDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 2, KeepPeriodic: true})
		once := executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
		periodic, _ := p.AtFixedRate(t.Context(), 0, time.Minute, nop)
		p.Shutdown()
		elapse(150 * time.Second)
		expect(t, "runs", periodic.Runs(), 3)

		setKeepPeriodic(p, false)
		expectIs(t, "outcome of the periodic task", periodic.Err(), executor.ErrShutdown)
		testkit.StateIs(t, "the delayed task", once, executor.Pending)

		setDropDelayed(p, true)
		expectIs(t, "outcome of the delayed task", once.Err(), executor.ErrShutdown)
		expect(t, "time until termination", testkit.Termination(t, p), 0)
	})
}

// A policy that is set to keep after Shutdown keeps the periodic task that runs, and not what was
// dropped.
func TestScheduledPoolShutdownPolicySetToKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		body := func(context.Context) error { time.Sleep(time.Second); return nil }
		running, _ := p.AtFixedRate(t.Context(), 0, time.Minute, body, executor.Times(3))
		dropped, _ := p.AtFixedRate(t.Context(), time.Hour, time.Minute, body)
		synctest.Wait()
		p.Shutdown()
		setKeepPeriodic(p, true)
		expect(t, "time until termination", testkit.Termination(t, p), 2*time.Minute+time.Second)
		expect(t, "outcome", running.Err(), nil)
		expectIs(t, "outcome of the dropped task", dropped.Err(), executor.ErrShutdown)
	})
}

// A policy that is set to drop while a kept periodic task runs cancels the task after that run.
func TestScheduledPoolShutdownPolicySetToDropDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, KeepPeriodic: true})
		f, _ := p.AtFixedRate(t.Context(), 0, time.Minute,
			func(context.Context) error { time.Sleep(time.Second); return nil })
		synctest.Wait()
		p.Shutdown()
		setKeepPeriodic(p, false)
		testkit.StateIs(t, "the task", f, executor.Running)
		expect(t, "time until termination", testkit.Termination(t, p), time.Second)
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
	})
}

// ShutdownNow.

// ShutdownNow returns delayed tasks of each kind, canceled, which can be run elsewhere. The JDK
// leaves them pending.
func TestScheduledPoolShutdownNowReturnsDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var fs []timedTask
		for range 3 {
			fs = append(fs, executor.SubmitAfter(t.Context(), p, time.Hour, d.Value("once"), executor.Named("once")))
			rate, _ := p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func("rate"))
			delay, _ := p.WithFixedDelay(t.Context(), time.Hour, time.Hour, d.Func("delay"))
			day := executor.SubmitAt(t.Context(), p, time.Now().Add(time.Hour), d.Value("day"))
			fs = append(fs, rate, delay, day)
		}
		synctest.Wait()
		dropped := p.ShutdownNow()
		expect(t, "returned", len(dropped), len(fs))
		byTask := make(map[any]executor.Dropped)
		for _, u := range dropped {
			byTask[u.Task()] = u
		}
		for _, f := range fs {
			u, ok := byTask[f]
			expect(t, "the future is returned", ok, true)
			expect(t, "its name", u.Name(), f.Name())
			expect(t, "its state", f.State(), executor.Canceled)
			expectIs(t, "its outcome", f.Err(), executor.ErrShutdown)
		}
		expect(t, "time until termination", testkit.Termination(t, p), 0)
		expect(t, "returned again", len(p.ShutdownNow()), 0)
		dropped[0].Run(t.Context())
		expect(t, "task functions that ran outside of the pool", len(d.Names()), 1)
	})
}

// ShutdownNow ends the contexts of running tasks, one-shot or periodic, and does not return them.
func TestScheduledPoolShutdownNowCancelsRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		waits := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		once := executor.SubmitAfter(t.Context(), p, 0, executor.Func(waits).Call)
		periodic, _ := p.AtFixedRate(t.Context(), 0, time.Second, waits)
		var queued []*executor.Future[struct{}]
		for range 3 {
			queued = append(queued, executor.SubmitAfter(t.Context(), p, 0, executor.Func(waits).Call))
		}
		synctest.Wait()
		expect(t, "returned", len(p.ShutdownNow()), len(queued))
		testkit.Termination(t, p)
		expectIs(t, "outcome of the one-shot", once.Err(), executor.ErrShutdown)
		expect(t, "state of the one-shot", once.State(), executor.Canceled)
		expectIs(t, "outcome of the periodic task", periodic.Err(), executor.ErrShutdown)
		expect(t, "state of the periodic task", periodic.State(), executor.Canceled)
		for _, f := range queued {
			expect(t, "state of one that waited", f.State(), executor.Canceled)
		}
	})
}

// Rejection.

// After Shutdown each way to submit is rejected, and nothing runs; also of a pool that terminated
// without ever having had a task (JDK-8357146).
func TestScheduledPoolRejectAfterShutdown(t *testing.T) {
	for _, used := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, ctx := scheduled(t, 1), t.Context()
			if used {
				testkit.Occupy(t, p)
			}
			p.Shutdown()
			before := p.Stats()
			_, rate := p.AtFixedRate(ctx, 0, time.Second, nop)
			_, delay := p.WithFixedDelay(ctx, 0, time.Second, nop)
			_, on := p.On(ctx, testkit.Hourly, nop)
			errs := map[string]error{
				"Execute":        p.Execute(ctx, executor.Func(nop)),
				"Go":             p.Go(ctx, nop),
				"Submit":         executor.Submit(ctx, p, nopValue).Err(),
				"Schedule":       executor.SubmitAfter(ctx, p, time.Second, nopValue).Err(),
				"At":             executor.SubmitAt(ctx, p, time.Now(), nopValue).Err(),
				"AtFixedRate":    rate,
				"WithFixedDelay": delay,
				"On":             on,
			}
			for what, err := range errs {
				if !errors.Is(err, executor.ErrRejected) || !errors.Is(err, executor.ErrShutdown) {
					t.Errorf("%s: %v, want ErrRejected and ErrShutdown", what, err)
				}
			}
			after := waitStats(t, p)
			expect(t, "rejected", after.Rejected, int64(len(errs)))
			expect(t, "queued", after.Queued, before.Queued)
			expect(t, "runs", after.Runs, before.Runs)
			expect(t, "workers", after.Workers, before.Workers)
		})
	}
}

// A RejectFunc is called once for each task that comes after Shutdown, with this pool and the task
// itself; periodic work comes as a Runnable that makes one run of it.
func TestScheduledPoolRejectPolicyCalledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []any
		var pool *executor.ScheduledPool
		pool = newScheduled(t, executor.ScheduledConfig{Workers: 1, Reject: executor.RejectFunc(
			func(_ context.Context, task executor.Runnable, p *executor.Pool) error {
				expect(t, "the pool", p, pool.Pool)
				tasks = append(tasks, task)
				if f, ok := task.(executor.Awaitable); ok {
					expect(t, "state of the task", f.State(), executor.Pending)
				}
				return executor.ErrKept
			})})
		pool.Shutdown()
		once := executor.SubmitAfter(t.Context(), pool, time.Second, nopValue)
		rate, err := pool.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Named("rate"))
		expect(t, "error", err, nil)
		mine := new(testkit.Step)
		pool.Execute(t.Context(), mine)
		expect(t, "calls", len(tasks), 3)
		expect(t, "the one-shot", tasks[0].(*executor.Task[struct{}]).Future(), once)
		expect(t, "the Runnable", tasks[2], any(mine))
		expect(t, "name of the series", tasks[1].(interface{ Name() string }).Name(), "rate")
		expect(t, "state", once.State(), executor.Pending) // the policy's by now
		once.Cancel()
		expect(t, "Run of the series", tasks[1].(executor.Runnable).Run(t.Context()), nil)
		expect(t, "state of the series", rate.State(), executor.Succeeded)
	})
}

// With Discard a task that comes after Shutdown fails as rejected, and its submission does not;
// CallerRuns aborts.
func TestScheduledPoolRejectPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Reject: executor.Discard})
		p.Shutdown()
		f, err := p.AtFixedRate(t.Context(), 0, time.Second, nop)
		expect(t, "error of Discard", err, nil)
		expectIs(t, "outcome of Discard", f.Err(), executor.ErrRejected)
		for _, policy := range []executor.RejectPolicy{executor.CallerRuns, executor.DiscardOldest, executor.Block} {
			if err := setReject(p, policy); err != nil {
				t.Fatal(err)
			}
			_, err = p.AtFixedRate(t.Context(), 0, time.Second, nop)
			expectIs(t, "error", err, executor.ErrShutdown)
		}
		expect(t, "runs", p.Stats().Runs, 0)
	})
}

// Tasks that something else than their pool runs: a rejection policy, another pool, a caller of
// Run.

// rejecting makes a pool that is shut down and has the policy.
func rejecting(t *testing.T, policy executor.RejectFunc) *executor.ScheduledPool {
	p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Reject: policy})
	p.Shutdown()
	return p
}

// A rejected periodic task that the policy runs has that one run, and is done.
func TestScheduledPoolRejectFuncRunsPeriodic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary()
		p := rejecting(t,
			func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error { return task.Run(ctx) })
		for _, submit := range []func() (*executor.Series, error){
			func() (*executor.Series, error) { return p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x")) },
			func() (*executor.Series, error) { return p.WithFixedDelay(t.Context(), 0, time.Second, d.Func("x")) },
			func() (*executor.Series, error) { return p.On(t.Context(), testkit.Hourly, d.Func("x")) },
		} {
			f, err := submit()
			if err != nil {
				t.Errorf("error %.80v", err)
				continue
			}
			expect(t, "state", f.State(), executor.Succeeded)
			expect(t, "outcome", f.Err(), nil)
		}
		elapse(2 * time.Hour)
		d.Check(t, "x@0s", "x@0s", "x@0s")
	})
}

// A rejected periodic task that the policy submits to a plain pool runs there once.
func TestScheduledPoolRejectFuncHandOverToPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, plain := newDiary(), newPool(t, executor.Config{Workers: 1})
		p := rejecting(t, func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return plain.Execute(ctx, task)
		})
		f, err := p.AtFixedRate(t.Context(), 0, time.Hour, d.Func("x"), executor.Times(5))
		expect(t, "error", err, nil)
		elapse(time.Second)
		d.Check(t, "x@0s")
		expect(t, "state", f.State(), executor.Succeeded)
	})
}

// A rejected task that the policy submits to another scheduled pool runs there once, at once: its
// schedule was that of the first pool.
func TestScheduledPoolRejectFuncHandOverToScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var other *executor.ScheduledPool
		p := rejecting(t, func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return other.Execute(ctx, task)
		})
		time.Sleep(time.Hour) // so that the clocks of the two pools differ
		synctest.Wait()
		other = scheduled(t, 1)
		d := newDiary()
		executor.SubmitAfter(t.Context(), p, time.Minute, d.Value("once"))
		executor.SubmitAt(t.Context(), p, time.Now().Add(time.Minute), d.Value("day"))
		p.AtFixedRate(t.Context(), time.Minute, time.Second, d.Func("rate"), executor.Times(3))
		elapse(time.Minute)
		d.Check(t, "once@0s", "day@0s", "rate@0s")
	})
}

// A task that was accepted to run at once is not a delayed one, even if the shutdown has begun meanwhile.
func TestScheduledPoolDropsNothingThatIsDue(t *testing.T) {
	for range 300 {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, DropDelayed: true})
		var accepted, ran atomic.Int64
		var submitters sync.WaitGroup
		for range 2 {
			submitters.Go(func() {
				for p.Execute(context.Background(), executor.Func(func(context.Context) error { ran.Add(1); return nil })) == nil {
					accepted.Add(1)
				}
			})
		}
		for accepted.Load() < 5 {
			runtime.Gosched()
		}
		p.Close()
		submitters.Wait()
		if ran.Load() != accepted.Load() {
			t.Fatalf("%d of %d tasks that were accepted ran", ran.Load(), accepted.Load())
		}
	}
}
