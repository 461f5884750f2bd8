package agree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
	execotel "github.com/executor-go/executor/otel"
	"github.com/executor-go/executor/tests/internal/testkit"
	"github.com/executor-go/executor/ui/debug"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// exporter returns a handler for scrapes, as a program with OpenTelemetry's exporter has it.
func exporter(t testing.TB, o *executor.Observer) http.Handler {
	t.Helper()
	registry := prometheus.NewRegistry()
	reader, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithProducer(execotel.Producer(o)))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	unregister, err := execotel.Register(o, provider)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unregister(); err != nil {
			t.Error(err)
		}
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// parse reads an answer as a collector does.
func parse(t testing.TB, header http.Header, body io.Reader) map[string]*dto.MetricFamily {
	t.Helper()
	families := make(map[string]*dto.MetricFamily)
	d := expfmt.NewDecoder(body, expfmt.ResponseFormat(header))
	for {
		f := new(dto.MetricFamily)
		err := d.Decode(f)
		if err == io.EOF {
			return families
		}
		if err != nil {
			t.Fatal(err)
		}
		if families[f.GetName()] != nil {
			t.Errorf("%s is there twice", f.GetName())
		}
		families[f.GetName()] = f
	}
}

// values returns the samples of all families but histograms, by name and labels of ours.
func values(families map[string]*dto.MetricFamily) map[string]float64 {
	all := make(map[string]float64)
	for name, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				all[name+labels(m)] = m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				all[name+labels(m)] = m.GetGauge().GetValue()
			}
		}
	}
	return all
}

// labels returns those of a metric, but for what the exporter adds, sorted.
func labels(m *dto.Metric) string {
	var all []string
	for _, l := range m.GetLabel() {
		if !strings.HasPrefix(l.GetName(), "otel_scope_") {
			all = append(all, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
		}
	}
	return series(all)
}

// series returns labels as one text.
func series(labels []string) string {
	slices.Sort(labels)
	return "{" + strings.Join(labels, ",") + "}"
}

// unpacked returns a native histogram as what it was made of.
func unpacked(h *dto.Histogram) histogram.Snapshot {
	s := histogram.Snapshot{Count: h.GetSampleCount(), Zero: h.GetZeroCount(), Sum: h.GetSampleSum()}
	var n int64
	deltas := h.GetPositiveDelta()
	for i, span := range h.GetPositiveSpan() {
		if i == 0 {
			s.Offset = int(span.GetOffset()) - 1 // Prometheus numbers a bucket by its upper bound
		} else {
			s.Buckets = append(s.Buckets, make([]uint64, span.GetOffset())...)
		}
		for range span.GetLength() {
			n += deltas[0]
			deltas = deltas[1:]
			s.Buckets = append(s.Buckets, uint64(n))
		}
	}
	return s
}

// A collector reads by HTTP what the pools have, histograms without loss, in the text format and
// by protobuf.
func TestPrometheusScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1}
		p := testkit.NewPool(t, executor.Config{Name: "mail", Workers: 2, Observer: o})
		for i := range 1001 {
			p.Go(t.Context(), func(context.Context) error { time.Sleep(time.Duration(i * i)); return nil })
		}
		time.Sleep(time.Minute)
		server := httptest.NewServer(exporter(t, o))
		defer server.Close()
		figures := p.Figures()
		const at = `{executor_id="1",executor_name="mail",executor_type="pool"}`
		for _, accept := range []string{
			"text/plain;version=0.0.4",
			"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
		} {
			request, err := http.NewRequest("GET", server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", accept)
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			families := parse(t, response.Header, response.Body)
			response.Body.Close()
			if n := values(families)["executor_task_runs_total"+at]; n != 1001 {
				t.Errorf("%s: %v runs, want 1001", accept, n)
			}
			for name, want := range map[string]histogram.Snapshot{
				"executor_task_run_duration_seconds":  figures.Run,
				"executor_task_wait_duration_seconds": figures.Wait,
			} {
				f := families[name]
				if f.GetType() != dto.MetricType_HISTOGRAM || len(f.GetMetric()) != 1 {
					t.Fatalf("%s: %s is %v", accept, name, f)
				}
				h := f.GetMetric()[0].GetHistogram()
				if h.GetSampleCount() != 1001 || math.Abs(h.GetSampleSum()-want.Sum) > 1e-9 ||
					labels(f.GetMetric()[0]) != at {
					t.Errorf("%s: %s is %v, want %+v", accept, name, f, want)
				}
				if strings.HasPrefix(accept, "text") {
					continue
				}
				got := unpacked(h)
				if h.GetSchema() != 3 || h.GetZeroThreshold() != 0 || got.Offset != want.Offset ||
					got.Zero != want.Zero || !slices.Equal(got.Buckets, want.Buckets) {
					t.Errorf("%s: %s of schema %d is\n%+v, want\n%+v", accept, name, h.GetSchema(), got, want)
				}
			}
		}
	})
}

