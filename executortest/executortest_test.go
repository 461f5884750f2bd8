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

// The suites are tested in two ways: all implementations of this module pass them, and
// implementations with a planted fault fail the checks that are meant to find it.

// configs are configurations with every kind of queue and every policy for workers.
var configs = map[string]executor.Config{
	"defaults":       {},
	"unbounded":      {Workers: 2, Queue: executor.Unbounded()},
	"bounded":        {Workers: 1, Max: 4, Queue: executor.Bounded(64)},
	"handoff":        {Workers: 2, Max: 64, KeepAlive: time.Second, Queue: executor.Handoff()},
	"shedding":       {Workers: 2, Queue: executor.BoundedPrioritized(64), Reject: executor.DropLowest},
	"elastic":        {Max: 64, KeepAlive: time.Second, GrowWhenBusy: true},
	"prioritized":    {Workers: 2, Queue: executor.Prioritized()},
	"core times out": {Workers: 3, KeepAlive: time.Millisecond, KeepNone: true},
	"no core":        {Max: 1, Queue: executor.Unbounded()},
	"named":          {Name: "x", Workers: 2},
}

// presets are the pools that package executor makes without a Config.
var presets = map[string]func() Pool{
	"Fixed(1)":     func() Pool { return executor.Fixed(1) },
	"Fixed(4)":     func() Pool { return executor.Fixed(4) },
	"Cached":       func() Pool { return executor.Cached() },
	"Single":       func() Pool { return executor.Single() },
	"PerTask":      func() Pool { return executor.PerTask() },
	"Scheduled(0)": func() Pool { return executor.Scheduled(0) },
	"Scheduled(1)": func() Pool { return executor.Scheduled(1) },
	"Scheduled(4)": func() Pool { return executor.Scheduled(4) },
}

// policies are the rejection policies.
var policies = map[string]executor.RejectPolicy{
	"Abort": executor.Abort, "CallerRuns": executor.CallerRuns, "Discard": executor.Discard,
	"DiscardOldest": executor.DiscardOldest, "Block": executor.Block,
	"RejectFunc": executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error {
		return fmt.Errorf("%w: %w", executor.ErrRejected, executor.ErrSaturated)
	}),
}

// tooSmall are configurations that reject some of the tasks of the suites.
var tooSmall = map[string]executor.Config{
	"bounded": {Workers: 1, Max: 2, Queue: executor.Bounded(2)},
	"handoff": {Workers: 1, Max: 3, Queue: executor.Handoff()},
}

// create returns a new pool with the configuration c.
func create(t *testing.T, c executor.Config) *executor.Pool {
	t.Helper()
	p, err := executor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A recorder takes the failures of a check in place of the test.
type recorder struct {
	testing.TB // for all methods that report no failure

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

// stop is the panic that ends a check that has called Fatalf.
type stop struct{}

// findings runs the checks on a faulty subject. It returns the names of those that fail.
func findings[S any](t *testing.T, checks []check[S], make func(*testing.T) S) (found []string) {
	t.Helper()
	for _, c := range checks {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			t.Cleanup(func() { // after the cleanups of the check, which may fail too
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

// findExactly requires that exactly the wanted checks fail.
func findExactly[S any](t *testing.T, checks []check[S], make func(*testing.T) S, want ...string) {
	t.Helper()
	if found := findings(t, checks, make); !slices.Equal(found, want) {
		t.Errorf("checks %q fail, want %q", found, want)
	}
}

// findAtLeast requires that the wanted checks fail. Others may fail too.
func findAtLeast[S any](t *testing.T, checks []check[S], make func(*testing.T) S, want ...string) {
	t.Helper()
	found := findings(t, checks, make)
	for _, name := range want {
		if !slices.Contains(found, name) {
			t.Errorf("checks %q fail, want %q among them", found, name)
		}
	}
}

// only returns the checks with these names.
func only[S any](checks []check[S], names ...string) []check[S] {
	return slices.DeleteFunc(slices.Clone(checks), func(c check[S]) bool { return !slices.Contains(names, c.name) })
}

// faultyPool is a pool with another Execute or ShutdownNow.
type faultyPool struct {
	*executor.Pool
	execute     func(ctx context.Context, task executor.Runnable) error
	shutdownNow func() []executor.Dropped
}

func (f *faultyPool) Execute(ctx context.Context, task executor.Runnable) error {
	if f.execute != nil {
		return f.execute(ctx, task)
	}
	return f.Pool.Execute(ctx, task)
}

func (f *faultyPool) ShutdownNow() []executor.Dropped {
	if f.shutdownNow != nil {
		return f.shutdownNow()
	}
	return f.Pool.ShutdownNow()
}

// newFaulty returns a pool of n workers with a fault, which is shut down at the end of
// the test and does not log.
func newFaulty(t *testing.T, n int, fault func(*executor.Pool) *faultyPool) *faultyPool {
	p := fault(create(t, executor.Config{Workers: n, Logger: slog.New(slog.DiscardHandler)}))
	t.Cleanup(p.Pool.Close)
	t.Cleanup(func() { p.Pool.ShutdownNow() })
	return p
}

// executorWith returns a function that makes executors with a fault.
func executorWith(fault func(*executor.Pool) *faultyPool) func(*testing.T) executor.Executor {
	return func(t *testing.T) executor.Executor { return newFaulty(t, 2, fault) }
}

// poolWith returns a function that makes pools of one worker with a fault.
func poolWith(fault func(*executor.Pool) *faultyPool) func(*testing.T) Pool {
	return func(t *testing.T) Pool { return newFaulty(t, 1, fault) }
}

// A pool without a fault fails no check under the recorder either.
func TestRecorderFindsNothingInSoundPool(t *testing.T) {
	sound := func(p *executor.Pool) *faultyPool { return &faultyPool{Pool: p} }
	findExactly(t, executorChecks, executorWith(sound))
	findExactly(t, futureChecks, executorWith(sound))
	findExactly(t, poolChecks, poolWith(sound))
}
