package heap_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/heap"
)

// What was pushed after a Turn is not overtaken by what lies in the heap.
func TestServeAfterPush(t *testing.T) {
	q := newItems()
	push := func(key int) *item {
		it := &item{key: key}
		it.place = q.Push(key, it)
		return it
	}
	blocker := push(90)
	push(60) // to the heap
	q.Remove(blocker.place)
	q.Turn(100)
	q.Settle()
	push(50) // to the lane
	if it, ok := q.Serve(); ok && it.key != 50 {
		t.Errorf("served %d before 50", it.key)
	}
}

// No more than so many join out of order until the next Turn, and any number in
// order.
func TestJoinRefusesTooMany(t *testing.T) {
	var q heap.Queue[int, int]
	for round := range 3 {
		for i := range heap.MaxJoined + 10 {
			if _, ok := q.Join(1_000_000, i); !ok {
				t.Fatalf("%d were refused in order", i)
			}
			place, ok := q.Join(500_000-i, -i)
			if ok != (i < heap.MaxJoined) || place != heap.Unplaced {
				t.Fatalf("after %d out of order: place %d, %v", i, place, ok)
			}
		}
		q.Turn(0)
		q.Settle()
		if want := (round + 1) * (2*heap.MaxJoined + 10); q.Len() != want {
			t.Fatalf("Len = %d, want %d", q.Len(), want)
		}
	}
}

// A Turn gives the lane to those who join now, if what is in it is due long after
// them; who leaves it is told so.
func TestTurnOpensLaneAgain(t *testing.T) {
	where := map[int]int{}
	q := heap.New[int](oneByOne(func(e, place int) { where[e] = place }))
	join := func(key int) (place int) {
		place, ok := q.Join(key, key)
		if !ok {
			t.Fatalf("%d was refused", key)
		}
		where[key] = place
		return place
	}
	join(1000)
	for i := range heap.Patience {
		if place := join(1 + i); place != heap.Unplaced {
			t.Fatalf("%d out of order is at place %d", 1+i, place)
		}
	}
	q.Turn(0)
	q.Settle()
	if join(500) == heap.Unplaced {
		t.Error("the lane is still closed")
	}
	q.Turn(0)
	q.Settle()
	for want, place := range where {
		if got := q.Take(place); got != want {
			t.Errorf("%d was at the place of %d", got, want)
		}
	}
}

// What joined and was served can be collected at once.
func TestEndsRetainNothing(t *testing.T) {
	q := newItems()
	var gone []weak.Pointer[item]
	for _, key := range []int{1, 5, 2, 4, 5, 3} {
		it := &item{key: key}
		gone = append(gone, weak.Make(it))
		if _, ok := q.Join(key, it); !ok {
			t.Fatalf("%d was refused", key)
		}
	}
	q.Turn(5)
	q.Settle()
	for want := range len(gone) {
		if _, ok := q.Serve(); !ok {
			t.Fatalf("only %d were served", want)
		}
	}
	runtime.GC()
	for i, p := range gone {
		if p.Value() != nil {
			t.Errorf("element %d is retained", i)
		}
	}
	runtime.KeepAlive(q)
}

// party is a queue that two goroutines use at the same time, as a scheduled pool
// uses its own: in guards the end where elements join, out the other; to take
// both, out comes first.
type party struct {
	t       *testing.T
	queue   *heap.Queue[int, *guest]
	in, out sync.Mutex
	now     int // guarded by in, as it is read for a Turn
	limit   int // of the last Turn; guarded by out
	served  []*guest
	removed int
}

type guest struct {
	key, id int
	place   int
	since   int // how many had been served when it was pushed; 0 if it joined
	gone    bool
}

func (g *guest) before(h *guest) bool { return g.key < h.key || g.key == h.key && g.id < h.id }

// come has a guest join, or pushes it if it is refused.
func (p *party) come(g *guest) {
	p.in.Lock()
	p.now = g.id
	place, ok := p.queue.Join(g.key, g)
	if ok && place != heap.Unplaced {
		g.place = place
	}
	p.in.Unlock()
	if ok {
		return
	}
	p.out.Lock()
	p.in.Lock()
	p.gather()
	g.since = len(p.served)
	g.place = p.queue.Push(g.key, g)
	p.in.Unlock()
	p.out.Unlock()
}

// leave removes g by its place unless it was served.
func (p *party) leave(g *guest) {
	p.out.Lock()
	p.in.Lock()
	p.gather()
	if !g.gone {
		if got := p.queue.Take(g.place); got != g {
			p.t.Errorf("removed %v, want %v", got, g)
		}
		g.gone = true
		p.removed++
	}
	p.in.Unlock()
	p.out.Unlock()
}

func (p *party) gather() {
	p.queue.Turn(p.limit)
	p.queue.Settle()
}

// serve serves until it turns in vain, which it reports.
func (p *party) serve() (any bool) {
	p.out.Lock()
	defer p.out.Unlock()
	for range 2 {
		for g, ok := p.queue.Serve(); ok; g, ok = p.queue.Serve() {
			if any = true; g.gone {
				p.t.Errorf("%v was served, and had left", g)
			}
			g.gone = true
			p.served = append(p.served, g)
		}
		p.in.Lock()
		p.limit = p.now
		p.queue.Turn(p.limit)
		p.in.Unlock()
		p.queue.Settle() // while others join
	}
	return any
}

// The two ends of a queue can be used at the same time, and everything comes out
// once and in order: what is served leaves before all that leave after it and
// came before. So what has joined is greater than everything that was served
// before it, and what was pushed than everything that was since.
func TestEnds(t *testing.T) {
	const n = 30_000
	p := &party{t: t}
	p.queue = heap.New[int](oneByOne(func(g *guest, place int) { g.place = place }))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var guests []*guest
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := range n {
			g := &guest{key: i + 100, id: i}
			switch i / 500 % 4 { // for a while
			case 1: // some out of order
				g.key = i + random.IntN(200)
			case 2: // and some too late
				g.key = i + random.IntN(100) - 5
			case 3: // all out of order
				g.key = i + 100 - i%50
			}
			guests = append(guests, g)
			p.come(g)
			if i%20 == 0 {
				p.leave(guests[max(0, i-random.IntN(150))])
			}
		}
	})
	for more := true; more; {
		select {
		case <-done:
			more = false
		default:
			p.serve()
			runtime.Gosched()
		}
	}
	wg.Wait()
	p.now = math.MaxInt
	for range 2 {
		p.serve()
	}

	if err := p.queue.Check(); err != nil {
		t.Error(err)
	}
	if len(p.served)+p.removed != n || p.queue.Len() != 0 {
		t.Errorf("%d were served and %d removed of %d, and %d are left", len(p.served), p.removed, n, p.queue.Len())
	}
	last := new(guest) // the greatest of all so far
	for i, g := range p.served {
		before := p.served[g.since:i]
		if g.since == 0 && i > 0 {
			before = []*guest{last}
		}
		for _, h := range before {
			if !h.before(g) {
				t.Fatalf("%v, which came after %d were served, was served after %v", g, g.since, h)
			}
		}
		if last.before(g) {
			last = g
		}
	}
}
