package executor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

func TestMain(m *testing.M) { check.Main(m) }

// Short names for what most tests here use.
// The helpers are in package internal/testkit; those that fewer files use go by their full names.
var (
	newPool      = testkit.NewPool
	newScheduled = testkit.NewScheduled
	scheduled    = testkit.Scheduled
	mustGo       = testkit.MustGo
	checkStats   = testkit.CheckStats
	waitStats    = testkit.WaitStats
	elapse       = testkit.Elapse
	newBlocker   = testkit.NewBlocker
	newDiary     = testkit.NewDiary
	futureIs     = testkit.FutureIs
	nop          = testkit.Nop
	nopValue     = testkit.NopValue
	errTask      = testkit.ErrTask
	expectIs     = check.Is
)

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	check.Equal(t, what, got, want)
}

func value[T any](v T) func(context.Context) (T, error) { return testkit.Value(v) }

// tunable is a Pool or a ScheduledPool.
type tunable interface {
	Reconfigure(func(*executor.Settings)) error
}

// These change one setting each.

func setWorkers(p tunable, n int) error {
	return p.Reconfigure(func(s *executor.Settings) { s.Workers = n })
}
func setMax(p tunable, n int) error { return p.Reconfigure(func(s *executor.Settings) { s.Max = n }) }

func setKeepAlive(p tunable, d time.Duration) error {
	return p.Reconfigure(func(s *executor.Settings) { s.KeepAlive = d })
}

func setKeepNone(p tunable, allow bool) error {
	return p.Reconfigure(func(s *executor.Settings) { s.KeepNone = allow })
}

func setReject(p tunable, policy executor.RejectPolicy) error {
	return p.Reconfigure(func(s *executor.Settings) { s.Reject = policy })
}

func setDropDelayed(p tunable, drop bool) error {
	return p.Reconfigure(func(s *executor.Settings) { s.DropDelayed = drop })
}

func setKeepPeriodic(p tunable, keep bool) error {
	return p.Reconfigure(func(s *executor.Settings) { s.KeepPeriodic = keep })
}

// contextKey is the key of values in contexts.
type contextKey struct{}

// anyFuture is the Future of a task that is due later.
type anyFuture = executor.Future[struct{}]

// timedTask is what a Future and a Series have in common.
type timedTask interface {
	executor.Awaitable
	Abandon() bool
	Next() time.Time
}

// Call is for functions without a result, and reports a nil one (ExecutorsTest.testCallable1,
// testCallableNPE1, testSubmitRunnable).
func TestFuncCall(t *testing.T) {
	fails := executor.Func(func(context.Context) error { return errTask })
	f := executor.Submit(t.Context(), testkit.Inline{}, fails.Call)
	if v, err := f.Get(t.Context()); v != (struct{}{}) || err != errTask {
		t.Errorf("%v, %v", v, err)
	}
	f = executor.Submit(t.Context(), testkit.Inline{}, executor.Func(nil).Call)
	if err := f.Err(); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("of a nil Func: %v", err)
	}
}

