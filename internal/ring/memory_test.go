package ring_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/ring"
)

// An element that left can be collected at once, whichever way it went.
func TestRetainsNothing(t *testing.T) {
	r := newItems()
	var gone []weak.Pointer[item]
	push := func(n int) (items []*item) {
		for range n {
			it := &item{}
			gone = append(gone, weak.Make(it))
			r.Push(it)
			items = append(items, it)
		}
		return items
	}
	items := push(8)
	r.Pop()
	r.Remove(items[3].place)
	r.Remove(items[7].place)
	r.RemoveFunc(func(it *item) bool { return true })
	items = push(3 * ring.Size)
	for _, it := range items[1 : 2*ring.Size] { // the rest of a chunk, and one or two whole
		r.Remove(it.place)
	}
	first := len(gone) - 3*ring.Size
	left := gone[: first+2*ring.Size : first+2*ring.Size]
	clear(items)

	runtime.GC()
	for i, p := range left {
		if p.Value() != nil && i != first {
			t.Errorf("element %d is retained", i)
		}
	}
	r.Drain()
	runtime.GC()
	for i, p := range gone {
		if p.Value() != nil {
			t.Errorf("element %d is retained after Drain", i)
		}
	}
	runtime.KeepAlive(r)
}

// Memory is given back when a million elements have left, whichever way
// they went.
func TestReturnsMemory(t *testing.T) {
	const n = 1_000_000
	for name, empty := range map[string]func(*ring.Ring[*item], []*item){
		"Pop":        func(r *ring.Ring[*item], _ []*item) { popAll(r) },
		"Drain":      func(r *ring.Ring[*item], _ []*item) { r.Drain() },
		"RemoveFunc": func(r *ring.Ring[*item], _ []*item) { r.RemoveFunc(func(it *item) bool { return it.id > 0 }) },
		"Remove": func(r *ring.Ring[*item], items []*item) {
			for i := range items {
				r.Remove(items[int(int64(i)*611_953%n)].place) // all, in a jumbled order
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newItems()
			var items []*item
			for i := range n {
				items = append(items, &item{id: i})
				r.Push(items[i])
			}
			empty(r, items)
			if r.Cap() > 1000 {
				t.Errorf("%d slots for %d elements", r.Cap(), r.Len())
			}
			if r.Numbers() > 1 {
				t.Errorf("a table of %d chunks for %d elements", r.Numbers(), r.Len())
			}
		})
	}
}

// While the oldest element stays, those after it that were removed take no
// memory, though their places lie between it and the youngest.
func TestOldestStays(t *testing.T) {
	r := newItems()
	r.Push(&item{})
	for range 1000 {
		var items []*item
		for range 2 * ring.Size {
			items = append(items, &item{})
			r.Push(items[len(items)-1])
		}
		for _, it := range items {
			r.Remove(it.place)
		}
	}
	if r.Cap() > 1000 || r.Numbers() > 20 {
		t.Errorf("%d slots and a table of %d chunks for one element", r.Cap(), r.Numbers())
	}
}

// Traffic through a ring, however long it is, allocates nothing.
func TestSteadyTraffic(t *testing.T) {
	for _, length := range []int{0, 1, ring.Size, 1000, 50_000} {
		var r ring.Ring[int]
		traffic := func() {
			for range 10 * ring.Size {
				r.Push(1)
				r.Pop()
			}
		}
		for range length {
			r.Push(0)
		}
		for range 300 {
			traffic() // the table reaches its size
		}
		if n := testing.AllocsPerRun(100, traffic); n > 0 {
			t.Errorf("%v allocations with %d elements", n, length)
		}
	}
}

// A ring that grows and shrinks around one size, whichever that is, does not
// allocate each time.
func TestDoesNotThrash(t *testing.T) {
	for size := 1; size < 5000; size += 23 {
		var r ring.Ring[int]
		for i := range size {
			r.Push(i)
		}
		for r.Len() > size/2 {
			r.Pop()
		}
		n := testing.AllocsPerRun(20, func() {
			r.Push(1)
			r.Push(1)
			r.Pop()
			r.Pop()
		})
		if n > 0 {
			t.Fatalf("%v allocations in pushing and popping around %d", n, size/2)
		}
	}
}

// A ring of few elements in many chunks is sparse until its ranks are closed. Then
// places are small again, and each element is told its own.
func TestSparse(t *testing.T) {
	const size = 64 // elements of a chunk
	var r ring.Ring[int]
	for i := range 1000 * size {
		r.Push(i)
	}
	if r.Sparse() {
		t.Error("a full ring is sparse")
	}
	r.RemoveFunc(func(e int) bool { return e%size != 0 })
	if !r.Sparse() {
		t.Errorf("%d elements in a thousand chunks are not sparse", r.Len())
	}
	last, places := 0, make(map[int]int)
	r.CloseRanks(func(e, place int) { last, places[e] = place, place })
	if r.Sparse() || last >= 2*1000 {
		t.Errorf("filled anew: sparse is %t, the last place is %d", r.Sparse(), last)
	}
	for e, place := range places {
		if got := r.Remove(place); got != e {
			t.Errorf("%d was told the place of %d", e, got)
		}
	}
	if r.Len() > 0 {
		t.Errorf("%d elements were told no place", r.Len())
	}
}
