package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Without OnPanic a panic is logged, with the pool, the task, the value and the
// stack; an error that nobody else would see is logged as a warning.
func TestPoolLogsWhatNobodySees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		pool := newPool(t, executor.Config{Name: "p", Core: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		logged := func(want ...string) {
			t.Helper()
			waitStats(t, pool)
			got := out.String()
			if slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(got, s) }) || got != "" && len(want) == 0 {
				t.Errorf("logged %q, want %q in it", got, want)
			}
			out.Reset()
		}
		mustGo(t, pool, func(context.Context) error { panic("bang") }, executor.Named("job"))
		logged("level=ERROR", "executor=p", "task=job", "panic=bang", "TestPoolLogsWhatNobodySees")
		mustGo(t, pool, func(context.Context) error { return errors.New("mine") })
		logged("level=WARN", "executor=p", "error=mine")
		mustGo(t, pool, func(context.Context) error { runtime.Goexit(); return nil })
		logged("level=WARN", "Goexit")
		executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errors.New("mine") })
		logged()
	})
}

// An error that speaks of an end of some other context than the body's own is
// logged like any other, whatever the way to submit the work; so is that of a body
// that has run out of time.
func TestLogsCancellationsOfOthers(t *testing.T) {
	foreign := func(context.Context) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return fmt.Errorf("dial: %w", ctx.Err())
	}
	timedOut := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	ctx := context.Background()
	plain := func(t *testing.T, l *slog.Logger) *executor.Pool {
		return newPool(t, executor.Config{Core: 1, Logger: l})
	}
	scheduled := func(t *testing.T, l *slog.Logger) *executor.ScheduledPool {
		return newScheduled(t, executor.ScheduledConfig{Core: 1, Logger: l})
	}
	for name, run := range map[string]func(*testing.T, *slog.Logger){
		"Go":           func(t *testing.T, l *slog.Logger) { plain(t, l).Go(ctx, foreign) },
		"Execute":      func(t *testing.T, l *slog.Logger) { plain(t, l).Execute(ctx, executor.Func(foreign)) },
		"with a name":  func(t *testing.T, l *slog.Logger) { plain(t, l).Go(ctx, foreign, executor.Named("x")) },
		"timeout":      func(t *testing.T, l *slog.Logger) { plain(t, l).Go(ctx, timedOut, executor.Timeout(time.Second)) },
		"scheduled Go": func(t *testing.T, l *slog.Logger) { scheduled(t, l).Go(ctx, foreign) },
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

// A body that returns because somebody has ended its context is not worth a line:
// whoever ended it knows.
func TestLogsNoInterruption(t *testing.T) {
	for name, body := range map[string]func(context.Context) error{
		"error": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"cause": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	} {
		for who, interrupt := range map[string]func(p *executor.ScheduledPool, f executor.Awaitable, end context.CancelCauseFunc){
			"ShutdownNow": func(p *executor.ScheduledPool, _ executor.Awaitable, _ context.CancelCauseFunc) { p.ShutdownNow() },
			"Cancel":      func(_ *executor.ScheduledPool, f executor.Awaitable, _ context.CancelCauseFunc) { f.Cancel() },
			"the submitter": func(_ *executor.ScheduledPool, _ executor.Awaitable, end context.CancelCauseFunc) {
				end(errors.New("why"))
			},
		} {
			t.Run(who+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var out bytes.Buffer
					p := newScheduled(t, executor.ScheduledConfig{Core: 2, Logger: slog.New(slog.NewTextHandler(&out, nil))})
					ctx, end := context.WithCancelCause(t.Context())
					f, err := p.AtFixedRate(ctx, 0, time.Hour, body)
					if err != nil {
						t.Fatal(err)
					}
					if who != "Cancel" { // which has nothing to cancel this one by
						p.Go(ctx, body)
					}
					elapse(time.Second)
					interrupt(p, f, end)
					waitStats(t, p)
					if out.Len() > 0 {
						t.Errorf("logged %s", out.String())
					}
				})
			})
		}
	}
}

// An error that AfterTask has heard of is not logged, except of a body that its
// submitter ran, for which AfterTask is not called.
func TestLogsNoErrorThatAfterTaskHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		heard := 0
		p := newPool(t, executor.Config{Max: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns,
			Logger: slog.New(slog.NewTextHandler(&out, nil)),
			Hooks:  executor.Hooks{AfterTask: func(context.Context, executor.TaskInfo, error) { heard++ }},
		})
		fail := func(context.Context) error { return errTask }
		mustGo(t, p, fail)
		waitStats(t, p)
		expect(t, "told by a worker", heard, 1)
		expect(t, "logged", out.String(), "")
		block := newBlocker(t)
		block.Fill(t, p, 1)
		mustGo(t, p, fail)
		expect(t, "told by the submitter", heard, 1)
		if !strings.Contains(out.String(), errTask.Error()) {
			t.Errorf("logged %q", out.String())
		}
		block.Release()
	})
}

// A hook that ends the goroutine is told of, once, also if there is an AfterTask to
// tell of errors of bodies.
func TestLogsHooksThatExit(t *testing.T) {
	exit := func() { runtime.Goexit() }
	for name, hooks := range map[string]executor.Hooks{
		"BeforeTask": {
			BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context { exit(); return ctx },
			AfterTask:  func(context.Context, executor.TaskInfo, error) {},
		},
		"AfterTask": {AfterTask: func(context.Context, executor.TaskInfo, error) { exit() }},
		"OnPanic": {
			BeforeTask: func(context.Context, executor.TaskInfo) context.Context { panic("Goexit") },
			OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) { exit() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := newPool(t, executor.Config{Core: 1, Hooks: hooks, Logger: slog.New(slog.NewTextHandler(&out, nil))})
				mustGo(t, p, nop)
				waitStats(t, p)
				if !strings.Contains(out.String(), "Goexit") || strings.Count(out.String(), "\n") != 1 {
					t.Errorf("logged %q", out.String())
				}
			})
		})
	}
}
