package executor

import (
	"iter"
	"sync/atomic"

	"github.com/executor-go/executor/internal/ring"
	"github.com/executor-go/executor/internal/turnstile"
)

// gate is the way into the queue of a pool that has all its workers at work. A
// task that comes then can only wait, whatever else happens: so its submitter
// need not meet the workers, which in the same moment take tasks from the other
// end. Without a gate they spend half of their time waiting for each other.
//
// The pool's lock is two, that of the workers and, while the gate is open, that of
// the gate. To hold the pool's lock is to hold both, and it is the only way to
// change anything but this:
//
//   - a goroutine that holds the gate's lock, and finds it open, may push
//   - one that holds the workers' lock, and finds the gate open, may account for a
//     task that has ended and pop from the other end
//
// Neither changes whether the gate is open: that is decided anew each time the
// pool's lock is released.
type gate struct {
	mu        turnstile.Mutex
	open      atomic.Bool // written under the pool's lock
	queue     twoEnded    // nil in a pool whose queue has no two ends: its gate stays closed
	submitted int64       // counted by the pool as well as by the gate
}

// twoEnded is a backlog whose two ends can be used at the same time: the caller of
// join holds the gate's lock, that of serve the workers', that of turn, and of every
// method of backlog, both.
type twoEnded interface {
	// join is push of the entry of t, which may have none, or reports that it has
	// to come by the other way.
	join(e entry, t *task) bool
	// serve is pop, if what comes next is known without a look at what has joined
	// since the last turn, and not so much has that it is time for one. That it
	// reports false says nothing.
	serve() (entry, bool)
	// turn hands what has joined over to the end that serves. It is quick.
	turn(now instant)
	// settle, which must follow a turn, is for the end that serves.
	settle()
	// gather is turn and settle at the present instant, or an earlier one.
	gather()
}

// cacheLine keeps apart what different processors write at the same time. Some
// have lines of 128 bytes, and lose a little.
type cacheLine [64]byte

// admit queues e if the gate is open.
func (g *gate) admit(e entry, t *task) bool {
	if !g.open.Load() {
		return false
	}
	if !g.mu.TryLock() {
		g.mu.Wait()
	}
	admitted := g.open.Load() && g.queue.join(e, t)
	if admitted {
		g.submitted++
	}
	g.mu.Unlock()
	return admitted
}

// Lock takes the pool's lock. Behind a gate that is closed nobody is, nor can
// come, since it takes the workers' lock to open it; then that is enough.
func (s *poolState) Lock() {
	if !s.crew.TryLock() {
		s.crew.Wait()
	}
	s.extend()
}

// extend makes the pool's lock of the workers'.
func (s *poolState) extend() {
	if s.open || s.exit.n > 0 {
		s.join()
	}
}

// join takes the lock of the gate that is open, has the queue's two ends meet, and
// lets out who is at the exit.
func (s *poolState) join() {
	if s.open {
		s.gate.mu.Lock()
		s.ends.gather()
	}
	if s.exit.n > 0 {
		s.sweep()
	}
}

// Unlock releases the pool's lock.
func (s *poolState) Unlock() {
	if s.open || s.idle.top == nil { // else the gate is closed, and stays so
		s.decide()
	}
	s.crew.Unlock()
}

// decide opens the gate or shuts it, and releases its lock if it was open.
func (s *poolState) decide() {
	was := s.open
	if s.open = s.busy() && s.ends != nil; s.open != was {
		s.gate.open.Store(s.open)
	}
	if was {
		s.gate.mu.Unlock()
	}
}

// busy reports whether all workers that there may be are at work, so that they
// will look into the queue, and a new task can only go there.
func (s *poolState) busy() bool {
	return s.idle.top == nil && s.stage == StageRunning && s.workers > 0 && s.workers >= s.core && s.workers <= s.max
}

// advance is fetch for a worker that finds its next task behind an open gate.
// The caller holds the workers' lock. A task that recurs needs the pool's.
func (p *Pool) advance(w *worker, out outcome) bool {
	if !p.mu.open || out == again {
		return false
	}
	e, ok := p.mu.ends.serve()
	if !ok {
		e, ok = p.turn()
	}
	if !ok {
		return false
	}
	if out == none {
		p.mu.active++
	} else {
		p.countLocked(w, out)
	}
	w.entry, w.since = e, 0
	return true
}

// turn is serve after a look at what has joined. While that is put in its place
// others may join again.
func (p *Pool) turn() (entry, bool) {
	var now instant
	if p.mu.delay != nil {
		now = p.clock.now()
	}
	p.mu.gate.mu.Lock()
	p.mu.ends.turn(now)
	p.mu.gate.mu.Unlock()
	p.mu.ends.settle()
	return p.mu.ends.serve()
}

// stream is a backlog in order of arrival, without a limit.
type stream struct{ line ring.Pair[entry] }

func (q *stream) push(e entry) bool { return q.join(e, e.task()) }

func (q *stream) join(e entry, t *task) bool {
	if q.line.Pushed() >= most {
		return false
	}
	place := q.line.Push(e)
	if t != nil {
		t.place = int32(place)
	}
	return true
}

func (q *stream) pop(instant) (entry, bool) {
	e, ok := q.line.Pop()
	e.placed(unplaced)
	return e, ok
}

func (q *stream) serve() (entry, bool) {
	e, ok := q.line.Shift()
	e.placed(unplaced)
	return e, ok
}

func (q *stream) turn(instant) { q.line.Turn() }
func (q *stream) settle()      {}
func (q *stream) gather()      { q.line.Turn() }

func (q *stream) remove(t *task) {
	q.line.Remove(int(t.place))
	t.place = unplaced
	q.line.CloseRanks(entry.placed)
}

func (q *stream) removeFunc(match func(entry) bool) []entry {
	removed := left(q.line.RemoveFunc(match)...)
	q.line.CloseRanks(entry.placed)
	return removed
}

func (q *stream) drain() []entry       { return left(q.line.Drain()...) }
func (q *stream) len() int             { return q.line.Len() }
func (q *stream) all() iter.Seq[entry] { return q.line.All() }
