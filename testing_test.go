package executor_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// stoppable is what closing needs of a pool.
type stoppable interface {
	Stats() executor.Stats
	Shutdown()
	ShutdownNow() []executor.Dropped
	AwaitTermination(ctx context.Context) error
}

// closing shuts pool down at the end of the test, waits until it is terminated,
// and checks that nothing is left and that its counters add up: a worker that
// was lost or a wake-up that was missed fails even the simplest test. A blocker
// is made after the pool, so that its tasks have been released by then.
func closing[P stoppable](t testing.TB, pool P) P {
	t.Helper()
	t.Cleanup(func() {
		pool.ShutdownNow()
		if err := pool.AwaitTermination(context.Background()); err != nil {
			t.Errorf("AwaitTermination: %v", err)
		}
		s := addsUp(t, pool)
		if s.Stage != executor.StageTerminated || s.Workers != 0 || s.Active != 0 || s.Queued != 0 || s.Blocked != 0 {
			t.Errorf("a terminated pool is not empty: %+v", s)
		}
	})
	return pool
}

// addsUp checks the equations of one snapshot of pool, and gives it.
func addsUp(t testing.TB, pool interface{ Stats() executor.Stats }) executor.Stats {
	t.Helper()
	s := pool.Stats()
	if sum := int64(s.Queued) + int64(s.Active) + s.Succeeded + s.Failed + s.Canceled + s.Rejected; s.Submitted != sum {
		t.Errorf("Submitted is %d, its parts add up to %d: %+v", s.Submitted, sum, s)
	}
	if s.Workers != s.Active+s.Idle || s.Active < 0 || s.Idle < 0 || s.Workers > s.Largest || s.Blocked < 0 || s.Queued < 0 {
		t.Errorf("Workers, Active, Idle and Largest do not fit: %+v", s)
	}
	return s
}

// newPool makes a pool of c for the test; see closing. It logs nothing unless c
// has a Logger.
func newPool(t testing.TB, c executor.Config) *executor.Pool {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	pool, err := executor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, pool)
}

// blocker is a body that takes no notice of its context and waits to be
// released; any number of tasks may have it.
type blocker struct {
	gate    chan struct{}
	open    func()
	started atomic.Int64
	ended   atomic.Int64
}

// newBlocker makes a blocker that is released at the end of the test at the
// latest.
func newBlocker(t testing.TB) *blocker {
	b := &blocker{gate: make(chan struct{})}
	b.open = sync.OnceFunc(func() { close(b.gate) })
	t.Cleanup(b.open)
	return b
}

// run is the body.
func (b *blocker) run(context.Context) error {
	b.started.Add(1)
	<-b.gate
	b.ended.Add(1)
	return nil
}

// value is the body for tasks with a result.
func (b *blocker) value(ctx context.Context) (int, error) { return 1, b.run(ctx) }

// releaseOne lets one task go.
func (b *blocker) releaseOne() { b.gate <- struct{}{} }

// release lets all tasks go, also those that have not started.
func (b *blocker) release() { b.open() }

// fill submits n bodies of b and waits until all is still; only for bubbles.
func (b *blocker) fill(t testing.TB, pool *executor.Pool, n int) {
	t.Helper()
	for range n {
		mustGo(t, pool, b.run)
	}
	synctest.Wait()
}

// mustGo submits fn to a pool that has to accept it.
func mustGo(t testing.TB, pool *executor.Pool, fn func(context.Context) error, opts ...executor.Option) {
	t.Helper()
	if err := pool.Go(context.Background(), fn, opts...); err != nil {
		t.Fatalf("Go: %v", err)
	}
}

// settled waits until the bubble is still and gives the pool's counters.
func settled(t testing.TB, pool interface{ Stats() executor.Stats }) executor.Stats {
	t.Helper()
	synctest.Wait()
	return addsUp(t, pool)
}

// bubble runs test in a bubble of its own, with virtual time.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// withoutCollector is for tests that count goroutines: while the garbage collector marks,
// runtime.NumGoroutine counts those that have ended, of tests before.
func withoutCollector(t *testing.T) {
	t.Helper()
	runtime.GC()
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

// contexts are one that can't end and one that can. A task that was submitted with
// the second has somebody who is to hear of its end, and is canceled on another
// path.
func contexts(t testing.TB) []context.Context {
	return []context.Context{context.Background(), t.Context()}
}

// expect reports what differs from what was wanted.
func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// expectIs reports an error that does not match target.
func expectIs(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: got error %v, want one that is %v", what, err, target)
	}
}
