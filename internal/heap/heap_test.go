package heap

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"
)

// item is an element that knows its place, as a task that waits does.
type item struct {
	rank  Rank[int]
	place int
	_     [2]int // too large for the runtime to pack with others
}

func newItems() *Heap[int, *item] {
	return New[int](func(it *item, place int) { it.place = place })
}

// check returns an error if the heap is not one, or its places do not agree.
func (h *Heap[K, E]) check() error {
	gone, full := 0, 0
	in := make(map[int32]bool)
	for i := root; i < len(h.ranks); i++ {
		if i > root && h.ranks[i].Before(h.ranks[parent(i)]) {
			return fmt.Errorf("slot %d is before its parent", i)
		}
		p := h.places[i]
		switch {
		case in[p]:
			return fmt.Errorf("slot %d has place %d, which another one has", i, p)
		case h.isFull(p) && h.elems[p].key != h.ranks[i].Key:
			return fmt.Errorf("slot %d has place %d, in which is %v", i, p, h.elems[p])
		case h.isFull(p):
			full++
		case i == root:
			return errors.New("the first element has left")
		default:
			gone++
		}
		in[p] = true
	}
	if full != h.Len() || gone != h.gone || gone > full {
		return fmt.Errorf("%d elements are there and %d have left, but %d and %d are counted", full, gone, h.Len(), h.gone)
	}
	for _, p := range h.free {
		if in[p] || h.isFull(p) {
			return fmt.Errorf("place %d is free, and is not", p)
		}
		in[p] = true
	}
	if len(in) != len(h.elems) {
		return fmt.Errorf("%d of %d places are known", len(in), len(h.elems))
	}
	return nil
}

// program runs code, two bytes a step, on a Heap and on a sorted slice.
func program(t *testing.T, code []byte) {
	h := newItems()
	var model []*item
	var arrivals uint64
	push := func(key int) {
		arrivals++
		it := &item{rank: Rank[int]{key, arrivals}}
		it.place = h.Push(it.rank, it)
		i, _ := slices.BinarySearchFunc(model, it, func(a, b *item) int {
			if a.rank.Before(b.rank) {
				return -1
			}
			return 1
		})
		model = slices.Insert(model, i, it)
	}
	pop := func() {
		it, ok := h.Pop()
		if ok != (len(model) > 0) || ok && it != model[0] {
			t.Fatalf("Pop: %v, %t", it, ok)
		}
		model = model[min(1, len(model)):]
	}
	for ; len(code) >= 2; code = code[2:] {
		many, arg := 1+int(code[0]/16)*int(code[0]/16), int(code[1])
		switch code[0] % 8 {
		case 0:
			push(arg % 32)
		case 1: // in order
			for i := range many {
				push(arg + i/2)
			}
		case 2: // out of order
			for i := range many {
				push((arg + i*i) % 64)
			}
		case 3:
			pop()
		case 4:
			for range many {
				pop()
			}
		case 5:
			for range min(many, len(model)) {
				i := arg % len(model)
				it := model[i]
				if at, gone := h.At(it.place), h.Remove(it.place); at != it || gone != it {
					t.Fatalf("in the place of %v: %v, then %v", it, at, gone)
				}
				model = slices.Delete(model, i, i+1)
			}
		case 6:
			match := func(it *item) bool { return int(it.rank.Arrival)%(arg%7+2) == 0 }
			if arg > 200 { // nearly all
				match = func(it *item) bool { return it.rank.Arrival%16 != 0 }
			}
			removed, before := h.RemoveFunc(match), len(model)
			model = slices.DeleteFunc(model, match)
			if len(removed) != before-len(model) || slices.ContainsFunc(removed, func(it *item) bool { return !match(it) }) {
				t.Fatalf("RemoveFunc: %v", removed)
			}
		case 7:
			if arg%8 == 0 { // rarely, or the heap would never be long
				if all := h.Drain(); !slices.Equal(all, model) {
					t.Fatal("Drain returned another order than the list")
				}
				model = nil
			}
		}
		if err := h.check(); err != nil {
			t.Fatal(err)
		}
		all := slices.Collect(h.All())
		if len(all) != len(model) || h.Len() != len(model) {
			t.Fatalf("Len is %d, All has %d, want %d", h.Len(), len(all), len(model))
		}
		for _, it := range model {
			if h.At(it.place) != it {
				t.Fatalf("%v is not in its place", it)
			}
		}
		first, ok := h.Peek()
		rank, some := h.First()
		if ok != (len(model) > 0) || some != ok || ok && (first != model[0] || rank != first.rank) {
			t.Fatalf("first is %v %v", first, rank)
		}
	}
}

// A Heap agrees with a sorted list after every step of a random program.
func TestHeapAgreesWithSortedList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		code := make([]byte, 400)
		for i := range code {
			code[i] = byte(random.Uint32())
		}
		program(t, code)
	}
}