// The zero values of the types that are made by a function work, or panic with a sentence that names
// that function; none waits for ever, whatever was called before.
func TestZeroValues(t *testing.T) {
	ctx := context.Background()
	var pool executor.Pool
	var sched executor.ScheduledPool
	var future executor.Future[int]
	var task executor.Task[int]
	var promise executor.Promise[int]
	var group executor.Group
	var keyed executor.Keyed[int]
	usable := newPool(t, executor.Config{Workers: 1})
	nothing := func() {}
	for name, call := range map[string]func(){
		"Pool.Go":               func() { pool.Go(ctx, nop) },
		"Pool.Execute":          func() { pool.Execute(ctx, executor.Func(nop)) },
		"Pool.Submit":           func() { testkit.SubmitTask(ctx, &pool, value(1)) },
		"Pool.Stats":            func() { pool.Stats() },
		"Pool.Name":             func() { _ = pool.Name() },
		"Pool.String":           func() { _ = pool.String() },
		"Pool.Close":            pool.Close,
		"Pool.Shutdown":         pool.Shutdown,
		"Pool.ShutdownNow":      func() { pool.ShutdownNow() },
		"Pool.AwaitTermination": func() { pool.AwaitTermination(ctx) },
		"Pool.Terminated":       func() { pool.Terminated() },
		"Pool.Settings":         func() { pool.Settings() },
		"Pool.Reconfigure":      func() { setWorkers(&pool, 1) },
		"Pool.Prestart":         func() { pool.Prestart(1) },
		"Pool.Remove":           func() { pool.Remove(executor.NewTask(value(1))) },
		"Pool.Figures":          func() { pool.Figures() },
		"Pool.Workers":          func() { pool.Workers() },
		"Pool.Share":            func() { pool.Share(executor.ShareConfig{Limit: 1}) },
		"NewKeyed":              func() { executor.NewKeyed[int](&pool, 1) },
		"Pool.Waiting": func() {
			for range pool.Waiting() {
			}
		},
		"ScheduledPool.Go":          func() { sched.Go(ctx, nop) },
		"ScheduledPool.Submit":      func() { testkit.SubmitTask(ctx, &sched, value(1)) },
		"ScheduledPool.Stats":       func() { sched.Stats() },
		"ScheduledPool.Close":       func() { sched.Close() },
		"ScheduledPool.Schedule":    func() { executor.SubmitAfter(ctx, &sched, 0, value(1)) },
		"ScheduledPool.At":          func() { executor.SubmitAt(ctx, &sched, time.Now(), value(1)) },
		"ScheduledPool.AtFixedRate": func() { sched.AtFixedRate(ctx, 0, time.Hour, nop) },
		"ScheduledPool.After":       func() { sched.GoAfter(ctx, 0, nop) },
		"ScheduledPool.Schedules":   func() { sched.Schedules() },
		"ScheduledPool.Settings":    func() { sched.Settings() },
		"ScheduledPool.Reconfigure": func() { setDropDelayed(&sched, true) },
		"Task.Run":                  func() { task.Run(ctx) },
		"Future.Get":                func() { future.Get(ctx) },
		"Future.Join":               func() { future.Join(ctx) },
		"Future.Done":               func() { future.Done() },
		"Future.Cancel":             func() { future.Cancel() },
		"Future.Abandon":            func() { future.Abandon() },
		"Task.Complete":             func() { task.Complete(1) },
		"Promise.Complete":          func() { promise.Complete(1) },
		"Promise.Fail":              func() { promise.Fail(errTask) },
		"Promise.Get":               func() { promise.Future().Get(ctx) },
		"Future.OnDone":             func() { future.OnDone(nothing) },
		"Task.Execute":              func() { usable.Execute(ctx, &task) },
		"Pool.Remove of a Future":   func() { usable.Remove(&future) },
		"Completed": func() {
			executor.Completed(context.Background(), &future)(func(*executor.Future[int]) bool { return true })
		},
		"Submit":               func() { executor.Submit(ctx, &pool, value(1)) },
		"Submit with Retry":    func() { executor.Submit(ctx, &pool, value(1), executor.Retry(2, seconds)) },
		"Submit to a nil Pool": func() { executor.Submit(ctx, (*executor.Pool)(nil), value(1), executor.Retry(2, seconds)) },
		"NewGroup":             func() { executor.NewGroup(ctx, &pool) },
		"Keyed.Go":             func() { keyed.Go(ctx, 1, nop) },
		"Keyed.For":            func() { executor.Submit(ctx, keyed.For(1), value(1)) },
		"Keyed.Pool":           func() { keyed.Pool() },

		"Group.Go":   func() { group.Go(nop) },
		"Group.Wait": func() { group.Wait() },
	} {
		for range 2 { // what the first call leaves must not block the second
			text := func() (text string) {
				defer func() { text = fmt.Sprint(recover()) }()
				call()
				return ""
			}()
			if !strings.HasPrefix(text, "executor: ") || !strings.Contains(text, "not usable") ||
				strings.Contains(text, "\n") {
				t.Errorf("%s: panics with %q", name, text)
			}
		}
	}
	expect(t, "State", future.State(), executor.Pending)
	expect(t, "Err", future.Err(), executor.ErrNotDone)
	expect(t, "Name", future.Name(), "")
	expect(t, "Dropped", executor.Dropped{}.Run(ctx), nil)
	expect(t, "Execute of a Dropped", usable.Execute(ctx, executor.Dropped{}), nil)
	if _, err := executor.New(executor.Config{}); err != nil {
		t.Error(err)
	}
}

