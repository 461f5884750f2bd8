package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/internal/bucket"
	"github.com/executor-go/executor/internal/delay"
)

// probe is a unit that takes some time, as often as it is to run.
type probe struct {
	slot Slot
	name int
	at   int64 // when it is due, where that counts
	prio int64
	work time.Duration
	key  KeyItem
	goes bool          // its last run calls runtime.Goexit
	show bool          // its last run shows its outcome before it returns
	lane int           // its key
	wait time.Duration // from one run to the next; 0 for a millisecond

	world *world

	mu       sync.Mutex
	runs     int // left
	outcome  Outcome
	accepted bool
	running  bool
	waits    func(e *Engine) // it waits for another one, if not nil
	engine   *Engine         // since its first run
	ended    int             // how often it has ended
}

// world is what is known of the units of a test.
type world struct {
	mu      sync.Mutex
	running int
	most    int
	began   []int // names, in order

	limits map[*Engine]int         // of those with keys
	keys   map[*Engine]map[int]int // units of a key that workers run
	over   int                     // most above the limit of a key

	resized map[*Engine]bool // those that had other limits when a unit was admitted, maybe, or have paused since
}

// enter and leave note a unit of a key that a worker runs. The caller holds mu.
func (w *world) enter(e *Engine, key int) {
	limit, ok := w.limits[e]
	if !ok {
		return
	}
	if w.keys == nil {
		w.keys = make(map[*Engine]map[int]int)
	}
	if w.keys[e] == nil {
		w.keys[e] = make(map[int]int)
	}
	w.keys[e][key]++
	w.over = max(w.over, w.keys[e][key]-limit)
}

func (w *world) leave(e *Engine, key int) {
	if w.keys[e] != nil {
		w.keys[e][key]--
	}
}

func (p *probe) Slot() *Slot   { return &p.slot }
func (p *probe) Key() *KeyItem { return &p.key }

func (p *probe) Outcome() Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.outcome.Over():
		return p.outcome
	case p.running:
		return None
	}
	return Again
}

func (p *probe) dueAt() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// drop ends the unit, which e has given up.
func (p *probe) drop(e *Engine) {
	p.end(Canceled)
	e.Leave(p.Slot(), p.Outcome)
	e.Tidy()
}

// end gives the unit its outcome, unless it has one, and reports whether it did.
func (p *probe) end(out Outcome) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome.Over() {
		return false
	}
	p.outcome = out
	p.ended++
	return true
}

func (p *probe) Do(w *Worker) {
	p.mu.Lock()
	if p.outcome.Over() {
		w.Outcome = p.outcome
		p.mu.Unlock()
		return
	}
	p.running, p.engine = true, w.engine
	p.runs--
	last := p.runs <= 0
	p.mu.Unlock()
	w.Called()
	p.world.mu.Lock()
	p.world.running++
	p.world.most = max(p.world.most, p.world.running)
	p.world.began = append(p.world.began, p.name)
	p.world.enter(w.engine, p.lane)
	p.world.mu.Unlock()
	left := false
	leave := func() {
		left = true
		p.world.mu.Lock()
		p.world.running--
		p.world.leave(w.engine, p.lane)
		p.world.mu.Unlock()
		p.mu.Lock()
		p.running = false
		p.mu.Unlock()
	}
	defer func() {
		if !left { // a unit that this one hosted has called runtime.Goexit
			leave()
		}
	}()
	time.Sleep(p.work)
	if p.waits != nil {
		p.waits(w.engine)
	}
	if last && p.show {
		w.Showing()
		time.Sleep(time.Millisecond)
	}
	leave()
	p.mu.Lock()
	again := !last && !p.outcome.Over()
	if again {
		p.at = w.engine.Now() + int64(cmp.Or(p.wait, time.Millisecond))
	}
	p.mu.Unlock()
	if again {
		w.Outcome = Again
		return
	}
	if p.goes {
		runtime.Goexit()
	}
	p.end(Succeeded)
	w.Outcome = p.Outcome()
}

