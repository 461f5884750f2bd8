package execotel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/executor-go/executor"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Relation says how the span of a run is related to the submitter's span: the span in the context that was passed to
// Submit, Go, Schedule or another method that adds the task.
type Relation uint8

const (
	// Child makes the span of a run a child of the submitter's span. A run of periodic work is linked as by Link, since
	// all runs of a schedule would be one trace otherwise.
	Child Relation = iota

	// Link makes each run a trace of its own, with a link to the submitter's span if there is one.
	Link

	// None makes each run a trace of its own, without a link.
	None
)

// Option changes what [Hooks] does. [Relate] returns one.
type Option func(*tracing)

// Relate sets the [Relation] of runs to their submitters. The default is Child. Relate panics if r is none of the
// three.
func Relate(r Relation) Option {
	if r > None {
		panic(fmt.Sprintf("execotel: Relate: the relation is %d; it must be Child, Link or None", r))
	}
	return func(t *tracing) { t.relation = r }
}

// Hooks returns hooks for [executor.Config] that make a span of each run of a task. A span costs about one microsecond,
// so use them for pools whose tasks take longer than some microseconds. [executor.Hooks.Join] adds other hooks to them.
// Hooks panics if tp is nil.
//
// The context of the function that runs has the span, so that spans which the function begins are its children. A task
// that never ran has no span.
//
// The name of the span is "run", a blank and the name of the task, as in "run resize". If the task has no name, the
// name of the pool takes its place. The kind of the span is internal. Its attributes are
//
//	executor.name             the pool's name, left out if it has none
//	executor.worker.number    from 1; left out in the goroutine of a submitter
//	executor.task.name        left out if it has none
//	executor.task.run         which run of the task it is, from 1
//	executor.task.wait        of the first run: from the submission to the run, in seconds;
//	                          only if the pool has a hook Dropped
//	executor.task.lateness    of work with a schedule: from when it was due to the run, in seconds
//	executor.task.outcome     succeeded, failed or canceled, of this run
//	error.type                of a run that failed: panic, or the name of a known error such as
//	                          executor.ErrTimeout, or else the type of the error
//
// A run that fails has the status Error, and an event named exception with the text of the error and, after a panic,
// with the stack. A run that returns the error of its context after the context was canceled counts as canceled, not as
// failed. A run of periodic work that returns [executor.ErrStop] counts as succeeded.
func Hooks(tp trace.TracerProvider, opts ...Option) executor.Hooks {
	if tp == nil {
		panic("execotel: Hooks of a nil TracerProvider; the global one is otel.GetTracerProvider()")
	}
	t := &tracing{tracer: tp.Tracer(scope)}
	for _, opt := range opts {
		opt(t)
	}
	return executor.Hooks{Around: t.around}
}

// tracing makes the spans of a pool.
type tracing struct {
	tracer   trace.Tracer
	relation Relation
}

// around makes a span of a run. It ends however the run ends.
func (t *tracing) around(
	ctx context.Context, info executor.TaskInfo, run func(context.Context) error,
) (err error) {
	_, periodic := info.Task.(*executor.Series)
	spanned, span := t.tracer.Start(ctx, spanName(info), t.options(ctx, info, periodic)...)
	err = executor.ErrGoexit // unless run returns
	defer func() {
		if span.IsRecording() {
			finish(ctx, span, err, periodic)
		}
		span.End()
	}()
	return run(spanned)
}

func spanName(info executor.TaskInfo) string {
	name := info.Name
	if name == "" {
		name = info.Executor
	}
	if name == "" {
		return "run"
	}
	return "run " + label(name)
}

// options returns what a span begins with, which a sampler sees.
func (t *tracing) options(ctx context.Context, info executor.TaskInfo, periodic bool) []trace.SpanStartOption {
	at := make([]attribute.KeyValue, 0, 8)
	if info.Executor != "" {
		at = append(at, attribute.String(keyName, label(info.Executor)))
	}
	if info.Worker != 0 {
		at = append(at, attribute.Int("executor.worker.number", info.Worker))
	}
	if info.Name != "" {
		at = append(at, attribute.String(keyTask, label(info.Name)))
	}
	at = append(at, attribute.Int64("executor.task.run", info.Run))
	if !info.Submitted.IsZero() && info.Run == 1 {
		at = append(at, attribute.Float64("executor.task.wait", info.Begun.Sub(info.Submitted).Seconds()))
	}
	if !info.Due.IsZero() {
		at = append(at, attribute.Float64("executor.task.lateness", info.Begun.Sub(info.Due).Seconds()))
	}
	opts := []trace.SpanStartOption{trace.WithAttributes(at...)}
	if t.relation == Child && !periodic {
		return opts
	}
	opts = append(opts, trace.WithNewRoot())
	if from := trace.SpanContextFromContext(ctx); t.relation != None && from.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: from}))
	}
	return opts
}

// finish adds the outcome of a run.
func finish(ctx context.Context, span trace.Span, err error, periodic bool) {
	switch {
	case err == nil, periodic && is(err, executor.ErrStop):
		span.SetAttributes(attribute.String(keyOutcome, outcomeOK))
		return
	case canceled(ctx, err):
		span.SetAttributes(attribute.String(keyOutcome, outcomeStop))
		return
	}
	kind := errorType(err)
	text := strings.ToValidUTF8(fmt.Sprint(err), "\uFFFD") // Sprint outlives a method that panics
	span.SetAttributes(attribute.String(keyOutcome, outcomeFail), attribute.String(keyError, kind))
	span.SetStatus(codes.Error, text)
	exception := []attribute.KeyValue{
		attribute.String("exception.type", kind), attribute.String("exception.message", text),
	}
	if p, ok := err.(*executor.PanicError); ok {
		exception = append(exception, attribute.String("exception.stacktrace", strings.ToValidUTF8(string(p.Stack), "\uFFFD")))
	}
	span.AddEvent("exception", trace.WithAttributes(exception...))
}

// canceled reports whether a run returned err because its context was canceled.
func canceled(ctx context.Context, err error) bool {
	cause := context.Cause(ctx)
	_, panicked := err.(*executor.PanicError)
	if panicked || ctx.Err() != context.Canceled || cause == executor.ErrReturned {
		return false
	}
	return is(err, context.Canceled) || is(err, cause)
}

// is is errors.Is, and false where a method of err panics, as that of a nil pointer may.
func is(err, target error) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return errors.Is(err, target)
}

// sentinels are errors that have a name and no type of their own.
var sentinels = []struct {
	err  error
	name string
}{
	{executor.ErrTimeout, "executor.ErrTimeout"},
	{executor.ErrShutdown, "executor.ErrShutdown"},
	{executor.ErrSaturated, "executor.ErrSaturated"},
	{executor.ErrRejected, "executor.ErrRejected"},
	{executor.ErrCanceled, "executor.ErrCanceled"},
	{executor.ErrGoexit, "executor.ErrGoexit"},
	{context.DeadlineExceeded, "context.DeadlineExceeded"},
	{context.Canceled, "context.Canceled"},
}

// wrapped is the type of what fmt.Errorf makes of one error.
var wrapped = reflect.TypeOf(fmt.Errorf("%w", context.Canceled))

// errorType returns an error as the value of an attribute of which there are few: never its text.
func errorType(err error) string {
	if _, ok := err.(*executor.PanicError); ok {
		return "panic"
	}
	for _, s := range sentinels {
		if is(err, s.err) {
			return s.name
		}
	}
	for reflect.TypeOf(err) == wrapped && errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return reflect.TypeOf(err).String()
}
