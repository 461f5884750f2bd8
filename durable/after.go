package durable

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/store"
)

// MaxParents is how many parents a job may have.
const MaxParents = 10_000

// After makes the job wait until the jobs with these IDs, its parents, have succeeded: until then the job is Blocked.
// With AtLeast it waits for some of them. The job begins no earlier than its delay or time says. Several After options
// add up; an After without an ID adds nothing.
//
// As soon as a parent is dead, canceled or deleted the job is canceled, with a Job.Error that names the parent; so are
// the jobs after it. With EvenIfFailed the job runs nevertheless.
//
// A parent may have ended already, but must still be in the store; otherwise nothing is added, and the error matches
// ErrNotFound. A parent may be periodic: it ends with its schedule. The job itself can't be periodic, and can't have
// ReuseKey, UniqueAmong, UniqueWithin or one of the Replace options: it is always newer than its parents, so no job
// ever waits for itself. If a job with its Key exists already, that job keeps its own parents. At most MaxParents are
// allowed.
//
// A parent is kept until all jobs after it have ended, for its result: see Parents. In a transaction, as with
// AddTx, an existing parent can't end until the transaction has ended. The store must have the methods of
// store.Graph.
func After(ids ...ID) Option {
	return func(j *addition) error {
		j.afters = true
		parents := slices.Clone(j.After.Parents)
		for _, id := range ids {
			if id == (ID{}) {
				return invalid("After: an ID is zero; use one that was returned when a job was added")
			}
			parents = append(parents, id)
		}
		j.After.Parents = parents
		return nil
	}
}

// AtLeast makes a job with After wait until n of its parents have succeeded, instead of all. The other parents go on.
// The job is canceled as soon as fewer than n parents can succeed. n must be 1 to the number of different parents.
func AtLeast(n int) Option {
	return func(j *addition) error {
		if n < 1 {
			return invalid("AtLeast %d: it must be positive", n)
		}
		j.After.Need = n
		return nil
	}
}

// EvenIfFailed makes a parent that is dead, canceled or deleted count for After and AtLeast as one that has succeeded.
// The handler gets the state of each parent from Parents, and counts of them from CountParents.
func EvenIfFailed() Option {
	return func(j *addition) error {
		j.After.Anyway = true
		return nil
	}
}

// after completes what a job waits for, or returns what is wrong with that.
func (j *addition) after(jobs *Jobs) error {
	a := &j.NewJob.After
	switch {
	case !j.afters && (a.Need > 0 || a.Anyway):
		return invalid("AtLeast and EvenIfFailed: the job has no parents; give it some with After")
	case !j.afters:
		return nil
	case j.Schedule != store.Once:
		return invalid("After does not apply to a periodic job; let a job with After register the schedule")
	case j.ReuseKey || j.Replace || j.Among != nil:
		return invalid("After: a job with parents is always a new job; leave out ReuseKey, UniqueAmong, UniqueWithin and the Replace options")
	case len(a.Parents) > 0 && jobs.parts.Graph == nil:
		return jobs.lacks("After", "Graph")
	}
	seen := make(map[ID]bool, len(a.Parents))
	a.Parents = slices.DeleteFunc(a.Parents, func(id ID) bool {
		twice := seen[id]
		seen[id] = true
		return twice
	})
	switch n := len(a.Parents); {
	case n > MaxParents:
		return invalid("After: the job has %d parents; at most %d are allowed: gather some with a job in between", n, MaxParents)
	case a.Need > n:
		return invalid("AtLeast %d: the job has only %d parents", a.Need, n)
	case a.Need == 0:
		a.Need = n
	}
	return nil
}

// parentsPage is how many parents or children are read at once: each may have a payload and a result.
const parentsPage = 100

// Parents returns the parents of the job that ctx belongs to, in the order of After, with their results, errors and
// states. A parent that was deleted has only its ID and the state in which it counted. The store is read page by page
// as the loop goes on; an error of the store ends the loop. There are no parents if ctx is not a handler's.
func Parents(ctx context.Context) iter.Seq2[Job, error] {
	mustContext(ctx)
	h, ok := node.Of(ctx)
	if !ok || !h.Job().HasParents {
		return func(func(Job, error) bool) {}
	}
	return parents(ctx, h.Graph(), h.Job().ID)
}

