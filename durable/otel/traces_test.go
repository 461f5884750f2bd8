package durableotel_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durableotel "github.com/executor-go/executor/durable/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// An attempt is linked to the call that added its job, made by another program, or is its child, or neither.
func TestTracesRelate(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  []durableotel.Option
		child bool
		links int
	}{
		{"default", nil, false, 1},
		{"Link", []durableotel.Option{durableotel.Relate(durableotel.Link)}, false, 1},
		{"Child", []durableotel.Option{durableotel.Relate(durableotel.Child)}, true, 0},
		{"None", []durableotel.Option{durableotel.Relate(durableotel.None)}, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			tp, recorded := tracers()
			store := memory.New()
			client := newJobs(t, durableotel.Traces(tp, c.opts...), store)
			node := newJobs(t, durableotel.Traces(tp, c.opts...), store)
			inHandler := make(chan trace.SpanContext, 2)
			durable.Handle(node, "mail", func(ctx context.Context, _ int) (int, error) {
				inHandler <- trace.SpanContextFromContext(ctx)
				if len(inHandler) < 2 {
					return 0, errors.New("again")
				}
				return 0, nil
			})
			start(t, node)
			ctx, request := tp.Tracer("test").Start(t.Context(), "request")
			id := must(durable.KindOf[int, int](client, "mail").AddAfter(ctx, time.Minute, 1))
			request.End()
			await(t, client, id)

			send := named(recorded, "send mail")
			if len(send) != 1 || send[0].SpanKind() != trace.SpanKindProducer ||
				send[0].Parent().SpanID() != request.SpanContext().SpanID() {
				t.Fatalf("%s: calls are %v", c.name, send)
			}
			process := named(recorded, "process mail")
			if len(process) != 2 {
				t.Fatalf("%s: attempts are %v", c.name, process)
			}
			for i, s := range process {
				from := send[0].SpanContext()
				got := <-inHandler
				if got.SpanID() != s.SpanContext().SpanID() || s.SpanKind() != trace.SpanKindConsumer {
					t.Errorf("%s: attempt %d has %v, the handler %v", c.name, i+1, s.SpanContext(), got)
				}
				child, same := s.Parent().SpanID() == from.SpanID(), s.SpanContext().TraceID() == from.TraceID()
				if child != c.child || same != c.child {
					t.Errorf("%s: attempt %d is a child: %v, of the same trace: %v", c.name, i+1, child, same)
				}
				if len(s.Links()) != c.links || c.links > 0 && s.Links()[0].SpanContext.SpanID() != from.SpanID() {
					t.Errorf("%s: attempt %d has the links %v", c.name, i+1, s.Links())
				}
			}
		})
	}
}

// Spans have what there is to say of the job, the call and the attempt.
func TestTracesAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp, recorded := tracers()
		jobs := newJobs(t, durableotel.Traces(tp))
		k := durable.Handle(jobs, "mail", func(context.Context, int) (int, error) { return 0, nil })
		ids := must(k.AddAll(t.Context(), 0, []int{1, 2}))
		id := must(k.Add(t.Context(), 1))
		at := must(jobs.Get(t.Context(), id)).Occurrence
		time.Sleep(90 * time.Second)
		start(t, jobs)
		await(t, jobs, id)
		await(t, jobs, ids[0])
		await(t, jobs, ids[1])
		send := named(recorded, "send mail")
		if len(send) != 2 {
			t.Fatalf("calls are %v", send)
		}
		for i, want := range []map[string]string{
			{"messaging.batch.message_count": "2"}, {"messaging.message.id": id.String()},
		} {
			want["messaging.system"], want["messaging.destination.name"] = "executor", "mail"
			want["messaging.operation.type"], want["messaging.operation.name"] = "send", "send"
			if got := attributes(send[i].Attributes()); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("call %d has %v, want %v", i+1, got, want)
			}
		}
		for _, s := range named(recorded, "process mail") {
			got := attributes(s.Attributes())
			if got["messaging.message.id"] != id.String() {
				continue
			}
			node := got["executor.node.name"]
			want := map[string]string{
				"messaging.system": "executor", "messaging.operation.type": "process", "messaging.operation.name": "process",
				"messaging.destination.name": "mail", "messaging.message.id": id.String(), "executor.job.attempt": "1",
				"executor.job.occurrence": at.Format(time.RFC3339Nano), "executor.job.lateness": "90",
				"executor.node.name": node, "executor.job.outcome": "succeeded",
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || !strings.HasPrefix(node, "node-") {
				t.Errorf("the attempt has %v, want %v", got, want)
			}
			if s.Status().Code != codes.Unset || len(s.Events()) > 0 {
				t.Errorf("the attempt has the status %v and the events %v", s.Status(), s.Events())
			}
		}
	})
}

