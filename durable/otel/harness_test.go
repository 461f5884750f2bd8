package durableotel_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// must returns v, and ends the test if there was an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newJobs returns Jobs with the hooks on a store in memory, or on one of others.
func newJobs(t *testing.T, h durable.Hooks, on ...durable.Store) *durable.Jobs {
	t.Helper()
	c := durable.Config{Store: memory.New(), Name: "node", Hooks: h, Logger: slog.New(slog.DiscardHandler)}
	for _, c.Store = range on {
	}
	return must(durable.New(c))
}

// start runs jobs until the function returned is called, or the test ends.
func start(t *testing.T, jobs *durable.Jobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// tracers returns a provider of the SDK, and what has recorded its spans.
func tracers() (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	r := tracetest.NewSpanRecorder()
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r)), r
}

// named returns the spans of that name that have ended.
func named(r *tracetest.SpanRecorder, name string) (spans []sdktrace.ReadOnlySpan) {
	for _, s := range r.Ended() {
		if s.Name() == name {
			spans = append(spans, s)
		}
	}
	return spans
}

// attributes returns those of a span as text.
func attributes(all []attribute.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, a := range all {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// meters returns a provider of the SDK, and a function that collects: the value of each series, the count of a
// histogram, by the name of the metric and its attributes.
func meters(t *testing.T) (*sdkmetric.MeterProvider, func() map[string]float64) {
	reader := sdkmetric.NewManualReader()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	return mp, func() map[string]float64 {
		var all metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &all); err != nil {
			t.Error(err)
		}
		values := make(map[string]float64)
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				add := func(at attribute.Set, v float64) {
					values[m.Name+"{"+at.Encoded(attribute.DefaultEncoder())+"}"] = v
				}
				switch data := m.Data.(type) {
				case metricdata.Sum[int64]:
					for _, p := range data.DataPoints {
						add(p.Attributes, float64(p.Value))
					}
				case metricdata.Gauge[float64]:
					for _, p := range data.DataPoints {
						add(p.Attributes, p.Value)
					}
				case metricdata.Histogram[float64]:
					for _, p := range data.DataPoints {
						add(p.Attributes, float64(p.Count))
					}
				default:
					t.Errorf("%s is a %T", m.Name, m.Data)
				}
			}
		}
		return values
	}
}

// await waits for a job, whatever becomes of it.
func await(t *testing.T, jobs *durable.Jobs, id durable.ID) {
	t.Helper()
	if job, _ := jobs.Await(t.Context(), id); !job.State.Done() {
		t.Errorf("job is %+v", job)
	}
}
