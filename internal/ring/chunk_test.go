package ring_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/ring"
)

// An element that has left a ring, by any method, can be collected.
func TestRingRetainsNothing(t *testing.T) {
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

// A ring releases its memory when all elements have left, by any method.
func TestRingReleasesMemory(t *testing.T) {
	const n = 200_000
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

// While the oldest element stays, removed elements between it and the youngest take
// no memory.
func TestRingReleasesMiddle(t *testing.T) {
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

// Elements that come and go in a ring of any steady length allocate nothing.
func TestRingSteadyFlow(t *testing.T) {
	for _, length := range []int{0, 1, ring.Size, 1000, 50_000} {
		var r ring.Ring[int]
		flow := func() {
			for range 10 * ring.Size {
				r.Push(1)
				r.Pop()
			}
		}
		for range length {
			r.Push(0)
		}
		for range 300 {
			flow() // the table reaches its size
		}
		if n := testing.AllocsPerRun(100, flow); n > 0 {
			t.Errorf("%v allocations with %d elements", n, length)
		}
	}
}

// A ring that grows and shrinks around any length allocates nothing.
func TestRingDoesNotThrash(t *testing.T) {
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
