package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// schedulesPage is what the page of all schedules shows.
type schedulesPage struct {
	Spans     []tab
	Timelines []figures.Timeline // the second is folded
	Rows      []figures.ScheduleRow
	Counted   bool // it is known of some how often they failed, and how often they were left out
	More      int  // schedules that are not shown
	Past      string
	Cut       string // how many jobs were searched for periodic ones, "" if all were
	Errors    []string
	AsOf      string
}

// timelineSpans are what the timeline may show, back and ahead.
var timelineSpans = []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

func parseSchedules(v *address.View, q url.Values) error {
	text := q.Get("span")
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || !slices.Contains(timelineSpans, d) {
		return address.Badf("span is %.20q; it must be 1h, 24h or 168h", text)
	}
	v.Span = d
	return nil
}

func schedulesBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	l := u.Pools.Look().In(page.ZoneFrom(ctx).Location())
	p := &schedulesPage{AsOf: page.ClockZone(l.At, l.At)}
	periods, sources := l.Periods(), make([]searched, len(u.Sources))
	for i, s := range u.Sources {
		found, err := search(ctx, s)
		if err != nil {
			p.Errors = append(p.Errors, page.Lines(err.Error(), 300))
		}
		if sources[i] = found; found.cut {
			p.Cut = page.Count(periodicLimit)
		}
		for j := range found.jobs {
			if d := figures.Period(&found.jobs[j], l.At); d > 0 {
				periods = append(periods, d)
			}
		}
	}
	span := v.Span
	if span == 0 {
		span = figures.SpanOf(periods)
	}
	for _, d := range timelineSpans {
		text := fmt.Sprintf("%dh", int(d.Hours()))
		p.Spans = append(p.Spans, tab{figures.SpanName(d), address.View{Name: v.Name}.Link("span", text), d == span})
	}
	all := l.Schedules(span, v.Act)
	if len(all) > 0 {
		p.Past = "Past runs of pools are those that were seen while somebody looked."
	}
	for i, s := range u.Sources {
		all = append(all, sources[i].periodic(s, l.At, span)...)
	}
	figures.Sort(all)
	if len(all) > rowLimit {
		p.More = len(all) - rowLimit
		all = all[:rowLimit]
	}
	for _, s := range all {
		p.Rows = append(p.Rows, s.Row(l.At))
		p.Counted = p.Counted || s.Counted()
	}
	p.Timelines = figures.NewTimelines(all, l.At, span)
	return "Timeline", p, nil
}

const (
	periodicLimit = 2000 // jobs of a source that are searched for periodic ones
	periodicPage  = 500
)

// active are the states of jobs that run again by themselves, or can be resumed.
var active = []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Paused}

// searched are the periodic jobs among the oldest of a source, and the latest runs of all.
type searched struct {
	jobs []durable.Job
	cut  bool             // there may be others
	past []durable.JobRun // the latest first
}

// search reads the periodic jobs of a source, and what ran.
func search(ctx context.Context, s *source.Source) (searched, error) {
	found, _, err := source.Query(ctx, s, "periodic", func(ctx context.Context) (found searched, err error) {
		f := durable.Filter{States: active, Limit: periodicPage}
		for range periodicLimit / periodicPage {
			page, err := s.Jobs.List(ctx, f)
			if err != nil {
				return found, err
			}
			for _, j := range page {
				if j.Periodic() {
					j.Payload, j.Result = nil, nil
					found.jobs = append(found.jobs, j)
				}
			}
			if found.cut = len(page) == periodicPage; !found.cut {
				break
			}
			f.After = page[len(page)-1].ID
		}
		return found, nil
	})
	runs, _, runsErr := source.Query(ctx, s, "past", func(ctx context.Context) ([]durable.JobRun, error) { return past(ctx, s) })
	found.past = runs
	return found, cmp.Or(err, runsErr)
}

// periodic returns the periodic jobs with their runs, and their times within span.
func (found *searched) periodic(s *source.Source, now time.Time, span time.Duration) []*figures.Scheduled {
	jobs, runs := found.jobs, found.past
	byJob := make(map[durable.ID][]figures.Ended) // the latest first
	var known time.Time                           // since when runs are known
	byKey := make(map[string]durable.ID, len(jobs))
	for i := range jobs {
		byKey[jobs[i].Key] = jobs[i].ID
	}
	for _, r := range runs {
		known = r.Finished
		of := r.Job
		if key, n := durable.RunNumber(r.Key); n > 0 { // a job of its own, of a schedule
			if id, there := byKey[key]; there {
				of = id
			}
		}
		word, like := s.Outcome(&r.Run)
		byJob[of] = append(byJob[of], figures.Ended{Run: r.Run, Outcome: page.Printable(word, 40), Like: like, Took: s.Took(&r.Run)})
	}
	if len(runs) < pastLimit {
		known = time.Time{}
	}
	all := make([]*figures.Scheduled, 0, len(jobs))
	for i := range jobs {
		j, where := &jobs[i], ""
		if s.Named == nil {
			where = page.Printable(j.Kind, 60)
		}
		name, path := s.Link(j.ID, j.Key, 0)
		w := figures.NewPeriodic(name, path, where, j, now, span)
		w.AddPast(j, byJob[j.ID], known, now, span)
		all = append(all, w)
	}
	return all
}

const (
	pastLimit = 2000 // runs of a source that are looked at
	pastPage  = 500
)

// past returns the latest runs of a source, of which there may be too many to have all of a week.
func past(ctx context.Context, s *source.Source) (all []durable.JobRun, err error) {
	f := durable.LatestFilter{Limit: pastPage}
	for range pastLimit / pastPage {
		some, err := s.Jobs.Latest(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if len(some) < pastPage {
			break
		}
		f.Before = some[len(some)-1].Run
	}
	return all, nil
}
