package java_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/java"
)

// RunAndReset calls the body each time, keeps no value, and leaves the task pending without a call of
// what OnDone was given; Run is the last (testRunAndReset, FutureTask/Customized).
func TestRepeatingTaskRunAndReset(t *testing.T) {
	runs, called := 0, 0
	task := java.NewRepeatingTask(func(context.Context) (int, error) { runs++; return runs, nil })
	f := task.Future()
	f.OnDone(func() { called++ })
	for i := range 3 {
		expect(t, "RunAndReset", task.RunAndReset(t.Context()), true)
		expect(t, "runs", runs, i+1)
		expect(t, "calls of OnDone", called, 0)
		expect(t, "state", f.State(), executor.Pending)
	}
	expect(t, "error of Run", task.Run(t.Context()), nil)
	futureIs(t, f, executor.Succeeded, 4, nil)
	expect(t, "calls of OnDone", called, 1)
	expect(t, "Run when it is done", task.Run(t.Context()), nil)
	expect(t, "RunAndReset when it is done", task.RunAndReset(t.Context()), false)
	expect(t, "runs", runs, 4)
}

// After an error, a panic or Goexit of the body the task has failed, and does not run again.
func TestRepeatingTaskFails(t *testing.T) {
	for name, end := range map[string]struct {
		body func() (int, error)
		want error
	}{
		"error":  {func() (int, error) { return 0, errTask }, errTask},
		"panic":  {func() (int, error) { panic(errTask) }, errTask},
		"Goexit": {func() (int, error) { runtime.Goexit(); return 0, nil }, executor.ErrGoexit},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			task := java.NewRepeatingTask(func(context.Context) (int, error) { runs++; return end.body() })
			for range 2 {
				over := make(chan struct{})
				go func() { // which the body may end
					defer close(over)
					expect(t, "RunAndReset", task.RunAndReset(t.Context()), false)
				}()
				<-over
			}
			expect(t, "runs", runs, 1)
			expectIs(t, "outcome", task.Future().Err(), end.want)
			expect(t, "state", task.Future().State(), executor.Failed)
		})
	}
}

// A nil body fails the task.
func TestRepeatingTaskNil(t *testing.T) {
	task := java.NewRepeatingTask[int](nil)
	expect(t, "RunAndReset", task.RunAndReset(t.Context()), false)
	expectIs(t, "outcome", task.Future().Err(), executor.ErrInvalid)
}

// A task that is canceled does not run (testRunAndResetAfterCancel).
func TestRepeatingTaskCancelBeforeRun(t *testing.T) {
	for name, cancel := range repeatingCancels {
		runs := 0
		task := java.NewRepeatingTask(func(context.Context) (int, error) { runs++; return 1, nil })
		expect(t, name, cancel(task.Future()), true)
		expect(t, "RunAndReset", task.RunAndReset(t.Context()), false)
		expect(t, "Run", task.Run(t.Context()), nil)
		expect(t, "runs", runs, 0)
		futureIs(t, task.Future(), executor.Canceled, 0, executor.ErrCanceled)
	}
}

var repeatingCancels = map[string]func(*executor.Future[int]) bool{
	"Cancel":  (*executor.Future[int]).Cancel,
	"Abandon": (*executor.Future[int]).Abandon,
}

// A task that is canceled during RunAndReset is done at once, and the context of the body ends with
// the reason.
func TestRepeatingTaskCancelDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")
		var cause error
		task := java.NewRepeatingTask(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return 0, nil
		})
		again := make(chan bool)
		go func() { again <- task.RunAndReset(t.Context()) }()
		synctest.Wait()
		expect(t, "CancelCause", task.Future().CancelCause(why), true)
		expectIs(t, "outcome", task.Future().Err(), why)
		expect(t, "RunAndReset", <-again, false)
		expect(t, "cause of the end of the context", cause, why)
	})
}

// Each run has a context of its own, which has ended when the run returns and does not revive (the 2011
// rewrite of FutureTask: cancel must not hit the next task).
func TestRepeatingTaskContexts(t *testing.T) {
	var seen []context.Context
	task := java.NewRepeatingTask(func(ctx context.Context) (int, error) {
		if err := ctx.Err(); err != nil {
			t.Errorf("run %d began with an ended context: %v", len(seen)+1, err)
		}
		for i, old := range seen {
			if old.Err() == nil {
				t.Errorf("the context of run %d lives on in run %d", i+1, len(seen)+1)
			}
		}
		seen = append(seen, ctx)
		return 0, nil
	})
	task.RunAndReset(t.Context())
	task.RunAndReset(t.Context())
	task.Run(t.Context())
	expect(t, "runs", len(seen), 3)
}

// Run and RunAndReset do nothing while the body runs.
func TestRepeatingTaskWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, runs, release := testkit.Stuck(1, nil)
		task := java.NewRepeatingTask(body)
		again := make(chan bool)
		go func() { again <- task.RunAndReset(t.Context()) }()
		synctest.Wait()
		expect(t, "Run", task.Run(t.Context()), nil)
		expect(t, "RunAndReset", task.RunAndReset(t.Context()), false)
		expect(t, "state", task.Future().State(), executor.Pending)
		release()
		expect(t, "RunAndReset that ran", <-again, true)
		expect(t, "runs", *runs, 1)
	})
}

// Runs never overlap, and none begins after the task was canceled (testRunAndResetAfterCancel).
func TestRepeatingTaskRace(t *testing.T) {
	for range 200 {
		var inside, overlaps, late atomic.Int32
		var canceled atomic.Bool
		task := java.NewRepeatingTask(func(ctx context.Context) (int, error) {
			if inside.Add(1) > 1 {
				overlaps.Add(1)
			}
			if canceled.Load() && ctx.Err() == nil {
				late.Add(1)
			}
			inside.Add(-1)
			return 0, nil
		})
		f := task.Future()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for !f.State().Done() {
					task.RunAndReset(t.Context())
					runtime.Gosched() // the goroutine that cancels may need this processor
				}
			})
		}
		wg.Go(func() {
			f.Cancel()
			canceled.Store(true)
		})
		wg.Wait()
		if overlaps.Load() > 0 || late.Load() > 0 {
			t.Fatalf("%d overlaps, %d late", overlaps.Load(), late.Load())
		}
		expectIs(t, "outcome", f.Err(), executor.ErrCanceled)
	}
}

// A pool that is given the task runs it for the last time.
func TestRepeatingTaskInPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		task := java.NewRepeatingTask(testkit.After(time.Second, 7))
		expect(t, "RunAndReset", task.RunAndReset(t.Context()), true)
		expect(t, "Execute", pool.Execute(t.Context(), task), nil)
		v, err := task.Future().Get(t.Context())
		expect(t, "value", v, 7)
		expect(t, "error", err, nil)
	})
}

// A nil context and the zero RepeatingTask panic with a sentence.
func TestRepeatingTaskMisuse(t *testing.T) {
	var none context.Context
	var zero java.RepeatingTask[int]
	made := java.NewRepeatingTask(testkit.Value(1))
	for name, call := range map[string]func(){
		"nil context": func() { made.RunAndReset(none) },
		"zero":        func() { zero.Run(t.Context()) },
		"zero Future": func() { zero.Future() },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || len(text) < 20 {
					t.Errorf("%s: recovered %q", name, text)
				}
			}()
			call()
		}()
	}
	expect(t, "state", made.Future().State(), executor.Pending)
}
