package heap_test

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/heap"
)

func popAll[K int | float64, E any](h *heap.Heap[K, E]) (keys []K, elems []E) {
	for {
		k, e, ok := h.Pop()
		if !ok {
			return keys, elems
		}
		keys, elems = append(keys, k), append(elems, e)
	}
}

// An element removed from the middle may be replaced by one that belongs above
// the gap (JDK-8370887).
func TestRemoveSiftsUp(t *testing.T) {
	h := newItems()
	var doomed *item
	for id, key := range []int{10, 100, 20, 30, 40, 110, 120, 130, 140, 25} {
		it := &item{key: key, id: id}
		h.Push(key, it)
		if key == 110 {
			doomed = it
		}
	}
	h.Remove(doomed.index)
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	keys, _ := popAll(h)
	if want := []int{10, 20, 25, 30, 40, 100, 120, 130, 140}; !slices.Equal(keys, want) {
		t.Errorf("popped %v, want %v", keys, want)
	}
}

// Of eleven elements any one may be removed and the others leave in ascending
// order (AscendingOrderAfterReplace).
func TestAscendingOrderAfterRemoval(t *testing.T) {
	for doomed := range 11 {
		for shift := range 11 {
			h := newItems()
			var items []*item
			for i := range 11 {
				it := &item{key: (i*7 + shift) % 11}
				items = append(items, it)
				h.Push(it.key, it)
			}
			h.Remove(items[doomed].index)
			if keys, _ := popAll(h); !slices.IsSorted(keys) || len(keys) != 10 {
				t.Errorf("after removing %d: %v", items[doomed].key, keys)
			}
		}
	}
}

// The zero Heap is empty and usable.
func TestZeroHeap(t *testing.T) {
	var h heap.Heap[int, string]
	if _, _, ok := h.Peek(); ok {
		t.Error("Peek of an empty heap gave an element")
	}
	if _, _, ok := h.Pop(); ok {
		t.Error("Pop of an empty heap gave an element")
	}
	if h.Len() != 0 || h.Drain() != nil || h.RemoveFunc(func(string) bool { return true }) != nil {
		t.Error("empty heap is not empty")
	}
	h.Push(2, "b")
	h.Push(1, "a")
	if k, e, ok := h.Peek(); !ok || k != 1 || e != "a" {
		t.Errorf("Peek = %v, %q, %v", k, e, ok)
	}
}

// Elements under equal keys leave in order of arrival, also those that a
// RemoveFunc has passed over.
func TestTiesInOrderOfArrival(t *testing.T) {
	var h heap.Heap[int, int]
	for i := range 1000 {
		h.Push(i%3, i)
	}
	h.RemoveFunc(func(i int) bool { return i%7 == 0 })
	_, elems := popAll(&h)
	last := [3]int{-1, -1, -1}
	for _, i := range elems {
		if i < last[i%3] {
			t.Fatalf("%d left after %d", i, last[i%3])
		}
		last[i%3] = i
	}
}

// NaN is an ordinary key, less than any number.
func TestNaN(t *testing.T) {
	var h heap.Heap[float64, int]
	for i, k := range []float64{1, math.NaN(), math.Inf(-1), math.NaN(), 0} {
		h.Push(k, i)
	}
	_, elems := popAll(&h)
	if want := []int{1, 3, 2, 4, 0}; !slices.Equal(elems, want) {
		t.Errorf("popped %v, want %v", elems, want)
	}
}

// Remove and Key of an index without an element panic and change nothing.
func TestOutOfRange(t *testing.T) {
	var h heap.Heap[int, int]
	h.Push(1, 1)
	for name, do := range map[string]func(){
		"Remove(1)":  func() { h.Remove(1) },
		"Remove(-1)": func() { h.Remove(-1) },
		"Key(1)":     func() { h.Key(1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			do()
		}()
	}
	if h.Len() != 1 {
		t.Error("a refused removal removed something")
	}
}

// A predicate that panics leaves the heap as it was.
func TestRemoveFuncPanics(t *testing.T) {
	h := newItems()
	for i := range 20 {
		h.Push(i, &item{key: i})
	}
	before := slices.Collect(values(h))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("panic was swallowed")
			}
		}()
		h.RemoveFunc(func(it *item) bool {
			if it.key == 15 {
				panic("boom")
			}
			return true
		})
	}()
	if !slices.Equal(before, slices.Collect(values(h))) {
		t.Error("heap has changed")
	}
}

// A predicate is asked once for each element.
func TestRemoveFuncAsksOnce(t *testing.T) {
	var h heap.Heap[int, int]
	for i := range 100 {
		h.Push(-i, i)
	}
	asked := map[int]int{}
	h.RemoveFunc(func(i int) bool { asked[i]++; return i%2 == 0 })
	for i := range 100 {
		if asked[i] != 1 {
			t.Errorf("asked %d times about %d", asked[i], i)
		}
	}
}

// A traversal may stop early.
func TestAllStops(t *testing.T) {
	var h heap.Heap[int, int]
	h.Push(1, 1)
	h.Push(2, 2)
	for range h.All() {
		break
	}
}

// An element that left can be collected at once, whichever way it went.
func TestRetainsNothing(t *testing.T) {
	h := newItems()
	var gone []weak.Pointer[item]
	push := func(n int) {
		for i := range n {
			it := &item{key: i}
			gone = append(gone, weak.Make(it))
			h.Push(i, it)
		}
	}
	push(8)
	h.Pop()
	h.Remove(3)
	h.Remove(h.Len() - 1)
	h.RemoveFunc(func(it *item) bool { return true })
	push(8)
	h.Drain()

	runtime.GC()
	for i, p := range gone {
		if p.Value() != nil {
			t.Errorf("element %d is retained", i)
		}
	}
	runtime.KeepAlive(h)
}

// The array is given back when a million elements have left, whichever way
// they went.
func TestReturnsMemory(t *testing.T) {
	const n = 1_000_000
	for name, empty := range map[string]func(*heap.Heap[int, int]){
		"Drain":      func(h *heap.Heap[int, int]) { h.Drain() },
		"RemoveFunc": func(h *heap.Heap[int, int]) { h.RemoveFunc(func(i int) bool { return i > 0 }) },
		"Remove": func(h *heap.Heap[int, int]) { // from the end; Pop would take long under -race
			for h.Len() > 0 {
				h.Remove(h.Len() - 1)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h heap.Heap[int, int]
			for i := range n {
				h.Push(i, i)
			}
			empty(&h)
			if h.Cap() > 1000 {
				t.Errorf("an array of %d slots for %d elements", h.Cap(), h.Len())
			}
		})
	}
}

// A heap that grows and shrinks around one size, whichever that is, does not
// allocate each time.
func TestDoesNotThrash(t *testing.T) {
	for size := 1; size < 3000; size += 23 {
		var h heap.Heap[int, int]
		for i := range size {
			h.Push(i, i)
		}
		for h.Len() > size/2 {
			h.Pop()
		}
		n := testing.AllocsPerRun(20, func() {
			h.Push(1, 1)
			h.Push(1, 1)
			h.Pop()
			h.Pop()
		})
		if n > 0 {
			t.Fatalf("%v allocations in pushing and popping around %d", n, size/2)
		}
	}
}

func values(h *heap.Heap[int, *item]) func(func(*item) bool) {
	return func(yield func(*item) bool) {
		for _, it := range h.All() {
			if !yield(it) {
				return
			}
		}
	}
}
