package daemon

import (
	"log/slog"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// dues are successive due times: those that count, and those that the season of their job excludes.
type dues struct {
	counts, excluded span
	why              string // the latest does not count that is excluded
	wrong            error  // why it is not known of some: they count
}

// span are some due times, the first and the last of which are zero if there are none.
type span struct {
	n           int
	first, last time.Time
}

func (s *span) add(t time.Time) {
	if s.n == 0 {
		s.first = t
	}
	s.n, s.last = s.n+1, t
}

// plan is when a job is due: at no time if it is zero.
type plan struct {
	times    job.Trigger
	schedule string
	anchor   time.Time
	season   job.Season
	zone     *time.Location
	since    time.Time // when a file has brought it; zero if the run began with it
}

// planOf returns the plan of a job that is so in the store.
func planOf(row durable.Job, spec catalog.Spec) plan {
	return plan{times: catalog.Times(row), schedule: row.Schedule, anchor: row.Anchor, season: spec.Season(), zone: spec.Location()}
}

// isOf reports whether a row has the schedule of the plan, and has it since the same time.
func (p plan) isOf(row durable.Job) bool {
	return p.schedule == row.Schedule && p.anchor.Equal(row.Anchor)
}

// dues returns n successive due times, the first of which is given; that may be none of the schedule, as one at which
// somebody has asked for a run, and counts then. Of the plan of a job that has been removed, and of one without a season,
// all count; the last is then not known.
func (p plan) dues(first time.Time, n int) (d dues) {
	if n <= 0 {
		return d
	}
	if p.times == nil || p.season.IsZero() {
		if p.zone != nil {
			first = first.In(p.zone)
		}
		d.counts = span{n: n, first: first}
		return d
	}
	var calendar job.Calendar
	calendar, d.wrong = p.season.Calendar()
	asked := !catalog.On(p.times, first)
	for t := range catalog.From(p.times, first, n) {
		t = t.In(p.zone)
		if why := calendar.Excludes(t); why != "" && !(asked && t.Equal(first)) {
			d.excluded.add(t)
			d.why = why
		} else {
			d.counts.add(t)
		}
	}
	return d
}

// next returns the first due time after another that counts, the zero Time if there is none.
func (p plan) next(after time.Time) time.Time {
	if p.times == nil {
		return time.Time{}
	}
	calendar, _ := p.season.Calendar()
	return calendar.Next(p.times, after, p.zone)
}

// logExcluded logs due times that do not count, and why the latest does not; and why it is not known of others.
func (d dues) logExcluded(log *slog.Logger) {
	if d.wrong != nil {
		log.Warn("exceptions not read", "reason", d.wrong.Error(), "hint", "correct the file; until then the job runs")
	}
	if d.excluded.n == 0 {
		return
	}
	attrs := []any{about.Key, about.RunExcluded, "due", stamp(d.excluded.last), "reason", d.why}
	if d.excluded.n > 1 {
		attrs = append(attrs, "count", d.excluded.n, "first", stamp(d.excluded.first))
	}
	log.Info("run excluded", attrs...)
}
