package ui

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/page"
)

// jobsPage is what the list of jobs shows.
type jobsPage struct {
	Source       string
	Tabs         []tab
	State        string
	Kind, Search string
	Tags         []string // asked for, and one that is empty, for another
	Text, Within string
	Narrow       bool   // these are used
	ActAll       string // link to what can be done to all jobs of the list
	Kinds        []string
	Jobs         []jobRow
	All          string // link to all jobs
	First, Next  string // links to other pages, "" if there is none
	Act          bool
	Error        string
	AsOf         string
}

// jobRow is a job in a list.
type jobRow struct {
	ID, Short, Path   string
	Name              string
	Kind, State, When string
	Attempt           string
	Node              string
	Class             string // how the state is coloured
}

func parseJobs(v *view, q url.Values) (err error) {
	v.state = q.Get("state")
	if v.state != "" && statesOf(v.state) == nil {
		return &badRequest{fmt.Sprintf("state is %.20q; it must be waiting, running, paused, succeeded, dead, canceled or blocked", v.state)}
	}
	if v.kind, err = limited(q, "kind", durable.MaxKind); err != nil {
		return err
	}
	if v.search, err = limited(q, "q", durable.MaxKey); err != nil {
		return err
	}
	if err := v.wanted.parse(q); err != nil {
		return err
	}
	if after := q.Get("after"); after != "" {
		id, err := durable.ParseID(after)
		if err != nil {
			return &badRequest{fmt.Sprintf("after is %.50q; it must be the ID of a job", after)}
		}
		v.after = id.String()
	}
	return nil
}

// statesOf returns the states of a tab, nil if there is no such tab.
func statesOf(name string) []durable.State {
	for _, c := range countedStates {
		if c.name == name {
			return c.states
		}
	}
	return nil
}

// searchedID returns the ID that was searched for in a list of jobs.
func searchedID(name string, q url.Values) (id durable.ID, ok bool) {
	if name != "jobs" {
		return id, false
	}
	text, err := limited(q, "q", 100)
	if err != nil || text == "" {
		return id, false
	}
	id, err = durable.ParseID(text)
	return id, err == nil
}

func jobsBody(ctx context.Context, u *UI, v view) (string, any, error) {
	s := u.source(v.source)
	now := time.Now()
	p := &jobsPage{Source: v.source, State: v.state, Kind: v.kind, Search: v.search, Act: v.act}
	counts, _, err := u.counts(ctx, s)
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.kinds(counts)
	if v.narrow() {
		if counts, err = v.counts(ctx, u, s); err != nil {
			p.Error = page.Lines(err.Error(), 300)
		}
	}
	p.tabs(v, counts)
	p.asked(v)
	jobs, asOf, err := query(ctx, u, s, jobsKey{v.state, v.kind, v.search, v.after, v.wanted},
		func(ctx context.Context) ([]durable.Job, error) {
			f := v.filter(time.Now())
			f.Limit = rowLimit + 1
			if v.after != "" {
				id, err := durable.ParseID(v.after)
				if err != nil {
					return nil, err
				}
				f.After = id
			}
			found, err := s.Jobs.List(ctx, f)
			for i := range found {
				found[i].Payload, found[i].Result = nil, nil
			}
			return found, err
		})
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.AsOf, p.All = page.ClockZone(asOf, now), view{name: "jobs", source: v.source}.link()
	if len(jobs) > rowLimit {
		jobs = jobs[:rowLimit]
		p.Next = v.link("after", jobs[rowLimit-1].ID.String())
	}
	if v.after != "" {
		p.First = v.link("after", "")
	}
	for i := range jobs {
		p.Jobs = append(p.Jobs, newJobRow(s, &jobs[i], now))
	}
	return "Jobs", p, nil
}

type jobsKey struct {
	state, kind, search, after string
	wanted
}

// asked fills in what was asked for, and the link to what can be done to all of it.
func (p *jobsPage) asked(v view) {
	p.Tags, p.Text, p.Narrow = v.list(), v.text, v.wanted != wanted{}
	if len(p.Tags) < tagFields {
		p.Tags = append(p.Tags, "")
	}
	if v.within != 0 {
		p.Within = v.within.String()
	}
	if v.act {
		list := v
		list.after, list.source = "", ""
		q := url.Values{"jobs": {list.query(url.Values{})}}
		if v.source != "" {
			q.Set("source", v.source)
		}
		p.ActAll = "act?" + q.Encode()
	}
}

// kinds fills in the kinds.
func (p *jobsPage) kinds(counts []durable.Count) {
	for _, c := range counts {
		if len(p.Kinds) == 0 || p.Kinds[len(p.Kinds)-1] != c.Kind { // they are ordered by kind
			p.Kinds = append(p.Kinds, c.Kind)
		}
	}
	if len(p.Kinds) > rowLimit {
		p.Kinds = p.Kinds[:rowLimit]
	}
}

// tabs fills in the tabs, with how many jobs there are.
func (p *jobsPage) tabs(v view, counts []durable.Count) {
	total := 0
	n := make(map[string]int)
	for _, c := range counts {
		if v.kind != "" && c.Kind != v.kind {
			continue
		}
		total += c.Jobs
		for _, column := range countedStates {
			if slices.Contains(column.states, c.State) {
				n[column.name] += c.Jobs
			}
		}
	}
	p.Tabs = append(p.Tabs, tab{"all " + page.Count(total), v.link("state", "", "after", ""), v.state == ""})
	shown := shownStates(counts)
	if v.state == durable.Blocked.String() {
		shown = len(countedStates)
	}
	for _, c := range countedStates[:shown] {
		p.Tabs = append(p.Tabs, tab{c.name + " " + page.Count(n[c.name]), v.link("state", c.name, "after", ""), v.state == c.name})
	}
}

// link returns the name of a job, "" if it has none, and the address of its page, with the output of a run of it if
// that is not 0.
func (s *source) link(id durable.ID, key string, run int64) (name, path string) {
	if s.Link != nil {
		return s.Link(key)
	}
	return key, view{name: "job", source: s.Name, id: id, run: run}.link()
}

func newJobRow(s *source, j *durable.Job, now time.Time) jobRow {
	id := j.ID.String()
	name, path := s.link(j.ID, j.Key, 0)
	r := jobRow{
		ID: id, Short: id[len(id)-12:], Path: path,
		Name: page.Printable(name, 60), Kind: page.Printable(j.Kind, 40), State: j.State.String(),
		When: whenOf(j, now),
		Node: "–", Class: stateClass(j.State),
	}
	if r.Name == "" {
		r.Name = "…" + r.Short
	}
	r.Attempt = fmt.Sprintf("%d/%d", j.Attempt, j.Attempts)
	if j.Owner != "" {
		r.Node = page.Printable(j.Owner, 30)
	}
	return r
}

// stateClass returns how a state is coloured.
func stateClass(s durable.State) string {
	switch s {
	case durable.Running:
		return "busy"
	case durable.Succeeded:
		return "good"
	case durable.Dead:
		return "bad"
	case durable.Paused, durable.Canceled, durable.Blocked:
		return "held"
	}
	return ""
}

// whenOf returns when a job is due, or since when it is what it is.
func whenOf(j *durable.Job, now time.Time) string {
	switch {
	case j.State == durable.Running && !j.Started.IsZero():
		return "for " + page.Age(now.Sub(j.Started))
	case j.State.Done():
		return page.Since(j.Updated, now)
	case j.State == durable.Paused, j.State == durable.Blocked:
		return "–"
	}
	return page.Since(j.Due, now)
}
