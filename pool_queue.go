package executor

import (
	"iter"

	"github.com/executor-go/executor/internal/heap"
	"github.com/executor-go/executor/internal/lanes"
	"github.com/executor-go/executor/internal/ring"
	"github.com/executor-go/executor/internal/task"
)

// Queue is a kind of queue for the tasks that wait for a worker: [Unbounded], [Bounded],
// [Handoff], [Prioritized] or [BoundedPrioritized]. A [ScheduledPool] has a delay queue
// instead. One Queue can be used for many pools. A queue without a limit, or with a higher
// one, holds at least 67 million tasks; beyond that the pool is saturated. Package queue
// has the same queues for use without a pool.
type Queue interface {
	// backlog returns a new queue for one pool, or an error if the limit is out of range.
	backlog() (backlog, error)
	// lane returns a new queue for a share. Its limit is the room for tasks that have no
	// turn, and not that of the backlog.
	lane() (q backlog, room int, err error)
}

// Unbounded is a first-in, first-out queue without a limit. A pool that has it grows beyond
// Core workers only with [Config].GrowWhenBusy.
func Unbounded() Queue { return unbounded{} }

// Bounded is a first-in, first-out queue of at most n tasks. When it is full the pool
// grows up to Max workers, then rejects. If n is less than 1, [New] fails.
func Bounded(n int) Queue { return bounded(n) }

// Handoff is a queue without room: a task goes straight to an idle or a new worker, or is
// rejected.
func Handoff() Queue { return handoff{} }

// Prioritized is a queue without a limit that returns the task with the least [Priority]
// first and, among equals, the one that came first.
func Prioritized() Queue { return prioritized{} }

// BoundedPrioritized is Prioritized with a limit of n tasks. When it is full the pool
// grows up to Max workers, then rejects. The policy [DropLowest] drops the least urgent
// task then. If n is less than 1, [New] fails.
func BoundedPrioritized(n int) Queue { return boundedPrioritized(n) }

type (
	unbounded          struct{}
	bounded            int
	handoff            struct{}
	prioritized        struct{}
	boundedPrioritized int
)

func (unbounded) backlog() (backlog, error) { return new(stream), nil }
func (handoff) backlog() (backlog, error)   { return &fifo{limit: 0}, nil }

func (n bounded) backlog() (backlog, error) {
	if n < 1 {
		return nil, invalid("Bounded(%d): must be at least 1; Handoff() is the queue without room", int(n))
	}
	return &fifo{limit: min(int(n), maxQueued)}, nil
}

func (prioritized) backlog() (backlog, error) {
	return &priorities{*heap.New[int64](func(es []entry, places []int32) {
		for i, e := range es {
			e.setPlace(int(places[i]))
		}
	})}, nil
}

func (n boundedPrioritized) backlog() (backlog, error) {
	if n < 1 {
		return nil, invalid("BoundedPrioritized(%d): must be at least 1; Handoff() is the queue without room", int(n))
	}
	return &shedding{*heap.NewMinMax[int64](entry.setPlace), min(int(n), maxQueued)}, nil
}

func (unbounded) lane() (backlog, int, error) { return &fifo{limit: maxQueued}, maxQueued, nil }
func (handoff) lane() (backlog, int, error)   { return &fifo{limit: maxQueued}, 0, nil }
func (q prioritized) lane() (backlog, int, error) {
	b, err := q.backlog()
	return b, maxQueued, err
}

func (n bounded) lane() (backlog, int, error) {
	_, err := n.backlog()
	return &fifo{limit: maxQueued}, int(n), err
}

func (n boundedPrioritized) lane() (backlog, int, error) {
	_, err := n.backlog()
	return &shedding{*heap.NewMinMax[int64](entry.setPlace), maxQueued}, int(n), err
}

// backlog is a queue as its pool uses it, under the pool's lock.
type backlog interface {
	// push adds e, or reports that there is no room.
	push(e entry) bool
	// pop removes the first entry, if it may run by now.
	pop() (entry, bool)
	// at returns the entry of a task that is placed.
	at(t *task.Task) entry
	// remove takes out the entry of a task that is placed.
	remove(t *task.Task)
	// removeFunc takes out all entries that match.
	removeFunc(match func(entry) bool) []entry
	// drain takes out everything, whether it may run or not.
	drain() []entry
	len() int
	all() iter.Seq[entry]
}

