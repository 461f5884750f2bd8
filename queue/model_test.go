package queue_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

// thing is an element of the queues under test: things with equal keys differ.
type thing struct{ key, id int }

// call is a goroutine that waits in the queue, and what the model expects.
type call struct {
	cancel context.CancelFunc
	ended  chan struct{}
	v      thing // put, or expected to be taken
	got    thing
	err    error
}

// model is a queue made of sorted lists, of elements and of waiters. It does each step
// on itself and on a queue, and compares.
type model struct {
	t        *testing.T
	q        *queue.Blocking[thing]
	capacity int
	ranked   bool // by key
	delayed  bool // until start + key seconds
	start    time.Time

	things           []thing
	takers, putters  []*call
	served, departed []*call // since the last look; departed by their context
	ended            []*call // since the last look, by Close
	closed           bool
	next             int
}

func newModel(t *testing.T, kind int) *model {
	m := &model{t: t, capacity: math.MaxInt, start: time.Now()}
	switch kind % 6 {
	case 0, 1:
		m.capacity = 1 + 2*(kind%6)
		m.q = queue.NewBounded[thing](m.capacity)
	case 2:
		m.q = queue.NewUnbounded[thing]()
	case 3:
		m.capacity = 0
		m.q = queue.NewHandoff[thing]()
	case 4:
		m.ranked = true
		m.q = queue.NewPriority(func(v thing) int { return v.key })
	case 5:
		m.ranked, m.delayed = true, true
		m.q = queue.NewDelay(func(v thing) time.Time { return m.start.Add(time.Duration(v.key) * time.Second) })
	}
	return m
}

// pop does what popLocked of a queue does.
func (m *model) pop() (v thing, ok bool) {
	if len(m.things) > 0 {
		v = m.things[0]
		if m.delayed && time.Duration(v.key)*time.Second > time.Since(m.start) {
			return thing{}, false
		}
		m.things = m.things[1:]
		return v, true
	}
	if m.capacity == 0 && len(m.putters) > 0 {
		w := m.putters[0]
		m.putters, m.served = m.putters[1:], append(m.served, w)
		return w.v, true
	}
	return thing{}, false
}

func (m *model) push(v thing) {
	m.things = append(m.things, v)
	if m.ranked {
		slices.SortStableFunc(m.things, func(a, b thing) int { return cmp.Compare(a.key, b.key) })
	}
}

func (m *model) settle() {
	for {
		if len(m.putters) > 0 && len(m.things) < m.capacity {
			w := m.putters[0]
			m.putters, m.served = m.putters[1:], append(m.served, w)
			m.push(w.v)
			continue
		}
		if len(m.takers) > 0 {
			if v, ok := m.pop(); ok {
				w := m.takers[0]
				w.v = v
				m.takers, m.served = m.takers[1:], append(m.served, w)
				continue
			}
		}
		if m.closed && len(m.things) == 0 {
			m.takers, m.ended = nil, append(m.ended, m.takers...)
		}
		return
	}
}

func (m *model) offer(v thing) bool {
	if m.closed || len(m.things) >= m.capacity && (m.capacity > 0 || len(m.takers) == 0) {
		return false
	}
	if m.capacity == 0 {
		w := m.takers[0]
		w.v = v
		m.takers, m.served = m.takers[1:], append(m.served, w)
		return true
	}
	m.push(v)
	m.settle()
	return true
}

// step does one operation, chosen by op, on both.
func (m *model) step(op, arg byte) {
	m.next++
	v := thing{int(arg % 16), m.next}
	if op >= 252 {
		m.q.Close()
		m.closed = true
		m.putters, m.ended = nil, append(m.ended, m.putters...)
		m.settle()
		m.look()
		return
	}
	switch op % 12 {
	case 0, 1, 2:
		m.equal("Offer", m.q.Offer(v), m.offer(v))
	case 3, 4:
		got, ok := m.q.Poll()
		want, wantOK := m.pop()
		m.settle()
		m.equal("Poll", fmt.Sprint(got, ok), fmt.Sprint(want, wantOK))
	case 5, 6:
		m.wait(v, &m.takers, func(ctx context.Context, c *call) { c.got, c.err = m.q.Take(ctx) })
		m.settle()
	case 7:
		if m.offer(v) { // it does not wait
			m.equal("Put", m.q.Put(m.t.Context(), v), error(nil))
			break
		}
		if m.closed {
			m.equal("Put", m.q.Put(m.t.Context(), v), queue.ErrClosed)
			break
		}
		m.wait(v, &m.putters, func(ctx context.Context, c *call) { c.got, c.err = v, m.q.Put(ctx, v) })
	case 8:
		for _, line := range []*[]*call{&m.takers, &m.putters} {
			if n := len(*line); n > 0 {
				c := (*line)[int(arg)%n]
				*line = slices.Delete(*line, int(arg)%n, int(arg)%n+1)
				m.departed = append(m.departed, c)
				c.cancel()
			}
		}
	case 9:
		time.Sleep(time.Duration(arg%3) * time.Second)
		m.settle()
	case 10:
		got := m.q.Drain(int(arg % 4))
		var want []thing
		for len(want) < int(arg%4) {
			v, ok := m.pop()
			if !ok {
				break
			}
			want = append(want, v)
		}
		m.settle()
		m.equal("Drain", fmt.Sprint(got), fmt.Sprint(want))
	case 11:
		match := func(v thing) bool { return v.id%int(arg%5+2) == 0 }
		before := len(m.things)
		m.things = slices.DeleteFunc(m.things, match)
		n := before - len(m.things)
		m.settle()
		m.equal("RemoveFunc", m.q.RemoveFunc(match), n)
	}
	m.look()
}

