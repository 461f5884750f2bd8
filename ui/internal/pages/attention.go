package pages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// sourceAttention returns what needs attention in a source, which it is itself if it can't be read. An error is the first
// one: what is read after it is not.
func sourceAttention(ctx context.Context, s *source.Source, now time.Time) (ns []poolview.Notice, err error) {
	defer func() {
		if err != nil {
			ns = append(ns, unreadable(s, err))
		}
	}()
	counts, _, err := countsOf(ctx, s)
	ns = countsAttention(s, counts, now)
	if err != nil {
		return ns, err
	}
	nodes, asOf, err := nodesOf(ctx, s)
	ns = append(ns, nodesAttention(s, nodes, asOf)...)
	if err != nil {
		return ns, err
	}
	paused, err := pausedOf(ctx, s)
	for _, kind := range paused {
		to := address.View{Name: "jobs", Source: s.Name, Kind: kind}
		ns = append(ns, poolview.Notice{Path: to.Link(), Name: page.Printable(kind, 60), Text: "the kind is paused", Weight: 12})
	}
	if err != nil {
		return ns, err
	}
	jobs, _, err := source.Query(ctx, s, "failing", func(ctx context.Context) ([]durable.Job, error) { return failing(ctx, s) })
	return append(ns, failingAttention(s, jobs)...), err
}

// unreadable returns that the store of a source can't be read.
func unreadable(s *source.Source, err error) poolview.Notice {
	name := "the store"
	if s.Name != "" {
		name += " of " + page.Printable(s.Name, 40)
	}
	return poolview.Notice{Text: name + " could not be read: " + page.Printable(firstLine(err.Error()), 200), Weight: 80}
}

// nodesOf returns the nodes of a source, and as of when.
func nodesOf(ctx context.Context, s *source.Source) ([]durable.NodeInfo, time.Time, error) {
	return source.Query(ctx, s, "nodes", s.Jobs.Nodes)
}

// pausedOf returns the kinds that are paused in a source.
func pausedOf(ctx context.Context, s *source.Source) ([]string, error) {
	kinds, _, err := source.Query(ctx, s, "paused", s.Jobs.PausedKinds)
	return kinds, err
}

// countsAttention returns what needs attention by the counts of a source.
func countsAttention(s *source.Source, counts []durable.Count, now time.Time) (ns []poolview.Notice) {
	add := func(weight int, v address.View, kind, format string, args ...any) {
		if v.Source = s.Name; v.Name == "" {
			v.Name, v.Kind = "jobs", kind
		}
		name := page.Printable(kind, 60)
		if s.Name != "" {
			name = page.Printable(s.Name, 40) + ", " + name
		}
		ns = append(ns, poolview.Notice{Path: v.Link(), Name: name, Text: fmt.Sprintf(format, args...), Weight: weight})
	}
	for _, c := range counts {
		switch late := now.Sub(c.Due); {
		case c.State == durable.Dead:
			add(70, address.View{Name: "dead"}, c.Kind, "dead jobs: %s", page.Count(c.Jobs))
		case c.State == durable.Waiting && !c.Due.IsZero() && late > figures.Overdue:
			add(55, address.View{State: "waiting"}, c.Kind, "a job is overdue by %s", page.Age(late))
		}
	}
	return ns
}

// failedLimit is how many of the latest failed runs are looked at.
const failedLimit = 30

// failing returns the periodic jobs whose latest run failed, those that failed last first.
func failing(ctx context.Context, s *source.Source) (jobs []durable.Job, err error) {
	runs, err := s.Jobs.Latest(ctx, durable.LatestFilter{
		Verdicts: []durable.Verdict{durable.RunFailed, durable.RunLost}, Limit: failedLimit,
	})
	if err != nil {
		return nil, err
	}
	var seen []durable.ID
	for _, r := range runs {
		word, like := s.Outcome(&r.Run)
		if word == "" || slices.Contains(seen, r.Job) {
			continue
		}
		if seen = append(seen, r.Job); like != durable.RunFailed && like != durable.RunLost {
			continue
		}
		j, err := s.Jobs.Get(ctx, r.Job)
		switch {
		case errors.Is(err, durable.ErrNotFound):
		case err != nil:
			return nil, err
		case j.Periodic() && !j.State.Done() && j.Error != "":
			j.Payload, j.Result = nil, nil
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// failingAttention returns what needs attention of these jobs.
func failingAttention(s *source.Source, jobs []durable.Job) (ns []poolview.Notice) {
	for i := range jobs {
		j := &jobs[i]
		name, path := s.Link(j.ID, j.Key, 0)
		if name == "" {
			name = j.ID.String()
		}
		ns = append(ns, poolview.Notice{
			Path: path, Name: page.Printable(name, 60), Text: "its last run failed: " + page.Printable(firstLine(j.Error), 80), Weight: 35,
		})
	}
	return ns
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
