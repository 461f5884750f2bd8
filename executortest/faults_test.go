package executortest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// This file runs the suites on subjects with planted faults: a suite that finds
// nothing there is worth nothing.

// recorder takes the failures of a check in the place of the test.
type recorder struct {
	testing.TB // for what is not a failure

	mu       sync.Mutex
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(stop{})
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

// stop unwinds a check that has called Fatalf.
type stop struct{}

// findings runs the checks on a faulty subject, and returns the names of those
// that have found something.
func findings[S any](t *testing.T, checks []check[S], make func(*testing.T) S) (found []string) {
	t.Helper()
	for _, c := range checks {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			t.Cleanup(func() { // after those of the check, which may fail too
				if len(r.failures) > 0 {
					found = append(found, c.name)
					t.Logf("%s: %s", c.name, r.failures[0])
				}
			})
			defer func() {
				if v := recover(); v != nil && v != (stop{}) {
					panic(v)
				}
			}()
			c.run(r, func() S { return make(t) })
		})
	}
	return found
}

// finds requires that exactly the wanted checks have found something.
func finds[S any](t *testing.T, checks []check[S], make func(*testing.T) S, want ...string) {
	t.Helper()
	if found := findings(t, checks, make); !slices.Equal(found, want) {
		t.Errorf("%q found the fault, want %q", found, want)
	}
}

// faulty is a pool of ours with a flaw in its Execute or its ShutdownNow.
type faulty struct {
	*executor.Pool
	execute func(ctx context.Context, task executor.Runnable) error
	stop    func() []executor.Dropped
}

func (f *faulty) Execute(ctx context.Context, task executor.Runnable) error {
	if f.execute != nil {
		return f.execute(ctx, task)
	}
	return f.Pool.Execute(ctx, task)
}

func (f *faulty) ShutdownNow() []executor.Dropped {
	if f.stop != nil {
		return f.stop()
	}
	return f.Pool.ShutdownNow()
}

// silent makes a pool of n workers that does not log what its flaws lead to.
func silent(n int) *executor.Pool {
	p, err := executor.New(executor.Config{Core: n, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	return p
}

// only gives the checks with these names.
func only[S any](checks []check[S], names ...string) []check[S] {
	return slices.DeleteFunc(slices.Clone(checks), func(c check[S]) bool { return !slices.Contains(names, c.name) })
}

// asExecutor makes executors of a faulty pool, which ends with the test.
func asExecutor(plant func(*executor.Pool) *faulty) func(*testing.T) executor.Executor {
	return func(t *testing.T) executor.Executor {
		p := plant(silent(2))
		t.Cleanup(p.Pool.Close)
		t.Cleanup(func() { p.Pool.ShutdownNow() })
		return p
	}
}

// asPool makes pools of one worker of a faulty pool.
func asPool(plant func(*executor.Pool) *faulty) func(*testing.T) Pool {
	return func(t *testing.T) Pool {
		p := plant(silent(1))
		t.Cleanup(p.Pool.Close)
		t.Cleanup(func() { p.Pool.ShutdownNow() })
		return p
	}
}

// A sound subject fails no check of the recorder either.
func TestNoFault(t *testing.T) {
	sound := func(p *executor.Pool) *faulty { return &faulty{Pool: p} }
	finds(t, executorChecks, asExecutor(sound))
	finds(t, futureChecks, asExecutor(sound))
	finds(t, poolChecks, asPool(sound))
}

// lostWakeUp is a pool that takes no notice of every fifth task until the next
// one comes.
func lostWakeUp(p *executor.Pool) *faulty {
	type held struct {
		ctx  context.Context
		task executor.Runnable
	}
	var mu sync.Mutex
	var n int
	var missed []held
	return &faulty{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%5 == 0 && p.Stage() == executor.StageRunning {
			missed = append(missed, held{ctx, task})
			return nil
		}
		for _, h := range missed {
			p.Execute(h.ctx, h.task)
		}
		missed = nil
		return p.Execute(ctx, task)
	}}
}

func TestFaultLostWakeUp(t *testing.T) {
	found := findings(t, executorChecks, asExecutor(lostWakeUp))
	if !slices.Contains(found, "RunsWhenIdle") {
		t.Errorf("only %q found the fault", found)
	}
	if found := findings(t, poolChecks, asPool(lostWakeUp)); len(found) == 0 {
		t.Error("no check of pools found the fault")
	}
}

// twice is a pool that runs plain tasks twice.
func twice(p *executor.Pool) *faulty {
	return &faulty{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
		return p.Execute(ctx, executor.Func(func(ctx context.Context) error {
			task.Run(ctx)
			return task.Run(ctx)
		}))
	}}
}

