package report

import (
	"sync"
	"time"

	"github.com/executor-go/executor/bench/round"
	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

// A Record is one value of a report.
type Record struct {
	Workload string    `json:"workload"`
	Subject  string    `json:"subject"`
	Value    float64   `json:"value"` // the median of the samples
	Unit     string    `json:"unit"`
	Samples  []float64 `json:"samples"`
}

// A Report is the result of one run of the program.
type Report struct {
	Setting
	Records []Record `json:"records"`
	Failed  []string `json:"failed,omitempty"` // errors of runs
}

// Setting describes how and on which machine a report was measured.
type Setting struct {
	Date     time.Time         `json:"date"`
	Took     time.Duration     `json:"took"`
	Rounds   int               `json:"rounds"`
	Seed     uint64            `json:"seed"`
	Quick    bool              `json:"quick"`
	Machine  Machine           `json:"machine"`
	Go       string            `json:"go"`
	Java     string            `json:"java"`     // "" if there was none
	Postgres string            `json:"postgres"` // "" if there was none
	Commit   string            `json:"commit"`   // with "+" if files have changed
	Versions map[string]string `json:"versions"` // of the rivals, by subject
}

// Machine describes a machine.
type Machine struct {
	OS     string  `json:"os"`
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Memory float64 `json:"memory_gb"`
}

// New returns a report with its records in the order of the tables.
func New(samples round.Samples, s Setting) *Report {
	r := &Report{Setting: s}
	for _, w := range workload.All() {
		for _, o := range w.Outputs {
			for _, sub := range subject.All() {
				if vs := samples[round.Key{Workload: o.ID, Subject: sub.ID}]; len(vs) > 0 {
					r.Records = append(r.Records, Record{o.ID, sub.ID, Median(vs), o.Unit, vs})
				}
			}
		}
	}
	return r
}

func (r *Report) find(workload, subject string) (Record, bool) {
	for _, rec := range r.Records {
		if rec.Workload == workload && rec.Subject == subject {
			return rec, true
		}
	}
	return Record{}, false
}

// Value returns the value of a record, and whether there is one.
func (r *Report) Value(workload, subject string) (float64, bool) {
	rec, ok := r.find(workload, subject)
	return rec.Value, ok
}

// references maps the id of an output to the subject with which the others are compared.
var references = sync.OnceValue(func() map[string]string {
	refs := map[string]string{}
	for _, w := range workload.All() {
		for _, o := range w.Outputs {
			refs[o.ID] = subject.Reference(w.Kind)
		}
	}
	return refs
})

func reference(id string) string { return references()[id] }

// ratio returns the value of the subject relative to ours. It reports false if either is
// unknown, or ours is close to zero.
func (r *Report) ratio(workload, sub string) (float64, bool) {
	v, ok := r.Value(workload, sub)
	own, known := r.Value(workload, reference(workload))
	if !ok || !known || own < 0.05 {
		return 0, false
	}
	return v / own, true
}