// config returns what all engines of these tests have in common.
func config(q Queue, l Limits) Config {
	c := Config{
		Limits: l, Queue: q, Epoch: time.Now().Add(-1),
		Dropped: func(u Unit) {
			p := u.(*probe)
			p.mu.Lock()
			e := p.engine
			p.mu.Unlock()
			p.drop(e)
		},
		Lost: func(w *Worker, u Unit, _ any) {
			u.(*probe).end(Failed)
			w.Outcome = u.Outcome()
		},
	}
	c.Later = func() Timed { return due(c.Epoch, true) }
	return c
}

func due(epoch time.Time, later bool) *Due {
	return NewDue(delay.Clock{Epoch: epoch}, -1, later, func(u Unit) Moment {
		return Moment{At: u.(*probe).dueAt()}
	}, func(Unit, time.Duration) bool { return false })
}

func (w *world) probe(name int) *probe {
	return &probe{name: name, world: w, runs: 1, outcome: None, work: time.Second}
}

func priorityOf(u Unit) int64 {
	return u.(*probe).prio
}

// check requires that the counters add up.
func check(t *testing.T, e *Engine) Counts {
	t.Helper()
	c := e.Counts()
	ended := int64(0)
	for _, n := range c.Ended {
		ended += n
	}
	if c.Submitted != ended+int64(c.Queued+c.Active) || c.Active > c.Workers || c.Workers > c.Largest {
		t.Fatalf("counters do not add up: %+v", c)
	}
	return c
}

// The four steps, one by one, of an engine with two core workers, one more, and room for two.
func TestEngineFourSteps(t *testing.T) {
	for _, c := range []struct {
		name     string
		whenBusy bool
		want     string
	}{
		{"queue before growth", false, "1 taken 2 taken 3 queued 4 queued 5 taken 6 saturated"},
		{"growth before queue", true, "1 taken 2 taken 3 taken 4 queued 5 queued 6 saturated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := new(world)
				e := New(config(NewLine(2), Limits{Kept: 2, Max: 3, WhenBusy: c.whenBusy}))
				got := ""
				for n := 1; n <= 6; n++ {
					v := e.Submit(w.probe(n), false)
					got += fmt.Sprintf("%d %s ", n, [...]string{"taken", "queued", "saturated", "too late"}[v])
				}
				if got != c.want+" " {
					t.Errorf("got %s, want %s", got, c.want)
				}
				shut(e)
				<-e.Terminated()
				if n := check(t, e); n.Ended[Succeeded] != 5 || n.Runs != 5 {
					t.Errorf("counts are %+v", n)
				}
			})
		})
	}
}

// A submitter that found the gate open looks again once it has the lock: by then
// a worker may be idle, which is to get the unit.
func TestEngineGateIsCheckedUnderItsLock(t *testing.T) {
	w := new(world)
	for range 1000 {
		g := gate{stream: new(Stream)}
		g.open.Store(true)
		g.lock.Lock()
		admitted := make(chan bool)
		go func() { admitted <- g.push(w.probe(1)) }()
		runtime.Gosched() // mostly, it waits for the lock by now
		g.open.Store(false)
		g.lock.Unlock()
		if <-admitted {
			t.Fatal("a unit was queued though the gate was shut")
		}
	}
}

// The gate stays closed while each unit finds an idle worker, and opens for those that wait.
func TestEngineGateOpensWhenAUnitWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		e := New(config(new(Stream), Limits{Kept: 1, Max: 1}))
		isOpen := func(when string, want bool) {
			t.Helper()
			if e.gate.open.Load() != want {
				t.Errorf("%s: the gate is open: %t", when, !want)
			}
		}
		for range 3 {
			e.Submit(w.probe(1), false)
			isOpen("a worker has the only unit", false)
			time.Sleep(time.Minute)
		}
		e.Submit(w.probe(1), false)
		e.Submit(w.probe(2), false)
		isOpen("a unit waits", true)
		e.Submit(w.probe(3), false)
		if n := check(t, e); n.Queued != 2 {
			t.Errorf("counts are %+v", n)
		}
		time.Sleep(time.Minute)
		isOpen("all have ended", false)
		shut(e)
		<-e.Terminated()
	})
}

// However high its limit, a queue takes no more units than there are places for.
func TestLineLimitOfPlaces(t *testing.T) {
	if limit := NewLine(math.MaxInt).Limit(); limit > Any {
		t.Errorf("room for %d, places for %d", limit, Any)
	}
}