// What ShutdownNow returns, and what a RejectFunc gets of a task of Go, keep the task's name, its
// timeout and its priority, in another pool and by Run.
func TestOptionsOfTaskGivenOn(t *testing.T) {
	for name, give := range map[string]func(*testing.T, func(context.Context) error) executor.Runnable{
		"Dropped of Go": func(t *testing.T, body func(context.Context) error) executor.Runnable {
			pool := newPool(t, executor.Config{Workers: 1})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			mustGo(t, pool, body, executor.Named("x"), executor.Timeout(time.Minute))
			defer block.Release()
			return pool.ShutdownNow()[0]
		},
		"Dropped of Submit": func(t *testing.T, body func(context.Context) error) executor.Runnable {
			pool := newPool(t, executor.Config{Workers: 1})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			executor.Submit(t.Context(), pool, executor.Func(body).Call, executor.Named("x"),
				executor.Timeout(time.Minute))
			defer block.Release()
			return pool.ShutdownNow()[0]
		},
		"RejectFunc": func(t *testing.T, body func(context.Context) error) (got executor.Runnable) {
			pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: executor.RejectFunc(
				func(_ context.Context, task executor.Runnable, _ *executor.Pool) error { got = task; return nil })})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			mustGo(t, pool, body, executor.Named("x"), executor.Timeout(time.Minute))
			block.Release()
			return got
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var took time.Duration
				var cause error
				task := give(t, func(ctx context.Context) error {
					start := time.Now()
					<-ctx.Done()
					took, cause = time.Since(start), context.Cause(ctx)
					return nil
				})
				check := func() {
					t.Helper()
					expect(t, "took", took, time.Minute)
					expectIs(t, "cause", cause, executor.ErrTimeout)
					took, cause = 0, nil
				}
				expect(t, "Run", task.Run(t.Context()), nil)
				check()
				var info executor.TaskInfo
				hooks := executor.Hooks{BeforeTask: func(ctx context.Context, i executor.TaskInfo) context.Context {
					info = i
					return ctx
				}}
				other := newPool(t, executor.Config{Workers: 1, Hooks: hooks})
				expect(t, "Execute", other.Execute(t.Context(), task), nil)
				other.Close()
				check()
				expect(t, "Name", info.Name, "x")
				timer := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: hooks})
				info.Name = ""
				if _, again := task.(executor.Dropped); again {
					expect(t, "Execute", timer.Execute(t.Context(), task), nil)
					timer.Close()
					check()
					expect(t, "Name", info.Name, "x")
				}
			})
		})
	}
}

func textIs(t *testing.T, v any, want string) {
	t.Helper()
	if got := fmt.Sprint(v); got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
}

// String of a future has its name, its state, and the reason of a failure or cancellation.
func TestFutureString(t *testing.T) {
	errLost := errors.New("executor: lost\nand more")
	promise := func(end func(f *executor.Promise[int])) *executor.Promise[int] {
		f := executor.NewPromise[int]()
		end(f)
		return f
	}
	returns := func(err error) *executor.Task[int] {
		f := executor.NewTask(func(context.Context) (int, error) { return 0, err }, executor.Named("a \"b\""))
		f.Run(t.Context())
		return f
	}
	textIs(t, executor.NewPromise[int](), "future: pending")
	textIs(t, promise(func(f *executor.Promise[int]) { f.Complete(1) }), "future: succeeded")
	textIs(t, promise(func(f *executor.Promise[int]) { f.Fail(io.EOF) }), "future: failed: EOF")
	textIs(t, promise(func(f *executor.Promise[int]) { f.Cancel() }), "future: canceled")
	textIs(t, returns(nil), `future "a \"b\"": succeeded`)
	textIs(t, returns(errLost), `future "a \"b\"": failed: lost`)
	textIs(t, returns(&executor.CanceledError{Cause: io.EOF}), `future "a \"b\"": failed: task canceled: EOF`)

	f := executor.NewTask(func(context.Context) (int, error) { panic("no\nway") })
	f.Run(t.Context())
	textIs(t, f, "future: failed: task panicked: no ...")

	p := executor.Single()
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	textIs(t, testkit.SubmitTask(ctx, p, func(context.Context) (int, error) { return 1, nil }), "future: canceled: context canceled")
}

