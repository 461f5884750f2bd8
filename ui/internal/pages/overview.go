package pages

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// overview is what the overview shows.
type overview struct {
	Attention []poolview.Notice
	Pooled    bool // there is an Observer
	Pools     []poolview.Row
	More      int // pools that are not shown
	Charts    plots
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

func overviewBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	l := u.Pools.Look()
	o := &overview{Pooled: u.Pooled, At: page.ClockZone(l.At, l.At)}
	all := l.Attention()
	for _, s := range u.Sources {
		row := newSourceRow(ctx, s, l.At)
		ns, err := sourceAttention(ctx, s, l.At)
		if err != nil && row.Error == "" {
			row.Error = page.Lines(err.Error(), 300)
		}
		o.Sources = append(o.Sources, row)
		all = append(all, ns...)
	}
	o.Attention = poolview.Urgent(all)
	if o.Pooled {
		o.Pools, o.More = l.Rows("", overviewPools)
		o.Charts = newPlots(u, v)
		o.Events = l.Happened(0)
	}
	return "Overview", o, nil
}

// overviewPools and overviewKinds are the most rows of a table there.
const (
	overviewPools = 20
	overviewKinds = 20
)

// newSourceRow returns a source in the overview.
func newSourceRow(ctx context.Context, s *source.Source, now time.Time) sourceRow {
	row := sourceRow{Name: page.Printable(s.Name, 40), Path: address.View{Name: "jobs", Source: s.Name}.Link()}
	counts, asOf, err := countsOf(ctx, s)
	shown := address.Shown(counts)
	for _, c := range address.States[:shown] {
		row.States = append(row.States, c.Name)
	}
	nodes, _, nodesErr := nodesOf(ctx, s)
	if err == nil {
		err = nodesErr
	}
	row.Nodes, row.NodesPath = page.Count(len(nodes)), address.View{Name: "nodes", Source: s.Name}.Link()
	if err != nil {
		row.Error = page.Lines(err.Error(), 300)
	}
	row.AsOf = page.ClockZone(asOf, now)
	kinds := make(map[string][]int)
	for _, c := range counts {
		if kinds[c.Kind] == nil {
			kinds[c.Kind] = make([]int, shown)
		}
		for i, column := range address.States[:shown] {
			if slices.Contains(column.All, c.State) {
				kinds[c.Kind][i] += c.Jobs
			}
		}
	}
	paused, err := pausedOf(ctx, s)
	if err != nil && row.Error == "" {
		row.Error = page.Lines(err.Error(), 300)
	}
	for kind, jobs := range kinds {
		r := kindRow{
			Kind: page.Printable(kind, 60), Paused: slices.Contains(paused, kind),
			Path: address.View{Name: "jobs", Source: s.Name, Kind: kind}.Link(),
		}
		for i, n := range jobs {
			c := cell{Text: page.Count(n), Bad: address.States[i].Name == "dead" && n > 0}
			if n > 0 {
				c.Path = address.View{Name: "jobs", Source: s.Name, Kind: kind, State: address.States[i].Name}.Link()
			}
			r.Jobs = append(r.Jobs, c)
		}
		row.Kinds = append(row.Kinds, r)
	}
	slices.SortFunc(row.Kinds, func(a, b kindRow) int { return cmp.Compare(a.Kind, b.Kind) })
	if n := len(row.Kinds); n > overviewKinds {
		row.More, row.Kinds = n-overviewKinds, row.Kinds[:overviewKinds]
	}
	return row
}