// maxQueued is how many tasks a queue holds, whatever its limit, or each end of
// one that has two: 67 million. A place must fit into the 32 bits that a task has
// for it, holes included.
const maxQueued = 1 << 26

// stream is a backlog in order of arrival, without a limit. Its tail and its head can
// be used at the same time: pushTail needs the gate's lock, popHead the workers', and
// every other method both.
type stream struct{ line ring.Pair[entry] }

func (q *stream) push(e entry) bool { return q.pushTail(e, e.task()) }

// pushTail adds e, the entry of t, which may be nil.
func (q *stream) pushTail(e entry, t *task.Task) bool {
	if q.line.TailLen() >= maxQueued {
		return false
	}
	place := q.line.PushTail(e)
	if t != nil {
		t.SetPlace(place)
	}
	return true
}

func (q *stream) pop() (entry, bool) {
	e, ok := q.line.Pop()
	if ok {
		e.setPlace(task.Unplaced)
	}
	return e, ok
}

// popHead is pop without what was pushed since the last swap.
func (q *stream) popHead() (entry, bool) {
	e, ok := q.line.PopHead()
	if ok {
		e.setPlace(task.Unplaced)
	}
	return e, ok
}

// swap moves what was pushed at the tail to the head, if that is empty.
func (q *stream) swap() { q.line.Swap() }

func (q *stream) at(t *task.Task) entry { return q.line.At(t.Place()) }

func (q *stream) remove(t *task.Task) {
	q.line.Remove(t.Place())
	t.SetPlace(task.Unplaced)
	q.line.Compact(entry.setPlace)
}

func (q *stream) removeFunc(match func(entry) bool) []entry {
	es := removed(q.line.RemoveFunc(match)...)
	q.line.Compact(entry.setPlace)
	return es
}

func (q *stream) drain() []entry       { return removed(q.line.Drain()...) }
func (q *stream) len() int             { return q.line.Len() }
func (q *stream) all() iter.Seq[entry] { return q.line.All() }

// fifo is a backlog in order of arrival, with a limit.
type fifo struct {
	ring  ring.Ring[entry]
	limit int
}

func (q *fifo) push(e entry) bool {
	if q.ring.Len() >= q.limit {
		return false
	}
	e.setPlace(q.ring.Push(e))
	return true
}

func (q *fifo) pop() (entry, bool) {
	e, ok := q.ring.Pop()
	e.setPlace(task.Unplaced)
	return e, ok
}

func (q *fifo) at(t *task.Task) entry { return q.ring.At(t.Place()) }

func (q *fifo) remove(t *task.Task) {
	q.ring.Remove(t.Place())
	t.SetPlace(task.Unplaced)
	q.ring.Compact(entry.setPlace)
}

func (q *fifo) removeFunc(match func(entry) bool) []entry {
	es := removed(q.ring.RemoveFunc(match)...)
	q.ring.Compact(entry.setPlace)
	return es
}

func (q *fifo) drain() []entry       { return removed(q.ring.Drain()...) }
func (q *fifo) len() int             { return q.ring.Len() }
func (q *fifo) all() iter.Seq[entry] { return q.ring.All() }

// removed records that entries have left their queue.
func removed(es ...entry) []entry {
	for _, e := range es {
		e.setPlace(task.Unplaced)
	}
	return es
}

// priorities is a backlog in order of priority, then of arrival.
type priorities struct{ heap heap.Queue[int64, entry] }

func (q *priorities) push(e entry) bool {
	if q.heap.Len() >= maxQueued {
		return false
	}
	e.setPlace(q.heap.Push(e.priority(), e))
	return true
}

// priority returns what the option Priority has set.
func (e entry) priority() int64 {
	if t := e.task(); t != nil {
		return t.Options().Priority
	}
	return 0
}

