package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

// BeforeTask is called before a task function, AfterTask after it with its error, and Terminated
// last.
func TestHooksOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		pool := newPool(t, executor.Config{Workers: 1, Hooks: log.Hooks()})
		mustGo(t, pool, func(context.Context) error { log.Add("body"); return nil }, executor.Named("a"))
		mustGo(t, pool, func(context.Context) error { return errors.New("lost") }, executor.Named("b"))
		executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errors.New("kept") },
			executor.Named("c"))
		pool.Close()
		log.Check(t, "before a", "body", "after a: <nil>", "before b", "after b: lost", "before c", "after c: kept", "terminated")
	})
}

// No hook is called for a task that never runs.
func TestHooksOfTaskThatDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		pool := newPool(t,
			executor.Config{Workers: 1, Queue: executor.Bounded(3), Reject: executor.CallerRuns, Hooks: log.Hooks()})
		block := newBlocker(t)
		mustGo(t, pool, block.Run, executor.Named("block"))
		ended, cancel := context.WithCancel(t.Context())
		executor.Submit(ended, pool, block.Value, executor.Named("expired"))
		executor.Submit(t.Context(), pool, block.Value, executor.Named("canceled")).Cancel()
		executor.Submit(t.Context(), pool, block.Value, executor.Named("returned"))
		executor.Submit(t.Context(), pool, block.Value, executor.Named("returned"))
		mustGo(t, pool, func(context.Context) error { return nil }, executor.Named("by caller"))
		cancel()
		synctest.Wait()
		expect(t, "returned", len(pool.ShutdownNow()), 2)
		block.Release()
		log.Check(t, "before block", "after block: <nil>", "terminated")
	})
}

// The hooks get the pool, the worker, and the task as it was submitted.
func TestHooksInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after []executor.TaskInfo
		pool := newPool(t, executor.Config{Name: "info", Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				before = append(before, info)
				return nil // as good as ctx
			},
			AfterTask: func(_ context.Context, info executor.TaskInfo, _ error) { after = append(after, info) },
		}})
		s := new(testkit.Step)
		pool.Execute(t.Context(), s)
		waitStats(t, pool)
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 1, nil }, executor.Named("f"))
		waitStats(t, pool)
		want := []executor.TaskInfo{
			{Executor: "info", Worker: 1, Task: s, Begun: time.Now(), Run: 1},
			{Executor: "info", Worker: 1, Task: f, Name: "f", Begun: time.Now(), Run: 1},
		}
		if !slices.Equal(before, want) || !slices.Equal(after, want) {
			t.Errorf("before %+v, after %+v, want %+v", before, after, want)
		}
	})
}

// The context that BeforeTask returns is that of the task function and of AfterTask, for plain
// tasks and futures.
func TestHooksBeforeTaskContext(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		var after []any
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				return context.WithValue(ctx, key{}, "value of "+info.Name)
			},
			AfterTask: func(ctx context.Context, _ executor.TaskInfo, _ error) {
				after = append(after, ctx.Value(key{}))
			},
		}})
		var inPlain any
		mustGo(t, pool, func(ctx context.Context) error { inPlain = ctx.Value(key{}); return nil }, executor.Named("a"))
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (any, error) { return ctx.Value(key{}), nil },
			executor.Named("b"))
		waitStats(t, pool)
		inFuture, _ := f.Result()
		expect(t, "in the plain task", inPlain, any("value of a"))
		expect(t, "in the future", inFuture, any("value of b"))
		if !slices.Equal(after, []any{"value of a", "value of b"}) {
			t.Errorf("after: %v", after)
		}
	})
}

// A canceled task ends even if BeforeTask derived the context of its function.
func TestHooksBeforeTaskContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
				derived, cancel := context.WithTimeout(ctx, time.Hour)
				t.Cleanup(cancel) // not by ctx: that would be another cause, in a race with its own
				return derived
			},
		}})
		cause := make(chan error, 1)
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return 0, nil
		})
		synctest.Wait()
		f.Cancel()
		expectIs(t, "cause", <-cause, executor.ErrCanceled)
	})
}

