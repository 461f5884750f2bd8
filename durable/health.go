package durable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	executor "github.com/executor-go/executor"
)

// Healthy returns nil if this program can do its part, for the readiness probe of an orchestrator, say. While Run runs,
// that is: the node has its lease, its pool is open, it is not draining, and no sort of call, such as claims, has
// failed for longer than Config.Lease. It does not call the store then, since the node does so all the time. A program
// that has not called Run only adds jobs: its store must answer, within ctx. After Run has returned there is always an
// error.
func (j *Jobs) Healthy(ctx context.Context) error {
	mustContext(ctx)
	j.mu.Lock()
	n, started := j.mu.node, j.mu.started
	j.mu.Unlock()
	switch {
	case n != nil:
		return n.healthy()
	case started:
		return errors.New("durable: not healthy: Run has returned, or is about to begin")
	}
	if _, err := j.store.Now(ctx); err != nil {
		return fmt.Errorf("durable: not healthy: the store does not answer: %w", err)
	}
	return nil
}

// failing is a sort of call that fails.
type failing struct {
	since time.Time
	err   error
}

func (n *node) healthy() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls := slices.Sorted(maps.Keys(n.mu.failing))
	if _, beats := n.mu.failing["heartbeat"]; beats {
		calls = append([]string{"heartbeat"}, calls...) // without a lease the others do not matter
	}
	for _, call := range calls {
		if call == "listen" || call == "prune" || call == "report" {
			continue // jobs run all the same
		}
		f := n.mu.failing[call]
		if d := time.Since(f.since); d > n.jobs.cfg.Lease || n.mu.fenced {
			return fmt.Errorf("durable: not healthy: the store has not answered %s for %v: %w", call, d.Round(time.Millisecond), f.err)
		}
	}
	switch {
	case n.mu.draining:
		return errors.New("durable: not healthy: the node is draining")
	case n.mu.fenced:
		return errors.New("durable: not healthy: the node has no lease")
	case n.pool.Stats().Stage != executor.StageRunning:
		return errors.New("durable: not healthy: the pool is shut down")
	}
	return nil
}

// fails notes that a sort of call fails, or, with a nil error, does not.
func (n *node) fails(call string, since time.Time, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.failing[call] = (failing{since, err}); err == nil {
		delete(n.mu.failing, call)
	}
}
