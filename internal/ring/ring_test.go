package ring_test

import (
	"math"
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

// Elements leave in the order in which they came, across any number of
// chunks.
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

// An element keeps its place, whatever leaves before, between and after.
func TestPlacesStay(t *testing.T) {
	var r ring.Ring[int]
	var places []int
	const n = 5 * ring.Size
	for i := range n {
		places = append(places, r.Push(i))
	}
	for i := range n {
		if i%7 != 3 {
			r.Remove(places[i])
		}
	}
	for range 3 * ring.Size {
		r.Push(-1)
	}
	for i := 3; i < n; i += 7 {
		if got := r.Remove(places[i]); got != i {
			t.Fatalf("%d was at the place of %d", got, i)
		}
	}
}

// Places are used again: none is larger than about twice the largest number of
// elements that were there at once, however long the ring lives and although
// the oldest element stays.
func TestPlacesAreSmall(t *testing.T) {
	var r ring.Ring[int]
	r.Push(0)
	var places []int
	for i := range 100_000 {
		place := r.Push(i)
		if place > 2*5*ring.Size {
			t.Fatalf("place %d in a ring of %d elements", place, r.Len())
		}
		places = append(places, place)
		if len(places) > 2*ring.Size {
			r.Remove(places[0])
			places = places[1:]
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
	for _, place := range []int{-1, gone, hole, last + 1, last + ring.Size, math.MaxInt, math.MinInt} {
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

// A place in a chunk that was given up names nothing.
func TestRemoveNothingFromGoneChunk(t *testing.T) {
	var r ring.Ring[int]
	var places []int
	for i := range 3 * ring.Size {
		places = append(places, r.Push(i))
	}
	for i := range ring.Size {
		r.Remove(places[ring.Size+i])
	}
	defer func() {
		if recover() == nil {
			t.Error("Remove did not panic")
		}
	}()
	r.Remove(places[ring.Size])
}

// Who removes the youngest elements of a chunk, in whatever order, gives back their
// places: those who come next get the same ones.
func TestRemoveYoungest(t *testing.T) {
	for oldest := 1; oldest < 2*ring.Size; oldest++ {
		if oldest%ring.Size > ring.Size-3 {
			continue // not all in one chunk
		}
		var r ring.Ring[int]
		for i := range oldest {
			r.Push(i)
		}
		a, b, c := r.Push(-1), r.Push(-2), r.Push(-3)
		for _, place := range []int{b, a, c} {
			r.Remove(place)
			if err := r.Check(); err != nil {
				t.Fatalf("behind %d: %v", oldest, err)
			}
		}
		if got := []int{r.Push(1), r.Push(2), r.Push(3)}; !slices.Equal(got, []int{a, b, c}) {
			t.Fatalf("behind %d: places %v after %v", oldest, got, []int{a, b, c})
		}
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