// When AfterTask is called the future is done, while its worker still counts as active and the pool
// does not terminate.
func TestHooksAfterTaskSeesOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := newBlocker(t)
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			AfterTask: func(ctx context.Context, _ executor.TaskInfo, _ error) { block.Run(ctx) },
		}})
		t.Cleanup(block.Release) // before the pool is closed
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 5, nil })
		v, err := f.Get(t.Context())
		expect(t, "value", v, 5)
		expect(t, "error", err, nil)
		pool.Shutdown()
		s := waitStats(t, pool)
		expect(t, "Active", s.Active, 1)
		expect(t, "Completed", s.Ended(), 0)
		expect(t, "Stage", s.Stage, executor.StageShutdown)
		block.Release()
		s = waitStats(t, pool)
		expect(t, "Completed at last", s.Ended(), 1)
		expect(t, "Stage at last", s.Stage, executor.StageTerminated)
	})
}

// AfterTask gets how a task function ended, whichever way it was submitted: what it returned, its
// panic, or ErrGoexit.
func TestHooksAfterTaskError(t *testing.T) {
	type submit func(ctx context.Context, pool *executor.Pool, body func(context.Context) error)
	for _, as := range []struct {
		name   string
		submit submit
	}{
		{"function", func(_ context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(context.Background(), body)
		}},
		{"function with a context", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(ctx, body)
		}},
		{"function with a context that never ends", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(context.WithoutCancel(ctx), body)
		}},
		{"named function", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(ctx, body, executor.Named("it"))
		}},
		{"future", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			executor.Submit(ctx, pool, executor.Func(body).Call)
		}},
	} {
		for _, way := range testkit.Exits {
			t.Run(as.name+"/"+way.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var errs []error
					pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
						AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { errs = append(errs, err) },
						OnPanic:   func(context.Context, executor.TaskInfo, *executor.PanicError) {},
					}})
					as.submit(t.Context(), pool, func(context.Context) error { return way.Leave() })
					waitStats(t, pool)
					if len(errs) != 1 {
						t.Fatalf("AfterTask got %v, want one error", errs)
					}
					var perr *executor.PanicError
					expect(t, "a panic", errors.As(errs[0], &perr), testkit.Panics(way.Leave))
					expect(t, "a Goexit", errors.Is(errs[0], executor.ErrGoexit), way.Name == "Goexit")
					expect(t, "nil", errs[0] == nil, way.Name == "return nil")
				})
			})
		}
	}
}

// Hooks may use their pool: no lock is held while they are called.
func TestHooksMayUsePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool *executor.Pool
		use := func() {
			pool.Stats()
			setWorkers(pool, 1)
			pool.Remove(new(testkit.Step))
			pool.Reconfigure(func(s *executor.Settings) { pool.Settings() })
			pool.Settings()
			for range pool.Waiting() {
			}
			pool.Prestart(1)
		}
		again := true
		pool = newPool(t, executor.Config{Workers: 1, Max: 2, Queue: executor.Bounded(1),
			Hooks: executor.Hooks{
				BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context { use(); return ctx },
				AfterTask: func(context.Context, executor.TaskInfo, error) {
					use()
					if again {
						again = false
						mustGo(t, pool, func(context.Context) error { return nil })
					}
				},
				Terminated: func() { use(); pool.Shutdown(); pool.ShutdownNow() },
				OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) { use() },
			}})
		mustGo(t, pool, func(context.Context) error { panic("x") })
		expect(t, "Completed", waitStats(t, pool).Ended(), 2)
		pool.Close()
	})
}

// The log.

// Without OnPanic a panic is logged with pool, task, value and stack; an error that is nowhere else
// to be seen is logged as a warning.
func TestPoolLogPanicsAndErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		pool := newPool(t, executor.Config{Name: "p", Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		logged := func(want ...string) {
			t.Helper()
			waitStats(t, pool)
			got := out.String()
			if slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(got, s) }) || got != "" &&
				len(want) == 0 {
				t.Errorf("logged %q, want %q in it", got, want)
			}
			out.Reset()
		}
		mustGo(t, pool, func(context.Context) error { panic("bang") }, executor.Named("job"))
		logged("level=ERROR", "executor=p", "task=job", "panic=bang", "TestPoolLogPanicsAndErrors")
		mustGo(t, pool, func(context.Context) error { return errors.New("mine") })
		logged("level=WARN", "executor=p", "error=mine")
		mustGo(t, pool, func(context.Context) error { runtime.Goexit(); return nil })
		logged("level=WARN", "Goexit")
		executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errors.New("mine") })
		logged()
	})
}

