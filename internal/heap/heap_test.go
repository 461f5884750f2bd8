package heap_test

import (
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/heap"
)

func popAll[K int | float64, E any](q *heap.Queue[K, E]) (keys []K, elems []E) {
	for {
		k, e, ok := q.Pop()
		if !ok {
			return keys, elems
		}
		keys, elems = append(keys, k), append(elems, e)
	}
}

// An element removed from the middle may be replaced by one that belongs above
// the gap (JDK-8370887).
func TestRemoveSiftsUp(t *testing.T) {
	q := newItems()
	q.Push(1000, nil) // keeps all that follow from the lane
	var doomed *item
	for id, key := range []int{10, 100, 20, 30, 40, 110, 120, 130, 140, 25} {
		it := &item{key: key, id: id}
		it.place = q.Push(key, it)
		if key == 110 {
			doomed = it
		}
	}
	q.Remove(doomed.place)
	if err := q.Check(); err != nil {
		t.Error(err)
	}
	keys, _ := popAll(q)
	if want := []int{10, 20, 25, 30, 40, 100, 120, 130, 140, 1000}; !slices.Equal(keys, want) {
		t.Errorf("popped %v, want %v", keys, want)
	}
}

// Of eleven elements any one may be removed and the others leave in ascending
// order (AscendingOrderAfterReplace).
func TestAscendingOrderAfterRemoval(t *testing.T) {
	for doomed := range 11 {
		for shift := range 11 {
			q := newItems()
			var items []*item
			for i := range 11 {
				it := &item{key: (i*7 + shift) % 11}
				items = append(items, it)
				it.place = q.Push(it.key, it)
			}
			q.Remove(items[doomed].place)
			if keys, _ := popAll(q); !slices.IsSorted(keys) || len(keys) != 10 {
				t.Errorf("after removing %d: %v", items[doomed].key, keys)
			}
		}
	}
}

// The zero Queue is empty and usable.
func TestZeroQueue(t *testing.T) {
	var q heap.Queue[int, string]
	if _, _, ok := q.Peek(); ok {
		t.Error("Peek of an empty queue gave an element")
	}
	if _, _, ok := q.Pop(); ok {
		t.Error("Pop of an empty queue gave an element")
	}
	if q.Len() != 0 || q.Drain() != nil || q.RemoveFunc(func(string) bool { return true }) != nil {
		t.Error("empty queue is not empty")
	}
	q.Push(2, "b")
	q.Push(1, "a")
	if k, e, ok := q.Peek(); !ok || k != 1 || e != "a" {
		t.Errorf("Peek = %v, %q, %v", k, e, ok)
	}
}

// Elements under equal keys leave in order of arrival, also those that a
// RemoveFunc has passed over.
func TestTiesInOrderOfArrival(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 1000 {
		q.Push(i%3, i)
	}
	q.RemoveFunc(func(i int) bool { return i%7 == 0 })
	_, elems := popAll(&q)
	last := [3]int{-1, -1, -1}
	for _, i := range elems {
		if i < last[i%3] {
			t.Fatalf("%d left after %d", i, last[i%3])
		}
		last[i%3] = i
	}
}

// What comes in order takes the lane, also among equal keys, and leaves it in
// that order with what is in the heap in between.
func TestLane(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 1000 {
		q.Push(i/2*10, i)
	}
	if q.Lane() != 1000 {
		t.Errorf("%d of 1000 in the lane", q.Lane())
	}
	for i := range 100 {
		q.Push((99-i)*10, 1000+i) // after their equals
		q.Push(i*10+5, 2000+i)
	}
	keys, elems := popAll(&q)
	if !slices.IsSorted(keys) || len(keys) != 1200 {
		t.Errorf("popped %v", keys)
	}
	if want := []int{0, 1, 1099, 2000, 2, 3, 1098, 2001}; !slices.Equal(elems[:8], want) {
		t.Errorf("popped %v, want %v", elems[:8], want)
	}
}

