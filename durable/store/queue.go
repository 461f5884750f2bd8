package store

import (
	"context"
	"time"
)

// Queues is a Store whose jobs can be in queues. Each node serves some queues. A job is in one queue, Job.Queue; "" is
// the default queue. Claim and ClaimLimited find only jobs of the default queue. The caller of Insert passes a
// Placement only if the node serves the queues of all the jobs.
type Queues interface {
	// ClaimQueue is Claim, or ClaimLimited if one of the kinds is Limited, for the jobs of a queue other than the
	// default one. A KindLimit counts the jobs of the kind in all queues. PerPartition has no effect, because a job in
	// such a queue has no partition.
	ClaimQueue(ctx context.Context, queue string, r ClaimRequest) (ClaimResult, error)

	// QueueNames returns the names of the queues that jobs wait in, other than the default one, in any order. A node
	// asks for them about once a minute: the call should not take longer where more jobs wait.
	QueueNames(ctx context.Context) ([]string, error)

	// QueueCounts returns the queues that jobs wait in, other than the default one, in any order.
	QueueCounts(ctx context.Context) ([]QueueCount, error)
}

// A QueueCount is how many jobs wait in a queue.
type QueueCount struct {
	Queue string    `json:"queue"`
	Jobs  int       `json:"jobs"`
	Due   time.Time `json:"due"` // the earliest Due among them
}

// Drains is a Store that keeps which nodes are to drain. Its Heartbeat, and its Nodes if it is a Reports, return that.
type Drains interface {
	// DrainNode sets whether a node is to drain. It reports false if no such node is alive. Once DrainNode has
	// returned, no Claim and no Placement gives the node a job until the node is no longer to drain. The node itself
	// does the rest.
	DrainNode(ctx context.Context, node string, drain bool) (bool, error)
}