type ownError struct{}

func (*ownError) Error() string { return "own\xff" }

// A run that fails has an error; one that was put off, canceled or cut short has not.
func TestTracesOutcomes(t *testing.T) {
	for name, test := range map[string]struct {
		handler func(context.Context, *durable.Jobs) error
		want    string // outcome, and what the error is
		text    string
	}{
		"error":     {func(context.Context, *durable.Jobs) error { return new(ownError) }, "failed *durableotel_test.ownError", "own\uFFFD"},
		"permanent": {func(context.Context, *durable.Jobs) error { return executor.Permanent(new(ownError)) }, "failed *durableotel_test.ownError", "own\uFFFD"},
		"panic":     {func(context.Context, *durable.Jobs) error { panic("no") }, "failed panic", ""},
		"timeout":   {func(ctx context.Context, _ *durable.Jobs) error { <-ctx.Done(); return context.Cause(ctx) }, "failed executor.ErrTimeout", ""},
		"goexit":    {func(context.Context, *durable.Jobs) error { runtime.Goexit(); return nil }, "failed executor.ErrGoexit", ""},
		"snooze":    {func(context.Context, *durable.Jobs) error { return fmt.Errorf("busy: %w", durable.Snooze(time.Hour)) }, "snoozed ", ""},
		"stop":      {func(context.Context, *durable.Jobs) error { return executor.ErrStop }, "succeeded ", ""},
		"cut short": {func(ctx context.Context, jobs *durable.Jobs) error { <-ctx.Done(); return ctx.Err() }, "cut_short ", ""},
		"cancel": {func(ctx context.Context, jobs *durable.Jobs) error {
			j, _ := durable.Current(ctx)
			must(jobs.Cancel(ctx, j.ID))
			return errors.New("canceled")
		}, "canceled ", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			tp, recorded := tracers()
			jobs := newJobs(t, durableotel.Traces(tp))
			k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
				return 0, test.handler(ctx, jobs)
			})
			stop := start(t, jobs)
			must(k.Add(t.Context(), 1, durable.Attempts(1), durable.Timeout(time.Minute)))
			if name == "cut short" {
				synctest.Wait()
				stop()
			}
			time.Sleep(2 * time.Minute)
			s := named(recorded, "process k")
			if len(s) != 1 {
				t.Fatalf("%s: attempts are %v", name, s)
			}
			at, wrong := attributes(s[0].Attributes()), strings.HasPrefix(test.want, "failed")
			if got := at["executor.job.outcome"] + " " + at["error.type"]; got != test.want {
				t.Errorf("%s: the outcome is %q, want %q", name, got, test.want)
			}
			if (s[0].Status().Code == codes.Error) != wrong || (len(s[0].Events()) == 1) != wrong {
				t.Errorf("%s: status %v, events %v", name, s[0].Status(), s[0].Events())
			}
			if test.text != "" && s[0].Status().Description != test.text {
				t.Errorf("%s: the text is %q", name, s[0].Status().Description)
			}
		})
	}
}

// A call that fails has an error.
func TestTracesOfACallThatFails(t *testing.T) {
	tp, recorded := tracers()
	jobs := newJobs(t, durableotel.Traces(tp))
	must(durable.KindOf[int, int](jobs, "a").AddAfter(t.Context(), time.Hour, 1, durable.Key("key")))
	if _, err := durable.KindOf[int, int](jobs, "b").Add(t.Context(), 1, durable.Key("key")); err == nil {
		t.Fatal("the key was taken")
	}
	s := named(recorded, "send b")[0]
	if s.Status().Code != codes.Error || attributes(s.Attributes())["error.type"] != "durable.ErrKeyTaken" {
		t.Errorf("status %v, attributes %v", s.Status(), s.Attributes())
	}
}