// wait starts a goroutine that does what waits, and adds it to line.
func (m *model) wait(v thing, line *[]*call, do func(context.Context, *call)) {
	ctx, cancel := context.WithCancel(m.t.Context())
	c := &call{cancel: cancel, ended: make(chan struct{}), v: v}
	*line = append(*line, c)
	go func() { defer close(c.ended); do(ctx, c) }()
}

func (m *model) equal(what string, got, want any) {
	m.t.Helper()
	if got != want {
		m.t.Fatalf("%s = %v, want %v", what, got, want)
	}
}

// look compares the queue and its waiters with the model.
func (m *model) look() {
	synctest.Wait()
	for _, c := range m.served {
		<-c.ended
		m.equal("served", fmt.Sprint(c.got, c.err), fmt.Sprint(c.v, error(nil)))
		c.cancel()
	}
	for _, c := range m.departed {
		<-c.ended
		m.equal("departed", c.err, context.Canceled)
	}
	for _, c := range m.ended {
		<-c.ended
		m.equal("ended", c.err, queue.ErrClosed)
		c.cancel()
	}
	m.served, m.departed, m.ended = nil, nil, nil
	for _, c := range slices.Concat(m.takers, m.putters) {
		select {
		case <-c.ended:
			m.t.Fatalf("%v did not wait: %v, %v", c.v, c.got, c.err)
		default:
		}
	}

	if err := m.q.Check(); err != nil {
		m.t.Fatal(err)
	}
	takers, putters := m.q.Waiting()
	m.equal("waiting", fmt.Sprint(takers, putters), fmt.Sprint(len(m.takers), len(m.putters)))
	m.equal("Len", m.q.Len(), len(m.things))
	all := slices.Collect(m.q.All())
	if len(all) > 0 && len(m.things) > 0 {
		m.equal("the first of All", all[0], m.things[0])
	}
	if m.ranked {
		slices.SortFunc(all, func(a, b thing) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	}
	if !slices.Equal(all, m.things) {
		m.t.Fatalf("All = %v, want %v", all, m.things)
	}
	if v, ok := m.q.Peek(); ok != (len(m.things) > 0) || ok && v != m.things[0] {
		m.t.Fatalf("Peek = %v, %v, want the first of %v", v, ok, m.things)
	}
}

// end cancels all waiters.
func (m *model) end() {
	for _, c := range slices.Concat(m.takers, m.putters) {
		c.cancel()
		<-c.ended
	}
}

func run(t *testing.T, kind int, ops []byte) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, kind)
		defer m.end()
		for ; len(ops) >= 2; ops = ops[2:] {
			m.step(ops[0], ops[1])
		}
	})
}

// A queue agrees with sorted lists, of elements and of waiters, and keeps its invariants,
// after every step of a random program.
func TestBlockingAgreesWithModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range 300 {
		ops := make([]byte, 200)
		for i := range ops {
			ops[i] = byte(random.Uint32())
		}
		run(t, i, ops)
	}
}

// A queue agrees with sorted lists after every step of any program, two bytes a step.
func FuzzBlocking(f *testing.F) {
	for kind := range 6 {
		f.Add(kind, []byte{0, 1, 7, 2, 7, 3, 255, 0, 5, 0, 9, 2, 5, 0, 5, 0, 0, 0, 7, 0})
		f.Add(kind, []byte{5, 0, 0, 9, 0, 3, 7, 1, 7, 2, 8, 0, 9, 2, 10, 3, 11, 0, 3, 0})
	}
	f.Fuzz(func(t *testing.T, kind int, ops []byte) {
		if kind >= 0 {
			run(t, kind, ops)
		}
	})
}