// asked returns the answer of a handler to this machine.
func asked(t testing.TB, h http.Handler, path, accept string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5000", "localhost:8080"
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	return w
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	commas = regexp.MustCompile(`(\d),(\d)`)
)

// The page, its JSON, its text for Prometheus and what OpenTelemetry exports have the numbers of
// the pools' Stats.
func TestExportsAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 3}
		p, s := load(t, o)
		page, export := debug.Handler(o), exporter(t, o)

		w := asked(t, page, "/metrics", "")
		fromDebug := parse(t, w.Header(), w.Body)
		w = asked(t, export, "/", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
		fromOTel := parse(t, w.Header(), w.Body)
		delete(fromOTel, "target_info")
		var report debug.Report
		if err := json.Unmarshal(asked(t, page, "/json", "").Body.Bytes(), &report); err != nil {
			t.Fatal(err)
		}

		// The two texts have the same families, samples and histograms.
		if a, b := slices.Sorted(maps.Keys(fromDebug)), slices.Sorted(maps.Keys(fromOTel)); !slices.Equal(a, b) {
			t.Errorf("debug has %v\nOpenTelemetry has %v", a, b)
		}
		samples, others := values(fromDebug), values(fromOTel)
		if !maps.Equal(samples, others) || len(samples) < 25 {
			t.Errorf("debug has %v\nOpenTelemetry has %v", samples, others)
		}
		for name, f := range fromDebug {
			other := fromOTel[name]
			if f.GetType() != other.GetType() || f.GetHelp() != other.GetHelp() {
				t.Errorf("debug has %s as %v, %q; OpenTelemetry as %v, %q", name, f.GetType(), f.GetHelp(), other.GetType(), other.GetHelp())
			}
			if f.GetType() == dto.MetricType_HISTOGRAM {
				agree(t, name, f, other)
			}
		}

		// These are those of the pools and of the JSON.
		expect := func(got executor.Stats, pool debug.PoolReport, of ...string) {
			for _, c := range []struct {
				what       string
				want, json int64
				metric     string
				more       []string
			}{
				{"active", int64(got.Active), int64(pool.Active), "executor_worker_count", []string{`executor_worker_state="active"`}},
				{"idle", int64(got.Idle), int64(pool.Idle), "executor_worker_count", []string{`executor_worker_state="idle"`}},
				{"queued", int64(got.Queued), int64(pool.Queued), "executor_queue_size", nil},
				{"blocked", int64(got.Blocked), int64(pool.Blocked), "executor_submitter_blocked", nil},
				{"succeeded", got.Succeeded, pool.Succeeded, "executor_task_completed_total", []string{`executor_task_outcome="succeeded"`}},
				{"failed", got.Failed, pool.Failed, "executor_task_completed_total", []string{`executor_task_outcome="failed"`}},
				{"canceled", got.Canceled, pool.Canceled, "executor_task_completed_total", []string{`executor_task_outcome="canceled"`}},
				{"saturated", got.Rejections.Saturated, pool.Rejections["saturated"], "executor_task_rejected_total", []string{`error_type="saturated"`}},
				{"runs", got.Runs, pool.Runs, "executor_task_runs_total", nil},
				{"failures", got.Failures, pool.Failures, "executor_task_failures_total", nil},
				{"panics", got.Panics, pool.Panics, "executor_task_panics_total", nil},
			} {
				sample := c.metric + series(append(c.more, of...))
				v, ok := samples[sample]
				if !ok || v != float64(c.want) || c.json != c.want {
					t.Errorf("%s: the pool has %d, JSON %d, and %s is %v", c.what, c.want, c.json, sample, v)
				}
			}
		}
		expect(p.Stats(), report.Pools[0], `executor_id="1"`, `executor_name="mail"`, `executor_type="pool"`)
		expect(s.Stats(), report.Pools[1], `executor_id="2"`, `executor_name="timers"`, `executor_type="scheduled"`)

		// And those that the page shows.
		for number, got := range map[int]executor.Stats{1: p.Stats(), 2: s.Stats()} {
			html := asked(t, page, fmt.Sprint("/pool?id=", number), "").Body.String()
			shown := commas.ReplaceAllString(tags.ReplaceAllString(html, " "), "$1$2")
			for what, n := range map[string]int64{
				"Succeeded": got.Succeeded, "Failed": got.Failed, "Canceled": got.Canceled, "Rejected": got.Rejected, "Runs": got.Runs,
			} {
				if !regexp.MustCompile(fmt.Sprintf(`%s\s+%d\b`, what, n)).MatchString(shown) {
					t.Errorf("the page of pool %d does not show %s %d", number, what, n)
				}
			}
		}
		runs := uint64(0)
		for _, m := range fromOTel["executor_task_run_duration_seconds"].GetMetric() {
			if strings.Contains(labels(m), `executor_id="1"`) {
				runs += m.GetHistogram().GetSampleCount()
			}
		}
		if f := p.Figures(); runs != f.Run.Count || report.Pools[0].Run.Count != runs {
			t.Errorf("%d measured runs are exported, JSON has %d, the pool %d", runs, report.Pools[0].Run.Count, f.Run.Count)
		}
	})
}