// An error that matches Canceled or DeadlineExceeded is logged if it is not from the end of the
// task's own context, and so is the error of a task that has run out of time.
func TestPoolLogCancellationOfOtherContext(t *testing.T) {
	foreign := func(context.Context) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return fmt.Errorf("dial: %w", ctx.Err())
	}
	timedOut := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	ctx := context.Background()
	plain := func(t *testing.T, l *slog.Logger) *executor.Pool {
		return newPool(t, executor.Config{Workers: 1, Logger: l})
	}
	scheduled := func(t *testing.T, l *slog.Logger) *executor.ScheduledPool {
		return newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: l})
	}
	for name, run := range map[string]func(*testing.T, *slog.Logger){
		"Go":           func(t *testing.T, l *slog.Logger) { plain(t, l).Go(ctx, foreign) },
		"Execute":      func(t *testing.T, l *slog.Logger) { plain(t, l).Execute(ctx, executor.Func(foreign)) },
		"with a name":  func(t *testing.T, l *slog.Logger) { plain(t, l).Go(ctx, foreign, executor.Named("x")) },
		"timeout":      func(t *testing.T, l *slog.Logger) { plain(t, l).Go(ctx, timedOut, executor.Timeout(time.Second)) },
		"scheduled Go": func(t *testing.T, l *slog.Logger) { scheduled(t, l).Go(ctx, foreign) },
		"After":        func(t *testing.T, l *slog.Logger) { scheduled(t, l).GoAfter(ctx, 0, foreign) },
		"periodic":     func(t *testing.T, l *slog.Logger) { scheduled(t, l).AtFixedRate(ctx, 0, time.Hour, foreign) },
		"periodic with a timeout": func(t *testing.T, l *slog.Logger) {
			scheduled(t, l).AtFixedRate(ctx, 0, time.Hour, timedOut, executor.Timeout(time.Second))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				run(t, slog.New(slog.NewTextHandler(&out, nil)))
				elapse(2 * time.Second)
				if n := strings.Count(out.String(), "level=WARN"); n != 1 {
					t.Errorf("%d warnings, want 1: %s", n, out.String())
				}
			})
		})
	}
}

// The error of a task function that returned because its context was ended is not logged.
func TestPoolLogNoInterruption(t *testing.T) {
	for name, body := range map[string]func(context.Context) error{
		"error": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"cause": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	} {
		type interruption = func(p *executor.ScheduledPool, f executor.Awaitable, end context.CancelCauseFunc)
		for cause, interrupt := range map[string]interruption{
			"ShutdownNow": func(p *executor.ScheduledPool, _ executor.Awaitable, _ context.CancelCauseFunc) { p.ShutdownNow() },
			"Cancel":      func(_ *executor.ScheduledPool, f executor.Awaitable, _ context.CancelCauseFunc) { f.Cancel() },
			"the submitter": func(_ *executor.ScheduledPool, _ executor.Awaitable, end context.CancelCauseFunc) {
				end(errors.New("reason"))
			},
		} {
			t.Run(cause+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var out bytes.Buffer
					p := newScheduled(t,
						executor.ScheduledConfig{Workers: 2, Logger: slog.New(slog.NewTextHandler(&out, nil))})
					ctx, end := context.WithCancelCause(t.Context())
					f, err := p.AtFixedRate(ctx, 0, time.Hour, body)
					if err != nil {
						t.Fatal(err)
					}
					if cause != "Cancel" { // which needs a future
						p.Go(ctx, body)
					}
					elapse(time.Second)
					interrupt(p, f, end)
					waitStats(t, p)
					// The end of the submitter's context ends the schedule, which is named as what it drops is.
					got := out.String()
					if cause == "the submitter" && strings.Count(got, "\n") == 1 &&
						strings.Contains(got, `msg="executor: schedule ended"`) && strings.Contains(got, "reason") {
						got = ""
					}
					if got != "" {
						t.Errorf("logged %s", out.String())
					}
				})
			})
		}
	}
}

// An error that no future shows is logged once, whether there is an AfterTask or not, also for a task
// that its submitter ran; a panic likewise, whether there is an OnPanic or not.
func TestPoolLogWithHooks(t *testing.T) {
	for _, body := range []func(context.Context) error{
		func(context.Context) error { return errTask },
		func(context.Context) error { panic(errTask) },
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			calls := 0
			p := newPool(t, executor.Config{Max: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns,
				Logger: slog.New(slog.NewTextHandler(&out, nil)),
				Hooks: executor.Hooks{
					AfterTask: func(context.Context, executor.TaskInfo, error) { calls++ },
					OnPanic:   func(context.Context, executor.TaskInfo, *executor.PanicError) {},
				},
			})
			mustGo(t, p, body)
			waitStats(t, p)
			expect(t, "calls by a worker", calls, 1)
			expect(t, "lines", strings.Count(out.String(), "\n"), 1)
			block := newBlocker(t)
			block.Fill(t, p, 1)
			mustGo(t, p, body)
			expect(t, "calls by the submitter", calls, 1)
			expect(t, "lines", strings.Count(out.String(), "\n"), 2)
			block.Release()
		})
	}
}