// ParentResults returns the results of the parents that have succeeded, of the job that ctx belongs to, in the order of
// After. If one of them was deleted, its result is lost, and the error matches ErrNotFound. There are no results if ctx
// is not a handler's.
func ParentResults[R any](ctx context.Context) ([]R, error) {
	mustContext(ctx)
	h, ok := node.Of(ctx)
	if !ok {
		return nil, nil
	}
	var results []R
	for p, err := range Parents(ctx) {
		var r R
		switch {
		case err != nil:
			return nil, err
		case p.State != Succeeded:
			continue
		case p.Kind == "":
			return nil, fmt.Errorf("durable: result of parent %s: %w", p.ID, ErrNotFound)
		case len(p.Result) > 0:
			if err := h.Decode(p.Kind, "result of parent "+p.ID.String(), p.Result, &r); err != nil {
				return nil, err
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// CountParents returns how many parents the job that ctx belongs to has, and how many of them have ended. All counts
// are zero if ctx is not a handler's, or the job has no parents.
func CountParents(ctx context.Context) (ParentCounts, error) {
	mustContext(ctx)
	h, ok := node.Of(ctx)
	if !ok || !h.Job().HasParents {
		return ParentCounts{}, nil
	}
	c, err := h.Graph().CountParents(ctx, h.Job().ID)
	return c, failed("count parents", err)
}

// Parents returns the parents of a job, as the function of that name does. A job that does not exist has none.
func (j *Jobs) Parents(ctx context.Context, id ID) iter.Seq2[Job, error] {
	mustContext(ctx)
	if j.parts.Graph == nil {
		return one(j.lacks("parents", "Graph"))
	}
	return parents(ctx, j.parts.Graph, id)
}

// Children returns the jobs that have this job among their parents, in the order of their IDs. It reads page by page,
// as Parents does.
func (j *Jobs) Children(ctx context.Context, id ID) iter.Seq2[Job, error] {
	mustContext(ctx)
	if j.parts.Graph == nil {
		return one(j.lacks("children", "Graph"))
	}
	return pages("children", func(_ int, last ID) ([]Job, error) {
		return j.parts.Graph.Children(ctx, id, last, parentsPage)
	})
}

// CountChildren counts the jobs that have this job among their parents, of each kind in each state, as Counts does. The
// result is empty if the job has no children, or does not exist.
func (j *Jobs) CountChildren(ctx context.Context, id ID) ([]Count, error) {
	mustContext(ctx)
	if j.parts.Graph == nil {
		return nil, j.lacks("count children", "Graph")
	}
	c, err := j.parts.Graph.CountChildren(ctx, id)
	return c, failed("count children", err)
}

// CountParents returns how many parents of a job have ended: for the last job of a batch, how far the batch is. The
// store keeps the counts. The error is ErrNotFound if the job has no parents, or does not exist.
func (j *Jobs) CountParents(ctx context.Context, id ID) (ParentCounts, error) {
	mustContext(ctx)
	if j.parts.Graph == nil {
		return ParentCounts{}, j.lacks("count parents", "Graph")
	}
	c, err := j.parts.Graph.CountParents(ctx, id)
	return c, failed("count parents", err)
}

func parents(ctx context.Context, g store.Graph, id ID) iter.Seq2[Job, error] {
	return pages("parents", func(from int, _ ID) ([]Job, error) { return g.Parents(ctx, id, from, parentsPage) })
}

// pages returns the jobs of pages up to the first that is not full. next is told how many came before, and which was
// the last.
func pages(call string, next func(from int, last ID) ([]Job, error)) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		from, last := 0, ID{}
		for {
			page, err := next(from, last)
			if err != nil {
				yield(Job{}, failed(call, err))
				return
			}
			for _, p := range page {
				if !yield(p, nil) {
					return
				}
				from, last = from+1, p.ID
			}
			if len(page) < parentsPage {
				return
			}
		}
	}
}

// one returns a sequence of an error.
func one(err error) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) { yield(Job{}, err) }
}
