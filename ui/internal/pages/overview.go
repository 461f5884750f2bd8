package pages

import (
	"cmp"
	"context"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// overview is what the overview shows.
type overview struct {
	Headline  string
	Bad       bool   // something needs attention
	Sums      string // what ended in the last day
	Next      string // when the next job is due
	NextName  string
	NextPath  string
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
	Hours      template.HTML // what ended in each
	Nodes      string        // that are alive
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
	Hours      template.HTML // what ended in each of the last day
	Oldest     string        // for how long the first one has been due
	Late       bool
	Wait, Took string // in the last day
}

// cell is a number in a table, with where to see more.
type cell struct {
	Text, Path string
	Bad        bool
}

func overviewBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	l := u.Pools.Look().In(page.ZoneFrom(ctx).Location())
	o := &overview{Pooled: u.Pooled, At: page.ClockZone(l.At, l.At)}
	all := l.Attention()
	good, bad := 0, 0
	var next time.Time
	whole, any := len(u.Sources) > 0 && !o.Pooled, len(l.Pools) > 0
	for _, s := range u.Sources {
		row, day, dayErr := newSourceRow(ctx, s, l.At)
		whole, any = whole && day.Whole(), any || len(row.Kinds) > 0
		for _, e := range day.Of("") {
			good, bad = good+e.Good, bad+e.Bad
		}
		if kind, due := nextOf(ctx, s, l.At); !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next, o.NextName = due, page.Printable(kind, 60)
			o.NextPath = address.View{Name: "jobs", Source: s.Name, Kind: kind, State: "waiting"}.Link()
		}
		ns, err := sourceAttention(ctx, s, l.At)
		if err != nil && row.Error == "" {
			row.Error = page.Lines(err.Error(), 300)
		} else if err == nil && dayErr != nil {
			ns = append(ns, unreadable(s, dayErr))
		}
		o.Sources = append(o.Sources, row)
		all = append(all, ns...)
	}
	switch problems := poolview.Problems(all); {
	case problems > 0:
		o.Headline, o.Bad = poolview.ProblemsText(problems), true
	case !any:
		o.Headline = "No pools or jobs yet"
	default:
		o.Headline = "All well"
	}
	o.Attention = poolview.Urgent(all)
	if !next.IsZero() {
		o.Next = page.Since(next, l.At)
	}
	var sums []string
	if text := page.RunsText(good, bad); text != "" {
		sums = append(sums, "jobs: "+text)
	}
	if runs, failed := u.Pools.Runs(); runs > 0 {
		sums = append(sums, "pools: "+page.RunsText(runs-failed, failed))
	}
	if sums == nil && any && whole {
		sums = append(sums, "No job has ended in 24 h")
	}
	o.Sums = strings.Join(sums, "; ")
	if o.Pooled {
		o.Pools, o.More = l.Rows("", overviewPools)
		o.Charts = newPlots(ctx, u, v)
		o.Events = l.Happened(0)
	}
	return "Overview", o, nil
}

// overviewPools and overviewKinds are the most rows of a table there.
const (
	overviewPools = 20
	overviewKinds = 20
)

// newSourceRow returns a source in the overview, and the error of its day.
func newSourceRow(ctx context.Context, s *source.Source, now time.Time) (sourceRow, source.Day, error) {
	row := sourceRow{Name: page.Printable(s.Name, 40), Path: address.View{Name: "jobs", Source: s.Name}.Link()}
	counts, asOf, err := countsOf(ctx, s)
	shown := address.Shown(counts)
	for _, c := range admin.States[:shown] {
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
	day, dayErr := s.Day(ctx)
	if dayErr != nil && row.Error == "" {
		row.Error = page.Lines(dayErr.Error(), 300)
	}
	row.Hours = page.Hours(hoursOf(s, day, "", now.Location()))
	oldest := make(map[string]time.Time)
	kinds := make(map[string][]int)
	for _, c := range counts {
		if kinds[c.Kind] == nil {
			kinds[c.Kind] = make([]int, shown)
		}
		for i, column := range admin.States[:shown] {
			if slices.Contains(column.All, c.State) {
				kinds[c.Kind][i] += c.Jobs
			}
		}
		if c.State == durable.Waiting {
			oldest[c.Kind] = c.Due
		}
	}
	for _, e := range day.Hours {
		for kind := range e.Kinds {
			if kind != "" && kinds[kind] == nil {
				kinds[kind] = make([]int, shown) // its jobs have been removed since
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
			Path: address.View{Name: "jobs", Source: s.Name, Kind: kind}.Link(), Hours: page.HoursLine(hoursOf(s, day, kind, now.Location())),
		}
		if due := oldest[kind]; !due.IsZero() && now.Sub(due) >= time.Second {
			r.Oldest, r.Late = page.Age(now.Sub(due)), now.Sub(due) > figures.Overdue
		}
		r.Wait, r.Took = slowest(day.Of(kind))
		for i, n := range jobs {
			c := cell{Text: page.Count(n), Bad: admin.States[i].Name == "dead" && n > 0}
			if n > 0 {
				c.Path = address.View{Name: "jobs", Source: s.Name, Kind: kind, State: admin.States[i].Name}.Link()
			}
			r.Jobs = append(r.Jobs, c)
		}
		row.Kinds = append(row.Kinds, r)
	}
	slices.SortFunc(row.Kinds, func(a, b kindRow) int { return cmp.Compare(a.Kind, b.Kind) })
	if n := len(row.Kinds); n > overviewKinds {
		row.More, row.Kinds = n-overviewKinds, row.Kinds[:overviewKinds]
	}
	return row, day, dayErr
}

// nextOf returns when the next job of a source is due, and its kind; the zero Time if none is.
func nextOf(ctx context.Context, s *source.Source, now time.Time) (kind string, due time.Time) {
	counts, _, _ := countsOf(ctx, s) // an error is shown with the counts
	for _, c := range counts {
		if c.State == durable.Waiting && c.Due.After(now) && (due.IsZero() || c.Due.Before(due)) {
			kind, due = c.Kind, c.Due
		}
	}
	return kind, due
}

// hoursOf returns what ended of a kind, of all for "", in each hour of a day, as it is drawn. Each hour leads to its runs.
func hoursOf(s *source.Source, day source.Day, kind string, in *time.Location) (hours []page.Hour) {
	for i, e := range day.Of(kind) {
		from := day.Hours[i].From.In(in)
		until := from.Add(time.Hour)
		to := address.View{Name: "runs", Source: s.Name, Kind: kind}
		to.Ended.From, to.Ended.Until = from.Format(time.RFC3339), until.Format(time.RFC3339)
		hours = append(hours, page.Hour{From: from, Until: until, Good: e.Good, Bad: e.Bad, Path: to.Link()})
	}
	return hours
}

// slowest returns how long runs waited and took in the hour in which it was longest, for people.
func slowest(hours []source.Ended) (wait, took string) {
	longest := source.Ended{Wait: -1, Took: -1}
	for _, e := range hours {
		longest.Wait, longest.Took = max(longest.Wait, e.Wait), max(longest.Took, e.Took)
	}
	text := func(d time.Duration) string {
		if d < 0 {
			return "–"
		}
		return page.Short(d)
	}
	return text(longest.Wait), text(longest.Took)
}
