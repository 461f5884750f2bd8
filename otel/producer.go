package execotel

import (
	"context"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Producer returns a producer of what o measures: wait, lateness and run time, as exponential histograms of scale 3.
// Their buckets are those of package histogram, so that nothing is lost. Pass the producer to a reader with the option
// WithProducer of the SDK. Producer panics if o is nil.
//
// If Observer.Every is n, one task in n is measured and counts as n tasks, so that rates and sums are those of all
// tasks.
//
// The temporality is cumulative, whatever the reader prefers, because a reader does not convert what a producer
// returns. A back end that takes only deltas needs the processor cumulativetodelta of a collector. In the text format
// of Prometheus such a histogram has only a count and a sum, without buckets. Prometheus gets the buckets if it scrapes
// by protobuf, as it does with native histograms enabled. The text of package debug of module ui has classic buckets.
func Producer(o *executor.Observer) sdkmetric.Producer {
	if o == nil {
		panic("execotel: Producer of a nil Observer")
	}
	return producer{o}
}

type producer struct{ observer *executor.Observer }

// began is before anything was measured in this process, so that no count is of an earlier time.
var began = time.Now()

// Produce looks at all pools.
func (p producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	wait := &points{name: "executor.task.wait.duration", of: "From the admission to the begin of a run."}
	late := &points{name: "executor.task.lateness", of: "From the time when a run was due to its begin."}
	run := &points{name: "executor.task.run.duration", of: "From the begin of a run to its end."}
	now := time.Now()
	for number, p := range p.observer.Pools() {
		f := p.Figures()
		pool := poolAttributes(number, &f)
		for _, t := range byName(&f) {
			at := attribute.NewSet(append(pool[:len(pool):len(pool)], t.attributes...)...)
			if f.Scheduled {
				late.add(t.Late, f.Every, at, now)
			} else {
				wait.add(t.Wait, f.Every, at, now)
			}
			run.add(t.Run, f.Every, at, now)
		}
	}
	s := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: scope}}
	for _, m := range []*points{wait, late, run} {
		if len(m.points) > 0 {
			s.Metrics = append(s.Metrics, m.metric())
		}
	}
	if s.Metrics == nil {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{s}, nil
}

// points are those of one metric.
type points struct {
	name, of string
	points   []metricdata.ExponentialHistogramDataPoint[float64]
}

// add adds a point. Each measured duration stands for every.
func (m *points) add(s histogram.Snapshot, every int, at attribute.Set, now time.Time) {
	counts := make([]uint64, len(s.Buckets))
	for i, n := range s.Buckets {
		counts[i] = n * uint64(every)
	}
	m.points = append(m.points, metricdata.ExponentialHistogramDataPoint[float64]{
		Attributes: at, StartTime: began, Time: now,
		Count: s.Count * uint64(every), Sum: s.Sum * float64(every), ZeroCount: s.Zero * uint64(every),
		Scale:          histogram.Scale,
		PositiveBucket: metricdata.ExponentialBucket{Offset: int32(s.Offset), Counts: counts},
	})
}

func (m *points) metric() metricdata.Metrics {
	return metricdata.Metrics{
		Name: m.name, Description: m.of + " One task in several may be measured.", Unit: "s",
		Data: metricdata.ExponentialHistogram[float64]{
			DataPoints: m.points, Temporality: metricdata.CumulativeTemporality,
		},
	}
}

// named are the figures of the tasks with one name.
type named struct {
	attributes []attribute.KeyValue
	executor.NameFigures
}

// otherNames is the name of tasks with names beyond the limit.
const otherNames = "(others)"

// byName returns the figures by task name if names have figures of their own, else those of all
// tasks together. Names that are alike as attributes are one.
func byName(f *executor.Figures) []named {
	if f.Names == nil {
		return []named{{nil, executor.NameFigures{Wait: f.Wait, Late: f.Late, Run: f.Run}}}
	}
	var all []named
	places := make(map[string]int)
	add := func(name string, n executor.NameFigures) {
		i, ok := places[name]
		if !ok {
			places[name] = len(all)
			all = append(all, named{[]attribute.KeyValue{attribute.String(keyTask, name)}, n})
			return
		}
		had := &all[i].NameFigures
		had.Wait, had.Late, had.Run = had.Wait.Add(n.Wait), had.Late.Add(n.Late), had.Run.Add(n.Run)
	}
	for name, n := range f.Names {
		add(label(name), n)
	}
	if f.OtherNames.Run.Count > 0 {
		add(otherNames, f.OtherNames)
	}
	return all
}
