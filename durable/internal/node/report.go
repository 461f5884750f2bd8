package node

import (
	"context"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/executor-go/executor/durable/store"
)

// maxProgress is the most runs of which one report has the progress.
const maxProgress = 1000

// maxKinds is the most kinds that a node reports.
const maxKinds = 200

// A reporter has what reportLoop has reported. The goroutine of that has it alone.
type reporter struct {
	n       *Node
	node    incarnation // that has reported; one that reports before it has joined is none that the store knows
	details store.NodeDetails
	sent    map[*run]*store.RunProgress
}

// reportLoop reports to the store what others may want to know of the node. Each heartbeat that was answered wakes it; no
// heartbeat waits for it. If there is nothing new, it makes no call.
func (n *Node) reportLoop(ctx context.Context) {
	outage := n.outage("report")
	p := &reporter{n: n, sent: make(map[*run]*store.RunProgress)}
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.news:
		}
		err := p.report(ctx)
		if ctx.Err() != nil {
			return
		}
		outage.over(err) // the next heartbeat tries again
	}
}

// report reports what is new.
func (p *reporter) report(ctx context.Context) error {
	if p.n.cfg.Parts.Reports == nil {
		return nil
	}
	node, running := p.look()
	details := p.n.details()
	r := store.Report{Progress: make([]store.RunProgress, 0, len(running))}
	if node != p.node || !reflect.DeepEqual(details, p.details) {
		r.Details = &details
	}
	for _, progress := range running {
		r.Progress = append(r.Progress, *progress)
	}
	if r.Details == nil && len(r.Progress) == 0 {
		return nil
	}
	opCtx, cancel := p.n.cfg.opContext(ctx)
	defer cancel()
	if err := p.n.cfg.Parts.Reports.Report(opCtx, node.name, r); err != nil {
		return err
	}
	p.node, p.details = node, details
	for run, progress := range running {
		p.sent[run] = progress
	}
	return nil
}

// look returns the node, and up to maxProgress runs whose progress is new. It forgets those that are over.
func (p *reporter) look() (node incarnation, running map[*run]*store.RunProgress) {
	node, runs := p.n.ledger.running()
	sent := make(map[*run]*store.RunProgress, len(p.sent))
	running = make(map[*run]*store.RunProgress)
	for _, r := range runs { // in random order: where there are more than that, each has its turn
		if progress, before := p.sent[r]; before {
			sent[r] = progress
		}
		if progress := r.progress(); progress != nil && p.sent[r] != progress && len(running) < maxProgress {
			running[r] = progress
		}
	}
	p.sent = sent
	return node, running
}

// details returns what the node reports of itself.
func (n *Node) details() store.NodeDetails {
	kinds := slices.DeleteFunc(n.cfg.Kinds(), func(name string) bool { return n.cfg.Kind(name).Internal })
	kinds = slices.Clip(kinds[:min(len(kinds), maxKinds)])
	return store.NodeDetails{Host: n.host, PID: os.Getpid(), Version: version(), Kinds: kinds, Workers: n.cfg.workers(),
		Queues: n.reportedQueues()}
}

// reportedQueues returns the queues that the node serves, nil if that is the default queue alone.
func (n *Node) reportedQueues() []string {
	served := n.cfg.Queues()
	if len(served) == 1 && served[0] == "" {
		return nil
	}
	return served
}

// version returns that of the program's main module, "" if there is none.
var version = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
})