// String of a running future can be called from anywhere, including its task function.
func TestFutureStringWhileRunning(t *testing.T) {
	p := executor.Single()
	defer p.Close()
	started, release := make(chan struct{}), make(chan struct{})
	var f *executor.Task[string]
	f = executor.NewTask(func(context.Context) (string, error) {
		s := f.String()
		close(started)
		<-release
		return s, nil
	})
	if err := p.Execute(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	<-started
	textIs(t, f, "future: running")
	close(release)
	if got, err := f.Get(t.Context()); got != "future: running" {
		t.Errorf("the task function returned %q, %v", got, err)
	}
}

// String of a future that waits for its time has that time; while it runs and when it is done it
// has none.
func TestScheduledTaskString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := executor.Scheduled(2)
		nothing := func(context.Context) error { return nil }
		at := executor.SubmitAt(t.Context(), p, time.Date(2000, 2, 3, 4, 5, 6, 7_800_000, time.UTC),
			executor.Func(nothing).Call)
		local := time.Date(2000, 2, 3, 4, 5, 6, 7_800_000, time.UTC).Local().Format("2006-01-02T15:04:05.000Z07:00")
		textIs(t, at, "future: pending, due "+local)
		every, err := p.AtFixedRate(t.Context(), time.Hour, time.Hour, nothing, executor.Named("e"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Hour + time.Minute)
		due := time.Now().Add(59 * time.Minute).Format("2006-01-02T15:04:05.000Z07:00")
		textIs(t, every, `series "e": pending, due `+due)
		slow := executor.SubmitAfter(t.Context(), p, 0,
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, nil })
		synctest.Wait()
		textIs(t, slow, "future: running")
		p.ShutdownNow()
		p.AwaitTermination(t.Context())
		textIs(t, every, `series "e": canceled: shut down`)
		late := executor.SubmitAfter(t.Context(), p, time.Hour, executor.Func(nothing).Call)
		if !strings.HasPrefix(late.String(), "future: failed: task rejected") {
			t.Errorf("a rejected future is %q", late)
		}
	})
}

