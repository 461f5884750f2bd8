package execotel_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
	execotel "github.com/executor-go/executor/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// collected is what one collection has, by the names of the metrics.
type collected map[string]metricdata.Aggregation

func collect(t testing.TB, r sdkmetric.Reader) collected {
	t.Helper()
	var m metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &m); err != nil {
		t.Fatal(err)
	}
	all := make(collected)
	for _, s := range m.ScopeMetrics {
		if s.Scope.Name != "github.com/executor-go/executor/otel" {
			t.Errorf("the scope is %q", s.Scope.Name)
		}
		for _, m := range s.Metrics {
			if all[m.Name] != nil {
				t.Errorf("%s is there twice", m.Name)
			}
			all[m.Name] = m.Data
		}
	}
	return all
}

// sums returns the points of a sum, by their attributes.
func (c collected) sums(t testing.TB, name string, monotonic bool) map[string]int64 {
	t.Helper()
	points := make(map[string]int64)
	s, ok := c[name].(metricdata.Sum[int64])
	if !ok || s.IsMonotonic != monotonic {
		t.Errorf("%s is %T, monotonic %v", name, c[name], s.IsMonotonic)
	}
	for _, p := range s.DataPoints {
		points[text(p.Attributes)] = p.Value
	}
	return points
}

// histograms returns the points of a histogram, by their attributes.
func (c collected) histograms(t testing.TB, name string) map[string]metricdata.ExponentialHistogramDataPoint[float64] {
	t.Helper()
	points := make(map[string]metricdata.ExponentialHistogramDataPoint[float64])
	h, ok := c[name].(metricdata.ExponentialHistogram[float64])
	if !ok || h.Temporality != metricdata.CumulativeTemporality {
		t.Errorf("%s is %T of temporality %v", name, c[name], h.Temporality)
	}
	for _, p := range h.DataPoints {
		key := text(p.Attributes)
		if _, twice := points[key]; twice {
			t.Errorf("%s has two points with %s", name, key)
		}
		points[key] = p
	}
	return points
}

func text(s attribute.Set) string { return s.Encoded(attribute.DefaultEncoder()) }

// snapshot returns a point as what it was made of.
func snapshot(p metricdata.ExponentialHistogramDataPoint[float64]) histogram.Snapshot {
	s := histogram.Snapshot{Count: p.Count, Zero: p.ZeroCount, Sum: p.Sum, Offset: int(p.PositiveBucket.Offset)}
	if len(p.PositiveBucket.Counts) > 0 {
		s.Buckets = p.PositiveBucket.Counts
	}
	return s
}

// Histograms have every bucket that was measured, times Every.
func TestProducerLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, every := range []int{1, 4} {
			o := &executor.Observer{Every: every}
			p := newPool(t, executor.Config{Name: "mail", Workers: 2, Observer: o})
			s := newScheduled(t, executor.ScheduledConfig{Name: "timers", Workers: 1, Observer: o})
			for i := range 300 {
				d := time.Duration(math.Exp2(float64(i % 50)))
				p.Go(t.Context(), func(context.Context) error { time.Sleep(d); return nil })
				s.GoAfter(t.Context(), d, func(context.Context) error { time.Sleep(d); return nil })
			}
			time.Sleep(1e6 * time.Hour)
			reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(execotel.Producer(o)))
			sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
			got := collect(t, reader)
			f, late := p.Figures(), s.Figures()
			const pool, timers = "executor.id=1,executor.name=mail,executor.type=pool",
				"executor.id=2,executor.name=timers,executor.type=scheduled"
			for _, c := range []struct {
				metric, at string
				want       histogram.Snapshot
			}{
				{"executor.task.wait.duration", pool, f.Wait},
				{"executor.task.run.duration", pool, f.Run},
				{"executor.task.run.duration", timers, late.Run},
				{"executor.task.lateness", timers, late.Late},
			} {
				if c.want.Count < 20 {
					t.Fatalf("%s has only %d", c.metric, c.want.Count)
				}
				want := c.want
				for range every - 1 {
					want = want.Add(c.want)
				}
				point := got.histograms(t, c.metric)[c.at]
				is := snapshot(point)
				if !slices.Equal(is.Buckets, want.Buckets) || is.Offset != want.Offset || is.Count != want.Count ||
					is.Zero != want.Zero || math.Abs(is.Sum-want.Sum) > 1e-9*want.Sum {
					t.Errorf("every %d: %s{%s} is\n%+v, want\n%+v", every, c.metric, c.at, is, want)
				}
				if point.Scale != 3 || point.ZeroThreshold != 0 || point.StartTime.IsZero() {
					t.Errorf("%s: %+v", c.metric, point)
				}
			}
			if n, m := len(got.histograms(t, "executor.task.wait.duration")), len(got.histograms(t, "executor.task.lateness")); n != 1 || m != 1 {
				t.Errorf("%d pools have a wait, and %d a lateness", n, m)
			}
		}
	})
}

