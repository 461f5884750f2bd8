package executortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// TestHooks tests that a [Pool] calls its hooks: BeforeTask and AfterTask once around each run, Around in place of the
// body, Dropped for each task that is accepted and never runs, OnPanic for each panic that is not the outcome of a
// future, and Terminated at the end.
//
// The suite calls make for each subtest, with the hooks to install. make returns a new pool. The suite shuts the pools
// down.
func TestHooks(t *testing.T, make func(*testing.T, executor.Hooks) Pool) {
	t.Helper()
	runAll(t, hookChecks, func(t *testing.T) func(executor.Hooks) Pool {
		return func(h executor.Hooks) Pool { return make(t, h) }
	})
}

// A diary is a list of events from several goroutines.
type diary struct {
	mu    sync.Mutex
	notes []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// expect waits until all goroutines are blocked, and requires the events since the last
// call.
func (d *diary) expect(t testing.TB, want ...string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.notes, want) {
		t.Errorf("noted %q, want %q", d.notes, want)
	}
	d.notes = nil
}

// newHookedPool returns a pool whose hooks write to the diary.
func newHookedPool(t testing.TB, make func() func(executor.Hooks) Pool) (Pool, *diary) {
	d := new(diary)
	p := newPool(t, func() Pool {
		return make()(executor.Hooks{
			BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
				d.note("before")
				return ctx
			},
			AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) {
				if p, ok := err.(*executor.PanicError); ok {
					err = fmt.Errorf("panic %v", p.Value)
				}
				d.note("after: %v", err)
			},
			OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
				d.note("panic: %v", err.Value)
			},
			Terminated: func() { d.note("terminated") },
		})
	})
	return p, d
}

// execute submits a plain Runnable.
func execute(t testing.TB, p Pool, f func(context.Context) error) {
	t.Helper()
	if err := p.Execute(context.Background(), executor.Func(f)); err != nil {
		t.Fatalf("Execute: %v", err)
	}
}

var hookChecks = []check[func(executor.Hooks) Pool]{
	{"AroundBody", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := newHookedPool(t, make)
		execute(t, p, func(context.Context) error { d.note("body"); return nil })
		d.expect(t, "before", "body", "after: <nil>")
		execute(t, p, func(context.Context) error { d.note("body"); return errBody })
		d.expect(t, "before", "body", "after: "+errBody.Error())
		submit(context.Background(), p, func(context.Context) (int, error) { d.note("body"); return 1, nil })
		d.expect(t, "before", "body", "after: <nil>")
	}},

	{"PanicCallsOnPanic", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := newHookedPool(t, make)
		for range 2 {
			execute(t, p, func(context.Context) error { panic("boom") })
			synctest.Wait()
			d.mu.Lock()
			slices.Sort(d.notes) // AfterTask and OnPanic in any order
			d.mu.Unlock()
			d.expect(t, "after: panic boom", "before", "panic: boom")
		}
	}},

	{"PanicOfFutureDoesNot", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := newHookedPool(t, make)
		submit(context.Background(), p, func(context.Context) (int, error) { panic("boom") })
		d.expect(t, "before", "after: panic boom")
	}},

	{"NoHooksWithoutRun", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := newHookedPool(t, make)
		f := executor.NewTask(delayed(0, 1))
		f.Cancel()
		p.Execute(context.Background(), f)
		d.expect(t)
	}},

	// A task that is accepted, and whose context ends while others keep it from running,
	// calls Dropped, and no other hook.
	{"DroppedWithoutRun", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		var ran, dropped atomic.Int32
		p := newPool(t, func() Pool {
			return make()(executor.Hooks{
				AfterTask: func(context.Context, executor.TaskInfo, error) { ran.Add(1) },
				Dropped: func(_ context.Context, info executor.TaskInfo, err error) {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("Dropped got %v, want an error that matches that of the context", err)
					}
					dropped.Add(1)
				},
			})
		})
		free, release := once()
		ctx, cancel := context.WithCancel(context.Background())
		var submitters sync.WaitGroup
		var accepted atomic.Int32
		for range burst {
			submitters.Go(func() {
				if p.Execute(ctx, executor.Func(func(context.Context) error { <-free; return nil })) == nil {
					accepted.Add(1)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		release()
		submitters.Wait()
		synctest.Wait()
		if ran.Load()+dropped.Load() != accepted.Load() {
			t.Errorf("of %d accepted tasks %d ran and %d were dropped", accepted.Load(), ran.Load(), dropped.Load())
		}
	}},

	{"Around", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		d := new(diary)
		p := newPool(t, func() Pool {
			return make()(executor.Hooks{
				Around: func(ctx context.Context, _ executor.TaskInfo, run func(context.Context) error) error {
					d.note("in")
					err := run(ctx)
					d.note("out: %v", err)
					return err
				},
			})
		})
		execute(t, p, func(context.Context) error { d.note("body"); return errBody })
		d.expect(t, "in", "body", fmt.Sprint("out: ", errBody))
		f := submit(context.Background(), p, func(context.Context) (int, error) { d.note("body"); return 1, nil })
		d.expect(t, "in", "body", "out: <nil>")
		expectOutcome(t, "the future", f, executor.Succeeded, 1, nil)
	}},

	{"BeforeTaskContext", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		type key struct{}
		var seen, after atomic.Value
		p := newPool(t, func() Pool {
			return make()(executor.Hooks{
				BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
					return context.WithValue(ctx, key{}, "v")
				},
				AfterTask: func(_ context.Context, info executor.TaskInfo, _ error) {
					if f, ok := info.Task.(executor.Awaitable); ok {
						after.Store(f.State())
					}
				},
			})
		})
		body := func(ctx context.Context) error {
			if v := ctx.Value(key{}); v != nil {
				seen.Store(v)
			}
			return nil
		}
		execute(t, p, body)
		synctest.Wait()
		if v := seen.Swap(""); v != "v" {
			t.Errorf("the context of a Runnable has the value %v, want that of the context from BeforeTask", v)
		}
		submit(context.Background(), p, func(ctx context.Context) (int, error) { return 1, body(ctx) })
		if v := seen.Load(); v != "v" {
			t.Errorf("the context of a future has the value %v, want that of the context from BeforeTask", v)
		}
		if s := after.Load(); s != executor.Succeeded {
			t.Errorf("the future is %v in AfterTask, want %v", s, executor.Succeeded)
		}
	}},

	{"TerminatedBeforeTermination", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		var returned atomic.Bool
		p := newPool(t, func() Pool {
			return make()(executor.Hooks{Terminated: func() {
				time.Sleep(time.Second)
				returned.Store(true)
			}})
		})
		execute(t, p, func(context.Context) error { return nil })
		synctest.Wait()
		p.Shutdown()
		if err := p.AwaitTermination(waitContext(t)); err != nil {
			t.Fatalf("AwaitTermination: %v", err)
		}
		if !returned.Load() {
			t.Error("the pool is terminated, but Terminated has not returned")
			time.Sleep(time.Minute) // until Terminated has returned, which is in the bubble
		}
	}},

	{"TerminatedOnce", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := newHookedPool(t, make)
		execute(t, p, func(context.Context) error { d.note("body"); return nil })
		d.expect(t, "before", "body", "after: <nil>")
		for range 2 {
			p.Shutdown()
			p.ShutdownNow()
		}
		if err := p.AwaitTermination(waitContext(t)); err != nil {
			t.Fatalf("AwaitTermination: %v", err)
		}
		d.expect(t, "terminated")
	}},
}
