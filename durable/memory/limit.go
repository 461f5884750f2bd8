package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// ClaimLimited is Claim, and keeps the rates of kinds.
func (s *Store) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := store.ClaimResult{Now: s.nowLocked()}
	if _, alive := s.mu.leases[r.Node]; !alive {
		return c, nil
	}
	kinds := make([]limited, len(r.Kinds))
	for i, k := range r.Kinds {
		kinds[i] = limited{KindLimit: k, room: k.Max, full: transition.Bucket(k.Rate, s.mu.full[k.Kind], c.Now, r.Ahead)}
		if k.Global > 0 {
			kinds[i].room = min(k.Max, k.Global-s.heldLocked(k.Kind))
		}
	}
	for p := durable.High; p >= durable.Low; p-- {
		for i := range kinds {
			s.claimKindLocked(&kinds[i], p, r, &c)
		}
	}
	c.More = len(c.Jobs) >= r.Limit
	return c, nil
}

// limited is a kind in a claim.
type limited struct {
	store.KindLimit
	room  int
	full  time.Time // see transition.Bucket
	empty bool      // the bucket lacked a token
}

// claimKindLocked claims jobs of one kind and priority.
func (s *Store) claimKindLocked(k *limited, p durable.Priority, r store.ClaimRequest, c *store.ClaimResult) {
	var near []*durable.Job
	for _, j := range s.mu.jobs {
		if j.State == durable.Waiting && j.Kind == k.Kind && j.Priority == p && !j.Due.After(c.Now.Add(r.Ahead)) {
			near = append(near, j)
		}
	}
	slices.SortFunc(near, func(a, b *durable.Job) int {
		return cmp.Or(a.Due.Compare(b.Due), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for _, j := range near {
		if k.room <= 0 || len(c.Jobs) >= r.Limit || k.empty {
			return
		}
		if k.Rate != (store.Rate{}) {
			at := j.Due
			if at.Before(c.Now) {
				at = c.Now
			}
			full, ok := transition.Take(k.Rate, k.full, at)
			if !ok {
				k.empty = true
				if next := transition.Token(k.Rate, k.full); c.Next.IsZero() || next.Before(c.Next) {
					c.Next = next
				}
				return
			}
			k.full, s.mu.full[k.Kind] = full, full
		}
		k.room--
		transition.Claim(j, r.Node, r.Lead, c.Now)
		c.Jobs = append(c.Jobs, *j)
	}
}