func FuzzHeap(f *testing.F) {
	f.Add([]byte{0x12, 7, 0xf2, 9, 0x64, 0, 0xf5, 3, 6, 201, 7, 8})
	// Each step looks at all elements.
	f.Fuzz(func(t *testing.T, code []byte) { program(t, code[:min(len(code), 600)]) })
}

// NaN is less than any number, and NaNs leave in the order of their arrival.
func TestHeapNaN(t *testing.T) {
	var h Heap[float64, int]
	for i, key := range []float64{1, math.NaN(), math.Inf(-1), math.NaN()} {
		h.Push(Rank[float64]{key, uint64(i)}, i)
	}
	if all := h.Drain(); !slices.Equal(all, []int{1, 3, 2, 0}) {
		t.Errorf("order: %v", all)
	}
}

// A place without an element panics.
func TestHeapRemoveNothing(t *testing.T) {
	for name, places := range map[string]int{"free": 1, "beyond": 9, "negative": -1} {
		func() {
			h := newItems()
			h.Push(Rank[int]{1, 1}, new(item))
			h.Remove(h.Push(Rank[int]{2, 2}, new(item)))
			defer func() {
				if recover() == nil || h.Len() != 1 {
					t.Errorf("%s: no panic, or %d elements", name, h.Len())
				}
			}()
			h.Remove(places)
		}()
	}
}

// A match that panics leaves the Heap as it was, and is called once for each element.
func TestHeapRemoveFuncPanics(t *testing.T) {
	h := newItems()
	for i := range 100 {
		it := &item{rank: Rank[int]{i % 7, uint64(i)}}
		it.place = h.Push(it.rank, it)
	}
	calls := make(map[*item]int)
	func() {
		defer func() { recover() }()
		h.RemoveFunc(func(it *item) bool {
			if calls[it]++; len(calls) == 50 {
				panic("half")
			}
			return true
		})
	}()
	if err := h.check(); err != nil || h.Len() != 100 || len(calls) != 50 {
		t.Errorf("%v; %d elements; %d were matched", err, h.Len(), len(calls))
	}
}

// A Heap retains no element that has left.
func TestHeapRetainsNothing(t *testing.T) {
	h := newItems()
	var gone []weak.Pointer[item]
	var items []*item
	for i := range 40 {
		it := &item{rank: Rank[int]{i * 7 % 40, uint64(i)}}
		it.place = h.Push(it.rank, it)
		gone, items = append(gone, weak.Make(it)), append(items, it)
	}
	h.Pop()
	h.Remove(items[3].place)
	h.RemoveFunc(func(it *item) bool { return it.rank.Arrival%2 == 0 })
	h.Drain()
	clear(items)
	runtime.GC()
	for i, p := range gone {
		if p.Value() != nil {
			t.Errorf("element %d is retained", i)
		}
	}
	runtime.KeepAlive(h)
}

// A Heap gives its memory back when most elements have left, by any method.
func TestHeapReleasesMemory(t *testing.T) {
	const n = 20_000
	for name, empty := range map[string]func(h *Heap[int, *item], its []*item){
		"Drain":      func(h *Heap[int, *item], _ []*item) { h.Drain() },
		"RemoveFunc": func(h *Heap[int, *item], _ []*item) { h.RemoveFunc(func(it *item) bool { return it.rank.Key > 9 }) },
		"Remove": func(h *Heap[int, *item], its []*item) {
			for _, it := range its[10:] {
				h.Remove(it.place)
			}
		},
		"Pop": func(h *Heap[int, *item], _ []*item) {
			for h.Len() > 10 {
				h.Pop()
			}
		},
	} {
		h := newItems()
		var its []*item
		for i := range n {
			it := &item{rank: Rank[int]{i, uint64(i)}}
			it.place = h.Push(it.rank, it)
			its = append(its, it)
		}
		empty(h, its)
		if err := h.check(); err != nil || cap(h.elems)+cap(h.ranks) > 500 {
			t.Errorf("%s: %v; room for %d elements and %d ranks", name, err, cap(h.elems), cap(h.ranks))
		}
	}
}

// A Heap that grows and shrinks around any length allocates nothing.
func TestHeapDoesNotThrash(t *testing.T) {
	for size := 1; size < 3000; size += 23 {
		var h Heap[int, int]
		n := uint64(0)
		push := func() { n++; h.Push(Rank[int]{1, n}, 1) }
		for range size {
			push()
		}
		for h.Len() > size/4 {
			h.Pop()
		}
		push()
		push()
		h.Pop()
		h.Pop()
		if allocs := testing.AllocsPerRun(20, func() { push(); push(); h.Pop(); h.Pop() }); allocs > 0 {
			t.Fatalf("%v allocations in pushing and popping around %d", allocs, size/4)
		}
	}
}
