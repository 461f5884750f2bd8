package executor_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// situation is a state of a future, with how to bring one there.
type situation struct {
	name string
	// make gives a future in that state, the number of its body's runs, and
	// what lets its body go on if it is running.
	make func(t *testing.T) (f *executor.Future[int], runs *int, release func())
}

var situations = []situation{
	{"pending", func(t *testing.T) (*executor.Future[int], *int, func()) {
		body, runs, release := testkit.Stuck(1, nil)
		release()
		return executor.NewFuture(body), runs, func() {}
	}},
	{"promise", func(t *testing.T) (*executor.Future[int], *int, func()) {
		return executor.NewPromise[int](), new(int), func() {}
	}},
	{"running", func(t *testing.T) (*executor.Future[int], *int, func()) {
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewFuture(body)
		go f.Run(t.Context())
		synctest.Wait()
		return f, runs, release
	}},
	{"succeeded", func(t *testing.T) (*executor.Future[int], *int, func()) {
		f := executor.NewPromise[int]()
		f.Complete(5)
		return f, new(int), func() {}
	}},
	{"failed", func(t *testing.T) (*executor.Future[int], *int, func()) {
		f := executor.NewPromise[int]()
		f.Fail(errTask)
		return f, new(int), func() {}
	}},
	{"canceled", func(t *testing.T) (*executor.Future[int], *int, func()) {
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewFuture(body)
		f.Cancel()
		return f, runs, release
	}},
	{"left", func(t *testing.T) (*executor.Future[int], *int, func()) { // canceled, its body still running
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewFuture(body)
		go f.Run(t.Context())
		synctest.Wait()
		f.Abandon()
		return f, runs, release
	}},
}

var operations = map[string]func(ctx context.Context, f *executor.Future[int]) any{
	"Run":         func(ctx context.Context, f *executor.Future[int]) any { return f.Run(ctx) },
	"RunAndReset": func(ctx context.Context, f *executor.Future[int]) any { return f.RunAndReset(ctx) },
	"Complete":    func(ctx context.Context, f *executor.Future[int]) any { return f.Complete(2) },
	"Fail":        func(ctx context.Context, f *executor.Future[int]) any { return f.Fail(context.Canceled) },
	"Cancel":      func(ctx context.Context, f *executor.Future[int]) any { return f.Cancel() },
	"Abandon":     func(ctx context.Context, f *executor.Future[int]) any { return f.Abandon() },
}

// Each operation does in each state what its documentation says, and a future
// that is done stays as it is (testIsDone, testSet, testSetException_get,
// testCancelBeforeRun, testCancelAfterRun, testRunAndResetAfterCancel,
// FutureTask/Customized).
func TestOperationsInStates(t *testing.T) {
	// What the operation returns, the state after it, and the runs of the body.
	want := map[string]map[string]string{
		"pending": {
			"Run":         "<nil> succeeded 1",
			"RunAndReset": "true pending 1",
			"Complete":    "true succeeded 0",
			"Fail":        "true failed 0",
			"Cancel":      "true canceled 0",
			"Abandon":     "true canceled 0",
		},
		"promise": {
			"Run":         "<nil> pending 0",
			"RunAndReset": "false pending 0",
			"Complete":    "true succeeded 0",
			"Fail":        "true failed 0",
			"Cancel":      "true canceled 0",
			"Abandon":     "true canceled 0",
		},
		"running": {
			"Run":         "<nil> running 1",
			"RunAndReset": "false running 1",
			"Complete":    "true succeeded 1",
			"Fail":        "true failed 1",
			"Cancel":      "true canceled 1",
			"Abandon":     "true canceled 1",
		},
		"left":      final("canceled", 1),
		"succeeded": final("succeeded", 0),
		"failed":    final("failed", 0),
		"canceled":  final("canceled", 0),
	}
	for _, s := range situations {
		for name, operate := range operations {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, runs, release := s.make(t)
					result := operate(t.Context(), f)
					after := f.State()
					if got := fmt.Sprint(result, after, *runs); got != want[s.name][name] {
						t.Errorf("got %q, want %q", got, want[s.name][name])
					}
					v, err := f.Result()
					release()
					synctest.Wait()
					if !after.Done() {
						return
					}
					for _, again := range operations {
						again(t.Context(), f)
						if v2, err2 := f.Result(); f.State() != after || v2 != v || err2 != err {
							t.Errorf("the outcome %v, %d, %v turned into %v, %d, %v", after, v, err, f.State(), v2, err2)
						}
					}
				})
			})
		}
	}
}

// final gives what operations do to a task that is done: nothing.
func final(state string, runs int) map[string]string {
	m := make(map[string]string)
	for name := range operations {
		m[name] = fmt.Sprintf("false %s %d", state, runs)
	}
	m["Run"] = fmt.Sprintf("<nil> %s %d", state, runs)
	return m
}

// The value or error that completes a future by hand is its outcome, and the
// body never runs (testSet, testSetException_get, DefaultMethods
// testCompletableFuture1 to 5).
func TestCompleteByHand(t *testing.T) {
	body, runs, release := testkit.Stuck(1, nil)
	release()
	f := executor.NewFuture(body)
	f.Complete(2)
	futureIs(t, f, executor.Succeeded, 2, nil)

	g := executor.NewFuture(body)
	g.Fail(errTask)
	futureIs(t, g, executor.Failed, 0, errTask)

	h := executor.NewPromise[int]()
	h.Cancel()
	futureIs(t, h, executor.Canceled, 0, executor.ErrCanceled)

	for _, f := range []*executor.Future[int]{f, g, h} {
		f.Run(t.Context())
	}
	if *runs != 0 {
		t.Errorf("the body ran %d times", *runs)
	}
}

// A body whose future was completed by hand runs on undisturbed, and its
// outcome is discarded, be it a value, an error or a panic.
func TestLateOutcomeIsDiscarded(t *testing.T) {
	bodies := map[string]func() (int, error){
		"value": func() (int, error) { return 1, nil },
		"error": func() (int, error) { return 0, errTask },
		"panic": func() (int, error) { panic("late") },
	}
	for name, end := range bodies {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				var disturbed error
				f := executor.NewFuture(func(ctx context.Context) (int, error) {
					<-gate
					disturbed = ctx.Err()
					return end()
				})
				go f.Run(t.Context())
				synctest.Wait()
				f.Complete(2)
				futureIs(t, f, executor.Succeeded, 2, nil)
				close(gate)
				f.Join(t.Context())
				futureIs(t, f, executor.Succeeded, 2, nil)
				if disturbed != nil {
					t.Errorf("the body's context ended: %v", disturbed)
				}
			})
		})
	}
}

// The names of the states are lower-case words, and exactly the last three are
// final (testToString of the four kinds).
func TestStateNames(t *testing.T) {
	want := map[executor.State]string{
		executor.Pending: "pending", executor.Running: "running",
		executor.Succeeded: "succeeded", executor.Failed: "failed", executor.Canceled: "canceled",
	}
	for s, name := range want {
		if s.String() != name {
			t.Errorf("%d is %q, want %q", s, s, name)
		}
		if s.Done() != (s != executor.Pending && s != executor.Running) {
			t.Errorf("%v.Done() is %v", s, s.Done())
		}
	}
}
