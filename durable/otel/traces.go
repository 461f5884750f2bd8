package durableotel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Relation says how the span of an attempt is related to the span of the call that added the job.
type Relation uint8

const (
	// Link makes each attempt a trace of its own, with a link to the span of the call.
	Link Relation = iota

	// Child makes the span of each attempt a child of the span of the call. The trace then lasts as long as the job.
	Child

	// None makes each attempt a trace of its own, without a link.
	None
)

// Option changes what [Traces] does. [Relate] and [Propagate] return options.
type Option func(*tracing)

// Relate sets the [Relation] of attempts to the calls that added their jobs. The default is Link. Relate panics if r is
// none of the three.
func Relate(r Relation) Option {
	if r > None {
		panic(fmt.Sprintf("durableotel: Relate: the relation is %d; it must be Link, Child or None", r))
	}
	return func(t *tracing) { t.relation = r }
}

// Propagate sets the propagator that writes the context of a trace into the Meta of a job and reads it from there. All
// programs that share a store must set the same. The default is [propagation.TraceContext], which has the fields
// traceparent and tracestate of the W3C. Propagate panics if p is nil.
func Propagate(p propagation.TextMapPropagator) Option {
	if p == nil {
		panic("durableotel: Propagate of nil; the global one is otel.GetTextMapPropagator()")
	}
	return func(t *tracing) { t.propagator = p }
}

// Traces returns hooks for [durable.Config] that make spans. [durable.Hooks.Join] adds other hooks. Traces panics if tp
// is nil.
//
// # The call that adds jobs
//
// The span of a call that adds jobs has the name "send mail", for jobs of the kind "mail", or "send" if the jobs are of
// several kinds. The kind of the span is producer. Its attributes are
//
//	messaging.system               executor
//	messaging.operation.type       send
//	messaging.operation.name       send
//	messaging.destination.name     the kind of the jobs, if all are of one kind
//	messaging.message.id           the ID of the job, if there is one job
//	messaging.batch.message_count  the number of jobs, if there are several
//
// Traces writes the context of the span into the Meta of the jobs, unless there is no room for it. Periodic jobs do not
// get it, because a program registers them anew at each start.
//
// # The attempt
//
// The span of an attempt has the name "process mail", for a job of the kind "mail". The kind of the span is consumer.
// The span is a trace of its own with a link to the span of the call, unless [Relate] says otherwise. The handler's
// context has the span of the attempt. Its attributes are
//
//	messaging.system            executor
//	messaging.operation.type    process
//	messaging.operation.name    process
//	messaging.destination.name  the kind of job
//	messaging.message.id        its ID
//	executor.job.attempt        the number of the attempt, from 1
//	executor.job.occurrence     the time on the schedule that the run is for, as RFC 3339
//	executor.job.lateness       from when the run was due to its begin, in seconds
//	executor.node.name          the name of the node
//	executor.job.outcome        succeeded, failed, canceled, snoozed or cut_short
//	error.type                  of a run that failed: panic, or the name of a known error such as
//	                            executor.ErrTimeout, or else the type of the error
//
// A run that fails has the status Error, and an event named exception with the text of the error and, after a panic,
// with the stack.
func Traces(tp trace.TracerProvider, opts ...Option) durable.Hooks {
	if tp == nil {
		panic("durableotel: Traces of a nil TracerProvider; the global one is otel.GetTracerProvider()")
	}
	t := &tracing{tracer: tp.Tracer(scope), propagator: propagation.TraceContext{}}
	for _, opt := range opts {
		opt(t)
	}
	return durable.Hooks{Adding: t.adding, Around: t.around}
}

// tracing makes the spans of a program's jobs.
type tracing struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	relation   Relation
}

func messaging(operation string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("messaging.system", "executor"), attribute.String("messaging.operation.type", operation),
		attribute.String("messaging.operation.name", operation),
	}
}

