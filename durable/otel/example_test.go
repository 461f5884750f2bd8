package durableotel_test

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durableotel "github.com/executor-go/executor/durable/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// A program with the SDK sets up spans and metrics; with exporters in the place of the recorder and of the reader, they
// leave the program.
func Example() {
	recorder := tracetest.NewSpanRecorder()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	metrics, err := durableotel.Metrics(meters)
	if err != nil {
		panic(err)
	}
	jobs, err := durable.New(durable.Config{
		Store: memory.New(),
		Hooks: durableotel.Traces(tracers).Join(metrics),
	})
	if err != nil {
		panic(err)
	}
	unregister, err := durableotel.Register(jobs, meters)
	if err != nil {
		panic(err)
	}
	defer unregister()
	mail := durable.Handle(jobs, "mail", func(context.Context, string) (string, error) { return "sent", nil })

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	id, err := mail.Add(ctx, "you")
	if err != nil {
		panic(err)
	}
	if _, err := mail.Await(ctx, id); err != nil {
		panic(err)
	}
	stop()
	<-ended
	send, process := recorder.Ended()[0], recorder.Ended()[1]
	if send.Name() != "send mail" {
		send, process = process, send
	}
	fmt.Println(process.Name(), "is linked to", send.Name()+":",
		process.Links()[0].SpanContext.SpanID() == send.SpanContext().SpanID())
	// Output:
	// process mail is linked to send mail: true
}
