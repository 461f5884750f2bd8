package durableotel

import (
	"context"
	"errors"
	"fmt"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// bounds are those of the buckets of histograms in seconds, unless a view sets others: of a call of a database, and of
// jobs of hours.
var bounds = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200}

// meters has the instruments of Metrics.
type meters struct {
	added, ended, refused    metric.Int64Counter
	run, lateness, operation metric.Float64Histogram
	err                      error
}

// Metrics returns hooks for [durable.Config] that measure jobs and the calls of the store; the package comment lists
// the metrics. [durable.Hooks.Join] adds other hooks. Join [Traces] before Metrics, so that exemplars have the spans.
// Metrics panics if mp is nil. It returns an error if mp does.
func Metrics(mp metric.MeterProvider) (durable.Hooks, error) {
	meter := meterOf(mp, "Metrics")
	m := new(meters)
	counter := func(name, unit, description string) metric.Int64Counter {
		i, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		m.err = errors.Join(m.err, err)
		return i
	}
	histogram := func(name, description string) metric.Float64Histogram {
		i, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(bounds...))
		m.err = errors.Join(m.err, err)
		return i
	}
	m.added = counter("executor.job.added", "{job}", "Jobs that were added, without registrations of periodic ones.")
	m.ended = counter("executor.job.ended", "{job}", "Jobs that have ended, by the state that they are in then.")
	m.refused = counter("executor.job.refused", "{run}", "Runs whose outcome the store refused.")
	m.run = histogram("executor.job.run.duration", "How long runs took.")
	m.lateness = histogram("executor.job.lateness", "From when runs were due to their begin.")
	m.operation = histogram("executor.store.operation.duration", "How long calls of the store took.")
	if m.err != nil {
		return durable.Hooks{}, fmt.Errorf("durableotel: Metrics: %w", m.err)
	}
	return durable.Hooks{Adding: m.adding, Around: m.around, Settled: m.settled, Call: m.call}, nil
}

func meterOf(mp metric.MeterProvider, caller string) metric.Meter {
	if mp == nil {
		panic("durableotel: " + caller + " with a nil MeterProvider; the global one is otel.GetMeterProvider()")
	}
	return mp.Meter(scope)
}

// of returns attributes as an option.
func of(at ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(at...))
}

func (m *meters) adding(ctx context.Context, jobs []durable.NewJob, add func(context.Context) error) error {
	err := add(ctx)
	if err != nil {
		return err
	}
	kinds := make(map[string]int64)
	for i := range jobs {
		if !jobs[i].Periodic() {
			kinds[jobs[i].Kind]++
		}
	}
	for kind, n := range kinds {
		m.added.Add(ctx, n, of(attribute.String(keyKind, kind)))
	}
	return nil
}

func (m *meters) around(ctx context.Context, job durable.Job, run func(context.Context) error) (err error) {
	kind, begun := attribute.String(keyKind, job.Kind), time.Now()
	m.lateness.Record(ctx, lateness(job), of(kind))
	err = executor.ErrGoexit // unless run returns
	defer func() {
		o := outcome(ctx, err)
		at := []attribute.KeyValue{kind, attribute.String(keyOutcome, o)}
		if o == failed {
			at = append(at, attribute.String(keyError, errorType(err)))
		}
		m.run.Record(ctx, time.Since(begun).Seconds(), of(at...))
	}()
	return run(ctx)
}

func (m *meters) settled(job durable.Job, o durable.Outcome, committed bool) {
	kind := attribute.String(keyKind, job.Kind)
	switch {
	case !committed:
		m.refused.Add(context.Background(), 1, of(kind))
	case o.State.Done():
		m.ended.Add(context.Background(), 1, of(kind, attribute.String(keyState, o.State.String())))
	}
}

func (m *meters) call(op string, took time.Duration, err error) {
	at := []attribute.KeyValue{attribute.String("executor.store.operation", op)}
	if err != nil {
		at = append(at, attribute.String(keyError, errorType(err)))
	}
	m.operation.Record(context.Background(), took.Seconds(), of(at...))
}
