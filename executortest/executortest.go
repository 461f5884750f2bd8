// Package executortest holds executors, pools and queues against what is
// expected of them, whoever wrote them. Package executor's own are held against
// it; do the same with yours:
//
//	suite            for                           that promise
//	TestExecutor     an [executor.Executor]        to run each accepted task once, with its context
//	TestFuture       an [executor.Executor]        futures, bulk calls and completion services that work over it
//	TestPool         a [Pool]                      an orderly end, and that no task gets lost
//	TestHooks        a [Pool] with hooks           to call them, and to make panics known
//	TestScheduled    a [Scheduled] pool            tasks at their time and in their order
//	TestQueue        a [Queue]                     to wait, to keep the order, and to lose nothing
//
// A suite is a set of subtests, each of which states one property. Each has a
// new executor or queue, made by the function that is given to the suite, and
// runs in a bubble of [testing/synctest]: time is virtual, so that a suite takes
// next to no time and finds the same each time, and a goroutine that is left
// behind fails the test. Therefore what is tested must be made by that function,
// and must wait on channels, timers, and package sync only, not on a network or
// a goroutine that was there before. Run the suites with the race detector.
package executortest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// patience is how long a suite waits for what must happen, in virtual time. It
// turns a lost wake-up into a failure instead of a deadlock of the bubble.
const patience = 1000 * time.Hour

// check is one property of a suite over a subject of the type S. It makes its
// subjects by make, reports to t, and must not use the *testing.T of the
// suite's caller, so that this package can test that its suites fail.
type check[S any] struct {
	name string
	run  func(t testing.TB, make func() S)
}

// runAll runs the checks as subtests, each in a bubble.
func runAll[S any](t *testing.T, checks []check[S], make func(*testing.T) S) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.run(t, func() S { return make(t) })
			})
		})
	}
}

// patient gives a context that ends when it makes no sense to wait any longer.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("executortest: waited in vain"))
	t.Cleanup(cancel)
	return ctx
}

// arrives waits for c, and reports whether it came.
func arrives(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
	}
	patience := time.NewTimer(patience)
	defer patience.Stop()
	select {
	case <-c:
		return true
	case <-patience.C:
		return false
	}
}

// errBody is what bodies fail with.
var errBody = errors.New("executortest: the body's error")

// doze sleeps for d or until ctx ends, and returns its cause then.
func doze(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sleeper gives a body that returns v after d, or fails when its context ends.
func sleeper(d time.Duration, v int) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { return v, doze(ctx, d) }
}

// outcome waits for a future and requires what became of it.
func outcome(t testing.TB, what string, f *executor.Future[int], state executor.State, v int, target error) {
	t.Helper()
	got, err := f.Get(patient(t))
	if f.State() != state || state == executor.Succeeded && got != v || !errors.Is(err, target) {
		t.Errorf("%s: %v with %d, %v; want %v with %d, %v", what, f.State(), got, err, state, v, target)
	}
}
