package execotel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor"
	execotel "github.com/executor-go/executor/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tracers returns a provider of the SDK, and what has recorded its spans.
func tracers() (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	r := tracetest.NewSpanRecorder()
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r)), r
}

// newPool returns a pool that logs nothing and is shut down at the end.
func newPool(t testing.TB, c executor.Config) *executor.Pool {
	t.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	p, err := executor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.ShutdownNow()
		<-p.Terminated()
	})
	return p
}

func newScheduled(t testing.TB, c executor.ScheduledConfig) *executor.ScheduledPool {
	t.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	p, err := executor.NewScheduled(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.ShutdownNow()
		<-p.Terminated()
	})
	return p
}

// attributes returns those of a span as text.
func attributes(all []attribute.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, a := range all {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// A run is a child of the span that it was submitted in, or a trace of its own.
func TestHooksRelate(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  []execotel.Option
		child bool
		links int
	}{
		{"default", nil, true, 0},
		{"Child", []execotel.Option{execotel.Relate(execotel.Child)}, true, 0},
		{"Link", []execotel.Option{execotel.Relate(execotel.Link)}, false, 1},
		{"None", []execotel.Option{execotel.Relate(execotel.None)}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp, recorded := tracers()
			p := newPool(t, executor.Config{Name: "mail", Workers: 1, Hooks: execotel.Hooks(tp, c.opts...)})
			ctx, request := tp.Tracer("test").Start(t.Context(), "request")
			f := executor.Submit(ctx, p, func(ctx context.Context) (trace.SpanContext, error) {
				return trace.SpanContextFromContext(ctx), nil
			}, executor.Named("send"))
			inBody, err := f.Get(ctx)
			if err != nil {
				t.Fatal(err)
			}
			request.End()
			p.Close()
			var s sdktrace.ReadOnlySpan
			for _, s = range recorded.Ended() {
				if s.Name() == "run send" {
					break
				}
			}
			from := request.SpanContext()
			if s.SpanContext().SpanID() != inBody.SpanID() || s.SpanKind() != trace.SpanKindInternal {
				t.Errorf("the body has the span %v, and the run %v of kind %v", inBody, s.SpanContext(), s.SpanKind())
			}
			if child := s.Parent().SpanID() == from.SpanID(); child != c.child {
				t.Errorf("the run is a child: %v, want %v", child, c.child)
			}
			if same := s.SpanContext().TraceID() == from.TraceID(); same != c.child {
				t.Errorf("the run has the submitter's trace: %v, want %v", same, c.child)
			}
			if len(s.Links()) != c.links || c.links > 0 && s.Links()[0].SpanContext.SpanID() != from.SpanID() {
				t.Errorf("the run has the links %v, want %d", s.Links(), c.links)
			}
		})
	}
}

// Each run of periodic work is a trace of its own, with a link to the span in which it was
// scheduled; work that runs once, later, is a child of that.
func TestHooksRelateSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp, recorded := tracers()
		p := newScheduled(t, executor.ScheduledConfig{Name: "timers", Workers: 2, Hooks: execotel.Hooks(tp)})
		ctx, setup := tp.Tracer("test").Start(t.Context(), "setup")
		nop := func(context.Context) error { return nil }
		if _, err := p.AtFixedRate(ctx, 0, time.Second, nop, executor.Named("tick"), executor.Times(3)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.GoAfter(ctx, time.Second, nop, executor.Named("once")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		traces := make(map[trace.TraceID]bool)
		for _, s := range recorded.Ended() {
			at := attributes(s.Attributes())
			if s.Name() == "run once" {
				if s.Parent().SpanID() != setup.SpanContext().SpanID() || len(s.Links()) != 0 {
					t.Error("work that runs once is no child")
				}
				continue
			}
			traces[s.SpanContext().TraceID()] = true
			if s.Parent().IsValid() || len(s.Links()) != 1 ||
				s.Links()[0].SpanContext.SpanID() != setup.SpanContext().SpanID() {
				t.Errorf("run %s has the parent %v and the links %v", at["executor.task.run"], s.Parent(), s.Links())
			}
			if at["executor.task.run"] != fmt.Sprint(len(traces)) || at["executor.task.lateness"] != "0" {
				t.Errorf("run %d has the attributes %v", len(traces), at)
			}
		}
		if len(traces) != 3 || traces[setup.SpanContext().TraceID()] {
			t.Errorf("three runs have %d traces", len(traces))
		}
	})
}

// typedError has a type that says what is wrong, and a text that no attribute may have.
type typedError struct{ secret string }

func (e *typedError) Error() string { return e.secret }