// A worker whose unit shows its outcome is as good as free: whoever sees that may submit the
// next one to an engine without a queue.
func TestEngineTakesUnitOfWhoSawAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(config(NewLine(0), Limits{Kept: 1, Max: 1}))
		for range 100 {
			shown := make(chan struct{})
			if v := e.Submit(&showing{shown: shown}, false); v > Queued {
				t.Fatalf("verdict %d", v)
			}
			<-shown // the worker has not been counted as free yet
		}
		shut(e)
		<-e.Terminated()
		if c := check(t, e); c.Ended[Succeeded] != 100 {
			t.Errorf("counts are %+v", c)
		}
	})
}

// A worker whose unit shows its outcome makes room for one more beyond the limit of the queue, if it takes the next
// unit.
func TestEngineRoomIsForWhoTakesTheNext(t *testing.T) {
	rated := func(burst int64) func() *Engine {
		return func() *Engine {
			c := config(NewLine(1), Limits{Max: 1, WhenBusy: true})
			c.Lender = New(config(new(Stream), Limits{Kept: 1, Max: 1}))
			c.Rate = bucket.Bucket{Interval: int64(time.Hour), Burst: burst}
			e := New(c)
			e.Borrow()
			return e
		}
	}
	for _, c := range []struct {
		name string
		make func() *Engine
		then func(*Engine) // when the outcome is shown
		want int           // units that are taken then
	}{
		{"free", func() *Engine { return New(config(NewLine(1), Limits{Kept: 1, Max: 1})) }, nil, 2},
		{"a token", rated(2), nil, 2},
		{"no token", rated(1), nil, 1},
		{"too many", func() *Engine { return New(config(NewLine(1), Limits{Kept: 2, Max: 2})) }, func(e *Engine) {
			e.Submit(new(world).probe(1), false)
			e.Resize(Limits{Kept: 1, Max: 1}, nil)
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := c.make()
				shown := make(chan struct{})
				if v := e.Submit(&showing{shown: shown}, false); v > Queued {
					t.Fatalf("verdict %d", v)
				}
				<-shown
				if c.then != nil {
					c.then(e)
				}
				n := 0
				for ; e.Submit(new(world).probe(n), false) <= Queued; n++ {
				}
				if n != c.want {
					t.Errorf("%d units were taken, want %d", n, c.want)
				}
				waiting, _ := e.Stop()
				for _, u := range waiting {
					u.(*probe).drop(e)
				}
				e.Tidy()
				<-e.Terminated()
				if e.Lender != nil {
					shut(e.Lender)
				}
			})
		})
	}
}

// showing is a unit that shows its outcome a while before it returns.
type showing struct {
	slot  Slot
	shown chan struct{}
}

func (s *showing) Slot() *Slot      { return &s.slot }
func (s *showing) Outcome() Outcome { return None }
func (s *showing) Do(w *Worker) {
	w.Showing()
	close(s.shown)
	time.Sleep(time.Millisecond)
	w.Outcome = Succeeded
}

// A unit that waits to run again keeps the others from running if the engine is in order, and
// lets them pass otherwise. It counts as queued meanwhile.
func TestEngineUnitRunsAgain(t *testing.T) {
	for _, c := range []struct {
		inOrder bool
		want    []int
	}{{true, []int{1, 1, 1, 2}}, {false, []int{1, 2, 1, 1}}} {
		synctest.Test(t, func(t *testing.T) {
			w := new(world)
			conf := config(new(Stream), Limits{Kept: 1, Max: 1})
			conf.InOrder = c.inOrder
			e := New(conf)
			first, second := w.probe(1), w.probe(2)
			first.work, first.runs = time.Microsecond, 3
			e.Submit(first, false)
			e.Submit(second, false)
			time.Sleep(100 * time.Microsecond)
			if n := check(t, e); n.Queued < 1 {
				t.Errorf("counts are %+v", n)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if !slices.Equal(w.began, c.want) {
				t.Errorf("in order %t: began %v, want %v", c.inOrder, w.began, c.want)
			}
			shut(e)
			<-e.Terminated()
		})
	}
}

// A shutdown ends a unit that waits to run again, unless Keeps keeps it.
func TestEngineUnitRunsAgainAtShutdown(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := new(world)
			conf := config(new(Stream), Limits{Kept: 1, Max: 1})
			conf.Keeps = func(Unit) bool { return keeps }
			e := New(conf)
			u := w.probe(1)
			u.runs = 3
			e.Submit(u, false)
			time.Sleep(time.Millisecond)
			shut(e)
			<-e.Terminated()
			want := map[bool]Outcome{true: Succeeded, false: Canceled}[keeps]
			if c := check(t, e); c.Ended[want] != 1 || u.ended != 1 {
				t.Errorf("kept %t: counts are %+v", keeps, c)
			}
		})
	}
}

