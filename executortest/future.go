package executortest

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// TestFuture tests that the futures and bulk calls of package executor work over an executor. The executor must pass
// [TestExecutor]. The suite calls make for each subtest. make returns a new executor, and registers what stops it with
// t.Cleanup.
func TestFuture(t *testing.T, make func(*testing.T) executor.Executor) {
	t.Helper()
	runAll(t, futureChecks, make)
}

// submit submits fn in a goroutine of its own, because the executor may run it in the
// goroutine of the submitter, and waits until all goroutines are blocked.
func submit(
	ctx context.Context, ex executor.Executor, fn func(context.Context) (int, error), opts ...executor.Option,
) *executor.Future[int] {
	task := executor.NewTask(fn, opts...)
	go func() {
		if err := ex.Execute(ctx, task); err != nil {
			task.Fail(err)
		}
	}()
	synctest.Wait()
	return task.Future()
}

var futureChecks = []check[executor.Executor]{
	{"Outcomes", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx := context.Background()
		expectOutcome(t, "a value", submit(ctx, ex, delayed(time.Second, 4)), executor.Succeeded, 4, nil)
		expectOutcome(t, "an error", submit(ctx, ex, fails), executor.Failed, 0, errBody)
		expectOutcome(t, "a panic", submit(ctx, ex, panics), executor.Failed, 0, errBody)
		for range burst { // each ends a worker, of which there may be several
			expectOutcome(t, "a Goexit", submit(ctx, ex, exits), executor.Failed, 0, executor.ErrGoexit)
			if t.Failed() {
				return
			}
		}
		expectOutcome(t, "a value after these", submit(ctx, ex, delayed(0, 5)), executor.Succeeded, 5, nil)
	}},

	{"RunsBodyOnce", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		var runs atomic.Int32
		var fs []*executor.Future[int]
		for i := range burst {
			fs = append(fs, executor.Submit(context.Background(), ex, func(context.Context) (int, error) {
				runs.Add(1)
				return i, nil
			}))
		}
		for i, f := range fs {
			expectOutcome(t, "a task", f, executor.Succeeded, i, nil)
		}
		synctest.Wait()
		if n := runs.Load(); n != burst {
			t.Errorf("%d tasks ran %d times", burst, n)
		}
	}},

	{"GetTimesOut", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		f := submit(context.Background(), ex, delayed(time.Hour, 1))
		for _, d := range []time.Duration{math.MinInt64, 0, time.Second} {
			ctx, cancel := context.WithTimeout(context.Background(), d)
			start := time.Now()
			if _, err := f.Get(ctx); err != context.DeadlineExceeded || time.Since(start) != max(d, 0) {
				t.Errorf("Get with a timeout of %v: %v after %v", d, err, time.Since(start))
			}
			cancel()
		}
		expectOutcome(t, "the task", f, executor.Succeeded, 1, nil)
	}},

	{"ContextEnds", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		free, release := once()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var fs []*executor.Future[int]
		var submitters sync.WaitGroup
		var mu sync.Mutex
		for range burst { // as many as have to wait in most executors
			submitters.Go(func() {
				f := executor.Submit(ctx, ex, func(context.Context) (int, error) { <-free; return 1, nil })
				mu.Lock()
				fs = append(fs, f)
				mu.Unlock()
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		mu.Lock()
		for _, f := range fs {
			if f.State() == executor.Pending {
				t.Error("a future is pending after the end of its context")
				break
			}
		}
		mu.Unlock()
		release()
		submitters.Wait()
	}},

	{"Cancel", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		var cause error
		f := submit(context.Background(), ex, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return 1, nil
		})
		if !f.Cancel() {
			t.Error("Cancel: false")
		}
		expectOutcome(t, "a canceled task", f, executor.Canceled, 0, executor.ErrCanceled)
		if err := f.Join(waitContext(t)); err != nil || cause != executor.ErrCanceled {
			t.Errorf("Join: %v; cause of the context of the body %v, want %v", err, cause, executor.ErrCanceled)
		}
	}},

	{"Abandon", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		disturbed := errors.New("the body did not return")
		f := submit(context.Background(), ex, func(ctx context.Context) (int, error) {
			time.Sleep(time.Minute)
			disturbed = ctx.Err()
			return 1, nil
		})
		if !f.Abandon() {
			t.Error("Abandon: false")
		}
		expectOutcome(t, "an abandoned task", f, executor.Canceled, 0, executor.ErrCanceled)
		if err := f.Join(waitContext(t)); err != nil || disturbed != nil {
			t.Errorf("Join: %v; error of the context of the body %v, want nil", err, disturbed)
		}
	}},

	{"CanceledBeforeRun", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		task := executor.NewTask(func(context.Context) (int, error) {
			t.Error("the body of a canceled task ran")
			return 0, nil
		})
		task.Cancel()
		ex.Execute(context.Background(), task)
		time.Sleep(time.Hour)
		expectOutcome(t, "a canceled task", task.Future(), executor.Canceled, 0, executor.ErrCanceled)
	}},

	{"Timeout", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		f := submit(context.Background(), ex, delayed(time.Hour, 1), executor.Timeout(time.Minute))
		expectOutcome(t, "a task with a timeout", f, executor.Failed, 0, executor.ErrTimeout)
	}},

	{"ParentContextEnds", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx, cancel := context.WithCancelCause(context.Background())
		f := submit(ctx, ex, delayed(time.Hour, 1))
		cancel(errBody)
		expectOutcome(t, "a task whose parent context has ended", f, executor.Failed, 0, errBody)
	}},

	{"All", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		vs, err := executor.All(waitContext(t), ex, delayed(3*time.Second, 1), delayed(time.Second, 2))
		if len(vs) != 2 || vs[0] != 1 || vs[1] != 2 || err != nil {
			t.Errorf("All: %v, %v, want [1 2]", vs, err)
		}
		vs, err = executor.All(waitContext(t), ex, delayed(time.Hour, 1), fails)
		if vs != nil || !errors.Is(err, errBody) {
			t.Errorf("All with a task that fails: %v, %v, want %v", vs, err, errBody)
		}
	}},

	{"AllTimesOut", func(t testing.TB, make func() executor.Executor) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := executor.All(ctx, make(), delayed(time.Second, 1), delayed(time.Hour, 2), delayed(time.Hour, 3))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("All whose context has ended: %v, want %v", err, context.DeadlineExceeded)
		}
	}},

	{"Any", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		v, err := executor.Any(waitContext(t), ex,
			fails,
			delayed(time.Second, 2),
			delayed(time.Hour, 3))
		if v != 2 || err != nil {
			t.Errorf("Any: %d, %v, want 2", v, err)
		}
		_, err = executor.Any(waitContext(t), ex, fails)
		if !errors.Is(err, errBody) {
			t.Errorf("Any of tasks that fail: %v, want %v", err, errBody)
		}
	}},

	{"Completed", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		var fs []*executor.Future[int]
		for i, d := range []time.Duration{2 * time.Second, time.Second, 3 * time.Second} {
			fs = append(fs, executor.Submit(context.Background(), ex, delayed(d, i)))
		}
		for _, f := range fs { // so that the loop below does not block for ever
			if err := f.Join(waitContext(t)); err != nil {
				t.Fatalf("Join: %v", err)
			}
		}
		n := 0
		for range executor.Completed(context.Background(), fs...) {
			n++
		}
		if n != 3 {
			t.Errorf("Completed yields %d futures, want 3", n)
		}
	}},
}
