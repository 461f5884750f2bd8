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
	items = push(16)
	for _, it := range items[1:12] {
		r.Remove(it.place)
	}
	first := len(gone) - 16
	left := gone[: first+12 : first+12]
	push(8) // closes the holes
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

// The array is given back when a million elements have left, whichever way
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
				t.Errorf("an array of %d slots for %d elements", r.Cap(), r.Len())
			}
		})
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