// The outcome of a run is in its span, with an error type of which there are few.
func TestHooksOutcomes(t *testing.T) {
	const secret = "user 4711 is unknown"
	for _, c := range []struct {
		name    string
		body    func(context.Context) error
		outcome string
		kind    string
		text    string
	}{
		{"success", func(context.Context) error { return nil }, "succeeded", "", ""},
		{"plain", func(context.Context) error { return errors.New(secret) }, "failed", "*errors.errorString", secret},
		{"typed", func(context.Context) error { return &typedError{secret} }, "failed", "*execotel_test.typedError", secret},
		{"wrapped", func(context.Context) error { return fmt.Errorf("a: %w", fmt.Errorf("b: %w", &typedError{secret})) },
			"failed", "*execotel_test.typedError", "a: b: " + secret},
		{"joined", func(context.Context) error { return errors.Join(io.EOF, &typedError{secret}) }, "failed", "*errors.joinError", "EOF\n" + secret},
		{"nil pointer", func(context.Context) error { return (*typedError)(nil) }, "failed", "*execotel_test.typedError", "<nil>"},
		{"deadline", func(context.Context) error { return fmt.Errorf("x: %w", context.DeadlineExceeded) },
			"failed", "context.DeadlineExceeded", "x: context deadline exceeded"},
		{"another context", func(context.Context) error { return context.Canceled }, "failed", "context.Canceled", "context canceled"},
		{"rejected elsewhere", func(context.Context) error { return &executor.RejectedError{Reason: executor.ErrSaturated} },
			"failed", "executor.ErrSaturated", "executor: task rejected: saturated"},
		{"panic", func(context.Context) error { panic(secret) }, "failed", "panic", "executor: task panicked: " + secret},
		{"panic with an error", func(context.Context) error { panic(&typedError{secret}) }, "failed", "panic", "executor: task panicked: " + secret},
		{"goexit", func(context.Context) error { runtime.Goexit(); return nil }, "failed", "executor.ErrGoexit", executor.ErrGoexit.Error()},
		{"no UTF-8", func(context.Context) error { return errors.New("\xff") }, "failed", "*errors.errorString", "\uFFFD"},
		{"stop of once", func(context.Context) error { return executor.ErrStop }, "failed", "*errors.errorString", executor.ErrStop.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp, recorded := tracers()
			p := newPool(t, executor.Config{Workers: 1, Hooks: execotel.Hooks(tp)})
			executor.Submit(t.Context(), p, func(ctx context.Context) (int, error) { return 0, c.body(ctx) })
			p.Close()
			all := recorded.Ended()
			if len(all) != 1 {
				t.Fatalf("%d spans", len(all))
			}
			expectOutcome(t, all[0], c.outcome, c.kind, c.text)
		})
	}
}

func expectOutcome(t *testing.T, s sdktrace.ReadOnlySpan, outcome, kind, text string) {
	t.Helper()
	at := attributes(s.Attributes())
	if at["executor.task.outcome"] != outcome || at["error.type"] != kind {
		t.Errorf("the attributes are %v, want the outcome %s and the type %q", at, outcome, kind)
	}
	if (s.Status().Code == codes.Error) != (outcome == "failed") || s.Status().Description != text {
		t.Errorf("the status is %+v", s.Status())
	}
	if outcome != "failed" {
		if len(s.Events()) != 0 {
			t.Errorf("%d events", len(s.Events()))
		}
		return
	}
	e := attributes(s.Events()[0].Attributes)
	if s.Events()[0].Name != "exception" || e["exception.type"] != kind || e["exception.message"] != text {
		t.Errorf("the exception is %v", e)
	}
	if stack := e["exception.stacktrace"]; strings.Contains(stack, "TestHooksOutcomes") != (kind == "panic") {
		t.Errorf("the stack is %q", stack)
	}
}

// A run that ends because it was canceled is no failure, and neither is one that ends its schedule.
func TestHooksExpectedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp, recorded := tracers()
		p := newPool(t, executor.Config{Workers: 1, Hooks: execotel.Hooks(tp)})
		wait := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
		f := executor.Submit(t.Context(), p, wait)
		synctest.Wait()
		f.Cancel()
		synctest.Wait()
		executor.Submit(t.Context(), p, wait, executor.Timeout(time.Second))
		time.Sleep(time.Minute)
		s := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: execotel.Hooks(tp)})
		stop := func(context.Context) error { return executor.ErrStop }
		if _, err := s.AtFixedRate(t.Context(), 0, time.Second, stop); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		all := recorded.Ended()
		if len(all) != 3 {
			t.Fatalf("%d spans", len(all))
		}
		expectOutcome(t, all[0], "canceled", "", "")
		if at := attributes(all[1].Attributes()); at["executor.task.outcome"] != "failed" || at["error.type"] != "executor.ErrTimeout" {
			t.Errorf("after a timeout: %v", at)
		}
		expectOutcome(t, all[2], "succeeded", "", "")
	})
}

