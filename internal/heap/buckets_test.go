package heap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// watched is a queue with the places of its elements.
type watched struct {
	*heap.Queue[int, int]
	where map[int]int
	moves int
}

func watch() *watched {
	w := &watched{where: make(map[int]int)}
	w.Queue = heap.New[int](oneByOne(func(e, place int) { w.where[e] = place; w.moves++ }))
	return w
}

func (w *watched) push(key, e int) { w.where[e] = w.Push(key, e) }

// Random keys leave buckets of full size in order, and equal ones in order of arrival.
func TestBucketsOrder(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(1, 2))
	var q heap.Queue[int, int]
	keys := make([]int, n)
	for i := range keys {
		keys[i] = r.IntN(n)
		q.Push(keys[i], i)
	}
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	got, elems := popAll(&q)
	if !slices.IsSorted(got) {
		t.Error("not in order")
	}
	for i := 1; i < n; i++ {
		if got[i] == got[i-1] && elems[i] < elems[i-1] {
			t.Fatalf("%d left after %d, and they have the same key", elems[i], elems[i-1])
		}
	}
}

// When an element moves between the tree and the buckets its new place is reported.
func TestBucketsReportPlaces(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(3, 4))
	q := watch()
	for e := range n {
		q.push(r.IntN(n), e)
	}
	if q.moves == 0 {
		t.Error("no move was reported")
	}
	for range n / 4 {
		_, e, _ := q.Pop()
		delete(q.where, e)
	}
	for e, place := range q.where {
		if got := q.Take(place); got != e {
			t.Fatalf("%d is at the place of %d", got, e)
		}
	}
	if q.Len() > 0 {
		t.Errorf("%d are left", q.Len())
	}
}

// Places in as many buckets as 67 million elements may have fit into an int32.
func TestBucketsPlacesFit(t *testing.T) {
	const n, buckets = 20_000, 1 << 20
	r := rand.New(rand.NewPCG(11, 12))
	q := watch()
	q.NumberBuckets(buckets - 100)
	for e := range n {
		q.push(r.IntN(n), e)
	}
	inBuckets := 0
	for e, place := range q.where {
		place = int(int32(place))
		if heap.InBucket(place) {
			inBuckets++
		}
		if got := q.Take(place); got != e {
			t.Fatalf("%d is at the place of %d", got, e)
		}
	}
	if inBuckets < n/2 || q.Len() > 0 {
		t.Errorf("%d were in buckets, %d are left", inBuckets, q.Len())
	}
}

// In a queue without buckets no element moves.
func TestBucketsNoneNoMoves(t *testing.T) {
	q := watch()
	for i := range 1000 {
		q.push(i%2*i, i) // half to the lane and half to the tree
	}
	for q.Len() > 0 {
		q.Pop()
	}
	if q.moves > 0 {
		t.Errorf("%d moves were reported", q.moves)
	}
}

// When few elements are left of many, at least a sixteenth of the memory is in use.
func TestBucketsReleaseMemory(t *testing.T) {
	const n = 100_000
	r := rand.New(rand.NewPCG(5, 6))
	for _, stays := range []int{3, 10, 63, 64, 300, 1008} {
		q := watch()
		for e := range n {
			q.push(r.IntN(n), e)
		}
		for e := range n {
			if e%stays != 0 {
				q.Remove(q.where[e])
			}
		}
		if err := q.Check(); err != nil {
			t.Error(err)
		}
		if most := 16*q.Len() + 2500; q.Cap() > most {
			t.Errorf("memory for %d elements, of which %d are there", q.Cap(), q.Len())
		}
	}
}

// At most an eighth of the memory of a long queue is not in use, in whatever order its
// elements came.
func TestBucketsAreFull(t *testing.T) {
	const n = 100_000
	r := rand.New(rand.NewPCG(7, 8))
	for order, key := range map[string]func(i int) int{
		"at random": func(int) int { return r.IntN(n) },
		"backwards": func(i int) int { return -i },
		"forwards before a lane": func(i int) int {
			if i < 100 {
				return n + i
			}
			return i
		},
	} {
		var q heap.Queue[int, int]
		for i := range n {
			q.Push(key(i), 0)
		}
		if q.Cap() > n+n/8 {
			t.Errorf("%s: memory for %d elements, of which %d are there", order, q.Cap(), n)
		}
	}
}

// An empty tree keeps memory for a short burst and no more.
func TestTreeReleasesMemory(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 1000 {
		q.Push(-i, i)
	}
	popAll(&q)
	if q.Cap() > 256 {
		t.Errorf("memory for %d elements", q.Cap())
	}
}

// An element that was removed from a bucket cannot be removed again.
func TestBucketsRemoveOnce(t *testing.T) {
	q := watch()
	q.SetBucketSize(4)
	for e := range 40 {
		q.push(-e, e)
	}
	q.Remove(q.where[1])
	defer func() {
		if recover() == nil || q.Len() != 39 {
			t.Errorf("%d are left", q.Len())
		}
	}()
	q.Remove(q.where[1])
}

// In a queue of steady length memory and places are reused.
func TestBucketsReuseMemory(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(9, 10))
	last := 0
	q := heap.New[int](oneByOne(func(_, place int) { last = max(last, place) }))
	for range n {
		q.Push(r.IntN(1_000_000), 0)
	}
	pair := func() {
		key, _, _ := q.Pop()
		last = max(last, q.Push(key+r.IntN(1_000_000), 0))
	}
	for range 10 * n {
		pair()
	}
	thousand := func() {
		for range 1000 {
			pair()
		}
	}
	// It is 14, or 26 without optimization, where closures are allocated, and 40 or
	// more if nothing is reused.
	if got := testing.AllocsPerRun(20, thousand); got > 30 {
		t.Errorf("%v allocations in a thousand", got)
	}
	if last > 32*n {
		t.Errorf("place %d among %d elements", last, n)
	}
}