// With Names there is a point for each task name; others are together, and no name breaks the
// encoding.
func TestProducerNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 4}
		p := newPool(t, executor.Config{Name: "m\xff\n", Workers: 1, Observer: o})
		for _, name := range []string{"", "a\r", "a\n", strings.Repeat("é", 200), "x", "y", "x"} {
			p.Go(t.Context(), func(context.Context) error { return nil }, executor.Named(name))
		}
		synctest.Wait()
		reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(execotel.Producer(o)))
		sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
		counts := make(map[string]uint64)
		for _, point := range collect(t, reader).histograms(t, "executor.task.run.duration") {
			name, _ := point.Attributes.Value("executor.task.name")
			counts[name.AsString()] = point.Count
			for _, a := range point.Attributes.ToSlice() {
				if v := a.Value.String(); !utf8.ValidString(v) || len(v) > 200 || strings.ContainsAny(v, "\r\n") {
					t.Errorf("%s is %q", a.Key, v)
				}
			}
		}
		want := map[string]uint64{"": 1, "a\uFFFD": 2, strings.Repeat("é", 100): 1, "(others)": 3}
		if !maps.Equal(counts, want) {
			t.Errorf("the counts are %v, want %v", counts, want)
		}
	})
}

// Pools come and go with the Observer's, a limit is left out where there is none, and unregister
// removes all.
func TestRegisterFollowsPools(t *testing.T) {
	o := &executor.Observer{}
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(execotel.Producer(o)))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	unregister, err := execotel.Register(o, provider)
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("without pools there are %v", got)
	}
	a := newPool(t, executor.Config{Name: "a", Workers: 1, Max: 4, Queue: executor.Bounded(7), Observer: o})
	newPool(t, executor.Config{Name: "b", Workers: 1, Observer: o})
	const atA, atB = "executor.id=1,executor.name=a,executor.type=pool", "executor.id=2,executor.name=b,executor.type=pool"
	got := collect(t, reader)
	if limits := got.sums(t, "executor.worker.limit", false); limits[atA] != 4 || len(limits) != 2 {
		t.Errorf("the limits are %v", limits)
	}
	if capacities := got.sums(t, "executor.queue.capacity", false); !maps.Equal(capacities, map[string]int64{atA: 7}) {
		t.Errorf("the capacities are %v", capacities)
	}
	if schedules := got["executor.schedule.count"]; schedules != nil {
		t.Errorf("there are schedules: %v", schedules)
	}
	a.Close()
	got = collect(t, reader)
	if cores := got.sums(t, "executor.worker.kept", false); !maps.Equal(cores, map[string]int64{atB: 1}) {
		t.Errorf("after the end of a pool the cores are %v", cores)
	}
	if err := unregister(); err != nil {
		t.Fatal(err)
	}
	got = collect(t, reader)
	if got["executor.worker.kept"] != nil {
		t.Error("there are metrics after unregister")
	}
}

// full is a provider that takes no more counters.
type full struct{ noop.MeterProvider }

func (full) Meter(string, ...metric.MeterOption) metric.Meter { return fullMeter{} }

type fullMeter struct{ noop.Meter }

var errFull = errors.New("no more")

func (fullMeter) Int64ObservableCounter(
	string, ...metric.Int64ObservableCounterOption,
) (metric.Int64ObservableCounter, error) {
	return nil, errFull
}

// The error of a provider is passed on.
func TestRegisterError(t *testing.T) {
	unregister, err := execotel.Register(&executor.Observer{}, full{})
	if !errors.Is(err, errFull) || unregister != nil || !strings.HasPrefix(err.Error(), "execotel: Register: ") {
		t.Errorf("Register: %v", err)
	}
}
