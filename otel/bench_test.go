package execotel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/executor-go/executor"
	execotel "github.com/executor-go/executor/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// What a collection of 100 pools of 8 workers costs.
func BenchmarkCollect(b *testing.B) {
	for _, names := range []int{0, 10} {
		b.Run(fmt.Sprint("names=", names), func(b *testing.B) {
			o := &executor.Observer{Every: 1, MaxNames: names}
			for i := range 100 {
				p := newPool(b, executor.Config{Name: fmt.Sprint("pool ", i), Workers: 8, Observer: o})
				for j := range 100 {
					f := executor.Submit(b.Context(), p, func(context.Context) (int, error) { return 0, nil },
						executor.Named(fmt.Sprint("task ", j%20)))
					if _, err := f.Get(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(execotel.Producer(o)))
			if _, err := execotel.Register(o, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))); err != nil {
				b.Fatal(err)
			}
			var m metricdata.ResourceMetrics
			for b.Loop() {
				if err := reader.Collect(context.Background(), &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a span of each run costs: without hooks, with spans that are sampled and with ones that are
// not.
func BenchmarkHooks(b *testing.B) {
	for _, c := range []struct {
		name  string
		hooks executor.Hooks
	}{
		{"none", executor.Hooks{}},
		{"sampled", execotel.Hooks(sdktrace.NewTracerProvider())},
		{"unsampled", execotel.Hooks(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())))},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := newPool(b, executor.Config{Name: "mail", Workers: 1, Hooks: c.hooks})
			b.ReportAllocs()
			for b.Loop() {
				p.Go(context.Background(), func(context.Context) error { return nil })
			}
			p.Close()
		})
	}
}