// String of a pool has its name, its stage, and the numbers of workers and tasks.
func TestPoolString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		textIs(t, executor.Scheduled(1), "pool: running, 0 of 0 workers active, 0 queued, 0 ended")
		p, err := executor.New(executor.Config{Name: "mail", Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if err := p.Go(t.Context(),
				func(context.Context) error { time.Sleep(time.Second); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		textIs(t, p, `pool "mail": running, 2 of 2 workers active, 2 queued, 0 ended`)
		p.Shutdown()
		time.Sleep(1500 * time.Millisecond)
		textIs(t, p, `pool "mail": shutdown, 2 of 2 workers active, 0 queued, 2 ended`)
		p.Close()
		textIs(t, p, `pool "mail": terminated, 0 of 0 workers active, 0 queued, 4 ended`)
	})
}

// A log shows the text of a pool, not its fields.
func TestPoolStringInLog(t *testing.T) {
	p := executor.Single()
	defer p.Close()
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("m", "pool", p, "future", executor.NewPromise[int]())
	for _, want := range []string{`pool="pool: running, `, `future="future: pending"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("log is %s, want %s", b.String(), want)
		}
	}
}

// Constants are written and read as text by their names, as in JSON.
func TestConstantText(t *testing.T) {
	type all struct {
		State executor.State
		Stage executor.Stage
	}
	before := all{executor.Canceled, executor.StageTidying}
	data, err := json.Marshal(before)
	if want := `{"State":"canceled","Stage":"tidying"}`; err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
	var after all
	if err := json.Unmarshal(data, &after); err != nil || after != before {
		t.Errorf("%v, %v; want %v", after, err, before)
	}
	err = after.State.UnmarshalText([]byte("done"))
	if want := `executor: "done" is not a State; it must be one of pending, running, succeeded, failed, canceled`; err == nil ||
		err.Error() != want || !errors.Is(err, executor.ErrInvalid) || after != before {
		t.Errorf("%v, state %v; want %s", err, after.State, want)
	}
}

// The text of a panic is one line; the verb %+v and the log have its stack.
func TestPanicErrorText(t *testing.T) {
	err := executor.NewTask(func(context.Context) (int, error) { panic("no\ndisk") }).Run(t.Context())
	if got, want := err.Error(), "executor: task panicked: no ..."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := fmt.Sprintf("%v|%s|%q", err, err, err); strings.Contains(got, "goroutine") {
		t.Errorf("the stack is in %s", got)
	}
	if got := fmt.Sprintf("%+v", err); !strings.Contains(got, "no\ndisk") || !strings.Contains(got, "executor_test.go") {
		t.Errorf("no stack in %s", got)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Error("x", "error", err)
	if got := log.String(); !strings.Contains(got, `"error":{"panic":"no\ndisk","stack":"goroutine`) {
		t.Errorf("%s", got)
	}
}

var sentinels = map[string]error{
	"ErrRejected": executor.ErrRejected, "ErrShutdown": executor.ErrShutdown, "ErrSaturated": executor.ErrSaturated,
	"ErrCanceled": executor.ErrCanceled, "ErrTimeout": executor.ErrTimeout, "ErrReturned": executor.ErrReturned,
	"ErrNotDone": executor.ErrNotDone,
	"ErrInvalid": executor.ErrInvalid, "ErrGoexit": executor.ErrGoexit,
	"Stop": executor.ErrStop,
}

// matches returns the names of the sentinels that err matches.
func matches(err error) string {
	var all []string
	for _, name := range []string{
		"ErrRejected", "ErrShutdown", "ErrSaturated", "ErrCanceled", "ErrTimeout", "ErrReturned", "ErrNotDone",
		"ErrInvalid", "ErrGoexit",
	} {
		if errors.Is(err, sentinels[name]) {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

// The errors of the package do not match each other; their texts begin
// with the package's name.
func TestErrorSentinels(t *testing.T) {
	for name, err := range sentinels {
		if !strings.HasPrefix(err.Error(), "executor: ") {
			t.Errorf("%s: %q", name, err)
		}
		for other, target := range sentinels {
			if errors.Is(err, target) != (name == other) {
				t.Errorf("%s and %s", name, other)
			}
		}
	}
}

// An error that wraps another matches that, its own sentinel, and nothing else; its text names the
// package once.
func TestErrorTypes(t *testing.T) {
	for _, c := range []struct {
		err   error
		match string
		text  string
	}{
		{&executor.RejectedError{Reason: executor.ErrSaturated}, "ErrRejected ErrSaturated", "executor: task rejected: saturated"},
		{&executor.RejectedError{Executor: "mail", Reason: executor.ErrShutdown}, "ErrRejected ErrShutdown", `executor: task rejected by "mail": shut down`},
		{&executor.RejectedError{Reason: io.EOF}, "ErrRejected", "executor: task rejected: EOF"},
		{&executor.CanceledError{Cause: executor.ErrCanceled}, "ErrCanceled", "executor: task canceled"},
		{&executor.CanceledError{Cause: executor.ErrShutdown}, "ErrShutdown ErrCanceled", "executor: task canceled: shut down"},
		{&executor.CanceledError{Cause: context.Canceled}, "ErrCanceled", "executor: task canceled: context canceled"},
		{&executor.PanicError{Value: executor.ErrShutdown, Stack: []byte("stack")}, "ErrShutdown", "executor: task panicked: executor: shut down"},
		{&executor.PanicError{Value: 3, Stack: []byte("stack")}, "", "executor: task panicked: 3"},
	} {
		if got := matches(c.err); got != c.match {
			t.Errorf("%q matches %s, want %s", c.err, got, c.match)
		}
		if got := matches(fmt.Errorf("wrapped: %w", c.err)); got != c.match {
			t.Errorf("%q, wrapped, matches %s, want %s", c.err, got, c.match)
		}
		if c.err.Error() != c.text {
			t.Errorf("text: %q, want %q", c.err.Error(), c.text)
		}
	}
}

// Error values that a user made without a reason have a text, and match their sentinel.
func TestErrorTypesWithoutReason(t *testing.T) {
	for _, err := range []error{&executor.RejectedError{}, &executor.CanceledError{}, &executor.PanicError{}} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%T: Error panicked: %v", err, r)
				}
			}()
			if !strings.HasPrefix(err.Error(), "executor: task ") || errors.Is(err, io.EOF) {
				t.Errorf("%T: %q", err, err)
			}
		}()
	}
}

// The outcome of each path in a pool has the types and sentinels that the documentation names.
func TestErrorOfEachPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Name: "mail", Workers: 1, Queue: executor.Bounded(2)})
		running := executor.Submit(t.Context(), p, testkit.UntilDone)
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		byContext := executor.Submit(ctx, p, value(1))
		cancel(errTask)
		synctest.Wait()
		byHand := executor.Submit(t.Context(), p, value(1))
		byHand.Cancel()
		byShutdown := executor.Submit(t.Context(), p, value(1))
		executor.Submit(t.Context(), p, value(1))
		saturated := executor.Submit(t.Context(), p, value(1))
		p.ShutdownNow()
		tooLate := executor.Submit(t.Context(), p, value(1))
		running.Join(t.Context())

		for _, c := range []struct {
			name  string
			f     *executor.Future[int]
			state executor.State
			match string
		}{
			{"running at ShutdownNow", running, executor.Canceled, "ErrShutdown ErrCanceled"},
			{"its context ended", byContext, executor.Canceled, "ErrCanceled"},
			{"canceled", byHand, executor.Canceled, "ErrCanceled"},
			{"waiting at ShutdownNow", byShutdown, executor.Canceled, "ErrShutdown ErrCanceled"},
			{"no room", saturated, executor.Failed, "ErrRejected ErrSaturated"},
			{"after the shutdown", tooLate, executor.Failed, "ErrRejected ErrShutdown"},
		} {
			if got := matches(c.f.Err()); c.f.State() != c.state || got != c.match {
				t.Errorf("%s: %v, matches %s (%v)", c.name, c.f.State(), got, c.f.Err())
			}
		}
		if err := byContext.Err(); !errors.Is(err, errTask) || !errors.Is(err, context.Canceled) {
			t.Errorf("its context ended: %v", err)
		}
		var rejected *executor.RejectedError
		if !errors.As(saturated.Err(), &rejected) || rejected.Executor != "mail" || rejected.Reason != executor.ErrSaturated {
			t.Errorf("no room: %#v", rejected)
		}
		var canceled *executor.CanceledError
		if !errors.As(byShutdown.Err(), &canceled) || canceled.Cause != executor.ErrShutdown {
			t.Errorf("waiting: %#v", canceled)
		}
	})
}