func (q *priorities) pop() (entry, bool) {
	_, e, ok := q.heap.Pop()
	e.setPlace(task.Unplaced)
	return e, ok
}

func (q *priorities) at(t *task.Task) entry { return q.heap.At(t.Place()) }

func (q *priorities) remove(t *task.Task) {
	q.heap.Remove(t.Place())
	t.SetPlace(task.Unplaced)
}

func (q *priorities) removeFunc(match func(entry) bool) []entry {
	return removed(q.heap.RemoveFunc(match)...)
}

func (q *priorities) drain() []entry { return removed(q.heap.Drain()...) }
func (q *priorities) len() int       { return q.heap.Len() }

func (q *priorities) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, e := range q.heap.All() {
			if !yield(e) {
				return
			}
		}
	}
}

// shedding is a backlog in order of priority, then of arrival, with a limit. It can lose
// its last entry.
type shedding struct {
	heap  heap.MinMax[int64, entry]
	limit int
}

func (q *shedding) push(e entry) bool {
	if q.heap.Len() >= q.limit {
		return false
	}
	q.heap.Push(e.priority(), e)
	return true
}

func (q *shedding) pop() (entry, bool) {
	e, ok := q.heap.Pop()
	e.setPlace(task.Unplaced)
	return e, ok
}

// popLowest removes the entry that would leave last, if its priority is lower than that of
// e, which comes after it.
func (q *shedding) popLowest(e entry) (entry, bool) {
	if lowest, ok := q.heap.Greatest(); !ok || lowest <= e.priority() {
		return entry{}, false
	}
	last, ok := q.heap.PopGreatest()
	last.setPlace(task.Unplaced)
	return last, ok
}

func (q *shedding) at(t *task.Task) entry { return q.heap.At(t.Place()) }

func (q *shedding) remove(t *task.Task) {
	q.heap.Remove(t.Place())
	t.SetPlace(task.Unplaced)
}

func (q *shedding) removeFunc(match func(entry) bool) []entry {
	return removed(q.heap.RemoveFunc(match)...)
}

func (q *shedding) drain() []entry       { return removed(q.heap.Drain()...) }
func (q *shedding) len() int             { return q.heap.Len() }
func (q *shedding) all() iter.Seq[entry] { return q.heap.All() }

// keyedBacklog is the backlog of a share whose tasks have keys.
type keyedBacklog struct{ *lanes.Queue[entry] }

func newKeyedBacklog(limit int) keyedBacklog {
	return keyedBacklog{lanes.New(limit, entry.setPlace)}
}

// keyedTask is a task with its key, as it is queued.
type keyedTask struct {
	Runnable
	item lanes.Item[entry]
}

// keyed returns the keyedTask of e, nil if there is none.
func (e entry) keyed() *keyedTask {
	r := e.run
	if m, ok := r.(*mark); ok {
		r = m.Runnable
	}
	k, _ := r.(*keyedTask)
	return k
}

func (q keyedBacklog) push(e entry) bool {
	if q.Len() >= maxQueued {
		return false
	}
	k := e.keyed()
	if k == nil {
		k = new(keyedTask) // without a key
	}
	q.Push(&k.item, e)
	return true
}

func (q keyedBacklog) pop() (entry, bool) {
	e, ok := q.Pop()
	e.setPlace(task.Unplaced)
	return e, ok
}

// release follows the end of a task that was popped.
func (q keyedBacklog) release(e entry) {
	if k := e.keyed(); k != nil {
		q.Release(&k.item)
	}
}

func (q keyedBacklog) at(t *task.Task) entry { return q.At(t.Place()) }

func (q keyedBacklog) remove(t *task.Task) {
	q.Remove(t.Place())
	t.SetPlace(task.Unplaced)
}

func (q keyedBacklog) removeFunc(match func(entry) bool) []entry {
	return removed(q.RemoveFunc(match)...)
}

func (q keyedBacklog) drain() []entry       { return removed(q.Drain()...) }
func (q keyedBacklog) len() int             { return q.Len() }
func (q keyedBacklog) all() iter.Seq[entry] { return q.All() }
