package executor_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// burden is something large that a body holds on to.
type burden struct{ _ [1 << 16]byte }

// burdened gives a body with a burden, and tells whether that is still there.
func burdened() (func(context.Context) (int, error), weak.Pointer[burden]) {
	held := new(burden)
	return func(context.Context) (int, error) { runtime.KeepAlive(held); return 1, nil }, weak.Make(held)
}

// before gives a body that calls f first.
func before(body func(context.Context) (int, error), f func()) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { f(); return body(ctx) }
}

// A future that is kept does not keep its body once that will not run again, on
// whichever path the task ended.
func TestFutureLetsGoOfBody(t *testing.T) {
	type body = func(context.Context) (int, error)
	run := func(ctx context.Context, f *executor.Future[int]) { f.Run(ctx) }
	for name, end := range map[string]func(*testing.T, body) *executor.Future[int]{
		"run": func(t *testing.T, fn body) *executor.Future[int] {
			f := executor.NewFuture(fn)
			run(t.Context(), f)
			return f
		},
		"canceled": func(t *testing.T, fn body) *executor.Future[int] {
			f := executor.NewFuture(fn)
			f.Cancel()
			return f
		},
		"abandoned": func(t *testing.T, fn body) *executor.Future[int] {
			f := executor.NewFuture(fn)
			f.Abandon()
			return f
		},
		"completed by hand": func(t *testing.T, fn body) *executor.Future[int] {
			f := executor.NewFuture(fn)
			f.Complete(1)
			return f
		},
		"run, then given to a pool": func(t *testing.T, fn body) *executor.Future[int] {
			f := executor.NewFuture(fn)
			run(t.Context(), f)
			newPool(t, executor.Config{Core: 1}).Execute(t.Context(), f)
			return f
		},
		"rejected": func(t *testing.T, fn body) *executor.Future[int] {
			p := executor.Fixed(1)
			p.Close()
			return executor.Submit(t.Context(), p, fn)
		},
		"misused": func(t *testing.T, fn body) *executor.Future[int] {
			return executor.Submit(t.Context(), testkit.Inline{}, fn, executor.Timeout(-1))
		},
		"in a pool": func(t *testing.T, fn body) *executor.Future[int] {
			return executor.Submit(t.Context(), newPool(t, executor.Config{Core: 1}), fn)
		},
		"canceled in a queue": func(t *testing.T, fn body) *executor.Future[int] {
			p := newPool(t, executor.Config{Core: 1})
			newBlocker(t).Fill(t, p, 1)
			f := executor.Submit(t.Context(), p, fn)
			f.Cancel()
			return f
		},
		"canceled during its run": func(t *testing.T, fn body) *executor.Future[int] {
			var f *executor.Future[int]
			f = executor.NewFuture(before(fn, func() { f.Cancel() }))
			run(t.Context(), f)
			return f
		},
		"completed during its run": func(t *testing.T, fn body) *executor.Future[int] {
			var f *executor.Future[int]
			f = executor.NewFuture(before(fn, func() { f.Complete(1) }))
			run(t.Context(), f)
			return f
		},
		"canceled during a run by RunAndReset": func(t *testing.T, fn body) *executor.Future[int] {
			var f *executor.Future[int]
			f = executor.NewFuture(before(fn, func() { f.Cancel() }))
			f.RunAndReset(t.Context())
			return f
		},
		"failed before its run, by a hook": func(t *testing.T, fn body) *executor.Future[int] {
			p := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
				BeforeTask: func(context.Context, executor.TaskInfo) context.Context { panic("hook") },
				OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) {},
			}})
			return executor.Submit(t.Context(), p, fn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body, gone := burdened()
				f := end(t, body)
				synctest.Wait()
				if !f.State().Done() {
					t.Fatalf("State: %v", f.State())
				}
				runtime.GC()
				runtime.GC()
				if gone.Value() != nil {
					t.Error("the body is kept")
				}
				runtime.KeepAlive(f)
			})
		})
	}
}

// A pool that is kept keeps neither the tasks that it has run nor their futures.
func TestPoolLetsGoOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 2})
		var gone []weak.Pointer[burden]
		for range 8 {
			f := executor.Submit(context.Background(), p, func(context.Context) (*burden, error) { return new(burden), nil })
			v, _ := f.Get(t.Context())
			gone = append(gone, weak.Make(v))
		}
		synctest.Wait()
		runtime.GC()
		runtime.GC()
		for i, g := range gone {
			if g.Value() != nil {
				t.Errorf("the value of task %d is kept", i)
			}
		}
		runtime.KeepAlive(p)
	})
}

// A future costs one allocation, and so does submitting a function; fire and
// forget costs none.
func TestAllocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		ctx := context.Background()
		body := value(1)
		plain := func(context.Context) error { return nil }
		batch := func(submit func()) func() {
			return func() {
				for range 100 {
					submit()
				}
				synctest.Wait()
			}
		}
		for name, c := range map[string]struct {
			run  func()
			most float64
		}{
			"Go":              {batch(func() { p.Go(ctx, plain) }), 0},
			"Submit":          {batch(func() { executor.Submit(ctx, p, body) }), 1},
			"Submit, Cancel":  {batch(func() { executor.Submit(ctx, p, body).Cancel() }), 1},
			"NewFuture, Run":  {batch(func() { executor.NewFuture(body).Run(ctx) }), 1},
			"Complete, Get":   {batch(func() { f := executor.NewPromise[int](); f.Complete(1); f.Get(ctx) }), 1},
			"Submit, look":    {batch(func() { executor.Submit(ctx, p, func(ctx context.Context) (int, error) { return 0, ctx.Err() }) }), 6},
			"Submit with one": {batch(func() { executor.Submit(ctx, p, body, executor.Priority(1)) }), 5},
		} {
			c.run() // the queue has its size
			if n := testing.AllocsPerRun(10, c.run) / 100; n > c.most+0.5 {
				t.Errorf("%s: %v allocations, want %v", name, n, c.most)
			}
		}
	})
}
