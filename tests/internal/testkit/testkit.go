// Package testkit has pools that check themselves at the end of a test.
package testkit

import (
	"context"
	"log/slog"
	"testing"

	"github.com/executor-go/executor"
)

// stoppable is what [Closing] needs of a pool.
type stoppable interface {
	Stats() executor.Stats
	Shutdown()
	ShutdownNow() []executor.Dropped
	AwaitTermination(ctx context.Context) error
}

// Closing returns pool.
// At the end of the test it calls ShutdownNow, waits until the pool is terminated,
// and checks that the pool is empty and its counters add up:
// a lost worker or a missed wake-up fails even the simplest test.
// Make a [Blocker] after the pool, so that its tasks are released by then.
func Closing[P stoppable](t testing.TB, pool P) P {
	t.Helper()
	t.Cleanup(func() {
		pool.ShutdownNow()
		if err := pool.AwaitTermination(context.Background()); err != nil {
			t.Errorf("AwaitTermination: %v", err)
		}
		s := CheckStats(t, pool)
		if s.Stage != executor.StageTerminated || s.Workers != 0 || s.Active != 0 || s.Queued != 0 || s.Blocked != 0 {
			t.Errorf("a terminated pool is not empty: %+v", s)
		}
	})
	return pool
}

// CheckStats returns a snapshot of the pool's counters, and checks the equations between them.
func CheckStats(t testing.TB, pool interface{ Stats() executor.Stats }) executor.Stats {
	t.Helper()
	s := pool.Stats()
	if sum := int64(s.Queued) + int64(s.Active) + s.Succeeded + s.Failed + s.Canceled + s.Rejected; s.Submitted != sum {
		t.Errorf("Submitted is %d, its parts add up to %d: %+v", s.Submitted, sum, s)
	}
	r := s.Rejections
	if sum := r.Saturated + r.Shutdown + r.Expired + r.Evicted + r.Panicked; s.Rejected != sum {
		t.Errorf("Rejected is %d, its parts add up to %d: %+v", s.Rejected, sum, s)
	}
	if s.Workers != s.Active+s.Idle || s.Active < 0 || s.Idle < 0 || s.Workers > s.Largest || s.Blocked < 0 ||
		s.Queued < 0 {
		t.Errorf("Workers, Active, Idle and Largest do not fit: %+v", s)
	}
	return s
}

// NewPool returns a pool that ends with the test; see [Closing].
// It logs nothing unless c has a Logger.
func NewPool(t testing.TB, c executor.Config) *executor.Pool {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	pool, err := executor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return Closing(t, pool)
}

// NewScheduled returns a scheduled pool that ends with the test; see [Closing].
// It logs nothing unless c has a Logger.
func NewScheduled(t testing.TB, c executor.ScheduledConfig) *executor.ScheduledPool {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	pool, err := executor.NewScheduled(c)
	if err != nil {
		t.Fatal(err)
	}
	return Closing(t, pool)
}

// Scheduled returns NewScheduled with the given Workers and defaults otherwise.
func Scheduled(t testing.TB, core int) *executor.ScheduledPool {
	t.Helper()
	return NewScheduled(t, executor.ScheduledConfig{Workers: core})
}

// MustGo submits fn and stops the test if the pool does not accept it.
func MustGo(t testing.TB, pool *executor.Pool, fn func(context.Context) error, opts ...executor.Option) {
	t.Helper()
	if err := pool.Go(context.Background(), fn, opts...); err != nil {
		t.Fatalf("Go: %v", err)
	}
}

// NopValue is a task function that does nothing.
func NopValue(context.Context) (struct{}, error) { return struct{}{}, nil }

// Scale returns n, or a tenth of it in a short run of the tests.
func Scale(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}
