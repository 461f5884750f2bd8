package ring_test

import (
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/ring"
)

func popAll[E any](r *ring.Ring[E]) (all []E) {
	for {
		e, ok := r.Pop()
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// The zero Ring is empty and usable.
func TestZeroRing(t *testing.T) {
	var r ring.Ring[string]
	if _, ok := r.Peek(); ok {
		t.Error("Peek of an empty ring gave an element")
	}
	if _, ok := r.Pop(); ok {
		t.Error("Pop of an empty ring gave an element")
	}
	if r.Len() != 0 || r.Drain() != nil || r.RemoveFunc(func(string) bool { return true }) != nil {
		t.Error("empty ring is not empty")
	}
	r.Push("a")
	r.Push("b")
	if e, ok := r.Peek(); !ok || e != "a" {
		t.Errorf("Peek = %q, %v", e, ok)
	}
}

// Elements leave in the order in which they came, while the array wraps around
// and grows.
func TestFirstInFirstOut(t *testing.T) {
	var r ring.Ring[int]
	in, out := 0, 0
	for round := range 200 {
		for range round {
			r.Push(in)
			in++
		}
		for range round / 2 {
			if e, _ := r.Pop(); e != out {
				t.Fatalf("popped %d, want %d", e, out)
			}
			out++
		}
	}
}

// An array that is full of holes closes them instead of growing, and tells the
// elements their new places.
func TestClosesHoles(t *testing.T) {
	r := newItems()
	var items []*item
	for i := range 16 {
		items = append(items, &item{id: i})
		r.Push(items[i])
	}
	size := r.Cap()
	for i := 1; i < 15; i += 2 {
		r.Remove(items[i].place)
	}
	r.Remove(items[2].place)
	for i := range 8 {
		r.Push(&item{id: 100 + i})
	}
	if r.Cap() != size {
		t.Errorf("an array of %d grew to %d for %d elements", size, r.Cap(), r.Len())
	}
	for e := range r.All() {
		if got := r.Remove(e.place); got != e {
			t.Fatalf("%v was at the place of %v", got, e)
		}
		break
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// An array with few holes grows, and closes them on the way.
func TestGrowsOverHoles(t *testing.T) {
	r := newItems()
	var items []*item
	for i := range 16 {
		items = append(items, &item{id: i})
		r.Push(items[i])
	}
	r.Remove(items[5].place)
	r.Push(&item{id: 16})
	if r.Cap() != 32 || r.Len() != 16 {
		t.Errorf("%d elements in an array of %d", r.Len(), r.Cap())
	}
	for _, it := range slices.Collect(r.All()) {
		if got := r.Remove(it.place); got != it {
			t.Fatalf("%v was at the place of %v", got, it)
		}
	}
}

// Remove of a place without an element panics and changes nothing.
func TestRemoveNothing(t *testing.T) {
	var r ring.Ring[int]
	gone := r.Push(0)
	r.Pop()
	r.Push(1)
	hole := r.Push(2)
	last := r.Push(3)
	r.Remove(hole)
	for _, place := range []int{-1, gone, hole, last + 1, last + 16} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Remove(%d) did not panic", place)
				}
			}()
			r.Remove(place)
		}()
	}
	if got := popAll(&r); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("left over: %v", got)
	}
}

// After every element was removed by place, the ring goes on as before.
func TestRemoveLastThenPush(t *testing.T) {
	var r ring.Ring[int]
	for range 100 {
		a, b, c := r.Push(1), r.Push(2), r.Push(3)
		r.Remove(b)
		r.Remove(c)
		r.Remove(a)
		if r.Len() != 0 {
			t.Fatalf("Len = %d", r.Len())
		}
		r.Push(4)
		if e, ok := r.Pop(); !ok || e != 4 {
			t.Fatalf("Pop = %d, %v", e, ok)
		}
	}
}

// A predicate that panics leaves the ring as it was.
func TestRemoveFuncPanics(t *testing.T) {
	var r ring.Ring[int]
	for i := range 20 {
		r.Push(i)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("panic was swallowed")
			}
		}()
		r.RemoveFunc(func(i int) bool {
			if i == 15 {
				panic("boom")
			}
			return true
		})
	}()
	if got := slices.Collect(r.All()); !slices.Equal(got, upTo(20)) {
		t.Errorf("ring has changed: %v", got)
	}
}

// A predicate is asked once for each element.
func TestRemoveFuncAsksOnce(t *testing.T) {
	var r ring.Ring[int]
	for i := range 100 {
		r.Push(i)
	}
	asked := map[int]int{}
	r.RemoveFunc(func(i int) bool { asked[i]++; return i%2 == 0 })
	for i := range 100 {
		if asked[i] != 1 {
			t.Errorf("asked %d times about %d", asked[i], i)
		}
	}
}

// A traversal may stop early.
func TestAllStops(t *testing.T) {
	var r ring.Ring[int]
	r.Push(1)
	r.Push(2)
	for range r.All() {
		break
	}
}
