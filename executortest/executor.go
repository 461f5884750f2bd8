package executortest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// TestExecutor tests what every [executor.Executor] promises: an accepted task runs exactly once, a rejected one never,
// and the context of the run is derived from that of Execute.
//
// The suite calls make for each subtest. make returns a new executor, and registers what stops it with t.Cleanup. The
// executor should accept at least 64 tasks at once. It may run them in any goroutine, also in that of the submitter.
func TestExecutor(t *testing.T, make func(*testing.T) executor.Executor) {
	t.Helper()
	runAll(t, executorChecks, make)
}

// burst is the number of tasks that an executor must accept at once.
const burst = 64

var executorChecks = []check[executor.Executor]{
	{"RunsTask", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		var runs atomic.Int32
		done, note := once()
		err := ex.Execute(context.Background(), executor.Func(func(context.Context) error {
			runs.Add(1)
			note()
			return nil
		}))
		if err != nil {
			t.Fatalf("Execute: %v", err)
		}
		if !closes(done) {
			t.Fatal("an accepted task did not run")
		}
		synctest.Wait()
		if n := runs.Load(); n != 1 {
			t.Errorf("the task ran %d times, want once", n)
		}
	}},

	{"RunsEachOnce", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		var runs [burst]atomic.Int32
		var accepted [burst]bool
		var submitters sync.WaitGroup
		for g := range 4 {
			submitters.Go(func() {
				for i := g; i < burst; i += 4 {
					accepted[i] = ex.Execute(context.Background(), executor.Func(func(ctx context.Context) error {
						runs[i].Add(1)
						return sleep(ctx, time.Duration(i%3)*time.Second)
					})) == nil
				}
			})
		}
		submitters.Wait()
		time.Sleep(maxWait)
		for i := range runs {
			switch n := runs[i].Load(); {
			case n == 1 && accepted[i] || n == 0 && !accepted[i]:
			case accepted[i]:
				t.Errorf("task %d was accepted and ran %d times, want once", i, n)
			default:
				t.Errorf("task %d was rejected and ran %d times, want never", i, n)
			}
		}
	}},

	// Tasks are submitted one at a time, so that a wake-up that an idle executor
	// loses is not hidden by the next task.
	{"RunsWhenIdle", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		for i := range burst {
			done, note := once()
			err := ex.Execute(context.Background(), executor.Func(func(context.Context) error { note(); return nil }))
			if err != nil {
				t.Fatalf("Execute: %v", err)
			}
			if !closes(done) {
				t.Fatalf("task %d did not run on an idle executor", i)
			}
			synctest.Wait()
		}
	}},

	{"RunsNestedTasks", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		done, note := once()
		ex.Execute(context.Background(), executor.Func(func(context.Context) error {
			// Not with the context of the outer task, which ends with that task.
			return ex.Execute(context.Background(), executor.Func(func(context.Context) error { note(); return nil }))
		}))
		if !closes(done) {
			t.Error("a task submitted by a task did not run")
		}
	}},

	{"RunsAfterErrors", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var runs atomic.Int32
		for range 3 { // with errors that a pool does not log
			ex.Execute(context.Background(), executor.Func(func(context.Context) error {
				runs.Add(1)
				return executor.ErrStop
			}))
			ex.Execute(ctx, executor.Func(func(context.Context) error { return ctx.Err() }))
			synctest.Wait()
		}
		time.Sleep(time.Hour) // for an executor that retries
		if n := runs.Load(); n != 3 {
			t.Errorf("3 tasks that return an error ran %d times, want 3", n)
		}
		done, note := once()
		ex.Execute(context.Background(), executor.Func(func(context.Context) error { note(); return nil }))
		if !closes(done) {
			t.Error("no task ran after tasks that return an error")
		}
	}},

	{"DerivesContext", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		type key struct{}
		parent, cancel := context.WithTimeout(context.WithValue(context.Background(), key{}, "v"), time.Minute)
		defer cancel()
		want, _ := parent.Deadline()
		done, note := once()
		ex.Execute(parent, executor.Func(func(ctx context.Context) error {
			defer note()
			if ctx.Value(key{}) != "v" {
				t.Error("the context of the run lacks a value of the context of Execute")
			}
			if at, ok := ctx.Deadline(); !ok || at.After(want) {
				t.Errorf("the deadline of the run is %v, want %v or earlier, as in Execute", at, want)
			}
			if err := ctx.Err(); err != nil {
				t.Errorf("the run starts with an ended context: %v", err)
			}
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			<-child.Done()
			if time.Now().After(want) || child.Err() != context.DeadlineExceeded {
				t.Errorf("the context of the run ended at %v by %v, want by %v at %v",
					time.Now(), child.Err(), context.DeadlineExceeded, want)
			}
			return nil
		}))
		if !closes(done) {
			t.Error("the context of the run did not end with that of Execute")
		}
	}},

	{"EndedContext", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var ran atomic.Bool
		err := ex.Execute(ctx, executor.Func(func(ctx context.Context) error {
			ran.Store(true)
			if ctx.Err() == nil {
				t.Error("the context of the run has not ended, but that of Execute has")
			}
			return nil
		}))
		time.Sleep(maxWait)
		if err != nil && ran.Load() {
			t.Errorf("Execute returned %v, and the task ran", err)
		}
	}},

	// Writes before Execute happen before the run. The race detector checks it.
	{"HappensBefore", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		for i := range burst {
			written := i
			var read int
			done, note := once()
			ex.Execute(context.Background(), executor.Func(func(context.Context) error {
				read = written
				note()
				return nil
			}))
			if closes(done) && read != i {
				t.Errorf("the task read %d, want %d", read, i)
			}
		}
	}},
}

// once returns a channel, and a function that closes it and may be called again.
func once() (<-chan struct{}, func()) {
	c := make(chan struct{})
	return c, sync.OnceFunc(func() { close(c) })
}
