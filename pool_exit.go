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

// discharge puts a task that is done at the exit, if it waits and nothing else is to
// be done when it is gone. The caller holds the workers' lock.
func (s *poolState) discharge(t *task) bool {
	if !t.has(native) || !heap.Far(int(t.place)) {
		return false // one that is not native may get its place now, and be in another pool by then
	}
	x := &s.exit
	open := x.n > 0 || s.heaped && s.steady() // and stays so until it is swept
	if !open || x.n == len(x.tasks) {
		return false
	}
	x.tasks[x.n] = t
	x.n++
	return true
}

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
