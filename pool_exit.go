package executor

import "github.com/executor-go/executor/internal/heap"

// exit is the way out of a long queue for tasks that were completed while they
// waited, as a rule canceled. They are taken out together: as soon as anybody takes
// the pool's lock, so that nobody can tell, or there is no more room.
//
// A million futures are in no cache. A processor that waits for one is on its way to
// the next meanwhile, if that is not too many instructions ahead, and to take a task
// out of its queue is.
type exit struct {
	tasks [32]*task
	n     int
}

// open reports whether somebody is there, and there is room for another.
func (x *exit) open() bool { return x.n > 0 && x.n < len(x.tasks) }

func (x *exit) put(t *task) {
	x.tasks[x.n] = t
	x.n++
}

// opens reports whether the exit, which nobody has used since it was swept, may be
// used; it may then until it is swept again.
func (s *poolState) opens() bool { return s.exit.n == 0 && s.heaped && s.steady() }

// exits reports whether t, which is done, waits where tasks leave by the exit. One that
// is not native may get its place now, and be in another pool by then.
func (t *task) exits() bool { return t.has(native) && heap.Far(int(t.place)) }

// steady reports whether no worker comes or goes, and no submitter is let in, because
// a task has left the queue.
func (s *poolState) steady() bool {
	return s.stage == StageRunning && s.blocked.Len() == 0 &&
		!s.coreTimeout && (s.workers > 1 || s.workers == 1 && s.core > 0)
}

// leaves reports whether t, which is done, waits and is not to be retained.
func (s *poolState) leaves(t *task) bool {
	return t.place != unplaced && !(s.retained && t.State() == Canceled)
}

// sweep takes the tasks at the exit out of the queue.
func (s *poolState) sweep() {
	x := &s.exit
	for i, t := range x.tasks[:x.n] {
		x.tasks[i] = nil
		if s.leaves(t) {
			s.queue.remove(t)
			s.ended[outcomeOf(t)]++
		}
	}
	x.n = 0
}
