package durable

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/store"
)

// A Phase is the phase of a job that a node holds.
type Phase string

// The phases, in their order.
const (
	PhaseAhead   Phase = "ahead"   // it was claimed ahead of its time
	PhaseDue     Phase = "due"     // it waits for its time, which is near, or for a worker
	PhaseRunning Phase = "running" // its handler was called
	PhaseEnding  Phase = "ending"  // its handler has returned, and its outcome is being committed
)

// Held is a job that the node of this program holds.
type Held struct {
	Job   Job   `json:"job"` // without its Payload
	Phase Phase `json:"phase"`
	// Progress is the progress of the run; nil if the run has reported none.
	Progress *RunProgress `json:"progress,omitempty"`
}

// NodeStatus is this program's node.
type NodeStatus struct {
	NodeInfo
	LeaseLeft time.Duration `json:"lease_left"` // the time until the node gives up its jobs; not positive if it has
	Phases    map[Phase]int `json:"phases"`     // how many jobs are in each phase
}

// Node returns this program's node. It reports false unless Run is running and has joined. It does not call the store.
func (j *Jobs) Node() (NodeStatus, bool) {
	n := j.node()
	if n == nil {
		return NodeStatus{}, false
	}
	info, left, phases, joined := n.Status()
	s := NodeStatus{NodeInfo: info, LeaseLeft: left, Phases: make(map[Phase]int, len(phases))}
	for phase, jobs := range phases {
		s.Phases[phaseOf[phase]] = jobs
	}
	return s, joined
}

// phaseOf are the phases of the node.
var phaseOf = [...]Phase{node.Ahead: PhaseAhead, node.Due: PhaseDue, node.Running: PhaseRunning, node.Ending: PhaseEnding}

// Held returns the jobs that this program's node holds: first those that run, then the others in the order in which
// they are due. It does not call the store.
func (j *Jobs) Held() []Held {
	n := j.node()
	if n == nil {
		return nil
	}
	held := n.Held()
	all := make([]Held, len(held))
	for i, h := range held {
		all[i] = Held{Job: h.Job, Phase: phaseOf[h.Phase], Progress: h.Progress}
	}
	runs := func(h Held) int {
		if h.Phase == PhaseRunning {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b Held) int {
		return cmp.Or(cmp.Compare(runs(a), runs(b)), a.Job.Due.Compare(b.Job.Due),
			slices.Compare(a.Job.ID[:], b.Job.ID[:]))
	})
	return all
}

// Nodes returns the nodes that are alive, ordered by name. A node whose lease has ended counts as alive until another
// node notices at its heartbeat.
func (j *Jobs) Nodes(ctx context.Context) ([]NodeInfo, error) {
	mustContext(ctx)
	if j.parts.Reports == nil {
		return nil, j.lacks("nodes", "Reports")
	}
	nodes, err := j.parts.Reports.Nodes(ctx)
	slices.SortFunc(nodes, func(a, b NodeInfo) int { return cmp.Compare(a.Name, b.Name) })
	return nodes, failed("nodes", err)
}

// Latest returns the runs that f selects, of all jobs, beginning with the one that ended last. For the next page set
// f.Before to the last Run of this one. Selecting by keys, by verdict or by time uses an index; selecting by a kind, tag or
// node with few runs may read the whole history.
func (j *Jobs) Latest(ctx context.Context, f LatestFilter) ([]JobRun, error) {
	mustContext(ctx)
	if err := checkLimit(f.Limit); err != nil {
		return nil, err
	}
	for _, v := range f.Verdicts {
		if !v.Known() {
			return nil, invalid("verdict %d: it must be one of %v", v, store.Verdicts())
		}
	}
	if impossible(&Filter{Kind: f.Kind, Keys: f.Keys, Tags: f.Tags}) || f.Node != "" && checkName("node", f.Node, 2*MaxKind) != nil {
		return nil, nil // as in Find
	}
	if f.Limit == 0 {
		f.Limit = 100
	}
	if len(f.Verdicts) == 0 {
		f.Verdicts = store.Verdicts()
	}
	f.Verdicts = slices.Compact(slices.Sorted(slices.Values(f.Verdicts)))
	if j.parts.History == nil {
		return nil, j.lacks("latest", "History")
	}
	runs, err := j.parts.History.Latest(ctx, f)
	return runs, failed("latest", err)
}