// Stop is the end of a schedule. What runs once, and returns it, has failed, and that is logged.
func TestPoolLogStopOfSingleRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := func(context.Context) error { return executor.ErrStop }
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		p.AtFixedRate(t.Context(), 0, time.Hour, stop)
		waitStats(t, p)
		expect(t, "log of a schedule", out.String(), "")
		mustGo(t, p.Pool, stop)
		waitStats(t, p)
		if !strings.Contains(out.String(), executor.ErrStop.Error()) {
			t.Errorf("log of a single run: %q", out.String())
		}
		expect(t, "Failed", p.Stats().Failed, 1)
	})
}

// panicking is a log handler that panics.
type panicking struct{ slog.Handler }

func (panicking) Handle(context.Context, slog.Record) error { panic("no disk") }

// A log handler that panics does not end the process, whatever is logged.
func TestPoolLogHandlerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(panicking{slog.NewTextHandler(io.Discard, nil)})
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: log})
		for _, body := range []func(context.Context) error{
			func(context.Context) error { return errTask },
			func(context.Context) error { panic(errTask) },
			func(context.Context) error { runtime.Goexit(); return nil },
		} {
			mustGo(t, p.Pool, body)
			p.AtFixedRate(t.Context(), 0, time.Hour, body)
		}
		ctx, cancel := context.WithCancel(t.Context())
		block := newBlocker(t)
		mustGo(t, p.Pool, block.Run)
		p.Go(ctx, nop)
		synctest.Wait()
		cancel()
		synctest.Wait()
		expect(t, "Canceled", p.Stats().Canceled, 1)
		block.Release()
	})
}

// Profiler labels.

// labels returns the pprof labels of each goroutine whose stack has the function.
func labels(t *testing.T, function string) []string {
	t.Helper()
	synctest.Wait()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	var all []string
	for record := range strings.SplitSeq(profile.String(), "\n\n") {
		if !strings.Contains(record, function) {
			continue
		}
		found := ""
		for line := range strings.Lines(record) {
			if rest, ok := strings.CutPrefix(line, "# labels: "); ok {
				found = strings.TrimSpace(rest)
			}
		}
		all = append(all, found)
	}
	slices.Sort(all)
	return all
}

func expectLabels(t *testing.T, what, function string, want ...string) {
	t.Helper()
	if got := labels(t, function); !slices.Equal(got, want) {
		t.Errorf("%s: labels %q, want %q", what, got, want)
	}
}

// amongOurselves runs test in a bubble once the workers of earlier tests have ended, whose labels the
// profile would show too: the goroutine of a dismissed worker ends a moment later.
func amongOurselves(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	expect(t, "workers of tests before", check.Goroutines("(*Engine).work(", 0), 0)
	synctest.Test(t, test)
}

const (
	atWork = "(*Blocker).Run"
	atRest = "(*Engine).park"
)

// A worker has its pool's name and its own number as labels, idle or working.
func TestPoolLabelsOfWorker(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Workers: 2})
		pool.Prestart(math.MaxInt)
		both := []string{`{"executor":"p", "worker":"1"}`, `{"executor":"p", "worker":"2"}`}
		expectLabels(t, "prestarted", atRest, both...)
		block := newBlocker(t)
		block.Fill(t, pool, 2)
		expectLabels(t, "at work", atWork, both...)
		block.Release()
		expectLabels(t, "idle again", atRest, both...)
	})
}

// A task has the labels of its worker alone, whatever labels its submitter and the submitter's context have.
func TestPoolLabelsOfTask(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Workers: 1})
		const want = `{"executor":"p", "worker":"1"}`
		pprof.Do(t.Context(), pprof.Labels("user", "ann"), func(ctx context.Context) {
			for _, ctx := range []context.Context{ctx, context.Background()} {
				block := newBlocker(t)
				if err := pool.Go(ctx, block.Run); err != nil {
					t.Fatal(err)
				}
				expectLabels(t, "at work", atWork, want)
				block.Release()
				expectLabels(t, "idle", atRest, want)
			}
		})
	})
}