// An engine with a lender runs its units on the workers of that, as many as its limit, and
// ends without them.
func TestEngineBorrowsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		lender := New(config(new(Stream), Limits{Kept: 4, Max: 4}))
		conf := config(NewLine(Any), Limits{Max: 2, WhenBusy: true})
		conf.Lender = lender
		e := New(conf)
		if !e.Borrow() {
			t.Fatal("the lender is shut down")
		}
		for n := range 10 {
			e.Submit(w.probe(n), false)
		}
		shut(e)
		<-e.Terminated()
		if c := check(t, e); c.Ended[Succeeded] != 10 || w.most != 2 || c.Workers != 0 {
			t.Errorf("%d at most at once, counts are %+v", w.most, c)
		}
		check(t, lender)
		shut(lender)
		<-lender.Terminated()
	})
}

// Whatever is called at the same time on an engine and those that borrow from it, each unit that
// was accepted ends once, runs within the limits, and the engines terminate with counters that
// add up.
func TestEngineModel(t *testing.T) {
	n := 400
	if os.Getenv("EXECUTOR_LONG") == "" {
		n = 50
	}
	for range n {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) { playModel(t, seed) })
		if t.Failed() {
			t.Fatalf("the seed is %d", seed)
		}
	}
}

// settled lets a minute go by, and sees that all units have run that may, and that no queue holds more than
// there is room for.
func (w *world) settled(t *testing.T, engines []*Engine) {
	t.Helper()
	time.Sleep(time.Minute)
	synctest.Wait()
	for i, e := range engines {
		held := false
		for l := e; l != nil; l = l.Lender {
			l.Lock()
			held = held || l.barredLocked() || l.Lender != nil && !l.Rate.Has(l.Now(), 0)
			l.Unlock()
		}
		e.Lock()
		ready := e.readyLocked()
		first := 0 // units that have not run: for the next run there is always room
		for u := range e.Queue.All() {
			if p, is := u.(*probe); is {
				p.mu.Lock()
				if p.engine == nil {
					first++
				}
				p.mu.Unlock()
			}
		}
		if e.Lender == nil && e.overLocked() || e.lent > 0 { // a lease that is too many finds nothing
			t.Errorf("engine %d: there are %d workers, and %d places are lent", i, e.workers, e.lent)
		}
		room := e.Queue.Limit() + e.workers - e.active // each free worker makes room for one more
		if w.resized[e] {
			room = e.Queue.Limit() + e.largest
		}
		e.Unlock()
		if ready > 0 && !held {
			t.Errorf("engine %d: %d units may run, and do not: %+v", i, ready, e.Counts())
		}
		if first > room {
			t.Errorf("engine %d: %d units wait where there is room for %d: %+v", i, first, room, e.Counts())
		}
	}
}

// pause has some of all engines pause, or go on. What was admitted to be taken at once waits then.
func (w *world) pause(all, some []*Engine, to bool) {
	w.mu.Lock()
	for _, e := range all {
		w.resized[e] = true
	}
	w.mu.Unlock()
	for _, e := range some {
		if to {
			e.Pause()
		} else {
			e.Resume()
		}
	}
	for _, e := range all {
		e.Look()
	}
}

// shut shuts an engine down, and ends what is not to run again.
func shut(e *Engine) {
	left, _ := e.Shutdown(func(u Unit) bool {
		p := u.(*probe)
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.engine != nil && (e.Keeps == nil || !e.Keeps(u))
	})
	for _, u := range left {
		u.(*probe).drop(e)
	}
	e.Tidy()
}

