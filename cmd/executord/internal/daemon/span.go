package daemon

import (
	"context"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// spans are those of one run. The zero value makes none.
//
// A run is a trace of its own, with a link to each run that it is after: these may be several, and their traces have
// ended. Its attempts are children of it, if its job has retries. The spans of its command are children of the attempt,
// or of the run, by TRACEPARENT.
//
//	run a ─┬─ attempt ── spans of the command
//	  ▲    └─ attempt ── spans of the command
//	  │ link
//	run b ──── spans of the command
type spans struct {
	tracer trace.Tracer
	run    trace.Span // nil if there is none
	try    trace.Span // of the attempt; nil if it has none of its own
}

// begin begins the span of a run, after those whose traceparent is in causes.
func (s *spans) begin(tracer trace.Tracer, name string, causes []string, attrs []attribute.KeyValue) {
	var links []trace.Link
	for _, text := range causes {
		if cause := parseTraceparent(text); cause.IsValid() {
			links = append(links, trace.Link{SpanContext: cause})
		}
	}
	s.tracer = tracer
	_, s.run = tracer.Start(context.Background(), "run "+name, trace.WithNewRoot(),
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attrs...), trace.WithLinks(links...))
}

// innermost returns the span of the attempt, that of the run if the attempt has none, or nil.
func (s *spans) innermost() trace.Span {
	if s.try != nil {
		return s.try
	}
	return s.run
}

// log returns a logger whose lines have the trace of the run.
func (s *spans) log(log *slog.Logger) *slog.Logger {
	if s.run == nil {
		return log
	}
	return log.With("trace_id", s.run.SpanContext().TraceID().String())
}

// beginAttempt begins the span of an attempt.
func (s *spans) beginAttempt(name string, number int) {
	if s.run != nil {
		_, s.try = s.tracer.Start(trace.ContextWithSpan(context.Background(), s.run), "attempt "+name,
			trace.WithAttributes(attribute.String("executor.job.name", name), attribute.Int("executor.job.attempt", number)))
	}
}

// started notes the process of the attempt.
func (s *spans) started(pid int) {
	if span := s.innermost(); span != nil {
		span.SetAttributes(attribute.Int("process.pid", pid))
	}
}

// endAttempt ends the span of the attempt, if it has one of its own.
func (s *spans) endAttempt(result process.Result, o outcome.Outcome, reason string) {
	if s.try != nil {
		conclude(s.try, result, o, reason)
		s.try.End()
	}
}

// end ends the span of the run.
func (s *spans) end(result process.Result, o outcome.Outcome, reason string, attrs ...attribute.KeyValue) {
	if s.run != nil {
		s.run.SetAttributes(attrs...)
		conclude(s.run, result, o, reason)
		s.run.End()
	}
}

// conclude notes how a run or an attempt ended.
func conclude(span trace.Span, result process.Result, o outcome.Outcome, reason string) {
	span.SetAttributes(attribute.String("executor.job.outcome", string(o)))
	switch {
	case result.Began.IsZero(): // its command was not started
	case result.Signal != "":
		span.SetAttributes(attribute.String("executor.job.signal", result.Signal))
	default:
		span.SetAttributes(attribute.Int("process.exit.code", result.Code))
	}
	if o.IsError() {
		span.SetAttributes(attribute.String("error.type", string(o)))
		span.SetStatus(codes.Error, reason)
	}
}

// environment returns the variables by which the spans of the command belong to the attempt. Those that the daemon was
// started with are of another trace.
func (s *spans) environment() []string {
	span := s.innermost()
	if span == nil {
		return nil
	}
	carrier := inject(span)
	env := []string{"TRACEPARENT=" + carrier["traceparent"]}
	if state := carrier["tracestate"]; state != "" || os.Getenv("TRACESTATE") != "" {
		env = append(env, "TRACESTATE="+state)
	}
	return env
}

// traceparent returns the context of the run as text, "" if it has no span.
func (s *spans) traceparent() string {
	if s.run == nil {
		return ""
	}
	return inject(s.run)["traceparent"]
}

func inject(span trace.Span) propagation.MapCarrier {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpan(context.Background(), span), carrier)
	return carrier
}

// parseTraceparent returns what traceparent has written, an invalid context for any other text.
func parseTraceparent(text string) trace.SpanContext {
	carrier := propagation.MapCarrier{"traceparent": text}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}
