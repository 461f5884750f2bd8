package daemon

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// beginSpan begins the span of the run, if there is to be one.
func (r *run) beginSpan() {
	d := r.entry.base
	if d.Tracer == nil {
		return
	}
	attrs := []attribute.KeyValue{
		attribute.String("executor.job.name", r.job.Name), attribute.Int("executor.job.run", r.number),
		attribute.String("executor.job.schedule", r.job.Schedule.Text),
		attribute.String("executor.job.occurrence", r.due.Format(time.RFC3339Nano)),
	}
	if d.Store.shared() {
		attrs = append(attrs, attribute.String("executor.job.namespace", d.Store.Namespace))
	}
	if r.node != "" {
		attrs = append(attrs, attribute.String("executor.node.name", r.node))
	}
	if len(r.job.Tags) > 0 {
		attrs = append(attrs, attribute.StringSlice("executor.job.tags", r.job.Tags))
	}
	r.spans.begin(d.Tracer, r.job.Name, r.causes, attrs)
	r.log = r.spans.log(r.log)
}

// endSpan ends it.
func (r *run) endSpan(result process.Result, o outcome.Outcome, reason string, skips int) {
	r.spans.end(result, o, reason, attribute.Int("executor.job.attempt", r.attempt),
		attribute.Float64("executor.job.lateness", r.late(result.Began).Seconds()), attribute.Int("executor.job.skipped", skips))
}

// beginAttempt begins the span of an attempt. A job without retries has none.
func (r *run) beginAttempt() {
	if r.job.Retry.Times > 0 {
		r.spans.beginAttempt(r.job.Name, r.attempt)
	}
}
