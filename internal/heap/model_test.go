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
	place   int
	_       [2]int // too large for the runtime to pack with others
}

func newItems() *heap.Queue[int, *item] {
	return heap.New[int](oneByOne(func(it *item, place int) { it.place = place }))
}

// model drives a queue and a sorted list side by side.
type model struct {
	t      *testing.T
	queue  *heap.Queue[int, *item]
	sorted []*item // by key, then id
	pushed int
}

// newModel returns a model whose queue counts its arrivals anew after so many, and
// has piles of at most so many elements.
func newModel(t *testing.T, recount, size int) *model {
	m := &model{t: t, queue: newItems()}
	m.queue.RecountIn(recount)
	m.queue.MakePiles(size)
	return m
}

// step does one operation, chosen by op, on both, and compares what it gives.
func (m *model) step(op, arg byte) {
	m.t.Helper()
	many := 1 + int(op/16)*int(op/16) // 1 to 226
	op %= 12
	switch op {
	default:
		m.push(int(arg % 32))
	case 8: // in order
		for i := range many {
			m.push(int(arg) + i/2)
		}
	case 9: // out of order
		for i := range many {
			m.push((int(arg) + i*i) % 64)
		}
	case 10:
		for range many {
			m.remove(int(arg))
		}
	case 0, 1:
		m.pop()
	case 2:
		for range many {
			m.pop()
		}
	case 3, 4, 5:
		m.remove(int(arg))
	case 6:
		match := func(it *item) bool { return it.id%int(arg%7+2) == 0 }
		if arg > 200 { // nearly all
			match = func(it *item) bool { return it.id%16 != 0 }
		}
		var want []*item
		m.sorted = slices.DeleteFunc(m.sorted, func(it *item) bool {
			if match(it) {
				want = append(want, it)
			}
			return match(it)
		})
		m.same(m.queue.RemoveFunc(match), want)
	case 7:
		if arg%8 > 0 { // rarely, or the queue would never be long
			return
		}
		all := m.queue.Drain()
		if !slices.Equal(all, m.sorted) {
			m.t.Fatalf("Drain gave another order than the list")
		}
		m.sorted = nil
	}
	m.peek()
	m.check()
}

func (m *model) push(key int) {
	m.t.Helper()
	it := &item{key: key, id: m.pushed}
	it.place = m.queue.Push(it.key, it)
	m.pushed++
	i, _ := slices.BinarySearchFunc(m.sorted, it.key+1, func(it *item, key int) int { return cmp.Compare(it.key, key) })
	m.sorted = slices.Insert(m.sorted, i, it)
}

func (m *model) pop() {
	m.t.Helper()
	k, it, ok := m.queue.Pop()
	if ok != (len(m.sorted) > 0) {
		m.t.Fatalf("Pop = %v with %d elements", ok, len(m.sorted))
	}
	if ok {
		if want := m.sorted[0]; it != want || k != want.key {
			m.t.Fatalf("popped %d %v, want %d %v", k, it, want.key, want)
		}
		m.sorted = m.sorted[1:]
	}
}

// remove takes out the i-th element, counted round and round.
func (m *model) remove(i int) {
	m.t.Helper()
	if len(m.sorted) == 0 {
		return
	}
	i %= len(m.sorted)
	want := m.sorted[i]
	if it := m.queue.Take(want.place); it != want {
		m.t.Fatalf("removed %v, want %v", it, want)
	}
	m.sorted = slices.Delete(m.sorted, i, i+1)
}

// same checks that removed are those wanted, in any order.
func (m *model) same(removed, want []*item) {
	m.t.Helper()
	byID := func(a, b *item) int { return cmp.Compare(a.id, b.id) }
	slices.SortFunc(removed, byID)
	slices.SortFunc(want, byID)
	if !slices.Equal(removed, want) {
		m.t.Fatalf("removed %v, want %v", removed, want)
	}
}

func (m *model) peek() {
	m.t.Helper()
	k, it, ok := m.queue.Peek()
	switch {
	case ok != (len(m.sorted) > 0):
		m.t.Fatalf("Peek = %v with %d elements", ok, len(m.sorted))
	case ok && (it != m.sorted[0] || k != it.key):
		m.t.Fatalf("Peek = %d %v, want %v", k, it, m.sorted[0])
	}
}

func (m *model) check() {
	m.t.Helper()
	if err := m.queue.Check(); err != nil {
		m.t.Fatal(err)
	}
	if m.queue.Len() != len(m.sorted) {
		m.t.Fatalf("Len = %d, want %d", m.queue.Len(), len(m.sorted))
	}
	seen := make(map[int]bool) // by place: no two elements have the same
	for k, it := range m.queue.All() {
		if seen[it.place] || it.key != k {
			m.t.Fatalf("under key %d: %v", k, it)
		}
		seen[it.place] = true
	}
	for _, it := range m.sorted {
		if !seen[it.place] {
			m.t.Fatalf("All left out %v", it)
		}
	}
}

// Whatever is done to a queue, it agrees with a sorted list and keeps its
// invariants after every step.
func TestAgreesWithSortedList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		m := newModel(t, random.IntN(3000), 2+random.IntN(200))
		for range 300 {
			m.step(byte(random.Uint32()), byte(random.Uint32()))
		}
	}
}

// FuzzHeap does what the input says, two bytes an operation.
func FuzzHeap(f *testing.F) {
	f.Add(byte(9), []byte{11, 10, 11, 100, 11, 20, 11, 30, 11, 40, 11, 110, 11, 120, 11, 130, 11, 140, 11, 25, 3, 5, 0, 0, 0, 0})
	f.Add(byte(3), []byte{11, 1, 11, 1, 11, 1, 6, 0, 7, 0})
	f.Add(byte(200), []byte{248, 7, 249, 3, 248, 60, 249, 9, 11, 0, 3, 5, 6, 255, 242, 0, 250, 2, 7, 8})
	f.Add(byte(0), []byte{0xa9, 0xa9, 0xa9})
	f.Fuzz(func(t *testing.T, first byte, ops []byte) {
		m := newModel(t, int(first), 2+int(first)%150)
		ops = ops[:min(len(ops), 600)] // each step looks at all elements
		for ; len(ops) >= 2; ops = ops[2:] {
			m.step(ops[0], ops[1])
		}
	})
}
