package ring_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/executor-go/executor/internal/ring"
)

// pairModel drives a pair and a plain list side by side.
type pairModel struct {
	t      *testing.T
	pair   ring.Pair[*item]
	list   []*item
	out    int // how many, the first of list, are in the half to pop from
	pushed int
}

// step does one operation, chosen by op, on both, and compares what it gives.
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
			m.shift()
		}
	case 0, 1:
		m.shift()
	case 2:
		m.turn()
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
		m.pair.CloseRanks(func(it *item, place int) { it.place = place })
		if m.pair.Sparse() {
			m.t.Fatal("sparse after CloseRanks")
		}
	case 7:
		if arg%8 > 0 { // rarely, or the pair would never be long
			return
		}
		if got := m.pair.Drain(); !slices.Equal(got, m.list) {
			m.t.Fatalf("Drain gave %v, want %v", got, m.list)
		}
		m.list, m.out = nil, 0
	}
	m.check()
}

func (m *pairModel) push() {
	it := &item{id: m.pushed}
	m.pushed++
	it.place = m.pair.Push(it)
	m.list = append(m.list, it)
}

func (m *pairModel) turn() {
	m.t.Helper()
	if m.out == 0 {
		m.out = len(m.list)
	}
	if got := m.pair.Turn(); got != (m.out > 0) {
		m.t.Fatalf("Turn = %v with %d elements to pop", got, m.out)
	}
}

func (m *pairModel) shift() {
	m.t.Helper()
	first := m.pair.First()
	if (first != nil) != (m.out > 0) || first != nil && *first != m.list[0] {
		m.t.Fatalf("First = %v with %d elements to pop", first, m.out)
	}
	it, ok := m.pair.Shift()
	if ok != (m.out > 0) || ok && it != m.list[0] {
		m.t.Fatalf("Shift = %v, %v with %d elements to pop", it, ok, m.out)
	}
	if ok {
		m.list = m.list[1:]
		m.out--
	}
}

func (m *pairModel) pop() {
	m.t.Helper()
	it, ok := m.pair.Pop()
	if ok != (len(m.list) > 0) || ok && it != m.list[0] {
		m.t.Fatalf("Pop = %v, %v, with %d elements", it, ok, len(m.list))
	}
	if ok {
		if m.out == 0 {
			m.out = len(m.list)
		}
		m.list = m.list[1:]
		m.out--
	}
}

// remove takes out the i-th element, counted round and round.
func (m *pairModel) remove(i int) {
	m.t.Helper()
	if len(m.list) == 0 {
		return
	}
	i %= len(m.list)
	want := m.list[i]
	if it := m.pair.Remove(want.place); it != want {
		m.t.Fatalf("removed %v, want %v", it, want)
	}
	m.list = slices.Delete(m.list, i, i+1)
	if i < m.out {
		m.out--
	}
}

func (m *pairModel) removeFunc(match func(*item) bool) {
	m.t.Helper()
	var want, stay []*item
	out := 0
	for i, it := range m.list {
		switch {
		case match(it):
			want = append(want, it)
			continue
		case i < m.out:
			out++
		}
		stay = append(stay, it)
	}
	m.list, m.out = stay, out
	if got := m.pair.RemoveFunc(match); !slices.Equal(got, want) {
		m.t.Fatalf("RemoveFunc gave %v, want %v", got, want)
	}
}

func (m *pairModel) check() {
	m.t.Helper()
	if err := m.pair.Check(); err != nil {
		m.t.Fatal(err)
	}
	if m.pair.Len() != len(m.list) || m.pair.Pushed() != len(m.list)-m.out {
		m.t.Fatalf("Len = %d and Pushed = %d, want %d and %d", m.pair.Len(), m.pair.Pushed(), len(m.list), len(m.list)-m.out)
	}
	if got := slices.Collect(m.pair.All()); !slices.Equal(got, m.list) {
		m.t.Fatalf("All gave %v, want %v", got, m.list)
	}
	seen := make(map[int]bool)
	for _, it := range m.list {
		if seen[it.place] {
			m.t.Fatalf("two elements are at place %d", it.place)
		}
		seen[it.place] = true
	}
}

// Whatever is done to a pair, it agrees with a list of which it gives the oldest
// element, unless that has come since the half to pop from was filled.
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

// FuzzPair does what the input says, two bytes an operation.
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

// The two ends of a pair can be used at the same time, and what goes in at one
// comes out at the other in order.
func TestPairEnds(t *testing.T) {
	const n = 100_000
	var p ring.Pair[int]
	var in, out sync.Mutex // a turn takes both, out first
	var pushed atomic.Bool // all
	var wg sync.WaitGroup
	wg.Go(func() {
		defer pushed.Store(true)
		for i := range n {
			in.Lock()
			before := p.Pushed()
			p.Push(i)
			if after := p.Pushed(); after != before+1 {
				t.Errorf("Pushed = %d after %d and a Push", after, before)
			}
			in.Unlock()
		}
	})
	want := 0
	for more := true; more; {
		all := pushed.Load()
		out.Lock()
		for first := p.First(); first != nil; first = p.First() {
			if *first != want {
				t.Errorf("First = %d, want %d", *first, want)
			}
			if e, ok := p.Shift(); !ok || e != want {
				t.Fatalf("Shift = %d, %v, want %d", e, ok, want)
			}
			want++
		}
		in.Lock()
		more = p.Turn() || !all
		in.Unlock()
		out.Unlock()
		runtime.Gosched()
	}
	wg.Wait()
	if want != n || p.Len() != 0 {
		t.Errorf("%d elements came out, and %d are left over", want, p.Len())
	}
}

// A predicate is asked once about each element of both halves before any is
// removed: if it panics, the pair is as it was.
func TestPairRemoveFuncPanics(t *testing.T) {
	for boom := range 20 {
		var p ring.Pair[int]
		for i := range 20 {
			p.Push(i)
			if i == 9 {
				p.Turn()
			}
		}
		var asked []int
		func() {
			defer func() {
				if recover() == nil {
					t.Error("panic was swallowed")
				}
			}()
			p.RemoveFunc(func(i int) bool {
				asked = append(asked, i)
				if i == boom {
					panic("boom")
				}
				return true
			})
		}()
		if want := upTo(boom + 1); !slices.Equal(asked, want) {
			t.Errorf("asked about %v, want %v", asked, want)
		}
		if got := slices.Collect(p.All()); !slices.Equal(got, upTo(20)) || p.Pushed() != 10 {
			t.Errorf("pair has changed: %v, %d of them pushed", got, p.Pushed())
		}
	}
}
