package ring_test

import (
	"runtime"
	"slices"
	"testing"
	"weak"

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

// task is about as large as what a pool queues. Five words would be slower by
// half again and more, since the compiler copies an odd number of words with
// moves that overlap, and the processor stalls on those.
type task [6]uintptr

// The cost of one element through a ring.
func BenchmarkPushPop(b *testing.B) {
	var r ring.Ring[task]
	for range 100 {
		r.Push(task{})
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Push(task{1})
		r.Pop()
	}
}

// The cost of an element taken out of the middle.
func BenchmarkPushRemove(b *testing.B) {
	r := newItems()
	for range 100 {
		r.Push(&item{})
	}
	middle, last := new(item), new(item)
	b.ReportAllocs()
	for b.Loop() {
		r.Push(middle)
		r.Push(last)
		r.Remove(middle.place)
		r.Remove(last.place)
	}
}

// A burst of three hundred and its end.
func BenchmarkBurst(b *testing.B) {
	var r ring.Ring[task]
	b.ReportAllocs()
	for b.Loop() {
		for range 300 {
			r.Push(task{})
		}
		for range 300 {
			r.Pop()
		}
	}
}
