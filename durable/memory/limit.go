package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// limits are what the store notes of kinds with limits.
type limits struct {
	full  map[string]time.Time // when the buckets of kinds are full
	lines map[partition]time.Time
	lined map[durable.ID]int64 // the epochs in which jobs were put in line; none of one that was changed since
}

// A partition has a place in line for each priority of which it may have jobs that wait. That is a time: until it
// nothing of the partition is near, and of those that are near the earliest comes first. A claim puts in line what has
// begun to wait since the last one.
type partition struct {
	kind     string
	priority durable.Priority
	name     string
}

// ClaimLimited is Claim, and heeds the rates and partition limits of kinds.
func (s *Store) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return s.claimLimited("", r)
}

func (s *Store) claimLimited(queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := store.ClaimResult{Now: s.nowLocked()}
	if !s.takesLocked(r.Node) {
		return c, nil
	}
	kinds := make([]limited, len(r.Kinds))
	for i, k := range r.Kinds {
		kinds[i] = s.limitedLocked(k, c.Now, r.Ahead)
		kinds[i].queue = queue
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
	queue string // of the claim
	room  int
	held  map[string]int // of each partition
	taken map[string]int // of each partition, in this claim
	full  time.Time      // see transition.Bucket
	empty bool           // the bucket lacked a token
}

// limitedLocked returns what there is to know of the limits of a kind.
func (s *Store) limitedLocked(limit store.KindLimit, now time.Time, ahead time.Duration) limited {
	k := limited{KindLimit: limit, room: limit.Max, held: make(map[string]int), taken: make(map[string]int),
		full: transition.Bucket(limit.Rate, s.mu.full[limit.Kind], now, ahead)}
	if k.Global > 0 {
		k.room = min(k.Max, k.Global-s.heldLocked(k.Kind))
	}
	if k.PerPartition == 0 {
		return k
	}
	for _, j := range s.mu.jobs {
		switch {
		case j.Kind != k.Kind || j.Partition == "":
		case j.State.Held():
			k.held[j.Partition]++
		case j.State == durable.Waiting:
			if epoch, ok := s.mu.lined[j.ID]; ok && epoch == j.Epoch {
				continue
			}
			s.mu.lined[j.ID] = j.Epoch
			p := partition{j.Kind, j.Priority, j.Partition}
			if t, ok := s.mu.lines[p]; !ok || latestOf(j.Due, now).Before(t) {
				s.mu.lines[p] = latestOf(j.Due, now)
			}
		}
	}
	return k
}

func latestOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// A candidate is a job that may be claimed.
type candidate struct {
	*durable.Job
	nth  int       // of its partition in this claim
	line time.Time // the place of its partition, or when it is due
}

// claimKindLocked claims jobs of one kind and priority.
func (s *Store) claimKindLocked(k *limited, p durable.Priority, r store.ClaimRequest, c *store.ClaimResult) {
	until := c.Now.Add(r.Ahead)
	near := s.nearLocked(k, p, until)
	if k.PerPartition > 0 && k.room > 0 && len(c.Jobs) < r.Limit && !k.empty {
		defer s.moveOnLocked(k, p, c.Now, until, maps.Clone(k.held))
	}
	for _, j := range near {
		if k.room <= 0 || len(c.Jobs) >= r.Limit || k.empty {
			return
		}
		if k.PerPartition > 0 && j.Partition != "" && k.held[j.Partition] >= k.PerPartition {
			continue
		}
		if k.Rate != (store.Rate{}) {
			full, ok := transition.Take(k.Rate, k.full, latestOf(j.Due, c.Now))
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
		transition.Claim(j.Job, r.Node, r.Lead, c.Now)
		c.Jobs = append(c.Jobs, *j.Job)
		if k.PerPartition > 0 && j.Partition != "" {
			k.held[j.Partition]++
			k.taken[j.Partition]++
		}
	}
}

// moveOnLocked gives the partitions that had their turn in a claim the next one, and those that have nothing near
// another place or none. held is what they held before.
func (s *Store) moveOnLocked(k *limited, p durable.Priority, now, until time.Time, held map[string]int) {
	next := make(map[string]time.Time)
	for _, j := range s.mu.jobs {
		if j.State == durable.Waiting && j.Kind == k.Kind && j.Priority == p && j.Partition != "" {
			if due, ok := next[j.Partition]; !ok || j.Due.Before(due) {
				next[j.Partition] = j.Due
			}
		}
	}
	for of, place := range s.mu.lines {
		due, waits := next[of.name]
		switch {
		case of.kind != k.Kind || of.priority != p || place.After(until) || held[of.name] >= k.PerPartition:
		case !waits:
			delete(s.mu.lines, of)
		case k.held[of.name] > held[of.name] || due.After(until):
			s.mu.lines[of] = latestOf(due, now.Add(time.Microsecond)) // after what was put in line by this claim
		}
	}
}

// nearLocked returns the jobs of a kind and priority that are near, in the order in which they are claimed.
func (s *Store) nearLocked(k *limited, p durable.Priority, until time.Time) []candidate {
	var near []candidate
	for _, j := range s.mu.jobs {
		if j.State == durable.Waiting && j.Kind == k.Kind && j.Queue == k.queue && j.Priority == p && !j.Due.After(until) {
			near = append(near, candidate{Job: j, line: j.Due})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int { return cmp.Or(a.Due.Compare(b.Due), slices.Compare(a.ID[:], b.ID[:])) })
	if k.PerPartition == 0 {
		return near
	}
	nth := make(map[string]int)
	for i := range near {
		if j := &near[i]; j.Partition != "" {
			j.line = s.mu.lines[partition{k.Kind, p, j.Partition}]
			j.nth = k.taken[j.Partition] + nth[j.Partition]
			nth[j.Partition]++
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.nth, b.nth), a.line.Compare(b.line), strings.Compare(a.Partition, b.Partition))
	})
	return near
}
