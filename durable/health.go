package durable

import (
	"context"
	"errors"
	"fmt"
)

// Healthy returns nil if this program can do its part, for the readiness probe of an orchestrator, say. While Run runs,
// that is: the node has its lease, its pool is open, it is not draining, and no kind of call, such as claims, has
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
		return n.Healthy()
	case started:
		return errors.New("durable: not healthy: Run has returned, or has not begun")
	}
	if _, err := j.store.Now(ctx); err != nil {
		return fmt.Errorf("durable: not healthy: the store does not answer: %w", err)
	}
	return nil
}
