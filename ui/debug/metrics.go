package debug

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
	"github.com/executor-go/executor/ui/internal/poolview"
)

func (h *handler) serveMetrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	writeMetrics(&b, h.watcher.Look())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(b.Bytes())
}

// writeMetrics writes the text format of Prometheus. All series of a metric follow each other.
func writeMetrics(b *bytes.Buffer, l *poolview.Look) {
	m := metrics{Buffer: b, look: l}
	m.gauge("worker_count", "Workers, by what they do.", func(p *poolview.Pool, add addSample) {
		add(float64(p.Active), "executor_worker_state", "active")
		add(float64(p.Idle), "executor_worker_state", "idle")
	})
	m.gauge("worker_kept", "Workers to keep.", func(p *poolview.Pool, add addSample) { add(float64(p.Kept)) })
	m.gauge("worker_limit", "The most workers, where there is a limit.", func(p *poolview.Pool, add addSample) {
		if p.Max >= 0 {
			add(float64(p.Max))
		}
	})
	m.gauge("queue_size", "Tasks that wait.", func(p *poolview.Pool, add addSample) { add(float64(p.Queued)) })
	m.gauge("queue_capacity", "The most tasks that may wait, where there is a limit.", func(p *poolview.Pool, add addSample) {
		if p.Capacity >= 0 {
			add(float64(p.Capacity))
		}
	})
	m.gauge("submitter_blocked", "Submitters that wait for room.", func(p *poolview.Pool, add addSample) {
		add(float64(p.Blocked))
	})
	m.gauge("pool_paused", "1 while the pool is paused, else 0.", func(p *poolview.Pool, add addSample) {
		if p.Paused {
			add(1)
		} else {
			add(0)
		}
	})
	m.gauge("schedule_count", "Series of periodic work.", func(p *poolview.Pool, add addSample) {
		if p.Scheduled {
			add(float64(len(p.Schedules)))
		}
	})
	m.counter("task_completed", "Tasks that have ended, by outcome.", func(p *poolview.Pool, add addSample) {
		add(float64(p.Succeeded), "executor_task_outcome", "succeeded")
		add(float64(p.Failed), "executor_task_outcome", "failed")
		add(float64(p.Canceled), "executor_task_outcome", "canceled")
	})
	m.counter("task_rejected", "Tasks that were rejected or evicted, by reason.", func(p *poolview.Pool, add addSample) {
		for _, r := range poolview.Reasons(p.Stats) {
			add(float64(r.N), "error_type", r.Name)
		}
	})
	m.counter("task_runs", "Bodies that have run.", func(p *poolview.Pool, add addSample) { add(float64(p.Runs)) })
	m.counter("task_failures", "Bodies that have failed, also runs of schedules and attempts of Retry.",
		func(p *poolview.Pool, add addSample) { add(float64(p.Failures)) })
	m.counter("task_panics", "Panics of bodies and hooks.", func(p *poolview.Pool, add addSample) { add(float64(p.Panics)) })
	m.histogram("task_wait_duration", "From the admission to the begin of a run.",
		func(f executor.NameFigures) histogram.Snapshot { return f.Wait },
		func(p *poolview.Pool) bool { return !p.Scheduled })
	m.histogram("task_lateness", "From the time when a run was due to its begin.",
		func(f executor.NameFigures) histogram.Snapshot { return f.Late },
		func(p *poolview.Pool) bool { return p.Scheduled })
	m.histogram("task_run_duration", "From the begin of a run to its end.",
		func(f executor.NameFigures) histogram.Snapshot { return f.Run },
		func(p *poolview.Pool) bool { return true })
}

// metrics writes metrics of a look.
type metrics struct {
	*bytes.Buffer
	look *poolview.Look
}

// addSample adds a sample, with more labels: names and values in turn.
type addSample func(value float64, labels ...string)

func (m metrics) gauge(name, help string, of func(*poolview.Pool, addSample)) {
	m.simple(name, "gauge", help, of)
}

