package executortest

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// TestFuture tests that the futures, bulk calls and completion services of
// package executor work over an executor, which must keep the promises of
// [TestExecutor]. make is called once for each property; what has to be ended it
// ends by t.Cleanup.
func TestFuture(t *testing.T, make func(*testing.T) executor.Executor) {
	t.Helper()
	runAll(t, futureChecks, make)
}

// submit submits fn from a goroutine of its own, since the executor may run it
// in the submitter's, and waits until all is still.
func submit(ctx context.Context, ex executor.Executor, fn func(context.Context) (int, error), opts ...executor.Option) *executor.Future[int] {
	f := executor.NewFuture(fn, opts...)
	go func() {
		if err := ex.Execute(ctx, f); err != nil {
			f.Fail(err)
		}
	}()
	synctest.Wait()
	return f
}

var futureChecks = []check[executor.Executor]{
	{"Outcomes", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx := context.Background()
		outcome(t, "a value", submit(ctx, ex, sleeper(time.Second, 4)), executor.Succeeded, 4, nil)
		outcome(t, "an error", submit(ctx, ex, func(context.Context) (int, error) { return 0, errBody }), executor.Failed, 0, errBody)
		outcome(t, "a panic", submit(ctx, ex, func(context.Context) (int, error) { panic(errBody) }), executor.Failed, 0, errBody)
		for range burst { // it ends a goroutine each time, of which there may be several
			outcome(t, "a Goexit", submit(ctx, ex, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil }), executor.Failed, 0, executor.ErrGoexit)
			if t.Failed() {
				return
			}
		}
		outcome(t, "a value after all this", submit(ctx, ex, sleeper(0, 5)), executor.Succeeded, 5, nil)
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
			outcome(t, "a task", f, executor.Succeeded, i, nil)
		}
		synctest.Wait()
		if n := runs.Load(); n != burst {
			t.Errorf("%d runs of %d bodies", n, burst)
		}
	}},

	{"GetInTime", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		f := submit(context.Background(), ex, sleeper(time.Hour, 1))
		for _, d := range []time.Duration{math.MinInt64, 0, time.Second} {
			ctx, cancel := context.WithTimeout(context.Background(), d)
			start := time.Now()
			if _, err := f.Get(ctx); err != context.DeadlineExceeded || time.Since(start) != max(d, 0) {
				t.Errorf("Get with %v to wait: %v after %v", d, err, time.Since(start))
			}
			cancel()
		}
		outcome(t, "the task", f, executor.Succeeded, 1, nil)
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
		outcome(t, "a canceled task", f, executor.Canceled, 0, executor.ErrCanceled)
		if err := f.Join(patient(t)); err != nil || cause != executor.ErrCanceled {
			t.Errorf("Join: %v; the body saw the cause %v", err, cause)
		}
	}},

	{"Abandon", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		disturbed := errors.New("the body did not come to its end")
		f := submit(context.Background(), ex, func(ctx context.Context) (int, error) {
			time.Sleep(time.Minute)
			disturbed = ctx.Err()
			return 1, nil
		})
		if !f.Abandon() {
			t.Error("Abandon: false")
		}
		outcome(t, "an abandoned task", f, executor.Canceled, 0, executor.ErrCanceled)
		if err := f.Join(patient(t)); err != nil || disturbed != nil {
			t.Errorf("Join: %v; the body saw %v", err, disturbed)
		}
	}},

	{"CanceledBeforeItRuns", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		f := executor.NewFuture(func(context.Context) (int, error) {
			t.Error("the body of a canceled task ran")
			return 0, nil
		})
		f.Cancel()
		ex.Execute(context.Background(), f)
		time.Sleep(time.Hour)
		outcome(t, "a canceled task", f, executor.Canceled, 0, executor.ErrCanceled)
	}},

	{"Timeout", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		f := submit(context.Background(), ex, sleeper(time.Hour, 1), executor.Timeout(time.Minute))
		outcome(t, "a task that takes too long", f, executor.Failed, 0, executor.ErrTimeout)
	}},

	{"ParentEnds", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx, cancel := context.WithCancelCause(context.Background())
		f := submit(ctx, ex, sleeper(time.Hour, 1))
		cancel(errBody)
		outcome(t, "a task whose submitter is gone", f, executor.Failed, 0, errBody)
	}},

	{"InvokeAll", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		fs := executor.InvokeAll(patient(t), ex,
			sleeper(3*time.Second, 1),
			func(context.Context) (int, error) { return 0, errBody },
			sleeper(time.Second, 3))
		if len(fs) != 3 {
			t.Fatalf("%d futures", len(fs))
		}
		outcome(t, "the first", fs[0], executor.Succeeded, 1, nil)
		outcome(t, "the second", fs[1], executor.Failed, 0, errBody)
		outcome(t, "the third", fs[2], executor.Succeeded, 3, nil)
	}},

	{"InvokeAllInTime", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for i, f := range executor.InvokeAll(ctx, ex, sleeper(time.Second, 1), sleeper(time.Hour, 2), sleeper(time.Hour, 3)) {
			if i == 0 {
				outcome(t, "the quick one", f, executor.Succeeded, 1, nil)
			} else if !errors.Is(f.Err(), context.DeadlineExceeded) && !errors.Is(f.Err(), executor.ErrCanceled) { // the executor may be quicker to cancel it
				t.Errorf("a slow one is %v: %v", f.State(), f.Err())
			}
		}
	}},

	{"InvokeAny", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		v, err := executor.InvokeAny(patient(t), ex,
			func(context.Context) (int, error) { return 0, errBody },
			sleeper(time.Second, 2),
			sleeper(time.Hour, 3))
		if v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		_, err = executor.InvokeAny(patient(t), ex, func(context.Context) (int, error) { return 0, errBody })
		if !errors.Is(err, errBody) {
			t.Errorf("all fail: %v", err)
		}
	}},

	{"Completed", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		fs := executor.SubmitAll(context.Background(), ex, sleeper(2*time.Second, 1), sleeper(time.Second, 2), sleeper(3*time.Second, 3))
		for _, f := range fs { // else the loop could wait for ever
			if err := f.Join(patient(t)); err != nil {
				t.Fatalf("a task does not end: %v", err)
			}
		}
		n := 0
		for range executor.Completed(fs...) {
			n++
		}
		if n != 3 {
			t.Errorf("%d of 3", n)
		}
	}},

	{"CompletionService", func(t testing.TB, make func() executor.Executor) {
		s := executor.NewCompletionService[int](make())
		for i := range burst {
			s.Submit(context.Background(), sleeper(time.Duration(i%3)*time.Second, i))
		}
		var all []int
		for range burst {
			f, err := s.Take(patient(t))
			if err != nil {
				t.Fatalf("Take: %v", err)
			}
			v, _ := f.Result()
			all = append(all, v)
		}
		slices.Sort(all)
		for i, v := range all {
			if v != i {
				t.Fatalf("taken: %v", all)
			}
		}
	}},
}