// The text of an error that a context causes has the context's cause.
func TestErrorTextHasCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTask)
	_, err := executor.NewPromise[int]().Get(ctx)
	if got, want := err.Error(), "context canceled: the task's error"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Errors of users whose methods panic, and errors that cannot be compared.

// none returns a nil pointer as an error, whose methods panic.
func none(context.Context) error {
	var err *fs.PathError
	return err
}

func isNone(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path == nil
}

// An error whose methods panic is an error as any other: it is logged or passed to AfterTask, and
// the worker continues.
func TestErrorNilPointerOfTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		mustGo(t, pool, none)
		ctx, cancel := context.WithCancel(t.Context())
		pool.Go(ctx, func(ctx context.Context) error {
			cancel() // so that its error may be no news
			return none(ctx)
		})
		waitStats(t, pool)
		if n := strings.Count(out.String(), "task failed"); n != 2 {
			t.Errorf("logged %d of 2 failures: %s", n, out.String())
		}
		if s := pool.Stats(); s.Failed != 2 || s.Workers != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// A task function that panics with a nil pointer as an error fails, and errors.Is of the outcome
// does not panic.
func TestErrorNilPointerOfPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		f := executor.Submit(t.Context(), pool,
			executor.Func(func(ctx context.Context) error { panic(none(ctx)) }).Call)
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if errors.Is(err, fs.ErrExist) || !errors.As(err, &perr) {
			t.Errorf("it failed with %v", err)
		}
	})
}

// In periodic work such an error is recorded, and the schedule continues.
func TestErrorNilPointerOfSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []error
		s := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { reported = append(reported, err) },
		}})
		f, err := s.AtFixedRate(t.Context(), 0, time.Second, none)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		if f.Runs() != 3 || f.State() != executor.Pending || !isNone(f.LastError()) {
			t.Errorf("%d runs, %v, last error of type %T", f.Runs(), f.State(), f.LastError())
		}
		if len(reported) != 3 || !isNone(reported[0]) {
			t.Errorf("AfterTask was called with an error %d times", len(reported))
		}
	})
}

// A nil pointer that is the cause of a context can be printed and unwrapped as part of the outcome.
func TestErrorNilPointerAsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(none(ctx))
		inspect := func(err error) {
			t.Helper()
			if errors.Is(err, fs.ErrExist) || !errors.Is(err, executor.ErrCanceled) &&
				!errors.Is(err, context.Canceled) {
				t.Errorf("%T matches what it should not", err)
			}
			var path *fs.PathError
			errors.As(err, &path)
			if !strings.Contains(err.Error(), "<nil>") {
				t.Errorf("it says %q", err)
			}
		}
		inspect(executor.Submit(ctx, pool, value(1)).Err())
		inspect(pool.Go(ctx, func(context.Context) error { return nil }))
	})
}

// faults is an error that cannot be compared: == panics.
type faults []string

