package sqlite

import (
	"context"
	"slices"

	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// ClaimQueue is Claim for the jobs of a queue.
func (s *Store) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	return do(ctx, s.writer, func(q *querier) (store.ClaimResult, error) {
		if slices.ContainsFunc(r.Kinds, store.KindLimit.Limited) {
			return q.claimLimited(queue, r)
		}
		return q.claim(queue, r)
	})
}

// QueueNames returns the names of the queues that have waiting jobs.
func (s *Store) QueueNames(ctx context.Context) ([]string, error) {
	return sqlrow.Strings(s.read.QueryContext(ctx, sqlrow.QueueNames))
}

// QueueCounts returns the queues that have waiting jobs.
func (s *Store) QueueCounts(ctx context.Context) ([]store.QueueCount, error) {
	return sqlrow.ScanQueues(s.read.QueryContext(ctx, sqlrow.CountQueues))
}

// DrainNode sets whether a node is to drain.
func (s *Store) DrainNode(ctx context.Context, node string, drain bool) (bool, error) {
	return do(ctx, s.writer, func(q *querier) (bool, error) {
		n, err := q.exec("update executor_node set drain = ? where id = ?", drain, node)
		return n > 0, err
	})
}
