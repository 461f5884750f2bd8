package executor

import (
	"iter"
	"time"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/heap"
)

// recheck is the longest that a scheduled pool trusts what it knows of the wall
// clock. A timer counts real time, and not while a machine sleeps, so a long
// wait for a time of day goes wrong when the clock is set or a lid is closed.
const recheck = 30 * time.Second

// delayQueue is the backlog of a scheduled pool: tasks in order of their time
// and, among equals, of arrival. Tasks that are due at a time of day are in a
// heap of their own, ordered by the wall clock, so that a step of that clock
// changes nothing but how long to wait.
//
// Java's queue has a leader, the one waiter that waits with a timeout. Here the
// alarm belongs to the queue, all idle workers listen to it, and one of them
// receives: there is nobody to depose or to promote, and whoever schedules a
// new head sets the alarm without waking a worker.
type delayQueue struct {
	mono, wall heap.Queue[int64, bound]

	alarm *alarm.Alarm   // nil while there is no worker
	spent []*alarm.Alarm // to be closed by tidy
	set   int64          // when alarm goes off, on the monotonic clock; 0 if it is not set

	// seen is the last reading of the clocks, ahead by how much the wall clock
	// was ahead of the monotonic one then.
	seen  instant
	ahead int64
}

func newDelayQueue() *delayQueue {
	return &delayQueue{mono: *heap.New[int64](placed), wall: *heap.New[int64](placed)}
}

// placed tells tasks where they wait, in as few instructions as it can: nothing
// of them is in a cache, as a rule, and the fewer there are the more tasks are
// fetched at a time.
func placed(bs []bound, places []int32) {
	for i, b := range bs {
		b.core().place = places[i]
	}
}

func (q *delayQueue) heap(wall bool) *heap.Queue[int64, bound] {
	if wall {
		return &q.wall
	}
	return &q.mono
}

func (q *delayQueue) push(e entry) bool {
	b := e.run.(bound) // any other Runnable came in a carrier
	t := b.core()
	t.place = int32(q.heap(t.has(wallClock)).Push(t.due, b))
	return true
}

// covers reports whether the alarm sees to t, which waits: it goes off in time,
// and whoever hears it looks for all that is due.
func (q *delayQueue) covers(t *task) bool {
	if t.has(wallClock) {
		first, _ := q.wall.Least()
		return first < t.due
	}
	return q.set != 0 && q.set <= t.due
}

// pop gives the task that is overdue by most.
func (q *delayQueue) pop(now instant) (entry, bool) {
	var best *heap.Queue[int64, bound]
	var most time.Duration = -1
	for _, wall := range [...]bool{false, true} {
		if due, ok := q.heap(wall).Least(); ok {
			if over := until(now.on(wall), due); over > most {
				best, most = q.heap(wall), over
			}
		}
	}
	if best == nil {
		return entry{}, false
	}
	_, b, _ := best.Pop()
	return release(b), true
}

// overdue reports whether a task was due at the last look at the clock, and none
// waits for the wall clock, which may have been set back since.
func (q *delayQueue) overdue() bool {
	due, ok := q.mono.Least()
	return ok && due <= q.seen.mono && q.wall.Len() == 0
}

// wait is how long to wait before it is worth to look again; false for ever, also
// if there are tasks, but none that will ever be due.
func (q *delayQueue) wait(now instant) (time.Duration, bool) {
	due, any := q.mono.Least()
	any = any && due != never
	d := until(due, now.mono)
	if at, ok := q.wall.Least(); ok && at != never {
		if w := min(until(at, now.wall), recheck); !any || w < d {
			d, any = w, true
		}
	}
	return d, any
}

func (q *delayQueue) remove(t *task) {
	q.heap(t.has(wallClock)).Remove(int(t.place))
	t.place = unplaced
}

func (q *delayQueue) removeFunc(match func(entry) bool) []entry {
	matches := func(b bound) bool { return match(entry{b}) }
	return releaseAll(append(q.mono.RemoveFunc(matches), q.wall.RemoveFunc(matches)...))
}

func (q *delayQueue) drain() []entry {
	return releaseAll(append(q.mono.Drain(), q.wall.Drain()...))
}

// release makes an entry of what is no longer in the queue.
func release(b bound) entry {
	b.core().place = unplaced
	return entry{b}
}

func releaseAll(bs []bound) []entry {
	es := make([]entry, len(bs))
	for i, b := range bs {
		es[i] = release(b)
	}
	return es
}

func (q *delayQueue) len() int { return q.mono.Len() + q.wall.Len() }

func (q *delayQueue) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, wall := range [...]bool{false, true} {
			for _, b := range q.heap(wall).All() {
				if !yield(entry{b}) {
					return
				}
			}
		}
	}
}
