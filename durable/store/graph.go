package store

import (
	"context"
	"fmt"
)

// A Graph is a Store whose jobs can wait for others: one that is added with parents, see After, is Blocked until enough
// of them have ended. A parent ends when it is Succeeded, Dead or Canceled, by whatever call that comes, or when it is
// removed, which counts as Canceled unless it had ended before. The end of a parent, and that it counts for its
// children, is one step; a child that another transaction has locked may follow later, by a Heartbeat or a Prune.
//
// Insert adds a job with parents only if each is there, or is before it in the list; otherwise it adds none, and the
// error is NoParent's. Where a parent in the list stands for a job that has its key, that is the parent. What stands
// for a job that is there keeps the parents which that has. So nothing ever waits for itself. Enough parents that have
// ended already leave the new job Waiting, and too many that have failed Canceled.
//
// Prune keeps a job that has ended for as long as one of its children has not.
type Graph interface {
	// Parents returns up to limit of a job's parents, in the order of After, from the one at the place from on, counted
	// from 0. Of one that is not there any more the Job has nothing but ID and State, as it was when it was removed.
	Parents(ctx context.Context, id ID, from, limit int) ([]Job, error)

	// Children returns up to limit of the jobs that have a job as a parent, in the order of their IDs, those that come
	// after the one given.
	Children(ctx context.Context, id, after ID, limit int) ([]Job, error)

	// CountParents returns how many parents of a job have ended; or ErrNotFound if the job is not there, or has none.
	CountParents(ctx context.Context, id ID) (ParentCounts, error)

	// CountChildren counts the jobs that have a job as a parent, of each kind in each state, in any order.
	CountChildren(ctx context.Context, id ID) ([]Count, error)
}

// After is what a job waits for: that Need of its Parents have succeeded. As soon as too many have ended otherwise, it
// is Canceled, with an error that names one of them. If Anyway is set, a parent that has ended in any way counts.
type After struct {
	Parents []ID
	Need    int
	Anyway  bool
}

// ParentCounts are how many parents a job has, and how many of them have ended. They go on to count when the job has
// been released.
type ParentCounts struct {
	Total     int  `json:"total"`
	Succeeded int  `json:"succeeded"`
	Failed    int  `json:"failed"` // they are dead, canceled or deleted
	Need      int  `json:"need"`
	Anyway    bool `json:"anyway,omitempty"` // those that failed count as well
}

// Enough reports whether the job need not wait any longer.
func (c ParentCounts) Enough() bool {
	ended := c.Succeeded
	if c.Anyway {
		ended += c.Failed
	}
	return ended >= c.Need
}

// Hopeless reports whether the job can't run, since too many of its parents have failed.
func (c ParentCounts) Hopeless() bool { return !c.Anyway && c.Total-c.Failed < c.Need }

// Add counts parents that have ended in a state.
func (c *ParentCounts) Add(s State, n int) {
	if s == Succeeded {
		c.Succeeded += n
	} else {
		c.Failed += n
	}
}

// NoParent returns the error of adding a job whose parent is not there. It matches ErrNotFound.
func NoParent(id ID) error { return fmt.Errorf("parent %v: %w", id, ErrNotFound) }

// ParentFailed returns the error of a job that is canceled since that parent has ended in that state.
func ParentFailed(parent ID, s State) string {
	return fmt.Sprintf(parentFailed, parent, s)
}

const parentFailed = "durable: canceled, since parent %v is %v"
