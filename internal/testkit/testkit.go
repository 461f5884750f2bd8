// Package testkit has what the tests of several files and packages share:
// pools that check themselves at the end of a test, task functions, contexts, records of what ran.
//
// The tests of the root package have short names for what most of them use, in testkit_test.go.
// Assertions that need no pool are in package check.
package testkit

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

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
	if s.Failures > s.Runs || s.Failures < 0 {
		t.Errorf("%d of %d runs have failed: %+v", s.Failures, s.Runs, s)
	}
	return s
}

// WaitStats waits until all other goroutines of the bubble are blocked, then returns [CheckStats].
func WaitStats(t testing.TB, pool interface{ Stats() executor.Stats }) executor.Stats {
	t.Helper()
	synctest.Wait()
	return CheckStats(t, pool)
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

// BusyPool returns a pool with one worker and room for one task in its queue,
// and a blocker that keeps the worker busy. It must be called in a bubble.
func BusyPool(t testing.TB, policy executor.RejectPolicy) (*executor.Pool, *Blocker) {
	t.Helper()
	pool := NewPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1), Reject: policy})
	block := NewBlocker(t)
	block.Fill(t, pool, 1)
	return pool, block
}

// MustGo submits fn and stops the test if the pool does not accept it.
func MustGo(t testing.TB, pool *executor.Pool, fn func(context.Context) error, opts ...executor.Option) {
	t.Helper()
	if err := pool.Go(context.Background(), fn, opts...); err != nil {
		t.Fatalf("Go: %v", err)
	}
}

// StartExecute calls pool.Execute in a new goroutine and returns a channel with its result.
// It returns when all other goroutines of the bubble are blocked.
func StartExecute(ctx context.Context, pool *executor.Pool, task executor.Runnable) <-chan error {
	result := make(chan error, 1)
	go func() { result <- pool.Execute(ctx, task) }()
	synctest.Wait()
	return result
}

// FarTasks schedules n tasks that are due after one hour, two hours, and so on.
func FarTasks(t testing.TB, p *executor.ScheduledPool, n int) []*executor.Future[struct{}] {
	t.Helper()
	fs := make([]*executor.Future[struct{}], n)
	for i := range fs {
		fs[i] = executor.SubmitAfter(t.Context(), p, time.Duration(i+1)*time.Hour, NopValue)
	}
	synctest.Wait()
	return fs
}

// StateIs waits until all other goroutines of the bubble are blocked, and checks the state of a task.
func StateIs(t testing.TB, what string, f executor.Awaitable, want executor.State) {
	t.Helper()
	synctest.Wait()
	if s := f.State(); s != want {
		t.Errorf("%s is %v, want %v", what, s, want)
	}
}

// SubmitTask is executor.Submit, but returns the Task.
func SubmitTask[T any](
	ctx context.Context, ex executor.Executor, fn func(context.Context) (T, error), opts ...executor.Option,
) *executor.Task[T] {
	t := executor.NewTask(fn, opts...)
	if err := ex.Execute(ctx, t); err != nil {
		t.Fail(err)
	}
	return t
}

// SubmitAll submits the functions and returns their futures.
func SubmitAll[T any](
	ctx context.Context, ex executor.Executor, fns ...func(context.Context) (T, error),
) []*executor.Future[T] {
	fs := make([]*executor.Future[T], len(fns))
	for i, fn := range fns {
		fs[i] = executor.Submit(ctx, ex, fn)
	}
	return fs
}

// Outcome is what a Future, a Promise and a Task report about the outcome.
type Outcome interface {
	executor.Awaitable
	Get(context.Context) (int, error)
	Result() (int, error)
}

// FutureIs checks everything that a future reports about its outcome, twice:
// the value v if want is Succeeded, else an error that matches err.
func FutureIs(t testing.TB, f Outcome, want executor.State, v int, err error) {
	t.Helper()
	ended, end := context.WithCancel(context.Background())
	end()
	for range 2 {
		if f.State() != want {
			t.Fatalf("State is %v, want %v", f.State(), want)
		}
		if !want.Done() {
			if _, got := f.Result(); got != executor.ErrNotDone {
				t.Errorf("Result: %v, want ErrNotDone", got)
			}
			if got := f.Err(); got != executor.ErrNotDone {
				t.Errorf("Err: %v, want ErrNotDone", got)
			}
			if _, got := f.Get(ended); got != context.Canceled {
				t.Errorf("Get with an ended context: %v, want its error", got)
			}
			select {
			case <-f.Done():
				t.Error("the Done channel is closed")
			default:
			}
			continue
		}
		select {
		case <-f.Done():
		default:
			t.Error("the Done channel is open")
		}
		for name, get := range map[string]func() (int, error){
			"Result":                    f.Result,
			"Get":                       func() (int, error) { return f.Get(context.Background()) },
			"Get with an ended context": func() (int, error) { return f.Get(ended) },
			"Err":                       func() (int, error) { return v, f.Err() },
		} {
			got, gotErr := get()
			if got != v || !errors.Is(gotErr, err) || (err == nil) != (gotErr == nil) {
				t.Errorf("%s: %d, %v, want %d, %v", name, got, gotErr, v, err)
			}
		}
	}
}

// Termination waits until the pool is terminated, and returns how long that took.
func Termination(t testing.TB, p interface{ AwaitTermination(context.Context) error }) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := p.AwaitTermination(context.Background()); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}

// Elapse sleeps for d and then waits until all other goroutines of the bubble are blocked.
func Elapse(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Scale returns n, or a tenth of it in a short run of the tests.
func Scale(n int) int {
	if os.Getenv("EXECUTOR_LONG") == "" {
		return n / 10
	}
	return n
}