// The Meta of callers stays, a trace that has no room in it is left out, and periodic jobs have none.
func TestTracesLeaveMetaAlone(t *testing.T) {
	tp, _ := tracers()
	jobs := newJobs(t, durableotel.Traces(tp))
	k := durable.KindOf[int, int](jobs, "k")
	full := map[string]string{"a": strings.Repeat("x", durable.MaxMeta-10)}
	for name, c := range map[string]struct {
		id    durable.ID
		trace bool
		a     string
	}{
		"none":     {must(k.AddAfter(t.Context(), time.Hour, 1)), true, ""},
		"some":     {must(k.AddAfter(t.Context(), time.Hour, 1, durable.WithMeta(map[string]string{"a": "1"}))), true, "1"},
		"full":     {must(k.AddAfter(t.Context(), time.Hour, 1, durable.WithMeta(full))), false, full["a"]},
		"periodic": {must(k.AtFixedRate(t.Context(), "key", 0, time.Hour, 1)), false, ""},
	} {
		meta := must(jobs.Get(t.Context(), c.id)).Meta
		if _, ok := meta["traceparent"]; ok != c.trace || meta["a"] != c.a {
			t.Errorf("%s: meta is %v", name, meta)
		}
	}
}

// Periodic work is a trace for each run, whatever registered it.
func TestTracesOfPeriodicWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp, recorded := tracers()
		jobs := newJobs(t, durableotel.Traces(tp, durableotel.Relate(durableotel.Child)))
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, nil })
		start(t, jobs)
		ctx, setup := tp.Tracer("test").Start(t.Context(), "setup")
		must(k.AtFixedRate(ctx, "key", 0, time.Minute, 1))
		setup.End()
		time.Sleep(90 * time.Second)
		runs := named(recorded, "process k")
		if len(runs) != 2 || runs[0].SpanContext().TraceID() == runs[1].SpanContext().TraceID() ||
			runs[0].SpanContext().TraceID() == setup.SpanContext().TraceID() {
			t.Errorf("runs are %v", runs)
		}
	})
}

// What another propagator writes goes with the job, too.
func TestTracesPropagate(t *testing.T) {
	tp, _ := tracers()
	jobs := newJobs(t, durableotel.Traces(tp, durableotel.Propagate(
		propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, keyed{}))))
	id := must(durable.KindOf[int, int](jobs, "k").AddAfter(t.Context(), time.Hour, 1))
	if meta := must(jobs.Get(t.Context(), id)).Meta; meta["keyed"] != "1" || meta["traceparent"] == "" {
		t.Errorf("meta is %v", meta)
	}
}

// keyed is a propagator of a constant.
type keyed struct{}

func (keyed) Inject(_ context.Context, c propagation.TextMapCarrier)                    { c.Set("keyed", "1") }
func (keyed) Extract(ctx context.Context, _ propagation.TextMapCarrier) context.Context { return ctx }
func (keyed) Fields() []string                                                          { return []string{"keyed"} }

// What can't be used panics at once.
func TestMisusePanics(t *testing.T) {
	jobs := newJobs(t, durable.Hooks{})
	mp, _ := meters(t)
	for name, f := range map[string]func(){
		"Traces":         func() { durableotel.Traces(nil) },
		"Relate":         func() { durableotel.Relate(3) },
		"Propagate":      func() { durableotel.Propagate(nil) },
		"Metrics":        func() { durableotel.Metrics(nil) },
		"Register":       func() { durableotel.Register(nil, mp) },
		"RegisterCounts": func() { durableotel.RegisterCounts(jobs, nil, 0) },
	} {
		func() {
			defer func() {
				if v := recover(); !strings.HasPrefix(fmt.Sprint(v), "durableotel: "+name) {
					t.Errorf("%s: %v", name, v)
				}
			}()
			f()
		}()
	}
}
