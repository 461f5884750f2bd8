package store

import (
	"context"
	"time"
)

// Queues is a Store whose jobs can be in queues, each of which some nodes serve. A job is in one queue, that of its
// Queue, and "" is the default one. Claim and ClaimLimited find jobs of the default queue alone, and so does a
// Placement: the caller of Insert has none unless the node serves the queues of all the jobs.
type Queues interface {
	// ClaimQueue is Claim, or ClaimLimited if one of the kinds is Limited, for the jobs of a queue other than the
	// default one. What a KindLimit bounds are the jobs of the kind in all queues, but PerPartition does not bound
	// those that it finds: a job in a queue has no partition.
	ClaimQueue(ctx context.Context, queue string, r ClaimRequest) (ClaimResult, error)

	// QueueCounts returns the queues that jobs wait in, other than the default one, in any order.
	QueueCounts(ctx context.Context) ([]QueueCount, error)
}

// A QueueCount is how many jobs wait in a queue.
type QueueCount struct {
	Queue string    `json:"queue"`
	Jobs  int       `json:"jobs"`
	Due   time.Time `json:"due"` // the earliest Due among them
}

// Drains is a Store that notes which nodes are to drain. Its Heartbeat, and Nodes of Reports, return that.
type Drains interface {
	// DrainNode makes a node one that is to drain, or not. It reports false if no such node is alive. When it has
	// returned, no Claim and no Placement gives the node a job, until it is not to drain any more; the rest is up to the
	// node.
	DrainNode(ctx context.Context, node string, drain bool) (bool, error)
}
