package pages

import (
	"bytes"
	"context"
	"html/template"
	"net/url"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// jobsPage is what the list of jobs shows.
type jobsPage struct {
	Source      string
	Tabs        []tab
	State       string
	Search      string   // what is asked for besides the state, as it is typed
	Kinds       []string // the same for all of a kind
	ActAll      string   // link to what can be done to all jobs of the list
	Jobs        []jobRow
	Hours       template.HTML // what ended in each hour of the last day, of the kind or of all
	Charts      plots
	Reasons     string // link to the same, grouped by reason; "" unless they are dead
	All         string // link to all jobs
	Asked       bool   // the list does not have all
	First, Next string // links to other pages, "" if there is none
	Act         bool
	Error       string
	AsOf        string
}

func jobsBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	s := u.Sources.Find(v.Source)
	now := page.ZoneFrom(ctx).Now()
	p := &jobsPage{Source: v.Source, State: v.State, Act: v.Act}
	counts, _, err := countsOf(ctx, s)
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.kinds(counts)
	if v.Narrow() {
		if counts, err = listCounts(ctx, s, v); err != nil {
			p.Error = page.Lines(err.Error(), 300)
		}
	}
	p.tabs(v, counts)
	p.asked(v)
	ofQueue := v.Queue != "" && v.Kind == "" && v.Search == "" && v.Wanted == address.Wanted{Queue: v.Queue}
	if (!v.Narrow() || ofQueue) && v.State == "" && v.After == "" {
		day, err := s.Day(ctx)
		if err != nil {
			p.Error = page.Lines(err.Error(), 300)
		}
		ended := day.OfQueue(v.Queue)
		if !ofQueue {
			p.Hours = page.Hours(hoursOf(s, day, v.Kind, now.Location()))
			ended = day.Of(v.Kind)
		}
		p.Charts.Plots = figures.HourlyPlots(hourly(day, ended), v.Live, now.Location())
	}
	jobs, asOf, err := source.Query(ctx, s, jobsKey{v.State, v.Kind, v.Search, v.After, v.Wanted},
		func(ctx context.Context) ([]durable.Job, error) {
			found, err := admin.List(ctx, s.Jobs, v.Asked(), rowLimit+1)
			for i := range found {
				j := &found[i]
				if j.Result = nil; !u.Payloads || j.Key != "" {
					j.Payload = nil
				}
				j.Payload = bytes.Clone(j.Payload[:min(len(j.Payload), payloadBegin)]) // the rest is not kept
			}
			return found, err
		})
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.Asked = v.State != "" || v.Kind != "" || v.After != "" || v.Narrow()
	p.AsOf, p.All = page.ClockZone(asOf, now), address.View{Name: "jobs", Source: v.Source}.Link()
	if len(jobs) > rowLimit {
		jobs = jobs[:rowLimit]
		p.Next = v.Link("after", jobs[rowLimit-1].ID.String())
	}
	if v.State == durable.Dead.String() {
		p.Reasons = address.View{Name: "dead", Source: v.Source}.Link()
	}
	if v.After != "" {
		p.First = v.Link("after", "")
	}
	for i := range jobs {
		p.Jobs = append(p.Jobs, newJobRow(s, &jobs[i], now))
	}
	return "Jobs", p, nil
}

// hourly returns how long runs waited and took in the hours of a day.
func hourly(day source.Day, ended []source.Ended) (hours []figures.Hourly) {
	for i, e := range ended {
		until := day.Hours[i].From.Add(time.Hour)
		if until.After(day.Now) {
			until = day.Now
		}
		hours = append(hours, figures.Hourly{Until: until, Wait: e.Wait, Took: e.Took})
	}
	return hours
}

type jobsKey struct {
	state, kind, search, after string
	address.Wanted
}

// asked fills in what was asked for, and the link to what can be done to all of it.
func (p *jobsPage) asked(v address.View) {
	typed := v.Asked()
	typed.States = nil // there are tabs for them
	p.Search = typed.Search()
	if v.Act {
		list := v
		list.After, list.Source = "", ""
		q := url.Values{"jobs": {list.Query(url.Values{})}}
		if v.Source != "" {
			q.Set("source", v.Source)
		}
		p.ActAll = "act?" + q.Encode()
	}
}

// kinds fills in the kinds.
func (p *jobsPage) kinds(counts []durable.Count) {
	last := ""
	for _, c := range counts {
		if c.Kind != last && len(p.Kinds) < rowLimit { // they are ordered by kind
			p.Kinds = append(p.Kinds, admin.Query{Kind: c.Kind}.Search())
		}
		last = c.Kind
	}
}

// tabs fills in the tabs, with how many jobs there are.
func (p *jobsPage) tabs(v address.View, counts []durable.Count) {
	total := 0
	n := make(map[string]int)
	for _, c := range counts {
		if v.Kind != "" && c.Kind != v.Kind {
			continue
		}
		total += c.Jobs
		for _, column := range admin.States {
			if slices.Contains(column.All, c.State) {
				n[column.Name] += c.Jobs
			}
		}
	}
	p.Tabs = append(p.Tabs, tab{"all " + page.Count(total), v.Link("state", "", "after", ""), v.State == ""})
	shown := address.Shown(counts)
	if v.State == durable.Blocked.String() {
		shown = len(admin.States)
	}
	for _, c := range admin.States[:shown] {
		p.Tabs = append(p.Tabs, tab{c.Name + " " + page.Count(n[c.Name]), v.Link("state", c.Name, "after", ""), v.State == c.Name})
	}
}

// countsOf returns how many jobs there are, and as of when.
func countsOf(ctx context.Context, s *source.Source) ([]durable.Count, time.Time, error) {
	return source.Query(ctx, s, "counts", func(ctx context.Context) ([]durable.Count, error) {
		counts, _, err := s.Jobs.Tally(ctx, source.QueryLife)
		return counts, err
	})
}

// listCounts returns how many of the jobs of a list there are in each state, whatever state was asked for.
func listCounts(ctx context.Context, s *source.Source, v address.View) ([]durable.Count, error) {
	v.State, v.After, v.Act = "", "", false
	counts, _, err := source.Query(ctx, s, v, func(ctx context.Context) ([]durable.Count, error) {
		_, counts, err := admin.Count(ctx, s.Jobs, v.Asked())
		return counts, err
	})
	return counts, err
}
