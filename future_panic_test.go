package executor_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A panic of the body is the outcome, with its value and the stack of the place
// where it happened.
func TestPanicIsOutcome(t *testing.T) {
	f := executor.NewFuture(explode)
	err := f.Run(t.Context())
	var p *executor.PanicError
	if !errors.As(err, &p) || p.Value != "boom" {
		t.Fatalf("Run: %v", err)
	}
	if !strings.Contains(string(p.Stack), "explode") {
		t.Errorf("the stack does not show the place:\n%s", p.Stack)
	}
	for _, part := range []string{"executor: task panicked: boom", "explode"} {
		if !strings.Contains(p.Error(), part) {
			t.Errorf("the text lacks %q:\n%s", part, p.Error())
		}
	}
	futureIs(t, f, executor.Failed, 0, p)
}

func explode(context.Context) (int, error) { panic("boom") }

// The error that a body panicked with can be found by errors.Is and errors.As;
// a value that is no error unwraps to nothing.
func TestPanicUnwraps(t *testing.T) {
	wrapped := &io.PipeWriter{}
	for _, v := range []any{io.EOF, "text", 7, wrapped} {
		f := executor.NewFuture(func(context.Context) (int, error) { panic(v) })
		f.Run(t.Context())
		if errors.Is(f.Err(), io.EOF) != (v == io.EOF) {
			t.Errorf("panic(%v): %v", v, f.Err())
		}
		if errors.Is(f.Err(), executor.ErrCanceled) {
			t.Errorf("panic(%v) looks canceled", v)
		}
	}
}

// A nil map, an index out of range and a nil pointer are panics as any other,
// and match runtime.Error.
func TestRuntimePanic(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (int, error) {
		var none []int
		return none[len(none)], nil
	})
	f.Run(t.Context())
	var r runtime.Error
	if !errors.As(f.Err(), &r) {
		t.Errorf("%v is no runtime.Error", f.Err())
	}
}

// panic(nil) is a panic, not a Goexit and not a success.
func TestNilPanic(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (int, error) { panic(nil) })
	f.Run(t.Context())
	var n *runtime.PanicNilError
	if !errors.As(f.Err(), &n) || errors.Is(f.Err(), executor.ErrGoexit) {
		t.Errorf("outcome: %v", f.Err())
	}
}

// A panic that the body recovers is none.
func TestRecoveredPanic(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (n int, err error) {
		defer func() { n = recover().(int) }()
		panic(8)
	})
	f.Run(t.Context())
	futureIs(t, f, executor.Succeeded, 8, nil)
}

// A body that ends its goroutine, as a failing test does, fails with ErrGoexit;
// so it does if its deferred functions have recovered a panic on the way.
func TestGoexitIsOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, leave := range map[string]func(){
			"Goexit": runtime.Goexit,
			"FailNow": func() {
				new(testing.T).FailNow()
			},
			"Goexit in a deferred function": func() {
				defer runtime.Goexit()
				panic("lost")
			},
		} {
			f := executor.NewFuture(func(context.Context) (int, error) { leave(); return 1, nil })
			returned := false
			go func() {
				f.Run(t.Context())
				returned = true
			}()
			f.Join(t.Context())
			synctest.Wait()
			futureIs(t, f, executor.Failed, 0, executor.ErrGoexit)
			if returned {
				t.Errorf("%s: the goroutine went on", name)
			}
		}
	})
}

// In a pool a panic and a Goexit fail their future and nothing else: the pool
// is at full strength for the next task.
func TestPoolSurvivesBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		for range 3 {
			f := executor.Submit(t.Context(), p, explode)
			var perr *executor.PanicError
			if _, err := f.Get(t.Context()); !errors.As(err, &perr) {
				t.Errorf("panic: %v", err)
			}
			g := executor.Submit(t.Context(), p, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil })
			if _, err := g.Get(t.Context()); err != executor.ErrGoexit {
				t.Errorf("Goexit: %v", err)
			}
			h := executor.Submit(t.Context(), p, value(1))
			if v, err := h.Get(t.Context()); v != 1 || err != nil {
				t.Errorf("the next task: %d, %v", v, err)
			}
		}
		synctest.Wait()
		if s := p.Stats(); s.Workers != 1 || s.Failed != 6 || s.Succeeded != 3 {
			t.Errorf("%+v", s)
		}
	})
}

// An executor of the user's own needs to know nothing of panics: the future
// catches them.
func TestPanicInForeignExecutor(t *testing.T) {
	f := executor.Submit(t.Context(), testkit.Inline{}, explode)
	var perr *executor.PanicError
	if !errors.As(f.Err(), &perr) {
		t.Errorf("outcome: %v", f.Err())
	}
}