// The attributes say which run it was and how long it waited; a span is named for what is known.
func TestHooksAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp, recorded := tracers()
		dropped := executor.Hooks{Dropped: func(context.Context, executor.TaskInfo, error) {}}
		p := newPool(t, executor.Config{Name: "mail", Workers: 1, Hooks: execotel.Hooks(tp).Join(dropped)})
		nap := func(context.Context) error { time.Sleep(3 * time.Second); return nil }
		p.Go(t.Context(), nap)
		p.Go(t.Context(), nap, executor.Named("a\xff\r"+strings.Repeat("é", 200)))
		time.Sleep(time.Minute)
		anonymous := newPool(t, executor.Config{Workers: 1, Hooks: execotel.Hooks(tp)})
		anonymous.Go(t.Context(), nap)
		time.Sleep(time.Minute)
		all := recorded.Ended()
		for i, want := range []struct{ name, wait string }{{"run mail", "0"}, {"run a", "3"}, {"run", ""}} {
			s := all[i]
			at := attributes(s.Attributes())
			if !strings.HasPrefix(s.Name(), want.name) || !utf8.ValidString(s.Name()) || len(s.Name()) > 250 {
				t.Errorf("span %d is %q, want %q", i, s.Name(), want.name)
			}
			if at["executor.task.wait"] != want.wait || at["executor.worker.number"] != "1" || at["executor.task.run"] != "1" {
				t.Errorf("span %d has the attributes %v", i, at)
			}
			if took := s.EndTime().Sub(s.StartTime()); took != 3*time.Second {
				t.Errorf("span %d took %v", i, took)
			}
			if name := at["executor.task.name"]; !utf8.ValidString(name) || strings.ContainsRune(name, '\r') || len(name) > 200 {
				t.Errorf("span %d has the task name %q", i, name)
			}
		}
	})
}

// A hook that panics beside these does not keep a span from its end.
func TestHooksEndSpans(t *testing.T) {
	tp, recorded := tracers()
	evil := executor.Hooks{
		BeforeTask: func(ctx context.Context, i executor.TaskInfo) context.Context {
			if i.Name == "before" {
				panic("before")
			}
			return ctx
		},
		Around: func(ctx context.Context, i executor.TaskInfo, run func(context.Context) error) error {
			if i.Name == "around" {
				panic("around")
			}
			return run(ctx)
		},
	}
	for _, h := range []executor.Hooks{
		execotel.Hooks(tp).Join(evil), evil.Join(execotel.Hooks(tp)),
	} {
		p := newPool(t, executor.Config{Workers: 1, Hooks: h})
		for _, name := range []string{"before", "around", "none"} {
			p.Go(t.Context(), func(context.Context) error { return nil }, executor.Named(name))
		}
		p.Close()
	}
	if n, ended := len(recorded.Started()), len(recorded.Ended()); n != ended || n != 3 {
		t.Errorf("%d of %d spans have ended, want 3", ended, n)
	}
}

// nilError has methods that panic, since it is a nil pointer that was returned as an error.
type nilError struct{ inner error }

func (e *nilError) Error() string { return e.inner.Error() }
func (e *nilError) Unwrap() error { return e.inner }

// An error whose methods panic ends its span as any other, and stays the outcome of the task.
func TestHooksEndSpanOfErrorThatPanics(t *testing.T) {
	tp, recorded := tracers()
	p := newPool(t, executor.Config{Workers: 1, Hooks: execotel.Hooks(tp)})
	_, err := p.Submit(t.Context(), func(context.Context) error { return (*nilError)(nil) }).Get(t.Context())
	if _, same := err.(*nilError); !same {
		t.Errorf("the outcome is a %T", err)
	}
	p.Close()
	all := recorded.Ended()
	if len(all) != 1 {
		t.Fatalf("%d of %d spans have ended", len(all), len(recorded.Started()))
	}
	at := attributes(all[0].Attributes())
	if at["executor.task.outcome"] != "failed" || at["error.type"] != "*execotel_test.nilError" || all[0].Status().Code != codes.Error {
		t.Errorf("the attributes are %v, and the status is %+v", at, all[0].Status())
	}
}

// Misuse is a panic that says what to do.
func TestHooksMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		"execotel: Hooks of a nil TracerProvider":     func() { execotel.Hooks(nil) },
		"execotel: Relate: the relation is 9":         func() { execotel.Relate(9) },
		"execotel: Register of a nil Observer":        func() { execotel.Register(nil, nil) },
		"execotel: Register with a nil MeterProvider": func() { execotel.Register(&executor.Observer{}, nil) },
		"execotel: Producer of a nil Observer":        func() { execotel.Producer(nil) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
					t.Errorf("the panic is %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}