// A few elements that are due long after all others do not keep those from the
// lane for long.
func TestLaneOpensAgain(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range heap.Patience {
		q.Push(1000+i, -1)
	}
	for i := range heap.Patience + 100 {
		q.Push(i, i)
	}
	if q.Lane() != 101 {
		t.Errorf("%d in the lane", q.Lane())
	}
	for i := range heap.Patience + 100 {
		if _, got, _ := q.Pop(); got != i {
			t.Fatalf("popped %d, want %d", got, i)
		}
	}
}

// Nobody is sent from the lane if many are in it, or if what comes out of order
// does not come in a row.
func TestLaneStays(t *testing.T) {
	var long, mixed heap.Queue[int, int]
	for i := range heap.Patience + 1 {
		long.Push(1000+i, i)
	}
	for i := range 10 * heap.Patience {
		long.Push(-i, i)
		mixed.Push(1000+i, i)
		mixed.Push(-i, i)
	}
	if long.Lane() != heap.Patience+1 || mixed.Lane() != 10*heap.Patience {
		t.Errorf("%d and %d in the lanes", long.Lane(), mixed.Lane())
	}
}

// Elements under equal keys leave in order of arrival also if the arrivals are
// counted anew while they wait, in the lane and in the heap.
func TestTiesAcrossRecount(t *testing.T) {
	for n := range 40 {
		var q heap.Queue[int, int]
		q.RecountIn(n)
		want := [2][]int{}
		for i := range 40 {
			key := i / 3 % 2
			q.Push(key, i)
			want[key] = append(want[key], i)
		}
		if _, elems := popAll(&q); !slices.Equal(elems, slices.Concat(want[0], want[1])) {
			t.Errorf("counted anew after %d: popped %v, want %v", n, elems, want)
		}
	}
}

// Those that leave the lane for the heap are told so.
func TestTellsWhoLeavesTheLane(t *testing.T) {
	where := map[int]int{}
	q := heap.New[int](oneByOne(func(e, place int) { where[e] = place }))
	push := func(key, e int) { where[e] = q.Push(key, e) }
	push(1000, -1)
	push(1001, -2)
	for i := range heap.Patience {
		push(i, i)
	}
	for _, want := range []int{-2, -1} {
		if got := q.Take(where[want]); got != want {
			t.Errorf("%d was at the place of %d", got, want)
		}
	}
}

// NaN is an ordinary key, less than any number and equal to itself, in the lane
// and in the heap.
func TestNaN(t *testing.T) {
	nan := math.NaN()
	for _, blocker := range []float64{nan, math.Inf(1)} {
		var q heap.Queue[float64, int]
		q.Push(blocker, -1)
		for i, k := range []float64{nan, nan, nan, nan, nan, nan, 1, nan, math.Inf(-1), nan, 0} {
			q.Push(k, i)
		}
		_, elems := popAll(&q)
		elems = slices.DeleteFunc(elems, func(e int) bool { return e < 0 })
		if want := []int{0, 1, 2, 3, 4, 5, 7, 9, 8, 10, 6}; !slices.Equal(elems, want) {
			t.Errorf("after %v: popped %v, want %v", blocker, elems, want)
		}
	}
}

// Remove of a place without an element panics and changes nothing.
func TestRemoveNothing(t *testing.T) {
	var q heap.Queue[int, int]
	lane, tree := q.Push(1, 1), q.Push(0, 0)
	q.Push(2, 2)
	q.Pop()
	q.Pop()
	for _, place := range []int{lane, tree, 2, 100, 101, 102, -1, -2, -4, math.MinInt, math.MinInt + 2, math.MaxInt, math.MaxInt - 1} {
		func() {
			defer func() {
				if why := fmt.Sprint(recover()); !strings.Contains(why, ": no element at place") {
					t.Errorf("Remove(%d) panicked with %q", place, why)
				}
			}()
			q.Remove(place)
		}()
	}
	if q.Len() != 1 {
		t.Error("a refused removal removed something")
	}
}

