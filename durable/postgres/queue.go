package postgres

import (
	"context"
	"slices"

	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// ClaimQueue is Claim for the jobs of a queue. Such jobs have no partition.
func (s *Store) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	r.Kinds = slices.Clone(r.Kinds)
	for i := range r.Kinds {
		r.Kinds[i].PerPartition = 0
	}
	if slices.ContainsFunc(r.Kinds, store.KindLimit.Limited) {
		return s.claimLimited(ctx, queue, r)
	}
	return s.claim(ctx, queue, r)
}

// QueueNames returns the names of the queues that have waiting jobs.
func (s *Store) QueueNames(ctx context.Context) ([]string, error) {
	return sqlrow.Strings(s.db.QueryContext(ctx, sqlrow.QueueNames))
}

// QueueCounts returns the queues that have waiting jobs.
func (s *Store) QueueCounts(ctx context.Context) ([]store.QueueCount, error) {
	return sqlrow.ScanQueues(s.calls.QueryContext(ctx, sqlrow.CountQueues))
}

// DrainNode sets whether a node is to drain.
func (s *Store) DrainNode(ctx context.Context, node string, drain bool) (bool, error) {
	return do(ctx, each(s.calls), func(q querier) (alive bool, err error) {
		err = q.queryRow(ctx, drainNode, node, drain).Scan(&alive)
		return alive, err
	})
}

// drainNode waits for the claims and inserts that are under way, which have a lock on the row of the node.
const drainNode = `with me as materialized (select id from executor_node where id = $1 and lease_until > 0 for update),
	u as (update executor_node n set drain = $2 from me where n.id = me.id returning n.id)
	select exists (select from u)`
