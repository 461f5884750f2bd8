package executortest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// TestHooks tests that a [Pool] calls the hooks it is made with: around each
// body, in that order, once, and OnPanic for each panic that no future carries
// to somebody. make is called once for each property, with the hooks to install;
// the suite shuts the pools down.
func TestHooks(t *testing.T, make func(*testing.T, executor.Hooks) Pool) {
	t.Helper()
	runAll(t, hookChecks, func(t *testing.T) func(executor.Hooks) Pool {
		return func(h executor.Hooks) Pool { return make(t, h) }
	})
}

// diary records what happens, for several goroutines.
type diary struct {
	mu    sync.Mutex
	notes []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// expect waits until all is still and requires what was noted since the last
// time.
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

// hooked makes a pool that notes what it calls.
func hooked(t testing.TB, make func() func(executor.Hooks) Pool) (Pool, *diary) {
	d := new(diary)
	p := ending(t, func() Pool {
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

// plainly submits a plain Runnable.
func plainly(t testing.TB, p Pool, f func(context.Context) error) {
	t.Helper()
	if err := p.Execute(context.Background(), executor.Func(f)); err != nil {
		t.Fatalf("Execute: %v", err)
	}
}

var hookChecks = []check[func(executor.Hooks) Pool]{
	{"AroundBody", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := hooked(t, make)
		plainly(t, p, func(context.Context) error { d.note("body"); return nil })
		d.expect(t, "before", "body", "after: <nil>")
		plainly(t, p, func(context.Context) error { d.note("body"); return errBody })
		d.expect(t, "before", "body", "after: "+errBody.Error())
		submit(context.Background(), p, func(context.Context) (int, error) { d.note("body"); return 1, nil })
		d.expect(t, "before", "body", "after: <nil>")
	}},

	{"PanicIsReported", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := hooked(t, make)
		for range 2 {
			plainly(t, p, func(context.Context) error { panic("boom") })
			synctest.Wait()
			d.mu.Lock()
			slices.Sort(d.notes) // AfterTask and OnPanic in any order
			d.mu.Unlock()
			d.expect(t, "after: panic boom", "before", "panic: boom")
		}
	}},

	{"PanicOfFutureIsNot", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := hooked(t, make)
		submit(context.Background(), p, func(context.Context) (int, error) { panic("boom") })
		d.expect(t, "before", "after: panic boom")
	}},

	{"NoBodyNoHooks", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := hooked(t, make)
		f := executor.NewFuture(sleeper(0, 1))
		f.Cancel()
		p.Execute(context.Background(), f)
		d.expect(t)
	}},

	{"ContextOfBeforeTask", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		type key struct{}
		var seen, after atomic.Value
		p := ending(t, func() Pool {
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
		plainly(t, p, body)
		synctest.Wait()
		if v := seen.Swap(""); v != "v" {
			t.Errorf("the body does not get the context that BeforeTask returns: its value there is %v", v)
		}
		submit(context.Background(), p, func(ctx context.Context) (int, error) { return 1, body(ctx) })
		if v := seen.Load(); v != "v" {
			t.Errorf("the body of a future does not get the context that BeforeTask returns: its value there is %v", v)
		}
		if s := after.Load(); s != executor.Succeeded {
			t.Errorf("the future is %v in AfterTask, want %v", s, executor.Succeeded)
		}
	}},

	{"TerminatedBeforeTermination", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		var returned atomic.Bool
		p := ending(t, func() Pool {
			return make()(executor.Hooks{Terminated: func() {
				time.Sleep(time.Second)
				returned.Store(true)
			}})
		})
		plainly(t, p, func(context.Context) error { return nil })
		synctest.Wait()
		p.Shutdown()
		if err := p.AwaitTermination(patient(t)); err != nil {
			t.Fatalf("AwaitTermination: %v", err)
		}
		if !returned.Load() {
			t.Error("the pool is terminated before Terminated has returned")
			time.Sleep(time.Minute) // it must not outlive the bubble
		}
	}},

	{"Terminated", func(t testing.TB, make func() func(executor.Hooks) Pool) {
		p, d := hooked(t, make)
		plainly(t, p, func(context.Context) error { d.note("body"); return nil })
		d.expect(t, "before", "body", "after: <nil>")
		for range 2 {
			p.Shutdown()
			p.ShutdownNow()
		}
		if err := p.AwaitTermination(patient(t)); err != nil {
			t.Fatalf("AwaitTermination: %v", err)
		}
		d.expect(t, "terminated")
	}},
}