func (m metrics) counter(name, help string, of func(*poolview.Pool, addSample)) {
	m.simple(name+"_total", "counter", help, of)
}

func (m metrics) simple(name, kind, help string, of func(*poolview.Pool, addSample)) {
	name = m.head(name, kind, help)
	for i := range m.look.Pools {
		p := &m.look.Pools[i]
		of(p, func(value float64, labels ...string) { m.sample(name, labelsOf(p, labels...), value) })
	}
}

func (m metrics) head(name, kind, help string) string {
	name = "executor_" + name
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	return name
}

func (m metrics) sample(name, labels string, value float64) {
	fmt.Fprintf(m, "%s{%s} %s\n", name, labels, strconv.FormatFloat(value, 'g', -1, 64))
}

// histogram writes a histogram of each pool for which has reports true: by task name where names
// have figures of their own. A measured task counts as often as there are tasks for it.
func (m metrics) histogram(
	name, help string, of func(executor.NameFigures) histogram.Snapshot, has func(*poolview.Pool) bool,
) {
	name = m.head(name+"_seconds", "histogram", help+" One task in several may be measured.")
	for i := range m.look.Pools {
		p := &m.look.Pools[i]
		if !has(p) {
			continue
		}
		if p.Names == nil {
			m.buckets(name, labelsOf(p), of(executor.NameFigures{Wait: p.Wait, Late: p.Late, Run: p.Run}), p.Every)
			continue
		}
		byName := map[string]histogram.Snapshot{otherNames: of(p.OtherNames)}
		for task, f := range p.Names {
			task = label(task) // names that are alike after that are one
			byName[task] = byName[task].Add(of(f))
		}
		for _, task := range slices.Sorted(maps.Keys(byName)) {
			if s := byName[task]; s.Count > 0 || task != otherNames {
				m.buckets(name, labelsOf(p, "executor_task_name", task), s, p.Every)
			}
		}
	}
}

// otherNames is the label of tasks with names beyond the limit.
const otherNames = "(others)"

// Bounds of classic buckets are every fourth power of two of a second, from 60 ns to 4096 s.
const (
	firstPower = -24
	lastPower  = 12
	powerStep  = 2
)

func (m metrics) buckets(name, labels string, s histogram.Snapshot, every int) {
	sum, k := s.Zero, 0
	for power := firstPower; power <= lastPower; power += powerStep {
		last := power<<histogram.Scale - 1 // the bucket that ends with this power
		for ; k < len(s.Buckets) && s.Offset+k <= last; k++ {
			sum += s.Buckets[k]
		}
		bound := strconv.FormatFloat(histogram.Bound(last), 'g', -1, 64)
		m.sample(name+"_bucket", labels+`,le="`+bound+`"`, float64(sum*uint64(every)))
	}
	m.sample(name+"_bucket", labels+`,le="+Inf"`, float64(s.Count*uint64(every)))
	m.sample(name+"_sum", labels, s.Sum*float64(every))
	m.sample(name+"_count", labels, float64(s.Count*uint64(every)))
}

// labelsOf returns the labels of a pool, and more: names and values in turn. The number
// distinguishes pools of one name.
func labelsOf(p *poolview.Pool, more ...string) string {
	kind := "pool"
	if p.Scheduled {
		kind = "scheduled"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `executor_name="%s",executor_id="%d",executor_type="%s"`, escape(label(p.Name)), p.Number, kind)
	for i := 0; i < len(more); i += 2 {
		fmt.Fprintf(&b, `,%s="%s"`, more[i], escape(more[i+1]))
	}
	return b.String()
}

// label returns s as the value of a label: valid UTF-8, of at most 200 bytes, and without control
// characters, since the text may be read on a terminal. Package otel has the same, since what two
// modules share would have to be exported.
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > labelLimit {
		s = s[:labelLimit]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}

const labelLimit = 200

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// escape returns a value as it stands between quotes.
func escape(s string) string { return escaper.Replace(s) }
