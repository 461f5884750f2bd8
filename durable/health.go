package durable

import (
	"context"
	"errors"
	"fmt"
)

// Healthy returns nil if this program works, for a readiness probe for example. While Run runs, that means that the
// node has its lease, its pool is open, it is not draining, and no kind of call of the store, such as claims, has
// failed for longer than Config.Lease. Healthy does not call the store then, since the node calls the store all the
// time. If the program has not called Run, because it only adds jobs, Healthy returns nil if the store answers before
// ctx ends. After Run has returned, Healthy always returns an error.
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
