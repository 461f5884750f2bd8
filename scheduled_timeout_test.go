package executor_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

func coresThatTimeOut(t *testing.T, core int) *executor.ScheduledPool {
	return newScheduled(t, executor.ScheduledConfig{Core: core, KeepAlive: time.Minute, AllowCoreTimeout: true})
}

// Tasks that come due together run together, up to Core of them, also if the
// workers have left meanwhile: one that hangs holds up no other.
func TestCoreTimeoutLeavesNoTaskBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block := coresThatTimeOut(t, 3), newBlocker(t)
		var fs [5]*executor.ScheduledFuture[int]
		for i := range fs {
			fs[i] = executor.Schedule(t.Context(), p, time.Hour, block.Value)
		}
		elapse(30 * time.Minute)
		expect(t, "workers while nothing is due", p.Stats().Workers, 1)
		elapse(time.Hour)
		s := p.Stats()
		expect(t, "active", s.Active, 3)
		expect(t, "queued", s.Queued, 2)
		block.Release()
		for _, f := range fs {
			f.Get(t.Context())
		}
	})
}

// A periodic task goes on while another task hangs.
func TestCoreTimeoutLeavesNoSeriesBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block := coresThatTimeOut(t, 2), newBlocker(t)
		f, err := p.AtFixedRate(t.Context(), 0, 10*time.Minute, nop)
		if err != nil {
			t.Fatal(err)
		}
		executor.Schedule(t.Context(), p, 25*time.Minute, block.Value)
		elapse(65 * time.Minute)
		expect(t, "runs", f.Runs(), 7)
		block.Release()
	})
}

// One worker stays as long as a task waits for its time, and none when none does,
// whatever the way in which the last one has gone.
func TestCoreTimeoutKeepsOneThatHears(t *testing.T) {
	for name, leave := range map[string]func(p *executor.ScheduledPool, f *executor.ScheduledFuture[struct{}]){
		"it has run":      func(*executor.ScheduledPool, *executor.ScheduledFuture[struct{}]) { elapse(time.Hour) },
		"it was canceled": func(_ *executor.ScheduledPool, f *executor.ScheduledFuture[struct{}]) { f.Cancel() },
		"it was removed":  func(p *executor.ScheduledPool, f *executor.ScheduledFuture[struct{}]) { p.Remove(f) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := coresThatTimeOut(t, 3)
				for range 3 {
					mustGo(t, p.Pool, nop)
				}
				f := executor.Schedule(t.Context(), p, time.Hour, nopValue)
				elapse(30 * time.Minute)
				expect(t, "workers while it waits", p.Stats().Workers, 1)
				leave(p, f)
				elapse(2 * time.Minute)
				expect(t, "workers afterwards", p.Stats().Workers, 0)
			})
		})
	}
}

// The last worker leaves a pool in which nothing waits any more, also if thousands
// of tasks were canceled together.
func TestCoreTimeoutLeavesAfterManyCancellations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := coresThatTimeOut(t, 3)
		var fs []*executor.ScheduledFuture[struct{}]
		for range 3000 {
			fs = append(fs, executor.Schedule(t.Context(), p, time.Hour+rand.N(time.Hour), nopValue))
		}
		for _, f := range fs {
			f.Cancel()
		}
		elapse(2 * time.Minute)
		expect(t, "workers", p.Stats().Workers, 0)
	})
}

// A worker above Core leaves after KeepAlive, though all others are busy and a task
// waits for its time.
func TestCoreLoweredKeepsNobodyWhoHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block := newScheduled(t, executor.ScheduledConfig{Core: 2, KeepAlive: time.Minute}), newBlocker(t)
		executor.Schedule(t.Context(), p, 0, block.Value)
		executor.Schedule(t.Context(), p, time.Hour, nopValue)
		elapse(time.Second)
		if err := p.SetCore(1); err != nil {
			t.Fatal(err)
		}
		elapse(2 * time.Minute)
		expect(t, "workers", p.Stats().Workers, 1)
		block.Release()
	})
}