func TestFaultRunsTwice(t *testing.T) {
	// In others the second run is a data race with the check.
	finds(t, only(executorChecks, "RunsTask", "RunsEachOnce"), asExecutor(twice), "RunsTask", "RunsEachOnce")
}

// stubborn is an executor that runs a plain task again if it fails.
func stubborn(p *executor.Pool) *faulty {
	return &faulty{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
		if _, plain := task.(executor.Func); !plain {
			return p.Execute(ctx, task)
		}
		return p.Execute(ctx, executor.Func(func(ctx context.Context) error {
			if task.Run(ctx) == nil {
				return nil
			}
			return task.Run(ctx)
		}))
	}}
}

func TestFaultTriesAgain(t *testing.T) {
	finds(t, executorChecks, asExecutor(stubborn), "SurvivesErrors")
}

// mortal is an executor whose four workers are not replaced when a task ends one.
type mortal chan func()

func (m mortal) Execute(ctx context.Context, task executor.Runnable) error {
	m <- func() { task.Run(ctx) }
	return nil
}

func TestFaultLosesWorkers(t *testing.T) {
	finds(t, only(futureChecks, "Outcomes", "InvokeAll"), func(t *testing.T) executor.Executor {
		m := make(mortal, burst)
		t.Cleanup(func() { close(m) })
		for range 4 {
			go func() {
				for f := range m {
					f()
				}
			}()
		}
		return m
	}, "Outcomes")
}

// deaf is a pool whose ShutdownNow does nothing after Shutdown.
func deaf(p *executor.Pool) *faulty {
	return &faulty{Pool: p, stop: func() []executor.Dropped {
		if p.Stage() != executor.StageRunning {
			return nil
		}
		return p.ShutdownNow()
	}}
}

func TestFaultShutsDownOnce(t *testing.T) {
	finds(t, poolChecks, asPool(deaf), "ShutdownNowEndsContexts")
}

// forgetful is a pool that gives back tasks at ShutdownNow without ending their
// futures, as Java does.
func forgetful(p *executor.Pool) *faulty {
	return &faulty{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
		return p.Execute(ctx, executor.Func(task.Run))
	}}
}

func TestFaultForgetsFutures(t *testing.T) {
	// SubmitsRaceShutdown finds it too, if the race goes that way.
	if found := findings(t, poolChecks, asPool(forgetful)); !slices.Contains(found, "ShutdownNowGivesBack") {
		t.Errorf("ShutdownNowGivesBack did not find the fault, only %q", found)
	}
}

// keeper is a pool that ends at ShutdownNow, but gives back nothing.
func keeper(p *executor.Pool) *faulty {
	return &faulty{Pool: p, stop: func() []executor.Dropped { p.ShutdownNow(); return nil }}
}

func TestFaultKeepsUnrun(t *testing.T) {
	found := findings(t, poolChecks, asPool(keeper))
	if !slices.Contains(found, "ShutdownNowGivesBack") {
		t.Errorf("only %q found the fault", found)
	}
}

