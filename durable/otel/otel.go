// Package durableotel makes spans and metrics of durable jobs for OpenTelemetry.
//
//	import durableotel "github.com/executor-go/executor/durable/otel"
//	…
//	metrics, err := durableotel.Metrics(meters)
//	…
//	jobs, err := durable.New(durable.Config{
//		Store: store,
//		Hooks: durableotel.Traces(tracers).Join(metrics),
//	})
//	…
//	unregister, err := durableotel.Register(jobs, meters)
//
// The package has no global state: its functions use the providers that they are given, and importing it registers
// nothing.
//
// # Traces
//
// [Traces] makes a span of each call that adds jobs, and a span of each attempt to run a job. The second has a link to
// the first, even if the attempt is made on another machine or much later.
//
// # Metrics
//
// [Metrics] counts and times what happens in this program, and [Register] exports the state of its node:
//
//	executor.job.added                 {job}  kind; without registrations of periodic jobs
//	executor.job.run.duration          s      kind, executor.job.outcome, error.type
//	executor.job.lateness              s      kind; from when a run was due to its begin
//	executor.job.ended                 {job}  kind, executor.job.state: succeeded, dead, canceled
//	executor.job.refused               {run}  kind; runs whose outcome the store refused, because this node had lost them
//	executor.store.operation.duration  s      executor.store.operation, error.type
//	executor.node.held                 {job}  executor.node.phase: ahead, due, running, ending
//	executor.node.lease.left           s
//
// [RegisterCounts] exports what is in the store. Call it in one of the programs that share a store; otherwise sums
// count each job several times:
//
//	executor.job.count                 {job}  kind, executor.job.state
//	executor.job.due.age               s      kind; for how long the first job that waits has been due
//
// The attribute of the kind is executor.job.kind. The values of executor.job.outcome are succeeded, failed, canceled,
// snoozed, and cut_short, which means that the node was shut down or lost its lease during the run. IDs and keys are in
// spans only, since an attribute of a metric must have few values.
package durableotel

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// scope is the name of the instrumentation.
const scope = "github.com/executor-go/executor/durable/otel"

// Attributes that several signals have.
const (
	keyKind    = "executor.job.kind"
	keyOutcome = "executor.job.outcome"
	keyState   = "executor.job.state"
	keyError   = "error.type"
)

// Outcomes of runs.
const (
	succeeded = "succeeded"
	failed    = "failed"
	canceled  = "canceled"
	snoozed   = "snoozed"
	cutShort  = "cut_short"
)

// outcome returns that of a run whose handler has returned err. ctx is its context.
func outcome(ctx context.Context, err error) string {
	cause := context.Cause(ctx)
	_, snooze := durable.Snoozed(err)
	switch {
	case err == nil, errors.Is(err, executor.ErrStop):
		return succeeded
	case errors.Is(cause, executor.ErrCanceled):
		return canceled
	case snooze:
		return snoozed
	case errors.Is(cause, executor.ErrShutdown), errors.Is(cause, durable.ErrLeaseLost):
		return cutShort
	}
	return failed
}

// sentinels are errors that have a name and no type of their own.
var sentinels = []struct {
	err  error
	name string
}{
	{executor.ErrTimeout, "executor.ErrTimeout"},
	{executor.ErrShutdown, "executor.ErrShutdown"},
	{executor.ErrCanceled, "executor.ErrCanceled"},
	{executor.ErrGoexit, "executor.ErrGoexit"},
	{durable.ErrLeaseLost, "durable.ErrLeaseLost"},
	{durable.ErrRefused, "durable.ErrRefused"},
	{durable.ErrKeyTaken, "durable.ErrKeyTaken"},
	{durable.ErrNotFound, "durable.ErrNotFound"},
	{durable.ErrDead, "durable.ErrDead"},
	{executor.ErrInvalid, "executor.ErrInvalid"},
	{context.DeadlineExceeded, "context.DeadlineExceeded"},
	{context.Canceled, "context.Canceled"},
}

// wrappers are types of errors that say nothing by themselves.
var wrappers = map[reflect.Type]bool{
	reflect.TypeOf(fmt.Errorf("%w", context.Canceled)):   true,
	reflect.TypeOf(executor.Permanent(context.Canceled)): true,
}

// errorType returns an error as the value of an attribute of which there are few: never its text.
func errorType(err error) string {
	var panicked *executor.PanicError
	if errors.As(err, &panicked) {
		return "panic"
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.name
		}
	}
	for inner := errors.Unwrap(err); inner != nil && wrappers[reflect.TypeOf(err)]; inner = errors.Unwrap(err) {
		err = inner
	}
	return reflect.TypeOf(err).String()
}
