package debug_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
)

var (
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\} (\S+)$`)
	labelPair  = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

// scrape reads the text format as strictly as Prometheus does, and returns the samples by name
// and labels.
func scrape(t testing.TB, text string) map[string]float64 {
	t.Helper()
	samples := make(map[string]float64)
	kinds := make(map[string]string)
	current, last := "", 0.0
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if kinds[name] != "" {
				t.Errorf("a second type of %s", name)
			}
			kinds[name], current = kind, name
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no sample: %q", line)
			continue
		}
		name, labels := m[1], m[2]
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || math.IsNaN(value) || value < 0 {
			t.Errorf("%q: %v", line, err)
		}
		suffix := strings.TrimPrefix(name, current)
		switch kinds[current] {
		case "counter":
			if suffix != "" || !strings.HasSuffix(name, "_total") {
				t.Errorf("counter %s", name)
			}
		case "gauge":
			if suffix != "" || strings.HasSuffix(name, "_total") {
				t.Errorf("gauge %s", name)
			}
		case "histogram":
			if suffix == "_bucket" {
				if value < last {
					t.Errorf("%q is less than the bucket before, %v", line, last)
				}
				last = value
				if strings.HasSuffix(labels, `le="+Inf"`) {
					last = 0
				}
			} else if suffix != "_sum" && suffix != "_count" {
				t.Errorf("histogram %s has %s", current, name)
			}
		default:
			t.Errorf("%q has no type", line)
		}
		key := name + "{" + labels + "}"
		if _, twice := samples[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		samples[key] = value
	}
	return samples
}

// The numbers of page, JSON and Prometheus are those of the pool.
func TestNumbersAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 2}
		p := newPool(t, o, executor.Config{
			Name: "mail", Workers: 2, Max: 3, Queue: executor.Bounded(4), KeepAlive: time.Hour,
			Hooks: executor.Hooks{
				OnPanic:   func(context.Context, executor.TaskInfo, *executor.PanicError) {},
				AfterTask: func(context.Context, executor.TaskInfo, error) {},
			},
		})
		s := newScheduled(t, o, "timers")
		if _, err := s.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Named("tick")); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			p.Go(t.Context(), func(context.Context) error {
				time.Sleep(time.Duration(i+1) * time.Millisecond)
				switch {
				case i%7 == 0:
					return errors.New("failed")
				case i%11 == 0:
					panic(i)
				}
				return nil
			}, executor.Named(fmt.Sprint("task ", i%4)))
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Second)
		f := executor.Submit(t.Context(), p, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, nil })
		executor.Submit(t.Context(), p, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, nil })
		time.Sleep(time.Minute)
		f.Cancel()
		synctest.Wait()

		h := debug.Handler(o)
		page, text := get(t, h, "/pool?id=1"), get(t, h, "/metrics")
		samples := scrape(t, text)
		var report debug.Report
		if err := json.Unmarshal([]byte(get(t, h, "/json")), &report); err != nil {
			t.Fatal(err)
		}
		got := p.Figures()
		if got.Rejected == 0 || got.Failed == 0 || got.Panics == 0 || got.Canceled == 0 || got.Active == 0 {
			t.Fatalf("the load is too small: %+v", got.Stats)
		}
		j := report.Pools[0]
		const labels = `executor_name="mail",executor_id="1",executor_type="pool"`
		for _, c := range []struct {
			what   string
			want   int64
			json   int64
			sample string
		}{
			{"active", int64(got.Active), int64(j.Active), `worker_count{` + labels + `,executor_worker_state="active"}`},
			{"idle", int64(got.Idle), int64(j.Idle), `worker_count{` + labels + `,executor_worker_state="idle"}`},
			{"kept", int64(got.Kept), int64(j.Kept), `worker_kept{` + labels + `}`},
			{"max", int64(got.Max), int64(j.Max), `worker_limit{` + labels + `}`},
			{"queued", int64(got.Queued), int64(j.Queued), `queue_size{` + labels + `}`},
			{"capacity", int64(got.Capacity), int64(j.Capacity), `queue_capacity{` + labels + `}`},
			{"blocked", int64(got.Blocked), int64(j.Blocked), `submitter_blocked{` + labels + `}`},
			{"succeeded", got.Succeeded, j.Succeeded, `task_completed_total{` + labels + `,executor_task_outcome="succeeded"}`},
			{"failed", got.Failed, j.Failed, `task_completed_total{` + labels + `,executor_task_outcome="failed"}`},
			{"canceled", got.Canceled, j.Canceled, `task_completed_total{` + labels + `,executor_task_outcome="canceled"}`},
			{"saturated", got.Rejections.Saturated, j.Rejections["saturated"],
				`task_rejected_total{` + labels + `,error_type="saturated"}`},
			{"runs", got.Runs, j.Runs, `task_runs_total{` + labels + `}`},
			{"failures", got.Failures, j.Failures, `task_failures_total{` + labels + `}`},
			{"panics", got.Panics, j.Panics, `task_panics_total{` + labels + `}`},
		} {
			if c.json != c.want {
				t.Errorf("%s: JSON has %d, want %d", c.what, c.json, c.want)
			}
			if v, ok := samples["executor_"+c.sample]; !ok || v != float64(c.want) {
				t.Errorf("%s: %s is %v, want %d", c.what, c.sample, v, c.want)
			}
		}
		for name, n := range map[string]int64{
			"Succeeded": got.Succeeded, "Failed": got.Failed, "Rejected": got.Rejected, "Runs": got.Runs,
		} {
			if want := fmt.Sprintf("<dt>%s</dt><dd>%d", name, n); !strings.Contains(page, want) {
				t.Errorf("the page has no %q", want)
			}
		}
		var runs, rejected, seconds float64
		for key, v := range samples {
			switch {
			case strings.HasPrefix(key, "executor_task_run_duration_seconds_count{"+labels):
				runs += v
			case strings.HasPrefix(key, "executor_task_run_duration_seconds_sum{"+labels):
				seconds += v
			case strings.HasPrefix(key, "executor_task_rejected_total{"+labels):
				rejected += v
			}
		}
		if runs != float64(got.Run.Count) || math.Abs(seconds-got.Run.Sum) > 1e-9 || rejected != float64(got.Rejected) {
			t.Errorf("by name there are %v runs of %v s, and %v rejected; want %d, %v s and %d",
				runs, seconds, rejected, got.Run.Count, got.Run.Sum, got.Rejected)
		}
		if j.Run.Count != got.Run.Count || j.Run.Sum != got.Run.Sum || len(j.Run.Buckets) != len(got.Run.Buckets) {
			t.Errorf("JSON has %+v, want %+v", j.Run, got.Run)
		}
		if n := len(report.Pools[1].Schedules); n != 1 || samples[`executor_schedule_count{executor_name="timers",executor_id="2",executor_type="scheduled"}`] != 1 {
			t.Errorf("%d schedules", n)
		}
	})
}

// The classic buckets of a histogram count what is at most as long as their bounds, and a task
// that is measured counts for Every.
func TestMetricsBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1}
		p := newPool(t, o, executor.Config{Workers: 1})
		for _, d := range []time.Duration{
			0, 1, time.Millisecond, time.Second, 1100 * time.Millisecond, time.Hour, 48 * time.Hour,
		} {
			p.Go(t.Context(), func(context.Context) error { time.Sleep(d); return nil })
		}
		time.Sleep(100 * time.Hour)
		samples := scrape(t, get(t, debug.Handler(o), "/metrics"))
		const name = `executor_task_run_duration_seconds_bucket{executor_name="",executor_id="1",executor_type="pool",le="`
		for bound, want := range map[string]float64{
			"5.960464477539063e-08": 2, "0.00390625": 3, "1": 4, "4": 5, "1024": 5, "4096": 6, "+Inf": 7,
		} {
			if got, ok := samples[name+bound+`"}`]; !ok || got != want {
				t.Errorf("up to %s: %v, want %v", bound, got, want)
			}
		}
	})
}