func (f faults) Error() string { return strings.Join(f, ", ") }

// listing is a context that has ended with faults.
type listing struct{ context.Context }

func (listing) Done() <-chan struct{} { c := make(chan struct{}); close(c); return c }

func (listing) Err() error { return faults{"a", "b"} }

// Get returns the error of its context even if that cannot be compared.
func TestErrorIncomparableOfContext(t *testing.T) {
	_, err := executor.NewPromise[int]().Get(listing{context.Background()})
	var f faults
	if !errors.As(err, &f) || err.Error() != "a, b" {
		t.Errorf("got %v", err)
	}
}

// A task function that returns the cause of its context has not failed, even if the cause cannot be
// compared.
func TestErrorIncomparableCauseIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		for _, cause := range []error{errTask, faults{"a", "b"}} {
			ctx, cancel := context.WithCancelCause(context.Background())
			pool.Go(ctx, func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
			synctest.Wait()
			cancel(cause)
			waitStats(t, pool)
			expect(t, "logged", out.String(), "")
		}
	})
}

// A task function that returns another error of the same type as the cause has failed.
func TestErrorIncomparableOtherIsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		ctx, cancel := context.WithCancelCause(context.Background())
		pool.Go(ctx, func(ctx context.Context) error { <-ctx.Done(); return faults{"the disk is full"} })
		synctest.Wait()
		cancel(faults{"a", "b"})
		waitStats(t, pool)
		if !strings.Contains(out.String(), "the disk is full") {
			t.Errorf("logged %q", out.String())
		}
	})
}

// submissions are the ways to give options to a task. Each returns the error of the submission.
var submissions = map[string]struct {
	kind   int // 0 runs at once, 1 when due, 2 again and again
	submit func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error
}{
	"Submit": {0, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.Submit(ctx, s, value(1), opts...))
	}},
	"NewTask": {0, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.NewTask(value(1), opts...))
	}},
	"Go": {0, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return s.Go(ctx, func(context.Context) error { return nil }, opts...)
	}},
	"Schedule": {1, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.SubmitAfter(ctx, s, time.Hour, value(1), opts...))
	}},
	"After": {1, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.GoAfter(ctx, time.Hour, nop, opts...)
		return err
	}},
	"At": {1, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.SubmitAt(ctx, s, time.Now().Add(time.Hour), value(1), opts...))
	}},
	"AtFixedRate": {2, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.AtFixedRate(ctx, time.Hour, time.Hour, func(context.Context) error { return nil }, opts...)
		return err
	}},
	"WithFixedDelay": {2, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.WithFixedDelay(ctx, time.Hour, time.Hour, func(context.Context) error { return nil }, opts...)
		return err
	}},
	"On": {2, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.On(ctx, eachHour{}, func(context.Context) error { return nil }, opts...)
		return err
	}},
}

// eachHour is a Trigger.
type eachHour struct{}

func (eachHour) Next(t time.Time) time.Time { return t.Add(time.Hour) }

// outcomeOf returns the error of a task that could not be submitted.
func outcomeOf(f executor.Awaitable) error {
	if f.State() != executor.Failed {
		return nil
	}
	return f.Err()
}

