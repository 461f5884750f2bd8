package ring_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/ring"
)

// pairModel drives a pair and a plain list side by side.
type pairModel struct {
	t      *testing.T
	pair   ring.Pair[*item]
	list   []*item
	head   int // how many elements, the first of list, are in the head
	pushed int
}

// step does one operation, chosen by op, on both, and compares the results.
func (m *pairModel) step(op, arg byte) {
	m.t.Helper()
	many := 1 + int(op/16)*int(op/16) // 1 to 226: up to some chunks
	switch op % 16 {
	default:
		m.push()
	case 8, 9:
		for range many {
			m.push()
		}
	case 10:
		for range many {
			m.remove(int(arg))
		}
	case 11, 12:
		for range many {
			m.popHead()
		}
	case 0, 1:
		m.popHead()
	case 2:
		m.swap()
	case 3:
		m.pop()
	case 4, 5:
		m.remove(int(arg))
	case 6:
		match := func(it *item) bool { return it.id%int(arg%7+2) == 0 }
		if arg > 128 { // nearly all
			match = func(it *item) bool { return it.id%32 != 0 }
		}
		m.removeFunc(match)
		m.pair.Compact(func(it *item, place int) { it.place = place })
		if m.pair.Sparse() {
			m.t.Fatal("sparse after Compact")
		}
	case 7:
		if arg%8 > 0 { // rarely, or the pair would never be long
			return
		}
		if got := m.pair.Drain(); !slices.Equal(got, m.list) {
			m.t.Fatalf("Drain = %v, want %v", got, m.list)
		}
		m.list, m.head = nil, 0
	}
	m.check()
}

func (m *pairModel) push() {
	it := &item{id: m.pushed}
	m.pushed++
	it.place = m.pair.PushTail(it)
	m.list = append(m.list, it)
}

func (m *pairModel) swap() {
	if m.head == 0 {
		m.head = len(m.list)
	}
	m.pair.Swap()
}

func (m *pairModel) popHead() {
	m.t.Helper()
	it, ok := m.pair.PopHead()
	if ok != (m.head > 0) || ok && it != m.list[0] {
		m.t.Fatalf("PopHead = %v, %v with %d elements in the head", it, ok, m.head)
	}
	if ok {
		m.list = m.list[1:]
		m.head--
	}
}

func (m *pairModel) pop() {
	m.t.Helper()
	it, ok := m.pair.Pop()
	if ok != (len(m.list) > 0) || ok && it != m.list[0] {
		m.t.Fatalf("Pop = %v, %v, with %d elements", it, ok, len(m.list))
	}
	if ok {
		if m.head == 0 {
			m.head = len(m.list)
		}
		m.list = m.list[1:]
		m.head--
	}
}

// remove removes the i-th element, modulo the length.
func (m *pairModel) remove(i int) {
	m.t.Helper()
	if len(m.list) == 0 {
		return
	}
	i %= len(m.list)
	want := m.list[i]
	if it := m.pair.At(want.place); it != want {
		m.t.Fatalf("At is %v, want %v", it, want)
	}
	if it := m.pair.Remove(want.place); it != want {
		m.t.Fatalf("removed %v, want %v", it, want)
	}
	m.list = slices.Delete(m.list, i, i+1)
	if i < m.head {
		m.head--
	}
}

func (m *pairModel) removeFunc(match func(*item) bool) {
	m.t.Helper()
	var want, stay []*item
	head := 0
	for i, it := range m.list {
		switch {
		case match(it):
			want = append(want, it)
			continue
		case i < m.head:
			head++
		}
		stay = append(stay, it)
	}
	m.list, m.head = stay, head
	if got := m.pair.RemoveFunc(match); !slices.Equal(got, want) {
		m.t.Fatalf("RemoveFunc = %v, want %v", got, want)
	}
}

