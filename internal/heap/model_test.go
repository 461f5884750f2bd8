package heap_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// item is an element that knows its place, as a scheduled task does.
type item struct {
	key, id int
	index   int
	_       [2]int // too large for the runtime to pack with others
}

func newItems() *heap.Heap[int, *item] {
	return heap.New[int](func(it *item, index int) { it.index = index })
}

// model drives a heap and a sorted list side by side.
type model struct {
	t      *testing.T
	heap   *heap.Heap[int, *item]
	sorted []*item // by key, then id
	pushed int
}

func newModel(t *testing.T) *model { return &model{t: t, heap: newItems()} }

// step does one operation, chosen by op, on both, and compares what it gives.
func (m *model) step(op, arg byte) {
	m.t.Helper()
	switch op % 16 {
	default:
		it := &item{key: int(arg % 32), id: m.pushed}
		m.pushed++
		if got := m.heap.Push(it.key, it); got != it.index {
			m.t.Fatalf("Push returned index %d, moved said %d", got, it.index)
		}
		m.sorted = append(m.sorted, it)
		slices.SortStableFunc(m.sorted, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
	case 0, 1, 2:
		k, it, ok := m.heap.Pop()
		if ok != (len(m.sorted) > 0) {
			m.t.Fatalf("Pop = %v with %d elements", ok, len(m.sorted))
		}
		if ok {
			m.left(k, it, m.sorted[0])
			m.sorted = m.sorted[1:]
		}
	case 3, 4, 5:
		if len(m.sorted) == 0 {
			return
		}
		i := int(arg) % len(m.sorted)
		want := m.sorted[i]
		if k := m.heap.Key(want.index); k != want.key {
			m.t.Fatalf("Key(%d) = %d, want %d", want.index, k, want.key)
		}
		k, it := m.heap.Remove(want.index)
		m.left(k, it, want)
		m.sorted = slices.Delete(m.sorted, i, i+1)
	case 6:
		match := func(it *item) bool { return it.id%int(arg%7+2) == 0 }
		var want []*item
		m.sorted = slices.DeleteFunc(m.sorted, func(it *item) bool {
			if match(it) {
				want = append(want, it)
			}
			return match(it)
		})
		m.same(m.heap.RemoveFunc(match), want)
	case 7:
		if arg%8 > 0 { // rarely, or the heap would never be large
			return
		}
		all := m.heap.Drain()
		if !slices.Equal(all, m.sorted) {
			m.t.Fatalf("Drain gave another order than the list")
		}
		m.same(all, m.sorted)
		m.sorted = nil
	}
	m.check()
}

// left checks that it left, and is what the model gives.
func (m *model) left(k int, it, want *item) {
	m.t.Helper()
	if it != want || k != want.key || it.index != -1 {
		m.t.Fatalf("got %d %v, want %d %v, gone", k, it, want.key, want)
	}
}

// same checks that removed are those wanted, in any order, and know it.
func (m *model) same(removed, want []*item) {
	m.t.Helper()
	if len(removed) != len(want) {
		m.t.Fatalf("removed %d, want %d", len(removed), len(want))
	}
	for _, it := range removed {
		if !slices.Contains(want, it) || it.index != -1 {
			m.t.Fatalf("removed %v, one of %v gone wanted", it, want)
		}
	}
}

func (m *model) check() {
	m.t.Helper()
	if err := m.heap.Check(); err != nil {
		m.t.Fatal(err)
	}
	if m.heap.Len() != len(m.sorted) {
		m.t.Fatalf("Len = %d, want %d", m.heap.Len(), len(m.sorted))
	}
	if k, it, ok := m.heap.Peek(); ok && (it != m.sorted[0] || k != it.key) {
		m.t.Fatalf("Peek = %d %v, want %v", k, it, m.sorted[0])
	}
	index := 0
	for k, it := range m.heap.All() {
		if it.index != index || it.key != k {
			m.t.Fatalf("at %d under key %d: %v", index, k, it)
		}
		index++
	}
	if index != len(m.sorted) {
		m.t.Fatalf("All gave %d elements, want %d", index, len(m.sorted))
	}
}

// Whatever is done to a heap, it agrees with a sorted list and keeps its
// invariants after every step.
func TestAgreesWithSortedList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		m := newModel(t)
		for range 300 {
			m.step(byte(random.Uint32()), byte(random.Uint32()))
		}
	}
}

// FuzzHeap does what the input says, two bytes an operation.
func FuzzHeap(f *testing.F) {
	f.Add([]byte{8, 10, 8, 100, 8, 20, 8, 30, 8, 40, 8, 110, 8, 120, 8, 130, 8, 140, 8, 25, 3, 5, 0, 0, 0, 0})
	f.Add([]byte{9, 1, 9, 1, 9, 1, 6, 0, 7, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := newModel(t)
		for ; len(ops) >= 2; ops = ops[2:] {
			m.step(ops[0], ops[1])
		}
	})
}
