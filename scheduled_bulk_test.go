package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// The functions that submit several tasks work over a scheduled pool as over any
// executor.

// InvokeAll gives all outcomes in the order of the functions, failures too.
func TestScheduledInvokeAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sour := scheduled(t, 2), errors.New("sour")
		fs := executor.InvokeAll(t.Context(), p, testkit.After(time.Minute, 1), testkit.After(time.Second, 2),
			func(context.Context) (int, error) { return 0, sour })
		for i, want := range []int{1, 2, 0} {
			v, err := fs[i].Result()
			expect(t, "value", v, want)
			expect(t, "it failed", err == sour, i == 2)
		}
		expect(t, "futures for no function", len(executor.InvokeAll[int](t.Context(), p)), 0)
	})
}

// InvokeAll with a nil function runs nothing.
func TestScheduledInvokeAllNil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 2), newDiary()
		fs := executor.InvokeAll(t.Context(), p, d.Value("x"), nil)
		expectIs(t, "outcome of the first", fs[0].Err(), executor.ErrCanceled)
		expectIs(t, "outcome of the nil one", fs[1].Err(), executor.ErrNilTask)
		d.Check(t)
	})
}

// When the context of InvokeAll ends, what is not done is canceled, and what is
// done keeps its outcome.
func TestScheduledInvokeAllTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		deaf := func(context.Context) (int, error) { time.Sleep(time.Hour); return 3, nil }
		fs := executor.InvokeAll(ctx, p, testkit.After(0, 1), testkit.After(time.Second, 2), deaf)
		expect(t, "duration", time.Since(begin), time.Minute)
		expect(t, "state", fs[0].State(), executor.Succeeded)
		expect(t, "state", fs[1].State(), executor.Succeeded)
		expect(t, "state", fs[2].State(), executor.Canceled)
		expectIs(t, "outcome", fs[2].Err(), context.DeadlineExceeded)
	})
}

// InvokeAny gives the first value and cancels the others; delayed tasks of the
// same pool do not matter.
func TestScheduledInvokeAny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		testkit.FarTasks(t, p, 2)
		begin := time.Now()
		v, err := executor.InvokeAny(t.Context(), p, testkit.After(time.Hour, 1), testkit.After(time.Second, 2),
			func(context.Context) (int, error) { return 0, errors.New("sour") })
		expect(t, "value", v, 2)
		expect(t, "error", err, nil)
		expect(t, "duration", time.Since(begin), time.Second)
		expect(t, "active afterwards", waitStats(t, p).Active, 0)
		expect(t, "queued afterwards", p.Stats().Queued, 2)
	})
}

// InvokeAny of nothing, of a nil function, of functions that all fail, and with
// a context that ends tells so.
func TestScheduledInvokeAnyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sour := scheduled(t, 1), errors.New("sour")
		_, err := executor.InvokeAny[int](t.Context(), p)
		expectIs(t, "error of nothing", err, executor.ErrNoTasks)
		_, err = executor.InvokeAny(t.Context(), p, testkit.After(0, 1), nil)
		expectIs(t, "error of nil", err, executor.ErrNilTask)
		_, err = executor.InvokeAny(t.Context(), p, func(context.Context) (int, error) { return 0, sour })
		expectIs(t, "error of a failure", err, sour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = executor.InvokeAny(ctx, p, testkit.After(time.Hour, 1))
		expectIs(t, "error of a timeout", err, context.DeadlineExceeded)
	})
}
