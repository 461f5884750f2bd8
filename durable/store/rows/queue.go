package rows

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// ClaimQueue is Claim for the jobs of a queue.
func (s *Store) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	r.Kinds = slices.Clone(r.Kinds)
	for i := range r.Kinds {
		r.Kinds[i].PerPartition = 0 // what is in a queue has no partition
	}
	return look(ctx, s, func(t *Tx) store.ClaimResult {
		if slices.ContainsFunc(r.Kinds, store.KindLimit.Limited) {
			return t.claimLimited(queue, r)
		}
		return t.claim(queue, r)
	})
}

// QueueNames returns the names of the queues that have waiting jobs.
func (s *Store) QueueNames(ctx context.Context) ([]string, error) {
	return look(ctx, s, func(t *Tx) (names []string) {
		for l := range t.rows.waiting {
			if l.queue != "" {
				names = append(names, l.queue)
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	})
}

// QueueCounts returns the queues that have waiting jobs.
func (s *Store) QueueCounts(ctx context.Context) ([]store.QueueCount, error) {
	return look(ctx, s, func(t *Tx) (counts []store.QueueCount) {
		for l, of := range t.rows.waiting {
			if l.queue == "" {
				continue
			}
			due := time.UnixMicro(of.first().due).UTC()
			i := slices.IndexFunc(counts, func(c store.QueueCount) bool { return c.Queue == l.queue })
			if i < 0 {
				i, counts = len(counts), append(counts, store.QueueCount{Queue: l.queue, Due: due})
			}
			counts[i].Jobs += of.len()
			if due.Before(counts[i].Due) {
				counts[i].Due = due
			}
		}
		return counts
	})
}

// DrainNode sets whether a node is to drain.
func (s *Store) DrainNode(ctx context.Context, name string, drain bool) (bool, error) {
	return look(ctx, s, func(t *Tx) bool {
		n, alive := t.nodes.get(name)
		if alive {
			n.drain = drain
			t.nodes.put(name, n)
		}
		return alive
	})
}