// adding makes a span of a call that adds jobs.
func (t *tracing) adding(ctx context.Context, jobs []durable.NewJob, add func(context.Context) error) error {
	at, name := messaging("send"), "send"
	if kind := oneKind(jobs); kind != "" {
		at, name = append(at, attribute.String("messaging.destination.name", kind)), "send "+kind
	}
	if len(jobs) == 1 {
		at = append(at, attribute.String("messaging.message.id", jobs[0].ID.String()))
	} else {
		at = append(at, attribute.Int("messaging.batch.message_count", len(jobs)))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(at...))
	defer span.End()
	carrier := propagation.MapCarrier{}
	t.propagator.Inject(ctx, carrier)
	for i := range jobs {
		if j := &jobs[i]; !j.Periodic() {
			j.Meta = with(j.Meta, carrier)
		}
	}
	err := add(ctx)
	if err != nil {
		fail(span, err)
	}
	return err
}

// oneKind returns the kind of the jobs, "" if they are of several.
func oneKind(jobs []durable.NewJob) string {
	kind := jobs[0].Kind
	for i := range jobs {
		if jobs[i].Kind != kind {
			return ""
		}
	}
	return kind
}

// with returns meta with the context of a trace, if there is room for it.
func with(meta map[string]string, carrier propagation.MapCarrier) map[string]string {
	if len(carrier) == 0 {
		return meta
	}
	both := maps.Clone(meta)
	if both == nil {
		both = make(map[string]string, len(carrier))
	}
	maps.Copy(both, carrier)
	if data, err := json.Marshal(both); err != nil || len(data) > durable.MaxMeta {
		return meta
	}
	return both
}

// around makes a span of an attempt. It ends however the run ends.
func (t *tracing) around(ctx context.Context, job durable.Job, run func(context.Context) error) (err error) {
	at := append(messaging("process"), attribute.String("messaging.destination.name", job.Kind),
		attribute.String("messaging.message.id", job.ID.String()), attribute.Int("executor.job.attempt", job.Attempt),
		attribute.String("executor.job.occurrence", job.Occurrence.Format(time.RFC3339Nano)),
		attribute.Float64("executor.job.lateness", lateness(job)), attribute.String("executor.node.name", job.Owner))
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(at...)}
	parent := ctx
	from := trace.SpanContextFromContext(t.propagator.Extract(context.Background(), propagation.MapCarrier(job.Meta)))
	switch {
	case t.relation == Child && from.IsValid():
		parent = trace.ContextWithRemoteSpanContext(ctx, from)
	case t.relation == Link && from.IsValid():
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: from}))
	default:
		opts = append(opts, trace.WithNewRoot())
	}
	spanned, span := t.tracer.Start(parent, "process "+job.Kind, opts...)
	err = executor.ErrGoexit // unless run returns
	defer func() {
		if span.IsRecording() {
			o := outcome(ctx, err)
			span.SetAttributes(attribute.String(keyOutcome, o))
			if o == failed {
				fail(span, err)
			}
		}
		span.End()
	}()
	return run(spanned)
}

// lateness returns how long after its time a run began, in seconds.
func lateness(job durable.Job) float64 { return max(job.Started.Sub(job.Due), 0).Seconds() }

// fail adds the error of what has failed.
func fail(span trace.Span, err error) {
	kind, text := errorType(err), strings.ToValidUTF8(err.Error(), "\uFFFD")
	span.SetAttributes(attribute.String(keyError, kind))
	span.SetStatus(codes.Error, text)
	exception := []attribute.KeyValue{
		attribute.String("exception.type", kind), attribute.String("exception.message", text),
	}
	var panicked *executor.PanicError
	if errors.As(err, &panicked) {
		stack := strings.ToValidUTF8(string(panicked.Stack), "\uFFFD")
		exception = append(exception, attribute.String("exception.stacktrace", stack))
	}
	span.AddEvent("exception", trace.WithAttributes(exception...))
}
