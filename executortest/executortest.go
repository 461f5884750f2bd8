// Package executortest has test suites for implementations of executors, pools and queues, as testing/fstest has one
// for file systems. The implementations of package executor pass them. Run them on your own:
//
//	func TestTraced(t *testing.T) {
//		executortest.TestExecutor(t, func(t *testing.T) executor.Executor {
//			pool := executor.Fixed(2)
//			t.Cleanup(pool.Close)
//			return traced{pool} // the executor under test
//		})
//	}
//
// # Suites
//
//	suite            tests                     for
//	TestExecutor     an executor.Executor    running each accepted task once, with its context
//	TestFuture       an executor.Executor    futures over it, and All, Any and Completed
//	TestPool         a Pool                  an orderly shutdown that loses no task
//	TestHooks        a Pool with hooks       calling the hooks, and reporting panics
//	TestScheduled    a Scheduled pool        running tasks when they are due, in order
//	TestQueue        a Queue                 waiting, order, and losing no item
//
// A suite is a set of subtests, each of which tests one property. Run the suites with the race detector.
//
// # Bubbles
//
// Each subtest runs in a bubble of [testing/synctest], where time is virtual: a suite is fast, its result is
// reproducible, and a goroutine that is left over fails the test. Each subtest calls the function that was passed to
// the suite for a new executor or queue. That function must create everything that the executor or queue consists of.
// Its goroutines may block only on channels, timers and package sync, not on a network or on a goroutine outside the
// bubble.
package executortest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// maxWait is how long a suite waits for an event, in virtual time. With it a lost
// wake-up is a failure instead of a deadlock of the bubble.
const maxWait = 1000 * time.Hour

// A check tests one property of a subject of the type S. It creates its subjects by
// make and reports to t. It must not use the *testing.T of the caller of the suite, so
// that the tests of this package can observe failures.
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

// waitContext returns a context that ends after maxWait.
func waitContext(t testing.TB) context.Context {
	err := errors.New("executortest: nothing happened in time")
	ctx, cancel := context.WithTimeoutCause(context.Background(), maxWait, err)
	t.Cleanup(cancel)
	return ctx
}

// closes waits for c to be closed, and reports whether it was closed within maxWait.
func closes(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

// errBody is the error of bodies that fail.
var errBody = errors.New("executortest: error of the body")

// sleep sleeps for d. If ctx ends before that, sleep returns its cause at once.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// delayed returns a body that returns v after d, or fails when its context ends.
func delayed(d time.Duration, v int) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { return v, sleep(ctx, d) }
}

// Bodies that end in another way.
func fails(context.Context) (int, error)  { return 0, errBody }
func panics(context.Context) (int, error) { panic(errBody) }
func exits(context.Context) (int, error)  { runtime.Goexit(); return 1, nil }

// expectOutcome waits for f and requires its state, value and error.
func expectOutcome(t testing.TB, what string, f *executor.Future[int], state executor.State, v int, target error) {
	t.Helper()
	got, err := f.Get(waitContext(t))
	if f.State() != state || state == executor.Succeeded && got != v || !errors.Is(err, target) {
		t.Errorf("%s: %v with %d, %v; want %v with %d, %v", what, f.State(), got, err, state, v, target)
	}
}