// agree reports where the classic buckets of debug and the native ones of OpenTelemetry differ.
func agree(t *testing.T, name string, classic, native *dto.MetricFamily) {
	t.Helper()
	natives := make(map[string]*dto.Histogram)
	for _, m := range native.GetMetric() {
		natives[labels(m)] = m.GetHistogram()
	}
	if len(natives) != len(classic.GetMetric()) || len(natives) == 0 {
		t.Errorf("%s has %d series in debug, and %d in OpenTelemetry", name, len(classic.GetMetric()), len(natives))
	}
	for _, m := range classic.GetMetric() {
		a, b := m.GetHistogram(), natives[labels(m)]
		if a.GetSampleCount() != b.GetSampleCount() ||
			math.Abs(a.GetSampleSum()-b.GetSampleSum()) > 1e-9*a.GetSampleSum() {
			t.Errorf("%s%s: debug has %d of %v s, OpenTelemetry %d of %v s", name, labels(m),
				a.GetSampleCount(), a.GetSampleSum(), b.GetSampleCount(), b.GetSampleSum())
		}
		s := unpacked(b)
		for _, bucket := range a.GetBucket() {
			below := s.Zero
			for k, n := range s.Buckets {
				if histogram.Bound(s.Offset+k) <= bucket.GetUpperBound() {
					below += n
				}
			}
			if below != bucket.GetCumulativeCount() {
				t.Errorf("%s%s: up to %v s debug has %d, and OpenTelemetry %d", name, labels(m), bucket.GetUpperBound(), bucket.GetCumulativeCount(), below)
			}
		}
	}
}

// load submits tasks of all outcomes to the pools, in a bubble, and leaves some at work.
func load(t *testing.T, o *executor.Observer) (*executor.Pool, *executor.ScheduledPool) {
	t.Helper()
	p := testkit.NewPool(t, executor.Config{
		Name: "mail", Workers: 2, Max: 3, Queue: executor.Bounded(4), KeepAlive: time.Hour, Observer: o,
	})
	s := testkit.NewScheduled(t, executor.ScheduledConfig{Name: "timers", Workers: 1, Observer: o})
	tick := func(context.Context) error { return nil }
	if _, err := s.AtFixedRate(t.Context(), 0, time.Second, tick, executor.Named("tick")); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		executor.Submit(t.Context(), p, func(context.Context) (int, error) {
			time.Sleep(time.Duration(i+1) * time.Millisecond)
			switch {
			case i%7 == 0:
				return 0, errors.New("failed")
			case i%11 == 0:
				panic(i)
			}
			return 0, nil
		}, executor.Named(fmt.Sprint("task ", i%4)))
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Second)
	wait := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, nil }
	canceled := executor.Submit(t.Context(), p, wait)
	executor.Submit(t.Context(), p, wait)
	time.Sleep(time.Minute)
	canceled.Cancel()
	for range 5 {
		executor.Submit(t.Context(), p, wait)
	}
	synctest.Wait()
	if got := p.Stats(); got.Rejected == 0 || got.Failed == 0 || got.Panics == 0 ||
		got.Canceled == 0 || got.Active == 0 || got.Queued == 0 {
		t.Fatalf("the load is too small: %+v", got)
	}
	return p, s
}
