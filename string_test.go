package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

func textIs(t *testing.T, v any, want string) {
	t.Helper()
	if got := fmt.Sprint(v); got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
}

// String of a future has its name, its state, and the reason of a failure or cancellation.
func TestFutureString(t *testing.T) {
	errLost := errors.New("executor: lost\nand more")
	promise := func(end func(f *executor.Future[int])) *executor.Future[int] {
		f := executor.NewPromise[int]()
		end(f)
		return f
	}
	returns := func(err error) *executor.Future[int] {
		f := executor.NewFuture(func(context.Context) (int, error) { return 0, err }, executor.Named("a \"b\""))
		f.Run(t.Context())
		return f
	}
	textIs(t, executor.NewPromise[int](), "future: pending")
	textIs(t, promise(func(f *executor.Future[int]) { f.Complete(1) }), "future: succeeded")
	textIs(t, promise(func(f *executor.Future[int]) { f.Fail(io.EOF) }), "future: failed: EOF")
	textIs(t, promise(func(f *executor.Future[int]) { f.Cancel() }), "future: canceled")
	textIs(t, returns(nil), `future "a \"b\"": succeeded`)
	textIs(t, returns(errLost), `future "a \"b\"": failed: lost`)
	textIs(t, returns(&executor.CanceledError{Cause: io.EOF}), `future "a \"b\"": failed: task canceled: EOF`)

	f := executor.NewFuture(func(context.Context) (int, error) { panic("no\nway") })
	f.Run(t.Context())
	textIs(t, f, "future: failed: task panicked: no ...")

	p := executor.Single()
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	textIs(t, executor.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }), "future: canceled: context canceled")
}

// String of a running future can be called from anywhere, including its task function.
func TestFutureStringWhileRunning(t *testing.T) {
	p := executor.Single()
	defer p.Close()
	started, release := make(chan struct{}), make(chan struct{})
	var f *executor.Future[string]
	f = executor.NewFuture(func(context.Context) (string, error) {
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
func TestScheduledFutureString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := executor.Scheduled(2)
		nothing := func(context.Context) error { return nil }
		at := executor.At(t.Context(), p, time.Date(2000, 2, 3, 4, 5, 6, 7_800_000, time.UTC),
			executor.Callable(nothing))
		local := time.Date(2000, 2, 3, 4, 5, 6, 7_800_000, time.UTC).Local().Format("2006-01-02T15:04:05.000Z07:00")
		textIs(t, at, "future: pending, due "+local)
		every, err := p.AtFixedRate(t.Context(), time.Hour, time.Hour, nothing, executor.Named("e"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Hour + time.Minute)
		due := time.Now().Add(59 * time.Minute).Format("2006-01-02T15:04:05.000Z07:00")
		textIs(t, every, `series "e": pending, due `+due)
		slow := executor.Schedule(t.Context(), p, 0,
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, nil })
		synctest.Wait()
		textIs(t, slow, "future: running")
		p.ShutdownNow()
		p.AwaitTermination(t.Context())
		textIs(t, every, `series "e": canceled: shut down`)
		late := executor.Schedule(t.Context(), p, time.Hour, executor.Callable(nothing))
		if !strings.HasPrefix(late.String(), "future: failed: task rejected") {
			t.Errorf("a rejected future is %q", late)
		}
	})
}

// String of a pool has its name, its stage, and the numbers of workers and tasks.
func TestPoolString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		textIs(t, executor.Scheduled(1), "pool: running, 0 of 0 workers active, 0 queued, 0 ended")
		p, err := executor.New(executor.Config{Name: "mail", Core: 2})
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
		After executor.AfterShutdown
	}
	before := all{executor.Canceled, executor.StageTidying, executor.DropAtShutdown}
	data, err := json.Marshal(before)
	if want := `{"State":"canceled","Stage":"tidying","After":"drop"}`; err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
	var after all
	if err := json.Unmarshal(data, &after); err != nil || after != before {
		t.Errorf("%v, %v; want %v", after, err, before)
	}
	err = after.State.UnmarshalText([]byte("done"))
	if want := `executor: "done" is no State; it must be one of pending, running, succeeded, failed, canceled`; err == nil ||
		err.Error() != want || !errors.Is(err, executor.ErrInvalid) || after != before {
		t.Errorf("%v, state %v; want %s", err, after.State, want)
	}
}

// The text of a panic is one line; the verb %+v and the log have its stack.
func TestPanicErrorText(t *testing.T) {
	err := executor.NewFuture(func(context.Context) (int, error) { panic("no\ndisk") }).Run(t.Context())
	if got, want := err.Error(), "executor: task panicked: no ..."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := fmt.Sprintf("%v|%s|%q", err, err, err); strings.Contains(got, "goroutine") {
		t.Errorf("the stack is in %s", got)
	}
	if got := fmt.Sprintf("%+v", err); !strings.Contains(got, "no\ndisk") || !strings.Contains(got, "string_test.go") {
		t.Errorf("no stack in %s", got)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Error("x", "error", err)
	if got := log.String(); !strings.Contains(got, `"error":{"panic":"no\ndisk","stack":"goroutine`) {
		t.Errorf("%s", got)
	}
}
