package ring_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/ring"
)

// item is an element that knows its place, as a queued task does.
type item struct {
	id, place int
	_         [2]int // too large for the runtime to pack with others
}

func newItems() *ring.Ring[*item] {
	return ring.New(func(it *item, place int) { it.place = place })
}

// model drives a ring and a plain list side by side.
type model struct {
	t      *testing.T
	ring   *ring.Ring[*item]
	list   []*item
	pushed int
}

// newModel returns a model whose ring has seen some elements, so that it begins
// in the middle of a chunk.
func newModel(t *testing.T, before int) *model {
	m := &model{t: t, ring: newItems()}
	for range before {
		m.ring.Push(&item{})
		m.ring.Pop()
	}
	return m
}

// step does one operation, chosen by op, on both, and compares what it gives.
func (m *model) step(op, arg byte) {
	m.t.Helper()
	many := 1 + int(op/16)*int(op/16) // 1 to 226: up to some chunks
	switch op % 16 {
	default:
		m.push()
	case 8:
		for range many {
			m.push()
		}
	case 9:
		for range many {
			m.remove(int(arg))
		}
	case 10:
		for range min(many, len(m.list)) {
			it, _ := m.ring.Pop()
			m.same([]*item{it}, m.list[:1])
			m.list = m.list[1:]
		}
	case 0, 1, 2:
		it, ok := m.ring.Pop()
		if ok != (len(m.list) > 0) {
			m.t.Fatalf("Pop = %v with %d elements", ok, len(m.list))
		}
		if ok {
			m.same([]*item{it}, m.list[:1])
			m.list = m.list[1:]
		}
	case 3, 4, 5:
		m.remove(int(arg))
	case 6:
		match := func(it *item) bool { return it.id%int(arg%7+2) == 0 }
		var want []*item
		m.list = slices.DeleteFunc(m.list, func(it *item) bool {
			if match(it) {
				want = append(want, it)
			}
			return match(it)
		})
		m.same(m.ring.RemoveFunc(match), want)
	case 7:
		if arg%8 == 0 { // rarely, or the ring would never be long
			m.same(m.ring.Drain(), m.list)
			m.list = nil
		}
	}
	m.check()
}

func (m *model) push() {
	m.t.Helper()
	it := &item{id: m.pushed}
	m.pushed++
	if got := m.ring.Push(it); got != it.place {
		m.t.Fatalf("Push returned place %d, moved said %d", got, it.place)
	}
	m.list = append(m.list, it)
}

// remove takes out the i-th element, counted round and round.
func (m *model) remove(i int) {
	m.t.Helper()
	if len(m.list) == 0 {
		return
	}
	i %= len(m.list)
	it := m.ring.Remove(m.list[i].place)
	m.same([]*item{it}, m.list[i:i+1])
	m.list = slices.Delete(m.list, i, i+1)
}

// same checks that removed are those wanted, in order, and know it.
func (m *model) same(removed, want []*item) {
	m.t.Helper()
	if !slices.Equal(removed, want) {
		m.t.Fatalf("removed %v, want %v", removed, want)
	}
	for _, it := range removed {
		if it.place != -1 {
			m.t.Fatalf("removed %v, still at place %d", it, it.place)
		}
	}
}

func (m *model) check() {
	m.t.Helper()
	if err := m.ring.Check(); err != nil {
		m.t.Fatal(err)
	}
	if m.ring.Len() != len(m.list) {
		m.t.Fatalf("Len = %d, want %d", m.ring.Len(), len(m.list))
	}
	if it, ok := m.ring.Peek(); ok != (len(m.list) > 0) || ok && it != m.list[0] {
		m.t.Fatalf("Peek = %v, %v, want the first of %v", it, ok, m.list)
	}
	if got := slices.Collect(m.ring.All()); !slices.Equal(got, m.list) {
		m.t.Fatalf("All gave %v, want %v", got, m.list)
	}
}

// Whatever is done to a ring, it agrees with a list and keeps its invariants
// after every step.
func TestAgreesWithList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for before := range ring.Size + 1 {
		for range 4 {
			m := newModel(t, before)
			for range 300 {
				m.step(byte(random.Uint32()), byte(random.Uint32()))
			}
		}
	}
}

// FuzzRing does what the input says, two bytes an operation.
func FuzzRing(f *testing.F) {
	f.Add(byte(0), []byte{8, 0, 8, 0, 8, 0, 3, 1, 0, 0, 8, 0, 6, 0, 7, 0})
	f.Add(byte(ring.Size-1), []byte{11, 0, 11, 0, 3, 1, 3, 0})
	f.Add(byte(60), []byte{248, 0, 249, 40, 248, 0, 234, 0, 248, 0, 6, 0, 250, 0})
	f.Fuzz(func(t *testing.T, before byte, ops []byte) {
		m := newModel(t, int(before))
		ops = ops[:min(len(ops), 600)] // each step looks at all elements
		for ; len(ops) >= 2; ops = ops[2:] {
			m.step(ops[0], ops[1])
		}
	})
}
