package execotel_test

import (
	"context"
	"fmt"

	"github.com/executor-go/executor"
	execotel "github.com/executor-go/executor/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// A program with the SDK sets up metrics and spans; with an exporter in the place of the reader
// and of the processor of spans, they leave the program.
func Example() {
	observer := &executor.Observer{Every: 1}
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(execotel.Producer(observer)))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	defer meters.Shutdown(context.Background())
	unregister, err := execotel.Register(observer, meters)
	if err != nil {
		panic(err)
	}
	defer unregister()

	tracers := sdktrace.NewTracerProvider()
	defer tracers.Shutdown(context.Background())
	pool, err := executor.New(executor.Config{
		Name: "mail", Workers: 2, Observer: observer, Hooks: execotel.Hooks(tracers),
	})
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	sent := executor.Submit(context.Background(), pool, func(context.Context) (string, error) { return "sent", nil })
	fmt.Println(sent.Get(context.Background()))

	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		panic(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "executor.worker.kept" {
			fmt.Println(m.Name, sum.DataPoints[0].Value)
		}
	}
	// Output:
	// sent <nil>
	// executor.worker.kept 2
}