func (m *pairModel) check() {
	m.t.Helper()
	if err := m.pair.Check(); err != nil {
		m.t.Fatal(err)
	}
	if m.pair.Len() != len(m.list) || m.pair.TailLen() != len(m.list)-m.head {
		m.t.Fatalf("Len = %d and TailLen = %d, want %d and %d",
			m.pair.Len(), m.pair.TailLen(), len(m.list), len(m.list)-m.head)
	}
	if got := slices.Collect(m.pair.All()); !slices.Equal(got, m.list) {
		m.t.Fatalf("All = %v, want %v", got, m.list)
	}
	seen := make(map[int]bool)
	for _, it := range m.list {
		if seen[it.place] {
			m.t.Fatalf("two elements are at place %d", it.place)
		}
		seen[it.place] = true
	}
}

// A pair agrees with a list, and keeps its invariants, after every step of a random
// program.
func TestPairAgreesWithList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		m := &pairModel{t: t}
		for range 300 {
			m.step(byte(random.Uint32()), byte(random.Uint32()))
		}
	}
}

// A pair agrees with a list after every step of any program, two bytes a step.
func FuzzPair(f *testing.F) {
	f.Add([]byte{8, 0, 2, 0, 8, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0})
	f.Add([]byte{248, 0, 2, 0, 248, 0, 6, 255, 4, 3, 251, 0, 2, 0, 251, 0, 7, 0})
	f.Add([]byte{248, 0, 248, 0, 2, 0, 248, 0, 6, 3, 251, 0, 251, 0, 251, 0, 2, 0, 10, 9, 3, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := &pairModel{t: t}
		ops = ops[:min(len(ops), 600)] // each step looks at all elements
		for ; len(ops) >= 2; ops = ops[2:] {
			m.step(ops[0], ops[1])
		}
	})
}

// The two ends of a pair can be used at the same time, and elements pushed at the
// tail leave the head in order.
func TestPairEndsAtOnce(t *testing.T) {
	const n = 100_000
	var p ring.Pair[int]
	var tail, head sync.Mutex // Swap takes both, head first
	var pushed atomic.Bool    // all
	var wg sync.WaitGroup
	wg.Go(func() {
		defer pushed.Store(true)
		for i := range n {
			tail.Lock()
			before := p.TailLen()
			p.PushTail(i)
			if after := p.TailLen(); after != before+1 {
				t.Errorf("TailLen = %d after %d and a Push", after, before)
			}
			tail.Unlock()
		}
	})
	want := 0
	for more := true; more; {
		all := pushed.Load()
		head.Lock()
		for e, ok := p.PopHead(); ok; e, ok = p.PopHead() {
			if e != want {
				t.Fatalf("PopHead = %d, want %d", e, want)
			}
			want++
		}
		tail.Lock()
		more = p.TailLen() > 0 || !all
		p.Swap()
		tail.Unlock()
		head.Unlock()
		runtime.Gosched()
	}
	wg.Wait()
	if want != n || p.Len() != 0 {
		t.Errorf("%d elements came out, and %d are left over", want, p.Len())
	}
}

// RemoveFunc calls its function once for each element of both rings before it removes
// any: if the function panics, the pair is unchanged.
func TestPairRemoveFuncPanics(t *testing.T) {
	for boom := range 20 {
		var p ring.Pair[int]
		for i := range 20 {
			p.PushTail(i)
			if i == 9 {
				p.Swap()
			}
		}
		var calls []int
		func() {
			defer func() {
				if recover() == nil {
					t.Error("RemoveFunc did not panic")
				}
			}()
			p.RemoveFunc(func(i int) bool {
				calls = append(calls, i)
				if i == boom {
					panic("boom")
				}
				return true
			})
		}()
		if want := upTo(boom + 1); !slices.Equal(calls, want) {
			t.Errorf("calls for %v, want %v", calls, want)
		}
		if got := slices.Collect(p.All()); !slices.Equal(got, upTo(20)) || p.TailLen() != 10 {
			t.Errorf("pair has changed: %v, %d of them in the tail", got, p.TailLen())
		}
	}
}

