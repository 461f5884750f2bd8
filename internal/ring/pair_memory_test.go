package ring_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/ring"
)

// An element that left a pair can be collected at once, whichever way it went.
func TestPairRetainsNothing(t *testing.T) {
	const n = 3 * ring.Size
	for name, empty := range map[string]func(p *ring.Pair[*item], items []*item){
		"Shift": func(p *ring.Pair[*item], _ []*item) {
			for range n {
				p.Turn()
				p.Shift()
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
				it.place = p.Push(it)
				if i == n/2 {
					p.Turn()
				}
			}
			empty(p, items)
			clear(items)
			stays := &item{} // its place is free again
			p.Push(stays)

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

// A pair that is always about equally long, however long that is, allocates
// nothing once each half has been filled, but for the table of a long one.
func TestPairSteadyTraffic(t *testing.T) {
	for _, length := range []int{0, 1, ring.Size, 1000, 50_000, 1000 * ring.Size} {
		var p ring.Pair[int]
		round := func() { // everything is replaced
			for range length + 10*ring.Size {
				p.Push(1)
				if p.First() == nil {
					p.Turn()
				}
				p.Shift()
			}
		}
		for range length {
			p.Push(0)
		}
		for range 20 {
			round()
		}
		if n := testing.AllocsPerRun(10, round); n > float64(length/ring.Size/50) {
			t.Errorf("%v allocations in a round of %d elements", n, length)
		}
	}
}

// Memory is given back when many elements have left and the pair, which is
// empty, turns: however they went, and however often that happens.
func TestPairReturnsMemory(t *testing.T) {
	const n = 300_000
	for name, empty := range map[string]func(p *ring.Pair[int], places []int){
		"Shift": func(p *ring.Pair[int], _ []int) {
			for range n {
				p.Turn()
				p.Shift()
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
					places[i] = p.Push(i)
					if i == n/2 {
						p.Turn()
					}
				}
				empty(&p, places)
				p.Turn()
				if p.Cap() > 2000 {
					t.Errorf("after burst %d: %d slots for %d elements", burst, p.Cap(), p.Len())
				}
			}
		})
	}
}

// When the last element is removed by its place, the memory of both halves is given
// back, also that of the half that others left in another way.
func TestPairReturnsMemoryOfBothHalves(t *testing.T) {
	var p ring.Pair[int]
	for i := range 300_000 {
		p.Push(i)
	}
	p.Turn()
	last := p.Push(-1)
	for p.First() != nil {
		p.Shift()
	}
	p.Remove(last)
	if p.Cap() > 2000 {
		t.Errorf("%d slots for %d elements", p.Cap(), p.Len())
	}
}
