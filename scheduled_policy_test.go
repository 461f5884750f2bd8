package executor_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// What becomes of each kind of task at Shutdown, for all policies: of one wave
// of four tasks that run by then, and one that waits. The JDK's
// testShutdown_cancellation, which pins JDK-8176254 and JDK-8177632.
func TestShutdownPolicies(t *testing.T) {
	for _, keepDelayed := range []bool{true, false} {
		for _, keepPeriodic := range []bool{true, false} {
			for _, retain := range []bool{true, false} {
				for _, late := range []bool{true, false} {
					t.Run(fmt.Sprintf("delayed=%t/periodic=%t/retain=%t/late=%t", keepDelayed, keepPeriodic, retain, late), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { shutdownPolicies(t, keepDelayed, keepPeriodic, retain, late) })
					})
				}
			}
		}
	}
}

func keptIf(keep bool) executor.AfterShutdown {
	if keep {
		return executor.KeepAfterShutdown
	}
	return executor.DropAtShutdown
}

// shutdownPolicies shuts a pool down whose policies are set before that or,
// late, after everything was submitted.
func shutdownPolicies(t *testing.T, keepDelayed, keepPeriodic, retain, late bool) {
	c := executor.ScheduledConfig{Core: 4, RetainCanceled: retain}
	if !late {
		c.Delayed, c.Periodic = keptIf(keepDelayed), keptIf(keepPeriodic)
	}
	p := newScheduled(t, c)
	block := newBlocker(t)
	wave := func() (fs []*executor.ScheduledFuture[struct{}]) {
		ctx := t.Context()
		rate, err1 := p.AtFixedRate(ctx, time.Millisecond, time.Hour, block.Run, executor.Times(2))
		delay, err2 := p.WithFixedDelay(ctx, time.Millisecond, time.Hour, block.Run, executor.Times(2))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return []*executor.ScheduledFuture[struct{}]{
			executor.Schedule(ctx, p, 0, executor.Callable(block.Run)),
			executor.Schedule(ctx, p, time.Millisecond, executor.Callable(block.Run)),
			rate, delay,
		}
	}
	const immediate, delayed, rate, delay = 0, 1, 2, 3
	first := wave()
	time.Sleep(time.Second)
	second := wave()
	if late {
		p.SetDelayed(keptIf(keepDelayed))
		p.SetPeriodic(keptIf(keepPeriodic))
	}
	p.Shutdown()

	queue := slices.Collect(p.Waiting())
	kept := func(i int) bool {
		return i == immediate || i == delayed && keepDelayed || i >= rate && keepPeriodic
	}
	for i := range 4 {
		expect(t, fmt.Sprintf("task %d of the first wave is done", i), first[i].State().Done(), false)
		expect(t, fmt.Sprintf("task %d of the second wave is queued", i), slices.Contains(queue, executor.Runnable(second[i])), kept(i))
		expect(t, fmt.Sprintf("task %d of the second wave is canceled", i), second[i].State() == executor.Canceled, !kept(i))
	}
	block.Release()
	testkit.Termination(t, p)

	var runs int64 // of the first wave: each once, and the periodic ones again if kept
	for i := range 4 {
		one, two := first[i], second[i]
		runs += one.Runs() + two.Runs()
		if i >= rate && !keepPeriodic {
			expectIs(t, "outcome of a periodic task that ran at Shutdown", one.Err(), executor.ErrShutdown)
			expect(t, "its runs", one.Runs(), 1)
		} else {
			expect(t, "outcome of the first wave", one.Err(), nil)
		}
		if kept(i) {
			expect(t, "outcome of the second wave", two.Err(), nil)
		} else {
			expectIs(t, "outcome of a dropped task", two.Err(), executor.ErrShutdown)
			expect(t, "its runs", two.Runs(), 0)
		}
	}
	want := int64(5)
	if keepDelayed {
		want++
	}
	if keepPeriodic {
		want += 6 // two of the first wave once more, two of the second twice
	}
	expect(t, "runs", runs, want)
	expect(t, "bodies that ran", block.Ended.Load(), want)
}

// A policy that changes to drop while the pool is shut down takes effect at
// once, and may let it terminate.
func TestPolicyChangesAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 2, Periodic: executor.KeepAfterShutdown})
		once := executor.Schedule(t.Context(), p, time.Hour, nopValue)
		beat, _ := p.AtFixedRate(t.Context(), 0, time.Minute, nop)
		p.Shutdown()
		elapse(150 * time.Second)
		expect(t, "runs", beat.Runs(), 3)

		p.SetPeriodic(executor.DropAtShutdown)
		expectIs(t, "outcome of the periodic task", beat.Err(), executor.ErrShutdown)
		testkit.StateIs(t, "the delayed task", once, executor.Pending)

		p.SetDelayed(executor.DropAtShutdown)
		expectIs(t, "outcome of the delayed task", once.Err(), executor.ErrShutdown)
		expect(t, "time until termination", testkit.Termination(t, p), 0)
	})
}

// A policy that changes to keep while the pool is shut down saves the periodic
// task that is running, though not what was dropped.
func TestPolicyChangesToKeepAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		body := func(context.Context) error { time.Sleep(time.Second); return nil }
		running, _ := p.AtFixedRate(t.Context(), 0, time.Minute, body, executor.Times(3))
		dropped, _ := p.AtFixedRate(t.Context(), time.Hour, time.Minute, body)
		synctest.Wait()
		p.Shutdown()
		p.SetPeriodic(executor.KeepAfterShutdown)
		expect(t, "time until termination", testkit.Termination(t, p), 2*time.Minute+time.Second)
		expect(t, "outcome", running.Err(), nil)
		expectIs(t, "outcome of the dropped task", dropped.Err(), executor.ErrShutdown)
	})
}

// A policy that changes to drop while a kept periodic task runs ends it as
// canceled after that run.
func TestPolicyChangesToDropDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Periodic: executor.KeepAfterShutdown})
		f, _ := p.AtFixedRate(t.Context(), 0, time.Minute, func(context.Context) error { time.Sleep(time.Second); return nil })
		synctest.Wait()
		p.Shutdown()
		p.SetPeriodic(executor.DropAtShutdown)
		testkit.StateIs(t, "the task", f, executor.Running)
		expect(t, "time until termination", testkit.Termination(t, p), time.Second)
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
	})
}

// Policies that change while the pool runs take effect at Shutdown only.
func TestPolicyChangesBeforeShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		once := executor.Schedule(t.Context(), p, time.Minute, nopValue)
		beat, _ := p.AtFixedRate(t.Context(), 0, time.Minute, nop)
		p.SetDelayed(executor.DropAtShutdown)
		p.SetPeriodic(executor.DropAtShutdown)
		elapse(90 * time.Second)
		expect(t, "state of the one-shot", once.State(), executor.Succeeded)
		expect(t, "runs", beat.Runs(), 2)
	})
}

// The names of the policies are lower-case words.
func TestAfterShutdownNames(t *testing.T) {
	for a, name := range map[executor.AfterShutdown]string{
		executor.DefaultAfterShutdown: "default",
		executor.KeepAfterShutdown:    "keep",
		executor.DropAtShutdown:       "drop",
		executor.DropAtShutdown + 1:   "3",
	} {
		expect(t, "name", fmt.Sprint(a), name)
	}
}