// An element that has left a pair, by any method, can be collected.
func TestPairRetainsNothing(t *testing.T) {
	const n = 3 * ring.Size
	for name, empty := range map[string]func(p *ring.Pair[*item], items []*item){
		"PopHead": func(p *ring.Pair[*item], _ []*item) {
			for range n {
				p.Swap()
				p.PopHead()
			}
		},
		"Remove": func(p *ring.Pair[*item], items []*item) {
			for _, it := range items {
				p.Remove(it.place)
			}
		},
		"RemoveFunc": func(p *ring.Pair[*item], _ []*item) {
			p.RemoveFunc(func(*item) bool { return true })
		},
		"Drain": func(p *ring.Pair[*item], _ []*item) { p.Drain() },
	} {
		t.Run(name, func(t *testing.T) {
			p := new(ring.Pair[*item])
			var gone []weak.Pointer[item]
			var items []*item
			for i := range n {
				it := &item{}
				gone, items = append(gone, weak.Make(it)), append(items, it)
				it.place = p.PushTail(it)
				if i == n/2 {
					p.Swap()
				}
			}
			empty(p, items)
			clear(items)
			stays := &item{} // its place is free again
			p.PushTail(stays)

			runtime.GC()
			for i, w := range gone {
				if w.Value() != nil {
					t.Errorf("element %d is retained", i)
				}
			}
			runtime.KeepAlive(p)
		})
	}
}

// Elements that come and go in a pair of any steady length allocate nothing once each
// ring has been filled, except for the table of a long one.
func TestPairSteadyFlow(t *testing.T) {
	for _, length := range []int{0, 1, ring.Size, 1000, 50_000, 1000 * ring.Size} {
		var p ring.Pair[int]
		round := func() { // everything is replaced
			for range length + 10*ring.Size {
				p.PushTail(1)
				p.Swap()
				p.PopHead()
			}
		}
		for range length {
			p.PushTail(0)
		}
		for range 20 {
			round()
		}
		if n := testing.AllocsPerRun(10, round); n > float64(length/ring.Size/50) {
			t.Errorf("%v allocations in a round of %d elements", n, length)
		}
	}
}

// A pair releases its memory at the next Swap when all elements have left, by any
// method and any number of times.
func TestPairReleasesMemory(t *testing.T) {
	const n = 300_000
	for name, empty := range map[string]func(p *ring.Pair[int], places []int){
		"PopHead": func(p *ring.Pair[int], _ []int) {
			for range n {
				p.Swap()
				p.PopHead()
			}
		},
		"RemoveFunc": func(p *ring.Pair[int], _ []int) { p.RemoveFunc(func(int) bool { return true }) },
		"Remove": func(p *ring.Pair[int], places []int) {
			for _, place := range places {
				p.Remove(place)
			}
		},
		"Drain": func(p *ring.Pair[int], _ []int) { p.Drain() },
	} {
		t.Run(name, func(t *testing.T) {
			var p ring.Pair[int]
			places := make([]int, n)
			for burst := range 4 {
				for i := range places {
					places[i] = p.PushTail(i)
					if i == n/2 {
						p.Swap()
					}
				}
				empty(&p, places)
				p.Swap()
				if p.Cap() > 2000 {
					t.Errorf("after burst %d: %d slots for %d elements", burst, p.Cap(), p.Len())
				}
			}
		})
	}
}

// When the last element is removed by place, the memory of both rings is released,
// although the other ring was emptied by PopHead.
func TestPairReleasesBothRings(t *testing.T) {
	var p ring.Pair[int]
	for i := range 300_000 {
		p.PushTail(i)
	}
	p.Swap()
	last := p.PushTail(-1)
	for ok := true; ok; {
		_, ok = p.PopHead()
	}
	p.Remove(last)
	if p.Cap() > 2000 {
		t.Errorf("%d slots for %d elements", p.Cap(), p.Len())
	}
}
