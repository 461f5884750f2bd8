package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// silent is a store that does not answer heartbeats and claims for a while.
type silent struct {
	durable.Store
	down atomic.Bool
}

func (s *silent) set(down bool) { s.down.Store(down) }

func (s *silent) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w store.Watch) (store.HeartbeatResult, error) {
	if s.down.Load() {
		<-ctx.Done()
		return store.HeartbeatResult{}, ctx.Err()
	}
	return s.Store.Heartbeat(ctx, node, lease, w)
}

func (s *silent) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	if s.down.Load() {
		<-ctx.Done()
		return store.ClaimResult{}, ctx.Err()
	}
	return s.Store.Claim(ctx, r)
}

// lagging is a store whose answers are on their way for some time; so are the jobs that it is given, the ends of runs, and
// the changes of jobs.
type lagging struct {
	durable.Store
	takes, inserts, commits, changes atomic.Int64
}

func (l *lagging) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	time.Sleep(time.Duration(l.changes.Load()))
	return l.Store.Change(ctx, id, c)
}

func (l *lagging) Commit(ctx context.Context, r store.CommitRequest) (store.CommitResult, error) {
	time.Sleep(time.Duration(l.commits.Load()))
	return l.Store.Commit(ctx, r)
}

func (l *lagging) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]store.InsertResult, error) {
	time.Sleep(time.Duration(l.inserts.Load()))
	return l.Store.Insert(ctx, jobs, p)
}

func (l *lagging) Heartbeat(ctx context.Context, node string, lease time.Duration, w store.Watch) (store.HeartbeatResult, error) {
	defer func() { time.Sleep(time.Duration(l.takes.Load())) }()
	return l.Store.Heartbeat(ctx, node, lease, w)
}

func (l *lagging) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	defer func() { time.Sleep(time.Duration(l.takes.Load())) }()
	return l.Store.Claim(ctx, r)
}