// Each option applies to the kinds of tasks that its documentation names. For another kind, or with
// a value out of range, it is an error that names the option.
func TestOptionAppliesTo(t *testing.T) {
	far := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	const never = 3
	options := []struct {
		name  string
		value executor.Option
		kind  int    // the least kind of task that takes it
		not   string // the submission of that kind that does not take it, either
	}{
		{"Named", executor.Named("x"), 0, ""},
		{"Named", executor.Named(""), 0, ""},
		{"Priority", executor.Priority(math.MaxInt), 0, ""},
		{"Priority", executor.Priority(math.MinInt), 0, ""},
		{"Timeout", executor.Timeout(1), 0, ""},
		{"Timeout", executor.Timeout(math.MaxInt64), 0, ""},
		{"Timeout", executor.Timeout(0), never, ""},
		{"Timeout", executor.Timeout(-1), never, ""},
		{"Timeout", executor.Timeout(math.MinInt64), never, ""},
		{"Jitter", executor.Jitter(1), 1, ""},
		{"Jitter", executor.Jitter(math.MaxInt64), 1, ""},
		{"Jitter", executor.Jitter(0), never, ""},
		{"Jitter", executor.Jitter(-1), never, ""},
		{"Times", executor.Times(1), 2, ""},
		{"Times", executor.Times(math.MaxInt), 2, ""},
		{"Times", executor.Times(0), never, ""},
		{"Times", executor.Times(-1), never, ""},
		{"Until", executor.Until(far), 2, ""},
		{"Until", executor.Until(time.Time{}), never, ""},
		{"Until", executor.Until(time.Unix(0, 0)), never, ""}, // before the first run
		{"CatchUp", executor.CatchUp(math.MaxInt), 2, "WithFixedDelay"},
		{"CatchUp", executor.CatchUp(0), 2, "WithFixedDelay"},
		{"CatchUp", executor.CatchUp(-1), never, ""},
		{"CatchUp", executor.CatchUp(math.MinInt), never, ""},
		{"StartWithin", executor.StartWithin(1), 2, ""},
		{"StartWithin", executor.StartWithin(0), never, ""},
		{"StartWithin", executor.StartWithin(-1), never, ""},
		{"StartPaused", executor.StartPaused(), 2, ""},
		{"ContinueAfterPanic", executor.ContinueAfterPanic(), 2, ""},
		{"nil Option", nil, never, ""},
	}
	synctest.Test(t, func(t *testing.T) {
		s := testkit.Closing(t, executor.Scheduled(1))
		accepted := int64(0)
		for name, sub := range submissions {
			for _, o := range options {
				err := sub.submit(t.Context(), s, o.value)
				if sub.kind >= o.kind && name != o.not {
					if name != "NewTask" {
						accepted++
					}
					if err != nil {
						t.Errorf("%s with %s: %v", name, o.name, err)
					}
					continue
				}
				if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), o.name) ||
					!strings.HasPrefix(err.Error(), "executor: ") {
					t.Errorf("%s with %s: %v", name, o.name, err)
				}
			}
		}
		if st := s.Stats(); st.Submitted != accepted {
			t.Errorf("%d submitted, want %d", st.Submitted, accepted)
		}
	})
}

// The error of an option that does not apply names the calls that it is for.
func TestOptionErrorNamesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newScheduled(t, executor.ScheduledConfig{Workers: 1})
		for _, c := range []struct {
			by   string
			opt  executor.Option
			want string
		}{
			{"Submit", executor.Times(2), "Times does not apply to a task that runs once and at once; it is for AtFixedRate, WithFixedDelay and On"},
			{"Schedule", executor.Times(2), "Times does not apply to a task that runs once; it is for AtFixedRate, WithFixedDelay and On"},
			{"Go", executor.Jitter(1), "Jitter does not apply to a task that runs once and at once; it is for SubmitAfter, GoAfter, SubmitAt, GoAt, AtFixedRate, WithFixedDelay and On"},
			{"AtFixedRate", executor.Retry(2, executor.Backoff(1, 1)), "Retry does not apply to periodic work, which runs again at its next time; it is for Submit,"},
			{"AtFixedRate", executor.Until(time.Unix(0, 0).UTC()), "Until(1970-01-01 00:00:00 +0000 UTC): it must not be before the first run, at "},
		} {
			if err := submissions[c.by].submit(t.Context(), pool, c.opt); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.by, err, c.want)
			}
		}
	})
}

// Of several invalid options the first is the error.
func TestOptionFirstMistakeCounts(t *testing.T) {
	f := executor.NewTask(value(1), executor.Named("x"), executor.Timeout(-1), executor.Times(0))
	if err := f.Err(); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "Timeout(-1ns)") {
		t.Errorf("%v", err)
	}
}

// Of two options of the same name the last counts.
func TestOptionLastCounts(t *testing.T) {
	f := executor.NewTask(value(1), executor.Named("a"), executor.Named("b"))
	if f.Name() != "b" {
		t.Errorf("Name: %q", f.Name())
	}
}

// The name of a task is that of its future. The default is empty.
func TestOptionNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.Closing(t, executor.Scheduled(1))
		named := executor.Named("n")
		if n := executor.Submit(t.Context(), s, value(1), named).Name(); n != "n" {
			t.Errorf("Submit: %q", n)
		}
		if n := executor.SubmitAfter(t.Context(), s, time.Hour, value(1), named).Name(); n != "n" {
			t.Errorf("Schedule: %q", n)
		}
		if n := executor.NewPromise[int]().Name(); n != "" {
			t.Errorf("NewPromise: %q", n)
		}
	})
}

// must returns v, which comes with no error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