// A context that answers costs what its depth is: a task of a task of a task has a deep one. So a pool that runs a
// task does not ask for values.
func TestPoolAsksContextForNoValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"", "p"} {
			pool := newPool(t, executor.Config{Name: name, Workers: 1})
			ctx := valueCounter{t.Context(), new(atomic.Int32)}
			f := executor.Submit(ctx, pool, value(1), executor.Named("n"))
			synctest.Wait()
			expect(t, "state", f.State(), executor.Succeeded)
			expect(t, "calls of Value", ctx.calls.Load(), 0)
		}
	})
}

// valueCounter counts the calls of Value.
type valueCounter struct {
	context.Context
	calls *atomic.Int32
}

func (c valueCounter) Value(key any) any {
	c.calls.Add(1)
	return c.Context.Value(key)
}

// A task that has a name has it as a label, with those of the worker; the next task does not have it.
func TestPoolLabelsOfName(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Workers: 1})
		run := func(want string, opts ...executor.Option) {
			t.Helper()
			block := newBlocker(t)
			if err := pool.Go(t.Context(), block.Run, opts...); err != nil {
				t.Fatal(err)
			}
			expectLabels(t, "at work", atWork, want)
			block.Release()
			expectLabels(t, "idle", atRest, `{"executor":"p", "worker":"1"}`)
		}
		for range 2 {
			run(`{"executor":"p", "task":"mail", "worker":"1"}`, executor.Named("mail"))
		}
		run(`{"executor":"p", "worker":"1"}`, executor.Priority(1))
	})
}

// In a pool without a name neither a worker has labels, not even those of the goroutine that started it, nor a task.
func TestPoolLabelsWithoutName(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		pprof.Do(t.Context(), pprof.Labels("user", "ann"), func(ctx context.Context) {
			mustGo(t, pool, block.Run) // not in ctx
			expectLabels(t, "of a plain function", atWork, "")
			pool.Go(ctx, block.Run)
			block.ReleaseOne()
			expectLabels(t, "of a task", atWork, "")
		})
		block.Release()
		expectLabels(t, "idle", atRest, "")
	})
}

// Labels that a task function sets for its goroutine end with the task.
func TestPoolLabelsSetByTask(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Workers: 1})
		mustGo(t, pool, func(ctx context.Context) error {
			pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("left", "behind")))
			return nil
		})
		newBlocker(t).Fill(t, pool, 1)
		expectLabels(t, "the next task", atWork, `{"executor":"p", "worker":"1"}`)
	})
}

// Around surrounds each body, of every kind, and the task keeps its name, its future and its place: it
// leaves the queue when its context ends, and ShutdownNow returns it.
func TestHooksAround(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		var log testkit.Trace
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler), Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
				return context.WithValue(ctx, contextKey{}, "before")
			},
			Around: func(ctx context.Context, info executor.TaskInfo, run func(context.Context) error) error {
				log.Add("in with %v", ctx.Value(contextKey{}))
				err := run(context.WithValue(ctx, contextKey{}, "around"))
				log.Add("out %v, again %v", err, run(ctx) != nil)
				return nil
			},
			AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { log.Add("after %v", err) },
		}})
		for _, exit := range []error{nil, errTask} {
			submit(t.Context(), pool, func(ctx context.Context) error {
				log.Add("body with %v", ctx.Value(contextKey{}))
				return exit
			})
			log.Check(t, "in with before", "body with around", fmt.Sprint("out ", exit, ", again true"),
				fmt.Sprint("after ", exit))
		}
		s := waitStats(t, pool)
		expect(t, "Runs", s.Runs, 2)
		expect(t, "Succeeded", s.Succeeded, 1)
		expect(t, "Failed", s.Failed, 1)
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		ctx, cancel := context.WithCancel(t.Context())
		submit(ctx, pool, nop)
		submit(t.Context(), pool, nop)
		cancel()
		synctest.Wait()
		expect(t, "Canceled", pool.Stats().Canceled, 1)
		expect(t, "returned", len(pool.ShutdownNow()), 1)
	})
}

// A panic of a body inside Around is an error for Around, and is reported once if no future shows it.
func TestHooksAroundPanicOfBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics int
		var seen []error
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler),
			Hooks: executor.Hooks{
				Around: func(ctx context.Context, _ executor.TaskInfo, run func(context.Context) error) error {
					err := run(ctx)
					seen = append(seen, err)
					return err
				},
				OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { panics++ },
			},
		})
		mustGo(t, pool, func(context.Context) error { panic(errTask) })
		waitStats(t, pool)
		expect(t, "reported", panics, 1)
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { panic(errTask) })
		_, err := f.Get(t.Context())
		expectIs(t, "outcome", err, errTask)
		s := waitStats(t, pool)
		expect(t, "reported", panics, 1)
		expect(t, "Panics", s.Panics, 2)
		expect(t, "Runs", s.Runs, 2)
		for _, err := range seen {
			expectIs(t, "in Around", err, errTask)
		}
		expect(t, "calls", len(seen), 2)
	})
}

