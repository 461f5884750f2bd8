package rows

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// A partition has a place in line for each priority of which it may have jobs that wait. That is a time: until it
// nothing of the partition is near, and of those that are near the earliest comes first. A claim puts in line what has
// begun to wait since the last one; lined has the epochs in which jobs were put in line, and none of a job that was
// changed since.
type partition struct {
	kind     string
	priority store.Priority
	name     string
}

// ClaimLimited is Claim, and heeds the rates and partition limits of kinds.
func (s *Store) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return look(ctx, s, func(t *Tx) store.ClaimResult { return t.claimLimited("", r) })
}

// claimLimited is claim for kinds with limits.
func (t *Tx) claimLimited(queue string, r store.ClaimRequest) store.ClaimResult {
	c := store.ClaimResult{Now: t.now}
	if !t.takes(r.Node) {
		return c
	}
	kinds := make([]limited, len(r.Kinds))
	for i, k := range r.Kinds {
		kinds[i] = t.limited(queue, k, r.Ahead)
	}
	for p := store.High; p >= store.Low; p-- {
		for i := range kinds {
			t.claimKind(&kinds[i], p, r, &c)
		}
	}
	c.More = len(c.Jobs) >= r.Limit
	t.tookTurns(r.Kinds, &c)
	return c
}

// A limited is a kind in a claim.
type limited struct {
	store.KindLimit
	queue string // of the claim
	room  int
	held  map[string]int // of each partition
	taken map[string]int // of each partition, in this claim
	full  time.Time      // see transition.Bucket
	empty bool           // the bucket lacked a token
}

// limited returns what there is to know of the limits of a kind.
func (t *Tx) limited(queue string, limit store.KindLimit, ahead time.Duration) limited {
	k := limited{KindLimit: limit, queue: queue, room: t.room(limit), held: make(map[string]int), taken: make(map[string]int)}
	if limit.Rate != (store.Rate{}) {
		full, _ := t.buckets.get(limit.Kind)
		k.full = transition.Bucket(limit.Rate, full, t.now, ahead)
	}
	if k.PerPartition == 0 {
		return k
	}
	for j := range t.allHeld {
		if j.Kind == k.Kind && j.Partition != "" {
			k.held[j.Partition]++
		}
	}
	written := 0
	for p := store.High; p >= store.Low; p-- {
		for j := range t.inLine(line{queue, k.Kind, p}) {
			if written == mostLined {
				return k
			}
			if t.lineUp(j) {
				written++
			}
		}
	}
	return k
}

// mostLined is how many jobs a claim puts in line, the earliest first, and how many places it changes of partitions that
// had no turn in it. The next claims do the rest, so that a claim can be committed however many jobs and partitions wait.
const mostLined = 1000

// inLine yields all jobs of a line, as near does.
func (t *Tx) inLine(l line) func(yield func(*store.Job) bool) { return t.near(l, forever) }

var forever = time.UnixMicro(math.MaxInt64)

// lineUp puts the partition of a job that waits in line for it, and reports true, unless that was done.
func (t *Tx) lineUp(j *store.Job) bool {
	if j.Partition == "" {
		return false
	}
	if epoch := t.lined.look(j.ID); epoch != nil && *epoch == j.Epoch {
		return false
	}
	t.lined.put(j.ID, j.Epoch)
	p := partition{j.Kind, j.Priority, j.Partition}
	if at, ok := t.places.get(p); !ok || latest(j.Due, t.now).Before(at) {
		t.places.put(p, latest(j.Due, t.now))
	}
	return true
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// claimKind claims jobs of one kind and priority.
func (t *Tx) claimKind(k *limited, p store.Priority, r store.ClaimRequest, c *store.ClaimResult) {
	until := t.now.Add(r.Ahead)
	near := t.turnsOf(k, p, until, min(k.room, r.Limit-len(c.Jobs)))
	if k.PerPartition > 0 && k.room > 0 && len(c.Jobs) < r.Limit && !k.empty {
		defer t.moveOn(k, p, until, maps.Clone(k.held))
	}
	for _, j := range near {
		if k.room <= 0 || len(c.Jobs) >= r.Limit || k.empty {
			return
		}
		parted := k.PerPartition > 0 && j.partition != ""
		if parted && k.held[j.partition] >= k.PerPartition {
			continue
		}
		if k.Rate != (store.Rate{}) && !t.takeToken(k, j.due, c) {
			return
		}
		k.room--
		if t.grant(j.id, &r, c); parted {
			k.held[j.partition]++
			k.taken[j.partition]++
		}
	}
}

// takeToken takes a token of a kind for a job that is due then, and reports whether there is one.
func (t *Tx) takeToken(k *limited, due time.Time, c *store.ClaimResult) bool {
	full, ok := transition.Take(k.Rate, k.full, latest(due, t.now))
	if !ok {
		k.empty = true
		if next := transition.Token(k.Rate, k.full); c.Next.IsZero() || next.Before(c.Next) {
			c.Next = next
		}
		return false
	}
	k.full = full
	t.buckets.put(k.Kind, full)
	return true
}

// moveOn gives the partitions that had their turn in a claim the next one, and those that have nothing near another
// place or none. held is what they held before.
func (t *Tx) moveOn(k *limited, p store.Priority, until time.Time, held map[string]int) {
	next := make(map[string]time.Time)
	for j := range t.inLine(line{k.queue, k.Kind, p}) {
		if _, ok := next[j.Partition]; !ok && j.Partition != "" {
			next[j.Partition] = j.Due // the earliest comes first
		}
	}
	written := 0
	move := func(of partition, at *time.Time) bool {
		due, waits := next[of.name]
		took := k.held[of.name] > held[of.name]
		switch {
		case of.kind != k.Kind || of.priority != p || at.After(until) || held[of.name] >= k.PerPartition:
		case !took && (written == mostLined || waits && !due.After(until)):
		case !waits:
			t.places.del(of)
			written++
		default:
			t.places.put(of, latest(due, t.now.Add(time.Microsecond))) // after what was put in line by this claim
			written++
		}
		return true
	}
	t.places.scan(move)
	t.places.scanAdded(move)
}

// A turn is that of a job that may be claimed.
type turn struct {
	id        store.ID
	due       time.Time
	partition string
	nth       int       // of its partition in this claim
	at        time.Time // the place of its partition, or when it is due
}

// turnsOf returns the jobs of a kind and priority that are near, in the order in which they are claimed; of a kind without
// partitions only the first ones, as many as may be claimed.
func (t *Tx) turnsOf(k *limited, p store.Priority, until time.Time, most int) (near []turn) {
	nth := make(map[string]int)
	for j := range t.near(line{k.queue, k.Kind, p}, until) {
		if k.PerPartition == 0 && len(near) >= most {
			break
		}
		one := turn{id: j.ID, due: j.Due, partition: j.Partition, at: j.Due}
		if k.PerPartition > 0 && j.Partition != "" {
			if at := t.places.look(partition{k.Kind, p, j.Partition}); at != nil {
				one.at = *at
			}
			one.nth = k.taken[j.Partition] + nth[j.Partition]
			nth[j.Partition]++
		}
		near = append(near, one)
	}
	if k.PerPartition > 0 {
		slices.SortStableFunc(near, func(a, b turn) int {
			return cmp.Or(cmp.Compare(a.nth, b.nth), a.at.Compare(b.at), cmp.Compare(a.partition, b.partition))
		})
	}
	return near
}
