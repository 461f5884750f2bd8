package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable"
)

// silent is a store that does not answer heartbeats and claims for a while.
type silent struct {
	durable.Store
	down atomic.Bool
}

func (s *silent) set(down bool) { s.down.Store(down) }

func (s *silent) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durable.Watch) (durable.HeartbeatResult, error) {
	if s.down.Load() {
		<-ctx.Done()
		return durable.HeartbeatResult{}, ctx.Err()
	}
	return s.Store.Heartbeat(ctx, node, lease, w)
}

func (s *silent) Claim(ctx context.Context, r durable.ClaimRequest) (durable.ClaimResult, error) {
	if s.down.Load() {
		<-ctx.Done()
		return durable.ClaimResult{}, ctx.Err()
	}
	return s.Store.Claim(ctx, r)
}
