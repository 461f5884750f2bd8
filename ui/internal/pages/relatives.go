package pages

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// relativeLimit is how many parents and how many children of a job its page has.
const relativeLimit = 20

// relative is a job that runs before or after another.
type relative struct {
	Name, Path, Kind string
	Before           bool
	State, Class     string
}

// readRelatives reads what runs before and after a job.
func (r *jobRead) readRelatives(ctx context.Context, s *source.Source) (err error) {
	if r.job.HasParents {
		r.counts, err = s.Jobs.CountParents(ctx, r.job.ID)
		if err != nil && !errors.Is(err, durable.ErrNotFound) { // it was removed meanwhile
			return err
		}
		if r.parents, err = firstOf(s.Jobs.Parents(ctx, r.job.ID)); err != nil {
			return err
		}
	}
	if r.job.HasChildren {
		r.children, err = firstOf(s.Jobs.Children(ctx, r.job.ID))
	}
	return err
}

// firstOf returns the first jobs of a sequence, and one more than are shown if there are more.
func firstOf(seq iter.Seq2[durable.Job, error]) (jobs []durable.Job, err error) {
	for j, err := range seq {
		if err != nil {
			return nil, err
		}
		if jobs = append(jobs, j); len(jobs) > relativeLimit {
			break
		}
	}
	return jobs, nil
}

// setRelatives fills in what runs before and after a job.
func (p *jobPage) setRelatives(s *source.Source, r *jobRead) {
	if c := r.counts; c.Total > 0 {
		p.Ended = fmt.Sprintf("%s of %s parents have ended", page.Count(c.Succeeded+c.Failed), page.Count(c.Total))
		if c.Failed > 0 {
			p.Ended += ", " + page.Count(c.Failed) + " of them failed"
		}
	}
	add := func(jobs []durable.Job, before bool) {
		if len(jobs) > relativeLimit {
			p.MoreRelatives, jobs = true, jobs[:relativeLimit]
		}
		for i := range jobs {
			row := newJobRow(s, &jobs[i], jobs[i].Updated)
			if jobs[i].Kind == "" { // it was deleted
				row.Path = ""
			}
			p.Relatives = append(p.Relatives, relative{row.Name, row.Path, row.Kind, before, row.State, row.Class})
		}
	}
	add(r.parents, true)
	add(r.children, false)
}
