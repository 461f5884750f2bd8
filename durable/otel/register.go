package durableotel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Register adds the number of jobs that this program's node holds, and the time left of its lease, to mp, as observable
// instruments with the attributes attrs. It returns a function that removes them. If a program has several Jobs, pass
// attributes that differ. Nothing is exported while Run is not running. A collection does not call the store. Register
// panics if j or mp is nil. It returns an error if mp does.
func Register(j *durable.Jobs, mp metric.MeterProvider,
	attrs ...attribute.KeyValue) (unregister func() error, err error) {
	if j == nil {
		panic("durableotel: Register of nil Jobs")
	}
	meter := meterOf(mp, "Register")
	held, err := meter.Int64ObservableUpDownCounter("executor.node.held", metric.WithUnit("{job}"),
		metric.WithDescription("Jobs that this program's node holds, by phase."))
	left, err2 := meter.Float64ObservableGauge("executor.node.lease.left", metric.WithUnit("s"),
		metric.WithDescription("How long it is until the node can't rely on its lease any more, unless it is renewed."))
	if err = errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("durableotel: Register: %w", err)
	}
	attrs = slices.Clone(attrs)
	registration, err := meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		n, ok := j.Node()
		if !ok {
			return nil
		}
		to.ObserveFloat64(left, n.LeaseLeft.Seconds(), of(attrs...))
		for phase, jobs := range n.Phases {
			at := append(slices.Clip(attrs), attribute.String("executor.node.phase", string(phase)))
			to.ObserveInt64(held, int64(jobs), of(at...))
		}
		return nil
	}, held, left)
	if err != nil {
		return nil, fmt.Errorf("durableotel: Register: %w", err)
	}
	return registration.Unregister, nil
}

// RegisterCounts adds the number of jobs in the store, by kind and state, and the time for which the first waiting job
// of each kind has been due, to mp, as observable instruments with the attributes attrs. It returns a function that
// removes them. Call it in one of the programs that share the store.
//
// A collection counts the jobs anew if the counts are older than age, see [durable.Jobs.Tally]. That query reads all
// jobs that the store keeps, so choose an age of a minute or more for a large store. Ages are measured with this
// machine's clock. RegisterCounts panics if j or mp is nil. It returns an error if mp does.
func RegisterCounts(j *durable.Jobs, mp metric.MeterProvider, age time.Duration,
	attrs ...attribute.KeyValue) (unregister func() error, err error) {
	if j == nil {
		panic("durableotel: RegisterCounts of nil Jobs")
	}
	meter := meterOf(mp, "RegisterCounts")
	count, err := meter.Int64ObservableUpDownCounter("executor.job.count", metric.WithUnit("{job}"),
		metric.WithDescription("Jobs in the store, by kind and state."))
	late, err2 := meter.Float64ObservableGauge("executor.job.due.age", metric.WithUnit("s"),
		metric.WithDescription("For how long the first job that waits has been due."))
	if err = errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("durableotel: RegisterCounts: %w", err)
	}
	attrs = slices.Clone(attrs)
	registration, err := meter.RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		counts, asOf, err := j.Tally(ctx, age)
		if err != nil {
			return err
		}
		for _, c := range counts {
			kind := append(slices.Clip(attrs), attribute.String(keyKind, c.Kind))
			state := append(slices.Clip(kind), attribute.String(keyState, c.State.String()))
			to.ObserveInt64(count, int64(c.Jobs), of(state...))
			if c.State == durable.Waiting {
				to.ObserveFloat64(late, max(asOf.Sub(c.Due), 0).Seconds(), of(kind...))
			}
		}
		return nil
	}, count, late)
	if err != nil {
		return nil, fmt.Errorf("durableotel: RegisterCounts: %w", err)
	}
	return registration.Unregister, nil
}
