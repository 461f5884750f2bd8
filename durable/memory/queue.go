package memory

import (
	"context"
	"slices"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// ClaimQueue is Claim for the jobs of a queue.
func (s *Store) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	r.Kinds = slices.Clone(r.Kinds)
	for i := range r.Kinds {
		r.Kinds[i].PerPartition = 0 // what is in a queue has no partition
	}
	if slices.ContainsFunc(r.Kinds, store.KindLimit.Limited) {
		return s.claimLimited(queue, r)
	}
	return s.claim(queue, r)
}

// QueueCounts returns the queues that have waiting jobs.
func (s *Store) QueueCounts(ctx context.Context) ([]store.QueueCount, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var counts []store.QueueCount
	for _, j := range s.mu.jobs {
		if j.State != durable.Waiting || j.Queue == "" {
			continue
		}
		i := slices.IndexFunc(counts, func(c store.QueueCount) bool { return c.Queue == j.Queue })
		if i < 0 {
			i, counts = len(counts), append(counts, store.QueueCount{Queue: j.Queue, Due: j.Due})
		}
		counts[i].Jobs++
		if j.Due.Before(counts[i].Due) {
			counts[i].Due = j.Due
		}
	}
	return counts, nil
}

// watched reports whether a heartbeat looks for jobs of a queue.
func watched(w *store.Watch, queue string) bool {
	if queue == "" {
		return !w.Elsewhere
	}
	return slices.Contains(w.Queues, queue)
}

// DrainNode sets whether a node is to drain.
func (s *Store) DrainNode(ctx context.Context, node string, drain bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, alive := s.mu.leases[node]
	if alive {
		l.drain = drain
		s.mu.leases[node] = l
	}
	return alive, nil
}
