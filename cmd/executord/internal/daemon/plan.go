package daemon

import (
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

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

// dues are due times: those that count, and those that the season of their job excludes.
type dues struct {
	counts, excluded span
	why              string // the latest does not count that is excluded
	wrong            error  // why it is not known of some: they count
}

// duesOf tells the due times of a job apart.
func duesOf(e catalog.Entry, times iter.Seq[time.Time]) (d dues) {
	var calendar job.Calendar
	calendar, d.wrong = e.Calendar()
	zone := e.Spec.Location()
	for t := range times {
		t = t.In(zone)
		if why := calendar.Excludes(t); why != "" {
			d.excluded.add(t)
			d.why = why
		} else {
			d.counts.add(t)
		}
	}
	return d
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

// A plan is what becomes of the due times for which a schedule fires. Each is run, skipped, missed or excluded: at most
// one is run.
type plan struct {
	durable.Decision
	dues                          // of which counts are left that are run
	skipped, missed span          // and why:
	reason          string        // of the latter
	during          int           // the run during which times are skipped
	replaced        []durable.Job // runs that have not begun, and give way to the run
	until           time.Time     // the end of its jitter, zero if it has none
}

// moreTimes is how many due times are looked at one by one, whether they count. Of more, the latest alone is.
const moreTimes = 10_000

// planOf returns the plan of a firing for these due times, the last of which is the occurrence. jitter returns a random
// part of a duration.
func planOf(e catalog.Entry, f durable.Firing, times iter.Seq[time.Time], jitter func(time.Duration) time.Duration) (p plan) {
	if p.State = f.State; e.Spec.Off {
		p.LeftOut = "removed"
		return p
	}
	p.State = e.StateAfter(f.Occurrence, e.Skipped)
	asked := !catalog.Scheduled(e.Job, f.Occurrence) // by a tool of package durable
	if f.LeftOut.Count > moreTimes && !e.AllCount() {
		times = func(yield func(time.Time) bool) { yield(f.Occurrence) }
	}
	switch zone := e.Spec.Location(); {
	case asked:
		p.counts.add(f.Occurrence.In(zone))
	case e.AllCount():
		p.counts = span{n: f.LeftOut.Count + 1, first: f.Occurrence.In(zone), last: f.Occurrence.In(zone)}
		if f.LeftOut.Count > 0 {
			p.counts.first = f.LeftOut.First.In(zone)
		}
	case decided(f): // whatever counts by now
		ran := catalog.RunOf(f.Run).Due
		p.dues = duesOf(e, func(yield func(time.Time) bool) {
			times(func(t time.Time) bool { return t.Equal(ran) || yield(t) })
		})
		p.counts.add(ran.In(zone))
	default:
		p.dues = duesOf(e, times)
	}
	if p.counts.n == 0 {
		p.LeftOut = string(outcome.Excluded) + ": " + p.why
		return p
	}
	misfire, _ := job.ParseMisfire(e.Spec.Misfire)
	late := f.Now.Sub(p.counts.last)
	d := e.Place(asked)
	if decided(f) { // whether there is room for it, and it is in time
		d.Later, d.LeftOut, late = 0, "", 0
	}
	switch {
	case d.Later > 0:
		return plan{Decision: durable.Decision{Later: d.Later, State: f.State}}
	case d.LeftOut != "":
		p.skipped, p.counts = p.counts, span{}
		p.during = int(catalog.NumberOf(e.Open[0]))
		p.LeftOut, p.State = "skipped: "+d.LeftOut, e.StateAfter(f.Occurrence, e.Skipped+p.skipped.n)
	case misfire.Within > 0 && late > misfire.Within && !asked:
		p.missed, p.counts = p.counts, span{}
		p.reason = "the job did not run when it was due, and by its misfire does not " + late.Truncate(time.Second).String() + " later"
		p.LeftOut = fmt.Sprintf("%s: by its misfire does not run %v late", outcome.Missed, late.Truncate(time.Second)) // a label is short
	default:
		if n := p.counts.n - 1; n > 0 {
			p.missed = span{n: n, first: p.counts.first}
			p.reason = "the job did not run when it was due"
		}
		p.counts = span{n: 1, first: p.counts.last, last: p.counts.last}
		p.run(e, f, d, asked, jitter)
		if p.missed.n > 0 { // the log of a daemon that is killed may not have it
			p.Label = outcome.Before(p.missed.n, p.missed.first)
		}
	}
	return p
}

// decided reports whether a daemon that was killed has added the run of the occurrence.
func decided(f durable.Firing) bool { return f.Run.ID != (durable.ID{}) }

// run plans the run.
func (p *plan) run(e catalog.Entry, f durable.Firing, d durable.Decision, asked bool, jitter func(time.Duration) time.Duration) {
	p.Decision = d
	p.State = e.StateAfter(f.Occurrence, 0)
	p.Payload = catalog.Run{Due: p.counts.last, Asked: asked}
	switch {
	case e.Spec.Jitter == 0, asked:
	case !decided(f):
		p.until = f.Now.Add(jitter(e.Spec.Jitter))
		p.Delay = p.until.Sub(f.Occurrence)
	case f.Run.Anchor.After(f.Occurrence):
		p.until = f.Run.Anchor
	}
	for _, run := range e.Open {
		if len(p.Cancel) > 0 && !run.State.Granted() && run.Runs == 0 {
			p.replaced = append(p.replaced, run)
		}
	}
}
