package postgres

import (
	"math"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// floors are how far looks for jobs that are due have come, for each kind and priority: what waits there was due before
// is known to be taken. A look reads the index from there on. Otherwise it would pass all that was claimed since the
// oldest transaction that is open in the cluster, which stays in the index: after minutes that takes longer than the
// time between two looks.
//
// What becomes free again, or is committed late, may have been due before. A call of this store that may have made such
// a job lowers the floors, and one of another is notified as early. Besides, a look without a floor comes again as soon
// as the last one makes up no more than a fiftieth of the time, by the server's clock: mostly each look is one.
type floors struct {
	sync.Mutex
	now   int64            // of the last answer
	next  map[string]int64 // when a claim without a floor is due, for each kind
	known map[floorKey]int64
}

type floorKey struct {
	kind     string
	priority durable.Priority
}

const (
	floorShare = 50
	// floorFew is of how many jobs a claim takes its time for the look, and not for them.
	floorFew    = 100
	floorLimit  = int64(time.Minute / time.Microsecond)
	floorMargin = int64(time.Second / time.Microsecond) // what a transaction may take that adds jobs which are due
	noFloor     = math.MinInt64
)

// of returns the floors of kinds, by their priorities.
func (f *floors) of(kinds []string) (high, normal, low []int64) {
	f.Lock()
	defer f.Unlock()
	all := [...][]int64{make([]int64, len(kinds)), make([]int64, len(kinds)), make([]int64, len(kinds))}
	for p, list := range all {
		for i, kind := range kinds {
			floor, ok := f.known[floorKey{kind, durable.High - durable.Priority(p)}]
			if list[i] = floor; !ok || f.now >= f.next[kind] {
				list[i] = noFloor
			}
		}
	}
	return all[0], all[1], all[2]
}

// heard notes the time of an answer.
func (f *floors) heard(now int64) {
	f.Lock()
	defer f.Unlock()
	if now < f.now { // the server's clock was put back
		f.known = nil
	}
	f.now = now
}

// reset removes the floors, as some job may be due that was not there before.
func (f *floors) reset() {
	f.Lock()
	defer f.Unlock()
	f.known = nil
}

// lower lowers the floors to the time at which a job is due.
func (f *floors) lower(due time.Time) {
	f.Lock()
	defer f.Unlock()
	for key, floor := range f.known {
		f.known[key] = min(floor, due.UnixMicro())
	}
}

// claimed raises the floors of the kinds to the jobs that were claimed, since each look takes the earliest first; or,
// if nothing was left, to the time of the claim. The claim had those floors, and took so long, in microseconds.
func (f *floors) claimed(r store.ClaimRequest, high, normal, low []int64, c store.ClaimResult, now, took int64) {
	f.Lock()
	defer f.Unlock()
	if f.known == nil {
		f.known = make(map[floorKey]int64)
	}
	if f.next == nil {
		f.next = make(map[string]int64)
	}
	if len(c.Jobs) > floorFew {
		took = 0
	}
	var parted map[string]bool // kinds of which the earliest need not be first
	for i, k := range r.Kinds {
		if k.PerPartition > 0 {
			if parted == nil {
				parted = make(map[string]bool)
			}
			parted[k.Kind] = true
		}
		if high[i] == noFloor && normal[i] == noFloor && low[i] == noFloor {
			f.next[k.Kind] = now + min(floorShare*took, floorLimit)
		}
	}
	raise := func(key floorKey, to int64) {
		to = min(to, now-floorMargin)
		if was, ok := f.known[key]; !ok || was < to {
			f.known[key] = to
		}
	}
	taken := make(map[string]int)
	for i := range c.Jobs {
		j := &c.Jobs[i]
		if taken[j.Kind]++; !parted[j.Kind] {
			raise(floorKey{j.Kind, j.Priority}, j.Due.UnixMicro())
		}
	}
	if c.More || c.Busy {
		return
	}
	for _, k := range r.Kinds {
		if k.Global > 0 || k.Limited() || taken[k.Kind] >= k.Max {
			continue
		}
		for p := durable.Low; p <= durable.High; p++ {
			raise(floorKey{k.Kind, p}, now)
		}
	}
}
