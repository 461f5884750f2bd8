package store

import (
	"context"
	"fmt"
)

// A Graph is a Store whose jobs can wait for other jobs: a job that is added with parents, see After, is Blocked until
// enough of them have ended. A parent ends when it becomes Succeeded, Dead or Canceled, by whichever call, or when it
// is removed. A removed parent counts as Canceled unless it had ended before. The end of a parent and its effect on the
// children are one step. If another transaction has locked a child, or there are thousands of them, a later Heartbeat or
// Prune applies the effect.
//
// Insert adds a job with parents only if each parent is in the store, or before it in the list; otherwise Insert adds
// nothing, and the error is that of NoParent. If another job has the key of a parent in the list, that other job is the
// parent. If another job has the key of the new job, that other job keeps its own parents. So no job ever waits for
// itself. If enough parents have ended already, the new job is Waiting; if too many have failed, it is Canceled.
//
// Prune keeps a job until all of its children have ended. It may keep a job with more than a hundred children until the
// others are removed.
type Graph interface {
	// Parents returns up to limit parents of a job, in the order of After, beginning with number from, counted from 0.
	// A parent that was removed has only its ID, and the State that counts for its children.
	Parents(ctx context.Context, id ID, from, limit int) ([]Job, error)

	// Children returns up to limit jobs that have the job id as a parent, in the order of their IDs, beginning after
	// the ID after.
	Children(ctx context.Context, id, after ID, limit int) ([]Job, error)

	// CountParents returns how many parents of a job have ended. The error is ErrNotFound if the job does not exist or
	// has no parents.
	CountParents(ctx context.Context, id ID) (ParentCounts, error)

	// CountChildren counts the jobs that have the job id as a parent, of each kind in each state, in any order.
	CountChildren(ctx context.Context, id ID) ([]Count, error)
}

// After has the parents of a job. The job waits until Need of them have succeeded. As soon as too many have failed for
// that, the job is Canceled, with an error that names one of them. If Anyway is set, a parent counts however it has
// ended.
type After struct {
	Parents []ID
	Need    int
	Anyway  bool
}

// ParentCounts are how many parents a job has, and how many of them have ended. The counts go on after the job has
// begun.
type ParentCounts struct {
	Total     int  `json:"total"`
	Succeeded int  `json:"succeeded"`
	Failed    int  `json:"failed"` // they are dead, canceled or deleted
	Need      int  `json:"need"`
	Anyway    bool `json:"anyway,omitempty"` // failed parents count, too
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

// NoParent returns the error of adding a job whose parent does not exist. It matches ErrNotFound.
func NoParent(id ID) error { return fmt.Errorf("parent %v: %w", id, ErrNotFound) }

// ParentFailed returns the Job.Error of a job that is canceled because a parent has ended in the state s.
func ParentFailed(parent ID, s State) string {
	return fmt.Sprintf(parentFailed, parent, s)
}

const parentFailed = "durable: canceled, since parent %v is %v"