// waitFor is what a unit does that e runs, and that waits for another one in a while: it hosts that, or lends its place.
func waitFor(e *Engine, other *probe, in *Engine, hosts bool) {
	mine := func() bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		return other.accepted && !other.outcome.Over() && !other.running
	}
	within := e
	for within != nil && within != in {
		within = within.Lender
	}
	if hosts && within != nil {
		for l := e; l != in; l = l.Lender {
			l.Lend()
			defer l.Reclaim()
		}
		h := in.Host()
		defer h.End()
		h.Run(other.Slot(), mine)
		return
	}
	for l := e; l != nil; l = l.Lender {
		l.Lend()
		defer l.Reclaim()
	}
	in.Want(func(yield func(*Slot) bool) {
		if mine() {
			yield(other.Slot())
		}
	})
	time.Sleep(2 * time.Millisecond)
}

func playModel(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	keyLimit := 0
	room := func() int { return Any } // of a queue by key: only borrowers have one with a limit
	queues := []func() Queue{
		func() Queue { return new(Stream) },
		func() Queue { return NewLine(r.IntN(4)) },
		func() Queue { return NewPriorities(priorityOf) },
		func() Queue { return NewLimitedPriorities(1+r.IntN(4), priorityOf) },
		func() Queue { keyLimit = 1 + r.IntN(2); return NewKeys(keyLimit, room()) },
		func() Queue { return due(time.Now().Add(-1), false) },
	}
	limits := func(r *rand.Rand) Limits {
		l := Limits{Kept: r.IntN(3), KeepAlive: time.Duration(r.IntN(3)) * time.Millisecond}
		l.Max = max(1, l.Kept+r.IntN(3))
		l.WhenBusy = r.IntN(2) == 0
		l.KeepNone = l.KeepAlive > 0 && r.IntN(2) == 0
		return l
	}
	w := &world{limits: make(map[*Engine]int), resized: make(map[*Engine]bool)}
	var engines []*Engine
	note := func(e *Engine) {
		engines = append(engines, e)
		if e.keyed != nil {
			w.limits[e] = keyLimit
		}
	}
	c := config(queues[r.IntN(len(queues))](), limits(r))
	if _, timed := c.Queue.(Timed); timed {
		c.Max = Unlimited
	}
	if _, keyed := c.Queue.(*Keys); !keyed && r.IntN(4) == 0 { // that is for one worker, and without keys
		c.InOrder, c.Kept, c.Max = true, min(c.Kept, 1), 1
	}
	note(New(c))
	room = func() int { return []int{Any, r.IntN(4)}[r.IntN(2)] }
	for range r.IntN(3) {
		c := config(queues[r.IntN(5)](), Limits{Max: 1 + r.IntN(3), WhenBusy: true})
		c.Lender = engines[r.IntN(len(engines))]
		if r.IntN(2) == 0 {
			c.Rate = bucket.Bucket{Interval: int64(time.Millisecond), Burst: 1 + r.Int64N(3)}
			if r.IntN(2) == 0 {
				c.Rate.Interval = int64(time.Hour)
			}
		}
		e := New(c)
		e.Borrow()
		note(e)
	}
	var mu sync.Mutex
	var all []*probe
	owner := map[*probe]*Engine{}
	pick := func(r *rand.Rand) (*probe, *Engine) { // any unit, and its engine; nil if there is none yet
		mu.Lock()
		defer mu.Unlock()
		if len(all) == 0 {
			return nil, nil
		}
		u := all[r.IntN(len(all))]
		return u, owner[u]
	}
	mayPause := r.IntN(2) == 0
	var actors sync.WaitGroup
	for actor := range 3 {
		r := rand.New(rand.NewPCG(seed, uint64(actor)+1))
		actors.Go(func() {
			for range 40 {
				e := engines[r.IntN(len(engines))]
				switch r.IntN(9) {
				default:
					mu.Lock()
					u := w.probe(len(all))
					u.prio, u.runs, u.goes = r.Int64N(3), 1+r.IntN(3)/2, r.IntN(20) == 0
					u.show = r.IntN(2) == 0
					u.work = time.Duration(r.IntN(3)) * time.Millisecond
					u.at = e.Now() + r.Int64N(3)*int64(time.Millisecond)
					u.lane = r.IntN(3)
					u.key.SetKey(u.lane)
					if r.IntN(3) == 0 {
						u.wait = time.Hour
					}
					if own := rand.New(rand.NewPCG(seed, uint64(u.name)+100)); own.IntN(3) == 0 {
						u.waits = func(e *Engine) {
							if other, in := pick(own); other != u {
								waitFor(e, other, in, own.IntN(2) == 0)
							}
						}
					}
					all = append(all, u)
					owner[u] = e
					mu.Unlock()
					v := e.Submit(u, r.IntN(2) == 0)
					u.mu.Lock()
					u.accepted = v <= Queued
					u.mu.Unlock()
				case 5:
					u, e := pick(r)
					if u == nil {
						continue
					}
					u.mu.Lock()
					cancels := u.accepted && !u.running
					u.mu.Unlock()
					if cancels && u.end(Canceled) {
						u.drop(e)
					}
				case 6:
					w.mu.Lock()
					w.resized[e] = true
					w.mu.Unlock()
					if e.Lender == nil {
						l := limits(r)
						switch {
						case e.timed != nil:
							l.Max = Unlimited
						case e.InOrder:
							l.Kept, l.Max = min(l.Kept, 1), 1
						}
						e.Resize(l, nil)
					} else {
						e.Resize(Limits{Max: 1 + r.IntN(3), WhenBusy: true}, nil)
					}
				case 8:
					if mayPause {
						w.pause(engines, []*Engine{e}, r.IntN(2) == 0)
					}
				case 7:
					time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
					for _, e := range engines {
						check(t, e)
					}
				}
			}
		})
	}
	if r.IntN(3) > 0 {
		actors.Wait()
		pauses := mayPause && r.IntN(2) == 0
		if mayPause {
			w.pause(engines, engines, pauses)
		}
		w.settled(t, engines)
		began := len(w.began)
		for _, u := range all { // what leaves lets others run
			u.mu.Lock()
			waits := u.accepted && !u.running && r.IntN(2) == 0
			u.mu.Unlock()
			if waits && u.end(Canceled) {
				u.drop(owner[u])
				w.settled(t, engines)
			}
		}
		if pauses && len(w.began) > began {
			t.Errorf("units %v have begun while all engines paused", w.began[began:])
		}
		if pauses && r.IntN(2) == 0 {
			w.pause(engines, engines, false)
			w.settled(t, engines)
		}
	}
	for _, e := range engines {
		if r.IntN(2) == 0 {
			shut(e)
		}
	}
	stops := r.IntN(2) == 0 // the lenders first
	for _, e := range engines {
		if stops {
			waiting, _ := e.Stop()
			for _, u := range waiting {
				u.(*probe).drop(e)
			}
		} else {
			shut(e)
		}
		e.Tidy()
	}
	actors.Wait()
	for i, e := range engines {
		select {
		case <-e.Terminated():
		case <-time.After(10_000 * time.Hour):
			for j, e := range engines {
				t.Errorf("engine %d, of which %d is not terminated: %+v, aside %d, borrowers %d", j, i, e.Counts(), len(e.aside), e.borrowers)
			}
			t.FailNow()
		}
		if e.lent != 0 || e.covered != 0 || e.blockedWanted != 0 || e.wantAsked != 0 {
			t.Errorf("engine %d has ended with %d places lent, %d taken, %d wanted units blocked and %d leases wanted",
				i, e.lent, e.covered, e.blockedWanted, e.wantAsked)
		}
		if c := check(t, e); c.Queued+c.Active+c.Workers+c.Blocked > 0 {
			t.Errorf("engine %d is terminated and not empty: %+v", i, c)
		}
	}
	if w.over > 0 {
		t.Errorf("%d units of a key too many ran at once", w.over)
	}
	for _, u := range all {
		if u.accepted && u.ended != 1 || !u.accepted && u.ended > 0 {
			t.Errorf("unit %d, accepted: %t, has ended %d times", u.name, u.accepted, u.ended)
		}
	}
}
