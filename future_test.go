package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A future that nobody ran is pending and says so everywhere (testIsDone).
func TestNewFutureIsPending(t *testing.T) {
	futureIs(t, executor.NewFuture(value(1)), executor.Pending, 0, nil)
	futureIs(t, executor.NewPromise[int](), executor.Pending, 0, nil)
}

// A body that fails may give a value with its error, as Go functions do.
func TestValueNextToError(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (int, error) { return 7, errTask })
	f.Run(t.Context())
	futureIs(t, f, executor.Failed, 7, errTask)
}

// A nil result is a result: the task succeeded (Future/DefaultMethods
// testCompletedTask2).
func TestNilResultIsSuccess(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (*int, error) { return nil, nil })
	f.Run(t.Context())
	if v, err := f.Result(); f.State() != executor.Succeeded || v != nil || err != nil {
		t.Errorf("%v: %v, %v", f.State(), v, err)
	}
}

// The error of the body is the outcome itself, not wrapped
// (testGet_ExecutionException, DefaultMethods testFailedTask).
func TestErrorIsNotWrapped(t *testing.T) {
	f := executor.NewFuture(testkit.Fail(errTask))
	if err := f.Run(t.Context()); err != errTask {
		t.Errorf("Run: %v", err)
	}
	if _, err := f.Get(t.Context()); err != errTask || f.Err() != errTask {
		t.Errorf("Get: %v, Err: %v", err, f.Err())
	}
}

// A future without a function has failed when it is made, and neither runs nor
// reaches an executor (testConstructor, JDK-6398290).
func TestNilFunction(t *testing.T) {
	f := executor.NewFuture[int](nil)
	futureIs(t, f, executor.Failed, 0, executor.ErrNilTask)
	if err := f.Run(t.Context()); err != nil {
		t.Errorf("Run: %v", err)
	}
	g := executor.Submit[int](t.Context(), testkit.Rejecting(errors.New("the executor was asked")), nil)
	futureIs(t, g, executor.Failed, 0, executor.ErrNilTask)
}

// Fail without an error is a mistake of the caller, and panics.
func TestFailWithNil(t *testing.T) {
	f := executor.NewPromise[int]()
	defer func() {
		if r := recover(); r == nil {
			t.Error("Fail(nil) did not panic")
		}
		futureIs(t, f, executor.Pending, 0, nil)
	}()
	f.Fail(nil)
}

// Everything that submits panics with a nil context, before anything else
// happens.
func TestNilContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none context.Context
		p := newPool(t, executor.Config{Core: 1})
		service := executor.NewCompletionService[int](p)
		ran := false
		body := func(context.Context) (int, error) { ran = true; return 0, nil }
		plain := func(context.Context) error { ran = true; return nil }
		for name, call := range map[string]func(){
			"Submit":     func() { executor.Submit(none, p, body) },
			"SubmitAll":  func() { executor.SubmitAll(none, p, body) },
			"InvokeAll":  func() { executor.InvokeAll(none, p, body) },
			"InvokeAny":  func() { executor.InvokeAny(none, p, body) },
			"Go":         func() { p.Go(none, plain) },
			"Go with":    func() { p.Go(none, plain, executor.Named("x")) },
			"Execute":    func() { p.Execute(none, executor.Func(plain)) },
			"completion": func() { service.Submit(none, body) },
		} {
			func() {
				defer func() {
					if r := recover(); r != "executor: nil Context" {
						t.Errorf("%s: panicked with %v", name, r)
					}
				}()
				call()
			}()
		}
		synctest.Wait()
		if s := p.Stats(); ran || s.Submitted != 0 || service.Len() != 0 {
			t.Errorf("something happened: ran %v, %+v", ran, s)
		}
	})
}
