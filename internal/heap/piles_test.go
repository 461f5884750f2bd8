package heap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// watched is a queue that knows where each of its elements is.
type watched struct {
	*heap.Queue[int, int]
	where map[int]int
	told  int
}

func watch() *watched {
	w := &watched{where: make(map[int]int)}
	w.Queue = heap.New[int](oneByOne(func(e, place int) { w.where[e] = place; w.told++ }))
	return w
}

func (w *watched) push(key, e int) { w.where[e] = w.Push(key, e) }

// Keys at random leave in order, and those that are equal as they came, with piles
// of their full size.
func TestPilesAreInOrder(t *testing.T) {
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

// Who goes from one part of the queue to another is told the new place, all the
// time.
func TestPilesTellPlaces(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(3, 4))
	q := watch()
	for e := range n {
		q.push(r.IntN(n), e)
	}
	if q.told == 0 {
		t.Error("told nothing")
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

// As many piles as 67 million elements can be in, some in each, have places of which
// an int32 holds the bits.
func TestPlacesOfManyPiles(t *testing.T) {
	const n, piles = 20_000, 1 << 20
	r := rand.New(rand.NewPCG(11, 12))
	q := watch()
	q.NumberPiles(piles - 100)
	for e := range n {
		q.push(r.IntN(n), e)
	}
	far := 0
	for e, place := range q.where {
		place = int(int32(place))
		if heap.Far(place) {
			far++
		}
		if got := q.Take(place); got != e {
			t.Fatalf("%d is at the place of %d", got, e)
		}
	}
	if far < n/2 || q.Len() > 0 {
		t.Errorf("%d were on piles, %d are left", far, q.Len())
	}
}

// A queue without piles, as nearly all are, tells nobody anything.
func TestFewAreToldNothing(t *testing.T) {
	q := watch()
	for i := range 1000 {
		q.push(i%2*i, i) // half to the lane and half to the tree
	}
	for q.Len() > 0 {
		q.Pop()
	}
	if q.told > 0 {
		t.Errorf("told %d", q.told)
	}
}

// Where few elements are left, whichever those are, so is little memory: at least a
// sixteenth of the places in it are taken.
func TestFewLeftOfMany(t *testing.T) {
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

// Of the memory that a long queue has little is not in use, whatever the order in
// which it came.
func TestPilesAreFull(t *testing.T) {
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

// A tree that was emptied keeps memory for a short burst, and no more.
func TestEmptyTree(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 1000 {
		q.Push(-i, i)
	}
	popAll(&q)
	if q.Cap() > 256 {
		t.Errorf("memory for %d elements", q.Cap())
	}
}

// Who was removed from a pile cannot be removed again.
func TestRemoveFarOnce(t *testing.T) {
	q := watch()
	q.MakePiles(4)
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

// In a queue that stays as long as it is, memory is used again, and so are places.
func TestPilesUseMemoryAgain(t *testing.T) {
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
	// It is 14, or 26 in a build without optimization, where functions that are given
	// away are allocated; and 40 or more if nothing is used again.
	if got := testing.AllocsPerRun(20, thousand); got > 30 {
		t.Errorf("%v allocations in a thousand", got)
	}
	if last > 32*n {
		t.Errorf("place %d among %d elements", last, n)
	}
}
