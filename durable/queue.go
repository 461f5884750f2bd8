package durable

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// DefaultQueue is the queue of jobs that are added without Queue.
const DefaultQueue = ""

// Queue puts the job into a queue: only nodes that have it in Config.Queues run the job. The name has 1 to MaxKind
// bytes of UTF-8 without control characters. A queue needs no set-up: it exists as soon as a job or a node names it.
// Examples are "gpu" for machines with a GPU, or "host/" and a host's name for that host. A job in a queue that no node
// serves waits; see Jobs.Queues.
//
// GlobalLimit and GlobalRate of its kind count the jobs in all queues. A job with a Queue can't have a Partition. A
// schedule that is registered with another Queue moves there.
func Queue(name string) Option {
	return func(j *addition) error {
		j.Queue = name
		return checkName("queue", name, MaxKind)
	}
}

// SetQueues makes this node serve these queues from now on, in place of Config.Queues or the queues of the last call.
// As in Config.Queues, no name means DefaultQueue. SetQueues may be called before and during Run. The node gives back
// the jobs of queues that it no longer serves; jobs that have begun go on. The error matches executor.ErrInvalid if a
// name is out of its range, or the store has no queues.
func (j *Jobs) SetQueues(queues ...string) error {
	if err := checkQueues("queues", j.cfg.Store, queues); err != nil {
		return err
	}
	queues = servedQueues(queues)
	j.served.Store(&queues)
	j.node().QueuesChanged()
	return nil
}

// queues returns the queues that this node serves, in order, each once.
func (j *Jobs) queues() []string { return *j.served.Load() }

// checkQueues checks the names of queues that a node is to serve. what says where they are from.
func checkQueues(what string, s store.Store, queues []string) error {
	for _, queue := range queues {
		if queue == DefaultQueue {
			continue
		}
		if err := checkName("queue", queue, MaxKind); err != nil {
			return err
		}
		if store.PartsOf(s).Queues == nil {
			return invalid("%s: the store, a %T, does not have the methods of store.Queues", what, s)
		}
	}
	return nil
}

// servedQueues returns queues in order, each once, for none the default queue.
func servedQueues(queues []string) []string {
	if len(queues) == 0 {
		return []string{DefaultQueue}
	}
	return slices.Compact(slices.Sorted(slices.Values(queues)))
}

// A QueueInfo is a queue that jobs wait in, or nodes serve.
type QueueInfo struct {
	Name string `json:"name"`
	// Jobs is how many jobs wait in the queue, and Due is when the first of them is due; zero if there is none.
	Jobs int       `json:"jobs"`
	Due  time.Time `json:"due,omitzero"`
	// Nodes is how many nodes serve the queue, are alive and are not draining. If it is 0, the jobs wait for such a
	// node.
	Nodes int `json:"nodes"`
}

// Queues returns the queues that jobs wait in or nodes serve, ordered by name, without the default queue. A node is
// counted soon after it starts, once it has reported its queues. To list the jobs of a queue, use Filter.Queue.
func (j *Jobs) Queues(ctx context.Context) ([]QueueInfo, error) {
	mustContext(ctx)
	switch {
	case j.parts.Queues == nil:
		return nil, j.lacks("queues", "Queues")
	case j.parts.Reports == nil:
		return nil, j.lacks("queues", "Reports")
	}
	counts, err := j.parts.Queues.QueueCounts(ctx)
	if err != nil {
		return nil, failed("queues", err)
	}
	nodes, err := j.parts.Reports.Nodes(ctx)
	if err != nil {
		return nil, failed("queues", err)
	}
	var queues []QueueInfo
	for _, c := range counts {
		queues = append(queues, QueueInfo{Name: c.Queue, Jobs: c.Jobs, Due: c.Due})
	}
	for _, n := range nodes {
		for _, name := range n.Queues {
			if name == DefaultQueue || n.Draining {
				continue
			}
			i := slices.IndexFunc(queues, func(q QueueInfo) bool { return q.Name == name })
			if i < 0 {
				i, queues = len(queues), append(queues, QueueInfo{Name: name})
			}
			queues[i].Nodes++
		}
	}
	slices.SortFunc(queues, func(a, b QueueInfo) int { return cmp.Compare(a.Name, b.Name) })
	return queues, nil
}

// DrainNode asks a node, of this or another program, to take no more jobs. The store gives the node no job from now on.
// The node learns of that from its next heartbeat, at most three tenths of its lease later; it then gives back the jobs
// that have not begun, and finishes those that run. NodeInfo.Draining is set, and the node has drained when
// NodeInfo.Jobs is 0. Run goes on in the node's program, and UndrainNode ends the draining. node is NodeInfo.Name. If
// the program is started again, its node has another name, and does not drain. The error matches ErrNoNode if no such
// node is alive. Draining a node that is already draining is not an error.
func (j *Jobs) DrainNode(ctx context.Context, node string) error {
	return j.drainNode(ctx, "drain node", node, true)
}

// UndrainNode lets a node that DrainNode has drained take jobs again. The node learns of that from its next heartbeat,
// too. If a draining node was declared dead and has joined again, it goes on draining under a new name, which Nodes
// returns.
func (j *Jobs) UndrainNode(ctx context.Context, node string) error {
	return j.drainNode(ctx, "undrain node", node, false)
}

func (j *Jobs) drainNode(ctx context.Context, what, node string, drain bool) error {
	mustContext(ctx)
	if j.parts.Drains == nil {
		return j.lacks(what, "Drains")
	}
	alive := false
	if checkName("node", node, 2*MaxKind) == nil { // else there can't be one; a database may decline the text
		var err error
		if alive, err = j.parts.Drains.DrainNode(ctx, node, drain); err != nil {
			return failed(what, err)
		}
	}
	if !alive {
		return failed(what, ErrNoNode)
	}
	return nil
}
