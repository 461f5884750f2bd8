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

// TestExecutor tests what every [executor.Executor] promises: a task that was
// accepted runs exactly once, one that was declined never, and its context is
// derived from the submitter's. make is called once for each property; what
// has to be ended it ends by t.Cleanup. The executor must take at least 64 tasks
// at once, and may run them in any goroutine, the submitter's included.
func TestExecutor(t *testing.T, make func(*testing.T) executor.Executor) {
	t.Helper()
	runAll(t, executorChecks, make)
}

// burst is how many tasks an executor must be able to take at once.
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
		if !arrives(done) {
			t.Fatal("a task that was accepted does not run")
		}
		synctest.Wait()
		if n := runs.Load(); n != 1 {
			t.Errorf("the task ran %d times", n)
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
						return doze(ctx, time.Duration(i%3)*time.Second)
					})) == nil
				}
			})
		}
		submitters.Wait()
		time.Sleep(patience)
		for i := range runs {
			switch n := runs[i].Load(); {
			case n == 1 && accepted[i] || n == 0 && !accepted[i]:
			case accepted[i]:
				t.Errorf("task %d was accepted and ran %d times", i, n)
			default:
				t.Errorf("task %d was declined and ran %d times", i, n)
			}
		}
	}},

	// One after the other, so that a wake-up that is lost when the executor
	// falls idle is not made good by the next task.
	{"RunsWhenIdle", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		for i := range burst {
			done, note := once()
			err := ex.Execute(context.Background(), executor.Func(func(context.Context) error { note(); return nil }))
			if err != nil {
				t.Fatalf("Execute: %v", err)
			}
			if !arrives(done) {
				t.Fatalf("task %d does not run", i)
			}
			synctest.Wait()
		}
	}},

	{"RunsTasksOfTasks", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		done, note := once()
		ex.Execute(context.Background(), executor.Func(func(context.Context) error {
			// Not with the outer task's context, which ends with that task.
			return ex.Execute(context.Background(), executor.Func(func(context.Context) error { note(); return nil }))
		}))
		if !arrives(done) {
			t.Error("a task that a task submitted does not run")
		}
	}},

	{"SurvivesErrors", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var runs atomic.Int32
		for range 3 { // with errors that are not worth a log line
			ex.Execute(context.Background(), executor.Func(func(context.Context) error { runs.Add(1); return executor.Stop }))
			ex.Execute(ctx, executor.Func(func(context.Context) error { return ctx.Err() }))
			synctest.Wait()
		}
		time.Sleep(time.Hour) // for one that tries again
		if n := runs.Load(); n != 3 {
			t.Errorf("3 tasks that return an error ran %d times", n)
		}
		done, note := once()
		ex.Execute(context.Background(), executor.Func(func(context.Context) error { note(); return nil }))
		if !arrives(done) {
			t.Error("no task runs after some have failed")
		}
	}},

	{"Context", func(t testing.TB, make func() executor.Executor) {
		ex := make()
		type key struct{}
		parent, cancel := context.WithTimeout(context.WithValue(context.Background(), key{}, "v"), time.Minute)
		defer cancel()
		want, _ := parent.Deadline()
		done, note := once()
		ex.Execute(parent, executor.Func(func(ctx context.Context) error {
			defer note()
			if ctx.Value(key{}) != "v" {
				t.Error("the body's context lacks a value of the submitter's")
			}
			if at, ok := ctx.Deadline(); !ok || at.After(want) {
				t.Errorf("the body's deadline is %v, the submitter's %v", at, want)
			}
			if err := ctx.Err(); err != nil {
				t.Errorf("the body begins with an ended context: %v", err)
			}
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			<-child.Done()
			if time.Now().After(want) || child.Err() != context.DeadlineExceeded {
				t.Errorf("the body's context ended late, or by %v", child.Err())
			}
			return nil
		}))
		if !arrives(done) {
			t.Error("the body's context does not end with the submitter's")
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
				t.Error("the body's context lives, though the submitter's has ended")
			}
			return nil
		}))
		time.Sleep(patience)
		if err != nil && ran.Load() {
			t.Errorf("Execute returned %v, and the task ran", err)
		}
	}},

	// What a submitter wrote is there for the task: the race detector says.
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
			if arrives(done) && read != i {
				t.Errorf("the task read %d, want %d", read, i)
			}
		}
	}},
}

// once gives a channel and what closes it, which may be called again.
func once() (<-chan struct{}, func()) {
	c := make(chan struct{})
	return c, sync.OnceFunc(func() { close(c) })
}
