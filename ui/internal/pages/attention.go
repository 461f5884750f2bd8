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
		if slices.Contains(seen, r.Job) {
			continue
		}
		seen = append(seen, r.Job)
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
