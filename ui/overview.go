package ui

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// overview is what the overview shows.
type overview struct {
	Attention []poolview.Notice
	Pooled    bool // there is an Observer
	Pools     []poolview.Row
	More      int // pools that are not shown
	Plots     []plot
	Sources   []sourceRow
	Events    []poolview.Happened
	At        string
}

// sourceRow is a source in the overview.
type sourceRow struct {
	Name, Path string
	Nodes      string // that are alive
	NodesPath  string
	States     []string
	Kinds      []kindRow
	More       int // kinds that are not shown
	AsOf       string
	Error      string
}

// kindRow is a kind of jobs with how many there are in each state.
type kindRow struct {
	Kind, Path string
	Paused     bool
	Jobs       []cell
}

// cell is a number in a table, with where to see more.
type cell struct {
	Text, Path string
	Bad        bool
}

// countedStates are the columns of the counts: a job that is claimed or confirmed is about to run. The last is shown
// only where a job is in it, see shownStates.
var countedStates = []struct {
	name   string
	states []durable.State
}{
	{"waiting", []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed}},
	{"running", []durable.State{durable.Running}},
	{"paused", []durable.State{durable.Paused}},
	{"succeeded", []durable.State{durable.Succeeded}},
	{"dead", []durable.State{durable.Dead}},
	{"canceled", []durable.State{durable.Canceled}},
	{"blocked", []durable.State{durable.Blocked}},
}

// shownStates returns how many of countedStates are shown: many programs have no job that waits for others.
func shownStates(counts []durable.Count) int {
	if slices.ContainsFunc(counts, func(c durable.Count) bool { return c.State == durable.Blocked }) {
		return len(countedStates)
	}
	return len(countedStates) - 1
}

func overviewBody(ctx context.Context, u *UI, v view) (string, any, error) {
	l := u.looked()
	o := &overview{Pooled: u.config.Observer != nil, At: page.ClockZone(l.At, l.At)}
	all := l.Attention()
	for _, s := range u.sources {
		row, ns := s.row(ctx, u, l.At)
		o.Sources = append(o.Sources, row)
		all = append(all, ns...)
	}
	o.Attention = poolview.Urgent(all)
	if o.Pooled {
		o.Pools, o.More = l.Rows("", overviewPools)
		o.Plots = plots(l.totals)
		o.Events = l.Happened(0)
	}
	return "Overview", o, nil
}

// overviewPools and overviewKinds are the most rows of a table there.
const (
	overviewPools = 20
	overviewKinds = 20
)

// row returns a source in the overview, and what needs attention in it.
func (s *source) row(ctx context.Context, u *UI, now time.Time) (sourceRow, []poolview.Notice) {
	row := sourceRow{Name: page.Printable(s.Name, 40), Path: view{name: "jobs", source: s.Name}.link()}
	counts, asOf, err := u.counts(ctx, s)
	shown := shownStates(counts)
	for _, c := range countedStates[:shown] {
		row.States = append(row.States, c.name)
	}
	nodes, nodesAsOf, nodesErr := query(ctx, u, s, "nodes", s.Jobs.Nodes)
	if err == nil {
		err = nodesErr
	}
	row.Nodes, row.NodesPath = page.Count(len(nodes)), view{name: "nodes", source: s.Name}.link()
	if err != nil {
		row.Error = page.Lines(err.Error(), 300)
	}
	row.AsOf = page.ClockZone(asOf, now)
	kinds := make(map[string][]int)
	for _, c := range counts {
		if kinds[c.Kind] == nil {
			kinds[c.Kind] = make([]int, shown)
		}
		for i, column := range countedStates[:shown] {
			if slices.Contains(column.states, c.State) {
				kinds[c.Kind][i] += c.Jobs
			}
		}
	}
	paused, _, err := query(ctx, u, s, "paused", s.Jobs.PausedKinds)
	if err != nil && row.Error == "" {
		row.Error = page.Lines(err.Error(), 300)
	}
	ns := nodesAttention(s, nodes, nodesAsOf)
	for _, kind := range paused {
		to := view{name: "jobs", source: s.Name, kind: kind}
		ns = append(ns, poolview.Notice{Path: to.link(), Name: page.Printable(kind, 60), Text: "the kind is paused", Weight: 12})
	}
	failing, _, err := query(ctx, u, s, "failing", s.failing)
	if err != nil && row.Error == "" {
		row.Error = page.Lines(err.Error(), 300)
	}
	ns = append(ns, s.failingAttention(failing)...)
	for kind, jobs := range kinds {
		r := kindRow{
			Kind: page.Printable(kind, 60), Paused: slices.Contains(paused, kind),
			Path: view{name: "jobs", source: s.Name, kind: kind}.link(),
		}
		for i, n := range jobs {
			c := cell{Text: page.Count(n), Bad: countedStates[i].name == "dead" && n > 0}
			if n > 0 {
				c.Path = view{name: "jobs", source: s.Name, kind: kind, state: countedStates[i].name}.link()
			}
			r.Jobs = append(r.Jobs, c)
		}
		row.Kinds = append(row.Kinds, r)
	}
	slices.SortFunc(row.Kinds, func(a, b kindRow) int { return cmp.Compare(a.Kind, b.Kind) })
	if n := len(row.Kinds); n > overviewKinds {
		row.More, row.Kinds = n-overviewKinds, row.Kinds[:overviewKinds]
	}
	return row, append(ns, countsAttention(s, counts, now)...)
}

// counts returns how many jobs there are, and as of when.
func (u *UI) counts(ctx context.Context, s *source) ([]durable.Count, time.Time, error) {
	return query(ctx, u, s, "counts", func(ctx context.Context) ([]durable.Count, error) {
		counts, _, err := s.Jobs.Tally(ctx, queryLife)
		return counts, err
	})
}
