package execotel

import (
	"context"
	"errors"
	"fmt"

	"github.com/executor-go/executor"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Register adds the counters and sizes of the pools of o to mp, as observable instruments, and returns a function that
// removes them. Each collection exports the pools that o watches at that moment: pools that were made after Register
// are included, and terminated ones are not. A collection takes one snapshot of each pool, so that the numbers of a
// pool are consistent. Register panics if o or mp is nil. It returns an error if mp does.
func Register(o *executor.Observer, mp metric.MeterProvider) (unregister func() error, err error) {
	if o == nil {
		panic("execotel: Register of a nil Observer")
	}
	if mp == nil {
		panic("execotel: Register with a nil MeterProvider; the global one is otel.GetMeterProvider()")
	}
	r := newRegistrar(mp.Meter(scope))
	if r.err != nil {
		return nil, fmt.Errorf("execotel: Register: %w", r.err)
	}
	registration, err := r.meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		for number, p := range o.Pools() {
			r.observe(to, newPoolLook(o, number, p))
		}
		return nil
	}, r.all...)
	if err != nil {
		return nil, fmt.Errorf("execotel: Register: %w", err)
	}
	return registration.Unregister, nil
}

// poolLook is one look at a pool.
type poolLook struct {
	executor.Figures
	schedules int
	pool      attribute.Set
}

func newPoolLook(o *executor.Observer, number int, p *executor.Pool) *poolLook {
	l := &poolLook{Figures: p.Figures()}
	l.pool = attribute.NewSet(poolAttributes(number, &l.Figures)...)
	if l.Scheduled {
		l.schedules = len(o.Schedules(number))
	}
	return l
}

// poolAttributes are those of all metrics of a pool. The number distinguishes pools of one name.
func poolAttributes(number int, f *executor.Figures) []attribute.KeyValue {
	kind := "pool"
	if f.Scheduled {
		kind = "scheduled"
	}
	return []attribute.KeyValue{
		attribute.String(keyName, label(f.Name)), attribute.Int("executor.id", number), attribute.String("executor.type", kind),
	}
}

// registrar has the instruments.
type registrar struct {
	meter metric.Meter
	all   []metric.Observable
	err   error

	workers, core, limit, queued, capacity, blocked, paused, schedules metric.Int64ObservableUpDownCounter
	completed, rejected, runs, failures, panics                        metric.Int64ObservableCounter
}

func newRegistrar(m metric.Meter) *registrar {
	r := &registrar{meter: m}
	r.workers = r.size("executor.worker.count", "{worker}", "Workers, by what they do.")
	r.core = r.size("executor.worker.kept", "{worker}", "Workers to keep.")
	r.limit = r.size("executor.worker.limit", "{worker}", "The most workers, where there is a limit.")
	r.queued = r.size("executor.queue.size", "{task}", "Tasks that wait.")
	r.capacity = r.size("executor.queue.capacity", "{task}", "The most tasks that may wait, where there is a limit.")
	r.blocked = r.size("executor.submitter.blocked", "{submitter}", "Submitters that wait for room.")
	r.paused = r.size("executor.pool.paused", "{pool}", "1 while the pool is paused, else 0.")
	r.schedules = r.size("executor.schedule.count", "{schedule}", "Series of periodic work.")
	r.completed = r.counter("executor.task.completed", "{task}", "Tasks that have ended, by outcome.")
	r.rejected = r.counter("executor.task.rejected", "{task}", "Tasks that were rejected or evicted, by reason.")
	r.runs = r.counter("executor.task.runs", "{run}", "Bodies that have run.")
	r.failures = r.counter("executor.task.failures", "{run}", "Bodies that have failed, also runs of schedules and attempts of Retry.")
	r.panics = r.counter("executor.task.panics", "{panic}", "Panics of bodies and hooks.")
	return r
}

func (r *registrar) size(name, unit, description string) metric.Int64ObservableUpDownCounter {
	i, err := r.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	r.all, r.err = append(r.all, i), errors.Join(r.err, err)
	return i
}

func (r *registrar) counter(name, unit, description string) metric.Int64ObservableCounter {
	i, err := r.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	r.all, r.err = append(r.all, i), errors.Join(r.err, err)
	return i
}

// observe reports what was seen of a pool.
func (r *registrar) observe(to metric.Observer, l *poolLook) {
	pool := metric.WithAttributeSet(l.pool)
	with := func(key, value string) metric.ObserveOption {
		return metric.WithAttributeSet(attribute.NewSet(append(l.pool.ToSlice(), attribute.String(key, value))...))
	}
	const state = "executor.worker.state"
	to.ObserveInt64(r.workers, int64(l.Active), with(state, "active"))
	to.ObserveInt64(r.workers, int64(l.Idle), with(state, "idle"))
	to.ObserveInt64(r.core, int64(l.Kept), pool)
	if l.Max >= 0 {
		to.ObserveInt64(r.limit, int64(l.Max), pool)
	}
	to.ObserveInt64(r.queued, int64(l.Queued), pool)
	if l.Capacity >= 0 {
		to.ObserveInt64(r.capacity, int64(l.Capacity), pool)
	}
	to.ObserveInt64(r.blocked, int64(l.Blocked), pool)
	paused := int64(0)
	if l.Paused {
		paused = 1
	}
	to.ObserveInt64(r.paused, paused, pool)
	if l.Scheduled {
		to.ObserveInt64(r.schedules, int64(l.schedules), pool)
	}
	to.ObserveInt64(r.completed, l.Succeeded, with(keyOutcome, outcomeOK))
	to.ObserveInt64(r.completed, l.Failed, with(keyOutcome, outcomeFail))
	to.ObserveInt64(r.completed, l.Canceled, with(keyOutcome, outcomeStop))
	to.ObserveInt64(r.rejected, l.Rejections.Saturated, with(keyError, "saturated"))
	to.ObserveInt64(r.rejected, l.Rejections.Shutdown, with(keyError, "shutdown"))
	to.ObserveInt64(r.rejected, l.Rejections.Expired, with(keyError, "expired"))
	to.ObserveInt64(r.rejected, l.Rejections.Evicted, with(keyError, "evicted"))
	to.ObserveInt64(r.rejected, l.Rejections.Panicked, with(keyError, "panicked"))
	to.ObserveInt64(r.runs, l.Runs, pool)
	to.ObserveInt64(r.failures, l.Failures, pool)
	to.ObserveInt64(r.panics, l.Panics, pool)
}
