package debug

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
	"github.com/executor-go/executor/ui/internal/poolview"
)

// Report is the answer of …/json. All durations in it are in seconds.
type Report struct {
	At     time.Time     `json:"at"`     // when the pools were read
	Pools  []PoolReport  `json:"pools"`  // by number; without those that have terminated
	Events []EventReport `json:"events"` // the latest first
	Lost   int64         `json:"lost"`   // number of events that are not kept any more
}

// PoolReport is a pool in a [Report]. The counters are those of [executor.Stats].
type PoolReport struct {
	Number    int            `json:"number"` // in the Observer, from 1
	Name      string         `json:"name"`
	Scheduled bool           `json:"scheduled"` // whether it is a scheduled pool
	Stage     executor.Stage `json:"stage"`
	Paused    bool           `json:"paused"`
	Uptime    float64        `json:"uptime"` // in seconds

	Kept     int `json:"kept"`
	Max      int `json:"max"`      // -1: no limit
	Capacity int `json:"capacity"` // -1: no limit
	Workers  int `json:"workers"`
	Active   int `json:"active"`
	Idle     int `json:"idle"`
	Largest  int `json:"largest"`
	Queued   int `json:"queued"`
	Blocked  int `json:"blocked"`

	Submitted int64 `json:"submitted"`
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
	Canceled  int64 `json:"canceled"`
	Rejected  int64 `json:"rejected"`

	// Rejected by reason: saturated, shutdown, expired, evicted, panicked
	Rejections map[string]int64 `json:"rejections"`

	Runs     int64 `json:"runs"`
	Failures int64 `json:"failures"` // of runs
	Panics   int64 `json:"panics"`

	Every     int                 `json:"every"` // one task in this many is measured
	Measured                      // of all tasks
	Names     map[string]Measured `json:"names,omitempty"`  // by task name
	Others    *Measured           `json:"others,omitempty"` // of tasks with names beyond Observer.MaxNames
	Crew      []WorkerReport      `json:"crew"`             // the workers
	Schedules []ScheduleReport    `json:"schedules,omitempty"`
}

// EventReport is an event in a [Report], see [executor.Event].
type EventReport struct {
	Number int64     `json:"number"`
	Time   time.Time `json:"time"`
	Count  int64     `json:"count"`
	Pool   int       `json:"pool"` // number of the pool
	Name   string    `json:"name"` // name of the pool
	Kind   string    `json:"kind"`
}

// Measured has the measurements of some tasks, see [executor.Figures]. Each is nil if nothing was measured.
type Measured struct {
	Wait *Durations `json:"wait,omitempty"` // from the admission of a task to its run; not of scheduled pools
	Late *Durations `json:"late,omitempty"` // from when a run was due to its begin; of scheduled pools
	Run  *Durations `json:"run,omitempty"`  // how long runs took
}

// Durations is a histogram, see [histogram.Snapshot], with some of its quantiles in seconds. P50 is the median. Most is
// an upper bound of the longest duration.
type Durations struct {
	Count   uint64   `json:"count"`
	Sum     float64  `json:"sum"`
	P50     float64  `json:"p50"`
	P90     float64  `json:"p90"`
	P99     float64  `json:"p99"`
	Most    float64  `json:"most"`
	Zero    uint64   `json:"zero,omitempty"`
	Offset  int      `json:"offset"`
	Buckets []uint64 `json:"buckets,omitempty"`
}

// WorkerReport is a worker of a pool, see [executor.WorkerInfo].
type WorkerReport struct {
	Number int        `json:"number"`
	Active bool       `json:"active"`          // whether it runs a task
	Task   string     `json:"task,omitempty"`  // name of the task that it runs
	Tasks  int64      `json:"tasks"`           // runs that it was given, the present one included
	Since  *time.Time `json:"since,omitempty"` // when the run began, or the worker became idle
	Due    *time.Time `json:"due,omitempty"`   // when the run was due, of scheduled pools
}

func (h *handler) serveJSON(w http.ResponseWriter, r *http.Request) {
	data, err := json.Marshal(newReport(h.watcher.Look()))
	if err != nil {
		http.Error(w, "debug: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(data, '\n'))
}

func newReport(l *poolview.Look) Report {
	report := Report{At: l.At, Pools: []PoolReport{}, Events: []EventReport{}, Lost: l.Lost}
	for _, e := range l.Events {
		report.Events = append(report.Events, EventReport(e))
	}
	for i := range l.Pools {
		p := &l.Pools[i]
		v := PoolReport{
			Number: p.Number, Name: p.Name, Scheduled: p.Scheduled, Stage: p.Stage, Paused: p.Paused, Uptime: p.Uptime.Seconds(),
			Kept: p.Kept, Max: p.Max, Capacity: p.Capacity,
			Workers: p.Workers, Active: p.Active, Idle: p.Idle, Largest: p.Largest,
			Queued: p.Queued, Blocked: p.Blocked,
			Submitted: p.Submitted, Succeeded: p.Succeeded, Failed: p.Failed, Canceled: p.Canceled,
			Rejected: p.Rejected, Rejections: make(map[string]int64), Runs: p.Runs, Failures: p.Failures, Panics: p.Panics,
			Every: p.Every, Measured: reported(executor.NameFigures{Wait: p.Wait, Late: p.Late, Run: p.Run}),
			Crew: []WorkerReport{}, Schedules: scheduleReports(p.Schedules),
		}
		for _, r := range poolview.Reasons(p.Stats) {
			v.Rejections[r.Name] = r.N
		}
		if p.Names != nil {
			v.Names = make(map[string]Measured)
			for name, f := range p.Names {
				v.Names[name] = reported(f)
			}
			others := reported(p.OtherNames)
			v.Others = &others
		}
		for _, w := range p.Crew {
			v.Crew = append(v.Crew, WorkerReport{w.Number, w.Active, w.Task, w.Tasks, set(w.Since), set(w.Due)})
		}
		report.Pools = append(report.Pools, v)
	}
	return report
}

// set returns t, nil if it is zero.
func set(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func reported(f executor.NameFigures) Measured {
	return Measured{durations(f.Wait), durations(f.Late), durations(f.Run)}
}

// durations returns s for a report, nil if it is empty.
func durations(s histogram.Snapshot) *Durations {
	if s.Count == 0 {
		return nil
	}
	at := func(q float64) float64 { return s.Quantile(q).Seconds() }
	return &Durations{s.Count, s.Sum, at(0.5), at(0.9), at(0.99), at(1), s.Zero, s.Offset, s.Buckets}
}
