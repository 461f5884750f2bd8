package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// errBody is what bodies of these tests fail with.
var errBody = errors.New("the body's error")

// inline runs each task in the goroutine that submits it: the least executor
// there can be. It is not one of ours, so it knows nothing of futures.
type inline struct{}

func (inline) Execute(ctx context.Context, task executor.Runnable) error {
	task.Run(ctx)
	return nil
}

// refusing rejects every task with err.
type refusing struct{ err error }

func (r refusing) Execute(context.Context, executor.Runnable) error { return r.err }

// futureIs checks everything that a future says about its outcome, twice: the
// value v if want is Succeeded, else an error that matches err.
func futureIs(t *testing.T, f *executor.Future[int], want executor.State, v int, err error) {
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

// stuck gives a body that runs until release is called, whatever becomes of its
// context, and then returns v and err. It counts its runs.
func stuck(v int, err error) (body func(context.Context) (int, error), runs *int, release func()) {
	gate := make(chan struct{})
	runs = new(int)
	return func(context.Context) (int, error) {
		*runs++
		<-gate
		return v, err
	}, runs, func() { close(gate) }
}

// heedful is a body that waits until its context ends, and returns the cause.
func heedful(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

// constant is a body that returns v.
func constant(v int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return v, nil }
}

// failing is a body that fails with err.
func failing(err error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return 0, err }
}

// after gives a body that returns v after d, or fails when its context ends.
func after(d time.Duration, v int) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(d):
			return v, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// A future that nobody ran is pending and says so everywhere (testIsDone).
func TestNewFutureIsPending(t *testing.T) {
	futureIs(t, executor.NewFuture(constant(1)), executor.Pending, 0, nil)
	futureIs(t, executor.NewPromise[int](), executor.Pending, 0, nil)
}

// A body that fails may give a value with its error, as Go functions do.
func TestValueNextToError(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (int, error) { return 7, errBody })
	f.Run(t.Context())
	futureIs(t, f, executor.Failed, 7, errBody)
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
	f := executor.NewFuture(failing(errBody))
	if err := f.Run(t.Context()); err != errBody {
		t.Errorf("Run: %v", err)
	}
	if _, err := f.Get(t.Context()); err != errBody || f.Err() != errBody {
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
	g := executor.Submit[int](t.Context(), refusing{errors.New("the executor was asked")}, nil)
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