// orphan is an executor whose tasks do not get the submitter's context.
func orphan(p *executor.Pool) *faulty {
	return &faulty{Pool: p, execute: func(_ context.Context, task executor.Runnable) error {
		return p.Execute(context.Background(), task)
	}}
}

func TestFaultLosesContext(t *testing.T) {
	finds(t, executorChecks, asExecutor(orphan), "Context", "EndedContext")
	finds(t, futureChecks, asExecutor(orphan), "ParentEnds")
}

// An executor that swallows panics of plain tasks is found by the suite for
// hooks.
func TestFaultSwallowsPanic(t *testing.T) {
	swallow := func(task executor.Runnable) executor.Runnable {
		return executor.Func(func(ctx context.Context) error {
			defer func() { recover() }()
			return task.Run(ctx)
		})
	}
	finds(t, hookChecks, func(t *testing.T) func(executor.Hooks) Pool {
		return func(h executor.Hooks) Pool {
			p, err := executor.New(executor.Config{Core: 1, Hooks: h})
			if err != nil {
				t.Fatal(err)
			}
			return &faulty{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
				if _, plain := task.(executor.Func); plain {
					task = swallow(task)
				}
				return p.Execute(ctx, task)
			}}
		}
	}, "PanicIsReported")
}

// A pool that calls its hooks, but not as it should, is found.
func TestFaultHooks(t *testing.T) {
	plant := func(change func(*executor.Hooks)) func(*testing.T) func(executor.Hooks) Pool {
		return func(t *testing.T) func(executor.Hooks) Pool {
			return func(h executor.Hooks) Pool {
				change(&h)
				p, err := executor.New(executor.Config{Core: 1, Hooks: h})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
		}
	}
	finds(t, hookChecks, plant(func(h *executor.Hooks) {
		if before := h.BeforeTask; before != nil {
			h.BeforeTask = func(ctx context.Context, info executor.TaskInfo) context.Context {
				before(ctx, info)
				return ctx
			}
		}
	}), "ContextOfBeforeTask")
	finds(t, hookChecks, plant(func(h *executor.Hooks) {
		if terminated := h.Terminated; terminated != nil {
			h.Terminated = func() { go terminated() }
		}
	}), "TerminatedBeforeTermination")
}

// deafScheduled is a scheduled pool whose schedules outlive who asked for them.
type deafScheduled struct{ *executor.ScheduledPool }

func (d deafScheduled) AtFixedRate(ctx context.Context, initial, period time.Duration, fn func(context.Context) error, opts ...executor.Option) (*executor.ScheduledFuture[struct{}], error) {
	return d.ScheduledPool.AtFixedRate(context.WithoutCancel(ctx), initial, period, fn, opts...)
}

func TestFaultOutlivesParent(t *testing.T) {
	finds(t, scheduledChecks, func(*testing.T) Scheduled {
		return deafScheduled{executor.Scheduled(1)}
	}, "ParentEndEnds")
}

// hasty is a scheduled pool whose every other schedule is due a nanosecond too
// early: enough to overtake those of the same time.
type hasty struct {
	*executor.ScheduledPool
	n int
}

func (h *hasty) AtFixedRate(ctx context.Context, initial, period time.Duration, fn func(context.Context) error, opts ...executor.Option) (*executor.ScheduledFuture[struct{}], error) {
	h.n++
	early := time.Duration(h.n % 2)
	return h.ScheduledPool.AtFixedRate(ctx, initial-early, period, func(ctx context.Context) error {
		time.Sleep(early) // the time of the run betrays nothing
		return fn(ctx)
	}, opts...)
}

func TestFaultBreaksTies(t *testing.T) {
	found := findings(t, scheduledChecks, func(*testing.T) Scheduled {
		return &hasty{ScheduledPool: executor.Scheduled(1)}
	})
	if !slices.Contains(found, "EqualTimesInOrderOfSubmission") {
		t.Errorf("only %q found the fault", found)
	}
}
