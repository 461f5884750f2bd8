package durable

import (
	"context"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
)

// maxProgress is the most runs of which one report has the progress.
const maxProgress = 1000

// maxKinds is the most kinds that a node reports.
const maxKinds = 200

// A reporter reports to the store what others may want to know of the node. Each heartbeat that was answered wakes it;
// no heartbeat waits for it. If there is nothing new, it makes no call.
type reporter struct {
	n    *node
	kick chan struct{} // one slot

	// The goroutine of loop has these alone.
	name    string // of the incarnation that has reported
	details NodeDetails
	sent    map[*run]*RunProgress
}

func newReporter(n *node) *reporter {
	return &reporter{n: n, kick: make(chan struct{}, 1), sent: make(map[*run]*RunProgress)}
}

// wake makes loop look for what is new.
func (p *reporter) wake() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *reporter) loop(ctx context.Context) {
	outage := p.n.outage("report")
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.kick:
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
	name, running := p.look()
	details := p.n.details()
	r := Report{Progress: make([]RunProgress, 0, len(running))}
	if name != p.name || !reflect.DeepEqual(details, p.details) {
		r.Details = &details
	}
	for _, progress := range running {
		r.Progress = append(r.Progress, *progress)
	}
	if r.Details == nil && len(r.Progress) == 0 {
		return nil
	}
	opCtx, cancel := p.n.opContext(ctx)
	defer cancel()
	if err := p.n.jobs.store.Report(opCtx, name, r); err != nil {
		return err
	}
	p.name, p.details = name, details
	for run, progress := range running {
		p.sent[run] = progress
	}
	return nil
}

// look returns the name of the node, and up to maxProgress runs whose progress is new. It forgets those that are over.
func (p *reporter) look() (name string, running map[*run]*RunProgress) {
	n := p.n
	running = make(map[*run]*RunProgress)
	n.mu.Lock()
	defer n.mu.Unlock()
	for r := range p.sent {
		if r.state != begun {
			delete(p.sent, r)
		}
	}
	for _, r := range n.mu.held { // in random order: where there are more than that, each has its turn
		if r.state != begun || len(running) == maxProgress {
			continue
		}
		if progress := r.progress.Load(); progress != nil && p.sent[r] != progress {
			running[r] = progress
		}
	}
	return n.mu.name, running
}

// details returns what the node reports of itself.
func (n *node) details() NodeDetails {
	kinds := n.jobs.kindNames()
	kinds = slices.Clip(kinds[:min(len(kinds), maxKinds)])
	return NodeDetails{Host: n.host, PID: os.Getpid(), Version: version(), Kinds: kinds, Workers: n.workers()}
}

// version returns that of the program's main module, "" if there is none.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}