// A task whose Around does not call run fails, with the error of Around or one that says so, and does
// not count as a run; a panic in Around is reported once, and fails the task unless it has run.
func TestHooksAroundFails(t *testing.T) {
	type run = func(context.Context) error
	for name, test := range map[string]struct {
		around func(context.Context, executor.TaskInfo, run) error
		state  executor.State
		err    error
		runs   int64
		panics int32
	}{
		"returns": {
			func(context.Context, executor.TaskInfo, run) error { return nil }, executor.Failed, nil, 0, 0,
		},
		"fails": {
			func(context.Context, executor.TaskInfo, run) error { return errTask }, executor.Failed, errTask, 0, 0,
		},
		"panics": {
			func(context.Context, executor.TaskInfo, run) error { panic(errTask) }, executor.Failed, errTask, 0, 1,
		},
		"panics late": {func(ctx context.Context, _ executor.TaskInfo, r run) error {
			r(ctx)
			panic(errTask)
		}, executor.Succeeded, nil, 1, 1},
		"another goroutine": {func(ctx context.Context, _ executor.TaskInfo, r run) error {
			begun := make(chan struct{})
			go r(context.WithValue(ctx, contextKey{}, begun))
			<-begun
			return errTask
		}, executor.Succeeded, nil, 1, 0},
	} {
		for _, plain := range []bool{true, false} {
			t.Run(fmt.Sprint(name, "/", plain), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var panics atomic.Int32
					pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler),
						Hooks: executor.Hooks{
							Around:  test.around,
							OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { panics.Add(1) },
						},
					})
					body := func(ctx context.Context) error {
						if begun, ok := ctx.Value(contextKey{}).(chan struct{}); ok {
							close(begun)
							time.Sleep(time.Second)
						}
						return nil
					}
					if plain {
						mustGo(t, pool, body)
					} else {
						f := executor.Submit(t.Context(), pool, executor.Func(body).Call)
						_, err := f.Get(t.Context())
						expect(t, "State", f.State(), test.state)
						expect(t, "has an error", err != nil, test.state == executor.Failed)
						if test.err != nil {
							expectIs(t, "error", err, test.err)
						}
					}
					pool.Close()
					s := checkStats(t, pool)
					expect(t, "Runs", s.Runs, test.runs)
					expect(t, "panics", panics.Load(), test.panics)
					expect(t, "Succeeded", s.Succeeded == 1, test.state == executor.Succeeded)
				})
			})
		}
	}
}

// TaskInfo has when a task was submitted, when it was due and when it began: a hook measures how
// long tasks wait, how late they are and how long they take.
func TestHooksMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits, lates, takes []time.Duration
		hooks := executor.Hooks{
			AfterTask: func(_ context.Context, i executor.TaskInfo, _ error) {
				waits = append(waits, i.Begun.Sub(i.Submitted))
				takes = append(takes, time.Since(i.Begun))
				if !i.Due.IsZero() {
					lates = append(lates, i.Begun.Sub(i.Due))
				}
			},
			Dropped: func(context.Context, executor.TaskInfo, error) {},
		}
		second := func(context.Context) error { time.Sleep(time.Second); return nil }
		p := newPool(t, executor.Config{Workers: 1, Hooks: hooks})
		for range 3 {
			mustGo(t, p, second)
		}
		elapse(time.Minute)
		expect(t, "waits", fmt.Sprint(waits), "[0s 1s 2s]")
		expect(t, "takes", fmt.Sprint(takes), "[1s 1s 1s]")

		waits, lates, takes = nil, nil, nil
		s := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: hooks})
		executor.SubmitAfter(t.Context(), s, time.Second, executor.Func(second).Call)
		s.AtFixedRate(t.Context(), 1500*time.Millisecond, time.Hour, second, executor.Times(1))
		elapse(time.Minute)
		expect(t, "waits", fmt.Sprint(waits), "[1s 2s]")
		expect(t, "lateness", fmt.Sprint(lates), "[0s 500ms]")
		expect(t, "takes", fmt.Sprint(takes), "[1s 1s]")
	})
}
