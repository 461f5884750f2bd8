package ring_test

import (
	"math"
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

// newModel returns a model whose ring begins in the middle of a chunk: before
// elements have come and gone.
func newModel(t *testing.T, before int) *model {
	m := &model{t: t, ring: newItems()}
	for range before {
		m.ring.Push(&item{})
		m.ring.Pop()
	}
	return m
}

// step does one operation, chosen by op, on both, and compares the results.
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
		m.t.Fatalf("Push returned place %d, moved got %d", got, it.place)
	}
	m.list = append(m.list, it)
}

// remove removes the i-th element, modulo the length.
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

// same checks that removed equals want and that all have no place any more.
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
		m.t.Fatalf("All = %v, want %v", got, m.list)
	}
}

// A ring agrees with a list, and keeps its invariants, after every step of a random
// program.
func TestRingAgreesWithList(t *testing.T) {
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

// A ring agrees with a list after every step of any program, two bytes a step.
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

// The zero Ring is empty and ready to use.
func TestRingZeroValue(t *testing.T) {
	var r ring.Ring[string]
	if _, ok := r.Peek(); ok {
		t.Error("Peek of an empty ring returned an element")
	}
	if _, ok := r.Pop(); ok {
		t.Error("Pop of an empty ring returned an element")
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

// Elements leave in the order in which they came, across any number of chunks.
func TestRingFirstInFirstOut(t *testing.T) {
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

// An element keeps its place when elements before and after it leave.
func TestRingPlacesStay(t *testing.T) {
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

// Places are reused: while the oldest element stays, no place is larger than twice
// the largest number of elements that were in the ring at once.
func TestRingPlacesAreReused(t *testing.T) {
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

// Remove panics, and changes nothing, if there is no element at the place.
func TestRingRemoveNothing(t *testing.T) {
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

// Remove panics if the chunk of the place has been released.
func TestRingRemoveFromReleasedChunk(t *testing.T) {
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

// When the youngest elements of a chunk are removed, in any order, the next elements
// get their places.
func TestRingRemoveYoungest(t *testing.T) {
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

// A ring whose elements have all been removed by place can be used again.
func TestRingRemoveAllThenPush(t *testing.T) {
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

// Compact fills a sparse ring anew, so that places are small again, and reports the
// new place of each element.
func TestRingCompact(t *testing.T) {
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
	r.Compact(func(e, place int) { last, places[e] = place, place })
	if r.Sparse() || last >= 2*1000 {
		t.Errorf("after Compact: sparse is %t, the last place is %d", r.Sparse(), last)
	}
	for e, place := range places {
		if got := r.Remove(place); got != e {
			t.Errorf("%d is at the reported place of %d", e, got)
		}
	}
	if r.Len() > 0 {
		t.Errorf("no place was reported for %d elements", r.Len())
	}
}