// Labels hold any name, and names that are alike in them are one series.
func TestMetricsHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 100}
		p := newPool(t, o, executor.Config{Name: "mail", Workers: 1})
		names := append(hostile, "(others)", strings.Repeat("long", 2560)+"er", "a\rb", "a\x01b")
		for _, name := range names {
			newPool(t, o, executor.Config{Name: name})
			p.Go(t.Context(), nop, executor.Named(name))
		}
		time.Sleep(time.Minute)
		text := get(t, debug.Handler(o), "/metrics")
		var runs float64
		pools := make(map[string]bool)
		for key, v := range scrape(t, text) {
			if strings.HasPrefix(key, "executor_task_run_duration_seconds_count") {
				runs += v
			}
			for _, m := range labelPair.FindAllStringSubmatch(key, -1) {
				if m[1] == "executor_id" {
					pools[m[2]] = true
				}
				if len(m[2]) > 500 {
					t.Errorf("a label of %d bytes", len(m[2]))
				}
			}
		}
		if runs != float64(len(names)) || len(pools) != len(names)+1 {
			t.Errorf("%v runs of %d pools, want %d and %d", runs, len(pools), len(names), len(names)+1)
		}
	})
}

// A pool that is paused is shown so on its page and in the list, and in JSON and metrics.
func TestPausedPoolIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(executor.Observer)
		p := newPool(t, o, executor.Config{Name: "mail", Workers: 1, Max: 1, Queue: executor.Bounded(4)})
		h := debug.Handler(o)
		for _, paused := range []bool{false, true, false} {
			if p.Resume(); paused {
				p.Pause()
			}
			time.Sleep(time.Minute) // answers are kept for a while
			for _, path := range []string{"/", "/pool?id=1"} {
				if is := strings.Contains(get(t, h, path), `<i class="pill held">paused</i>`); is != paused {
					t.Errorf("%s shows a paused pool: %v, want %v", path, is, paused)
				}
			}
			var report debug.Report
			if err := json.Unmarshal([]byte(get(t, h, "/json")), &report); err != nil || report.Pools[0].Paused != paused {
				t.Errorf("JSON: %v, %v, want %v", report.Pools[0].Paused, err, paused)
			}
			value := scrape(t, get(t, h, "/metrics"))[`executor_pool_paused{executor_name="mail",executor_id="1",executor_type="pool"}`]
			if value > 0 != paused {
				t.Errorf("the metric is %v, want %v", value, paused)
			}
		}
	})
}