// A predicate that panics leaves the queue as it was.
func TestRemoveFuncPanics(t *testing.T) {
	q := newItems()
	for i := range 20 {
		q.Push(i, &item{key: i})
	}
	before := slices.Collect(elements(q))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("panic was swallowed")
			}
		}()
		q.RemoveFunc(func(it *item) bool {
			if it.key == 15 {
				panic("boom")
			}
			return true
		})
	}()
	if !slices.Equal(before, slices.Collect(elements(q))) {
		t.Error("queue has changed")
	}
}

// A predicate is asked once for each element.
func TestRemoveFuncAsksOnce(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 100 {
		q.Push(-i, i)
	}
	asked := map[int]int{}
	q.RemoveFunc(func(i int) bool { asked[i]++; return i%2 == 0 })
	for i := range 100 {
		if asked[i] != 1 {
			t.Errorf("asked %d times about %d", asked[i], i)
		}
	}
}

// A traversal may stop early.
func TestAllStops(t *testing.T) {
	var q heap.Queue[int, int]
	q.Push(1, 1)
	q.Push(2, 2)
	for range q.All() {
		break
	}
}

// An element that left can be collected at once, whichever way it went.
func TestRetainsNothing(t *testing.T) {
	q := newItems()
	var gone []weak.Pointer[item]
	var items []*item
	push := func(keys ...int) {
		for _, key := range keys {
			it := &item{key: key}
			gone = append(gone, weak.Make(it))
			it.place = q.Push(key, it)
			items = append(items, it)
		}
	}
	push(0, 1, 2, 3, 4, 1, 2, 3, 4) // five to the lane and four to the heap
	q.Pop()
	q.Pop()
	q.Remove(items[3].place)
	q.Remove(items[8].place)
	q.Remove(items[7].place)
	q.RemoveFunc(func(it *item) bool { return true })
	push(0, 1, 2, 3, 1, 2, 3)
	q.Drain()
	clear(items)

	runtime.GC()
	for i, p := range gone {
		if p.Value() != nil {
			t.Errorf("element %d is retained", i)
		}
	}
	runtime.KeepAlive(q)
}

// Memory is given back when many elements have left, whichever way they went: what
// stays is that of a tree and of a pile.
func TestReturnsMemory(t *testing.T) {
	const n = 300_000
	for name, empty := range map[string]func(q *heap.Queue[int, int], places []int){
		"Drain":      func(q *heap.Queue[int, int], _ []int) { q.Drain() },
		"RemoveFunc": func(q *heap.Queue[int, int], _ []int) { q.RemoveFunc(func(i int) bool { return i > 0 }) },
		"Remove": func(q *heap.Queue[int, int], places []int) { // Pop would take long under -race
			for _, place := range places[n/2:] {
				q.Remove(place)
			}
			q.RemoveFunc(func(int) bool { return true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			places := make([]int, n)
			q := heap.New[int](oneByOne(func(e, place int) { places[e] = place }))
			for i := range n {
				places[i] = q.Push(-i, i) // all but the first out of order
			}
			empty(q, places)
			if q.Cap() > 2500 {
				t.Errorf("%d slots for %d elements", q.Cap(), q.Len())
			}
		})
	}
}

// A queue that grows and shrinks around one size, whichever that is, does not
// allocate each time.
func TestDoesNotThrash(t *testing.T) {
	for size := 1; size < 3000; size += 23 {
		var q heap.Queue[int, int]
		for i := range size {
			q.Push(i, i)
		}
		for q.Len() > size/2 {
			q.Pop()
		}
		n := testing.AllocsPerRun(20, func() {
			q.Push(1, 1)
			q.Push(1, 1)
			q.Pop()
			q.Pop()
		})
		if n > 0 {
			t.Fatalf("%v allocations in pushing and popping around %d", n, size/2)
		}
	}
}

func elements[K int, E any](q *heap.Queue[K, E]) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range q.All() {
			if !yield(e) {
				return
			}
		}
	}
}
