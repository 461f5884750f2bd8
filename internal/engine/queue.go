package engine

import (
	"iter"

	"github.com/executor-go/executor/internal/heap"
	"github.com/executor-go/executor/internal/ring"
)

// Queue is where units wait. An engine calls its methods under its lock. A queue notes the
// place of each unit in its Slot, and clears that when the unit leaves.
type Queue interface {
	// Push adds u, or reports that there is no room. more is the room beyond the limit of
	// the queue, Any for no limit.
	Push(u Unit, more int) bool
	// Pop removes the first unit that may run now, nil if there is none.
	Pop() Unit
	// At returns the unit in a place.
	At(place int) Unit
	// Remove removes the unit in a place.
	Remove(place int)
	// RemoveFunc removes the units that match, and returns them in any order.
	RemoveFunc(match func(Unit) bool) []Unit
	// Drain removes all units, and returns them in the order of the queue: by arrival, by priority, or
	// by time on each clock.
	Drain() []Unit
	// Len returns how many units wait.
	Len() int
	// Ready returns how many of them may run now.
	Ready() int
	// Limit returns how many units there is room for, Any for no limit.
	Limit() int
	// All iterates over the units; the next one to leave comes first in a queue by arrival.
	All() iter.Seq[Unit]
}

// Any is the limit of a queue without one: how many units a queue holds in any case, or each
// end of one that has two. A place has 32 bits, holes included.
const Any = 1 << 26

// Shedding is a Queue that can lose its last unit.
type Shedding interface {
	// PopLowest removes the unit that would leave last, if it would also if u were there,
	// nil if not.
	PopLowest(u Unit) Unit
}

// Keyed is a Queue of which some units bar others until they have ended: these do not run.
type Keyed interface {
	// Release has others run in place of a unit that was popped. It does nothing if that has
	// happened since.
	Release(u Unit)
	// Bars reports whether u, which was popped, still bars others.
	Bars(u Unit) bool
	// Want marks the unit in a place.
	Want(place int)
	// PopWanted is Pop for units that are marked, and those before them that bar them. Of the keys the one that was
	// last marked comes first.
	PopWanted() Unit
	// Wanted returns 0 if PopWanted would return nil, else some number of units that it would return one by one.
	Wanted() int
	// IsBefore reports whether u, which was popped, bars a unit that is marked.
	IsBefore(u Unit) bool
}

// Stream is a queue in order of arrival, without a limit. Its tail and its head can be used
// at the same time: pushTail needs the gate's lock, popHead the workers', and every other
// method both.
type Stream struct{ line ring.Pair[Unit] }

func (q *Stream) Push(u Unit, _ int) bool { return q.pushTail(u) }

func (q *Stream) pushTail(u Unit) bool {
	if q.line.TailLen() >= Any {
		return false
	}
	place := q.line.PushTail(u)
	placed(u, place)
	return true
}

func (q *Stream) Pop() Unit { return popped(q.line.Pop()) }

// popHead is Pop without what was pushed since the last swap.
func (q *Stream) popHead() Unit { return popped(q.line.PopHead()) }

// swap moves what was pushed at the tail to the head, if that is empty.
func (q *Stream) swap() { q.line.Swap() }

func popped(u Unit, ok bool) Unit {
	if !ok {
		return nil
	}
	return unplaced(u)
}

func (q *Stream) At(place int) Unit { return q.line.At(place) }

func (q *Stream) Remove(place int) {
	unplaced(q.line.Remove(place))
	q.line.Compact(placed)
}

func (q *Stream) RemoveFunc(match func(Unit) bool) []Unit {
	us := allUnplaced(q.line.RemoveFunc(match))
	q.line.Compact(placed)
	return us
}

func (q *Stream) Drain() []Unit       { return allUnplaced(q.line.Drain()) }
func (q *Stream) Len() int            { return q.line.Len() }
func (q *Stream) Ready() int          { return q.line.Len() }
func (q *Stream) Limit() int          { return Any }
func (q *Stream) All() iter.Seq[Unit] { return q.line.All() }

// Line is a queue in order of arrival, with a limit.
type Line struct {
	ring  ring.Ring[Unit]
	limit int
}

// NewLine returns an empty Line.
func NewLine(limit int) *Line { return &Line{limit: min(limit, Any)} }

func (q *Line) Push(u Unit, more int) bool {
	if n := q.ring.Len(); n >= q.limit+more || n >= Any {
		return false
	}
	placed(u, q.ring.Push(u))
	return true
}

func (q *Line) Pop() Unit         { return popped(q.ring.Pop()) }
func (q *Line) At(place int) Unit { return q.ring.At(place) }

func (q *Line) Remove(place int) {
	unplaced(q.ring.Remove(place))
	q.ring.Compact(placed)
}

func (q *Line) RemoveFunc(match func(Unit) bool) []Unit {
	us := allUnplaced(q.ring.RemoveFunc(match))
	q.ring.Compact(placed)
	return us
}

func (q *Line) Drain() []Unit       { return allUnplaced(q.ring.Drain()) }
func (q *Line) Len() int            { return q.ring.Len() }
func (q *Line) Ready() int          { return q.ring.Len() }
func (q *Line) Limit() int          { return q.limit }
func (q *Line) All() iter.Seq[Unit] { return q.ring.All() }

// priority returns the priority of a unit that is no lease.
type priority func(Unit) int64

// of returns the priority of u, 0 for a lease.
func (p priority) of(u Unit) int64 {
	if isLease(u) {
		return 0
	}
	return p(u)
}

// Priorities is a queue in order of priority, the least first, then of arrival.
type Priorities struct {
	heap     *heap.Heap[int64, Unit]
	arrivals uint64
	priority priority
}

// NewPriorities returns an empty queue. priority is called under the lock of the engine.
func NewPriorities(priority func(Unit) int64) *Priorities {
	return &Priorities{heap: heap.New[int64](placed), priority: priority}
}

func (q *Priorities) Push(u Unit, _ int) bool {
	if q.heap.Len() >= Any {
		return false
	}
	q.arrivals++
	placed(u, q.heap.Push(heap.Rank[int64]{Key: q.priority.of(u), Arrival: q.arrivals}, u))
	return true
}

func (q *Priorities) Pop() Unit           { return popped(q.heap.Pop()) }
func (q *Priorities) At(place int) Unit   { return q.heap.At(place) }
func (q *Priorities) Remove(place int)    { unplaced(q.heap.Remove(place)) }
func (q *Priorities) Drain() []Unit       { return allUnplaced(q.heap.Drain()) }
func (q *Priorities) Len() int            { return q.heap.Len() }
func (q *Priorities) Ready() int          { return q.heap.Len() }
func (q *Priorities) Limit() int          { return Any }
func (q *Priorities) All() iter.Seq[Unit] { return q.heap.All() }

func (q *Priorities) RemoveFunc(match func(Unit) bool) []Unit {
	return allUnplaced(q.heap.RemoveFunc(match))
}

// LimitedPriorities is Priorities with a limit. It can lose its last unit.
type LimitedPriorities struct {
	heap     heap.MinMax[int64, Unit]
	priority priority
	limit    int
}

// NewLimitedPriorities returns an empty queue with a limit.
func NewLimitedPriorities(limit int, priority func(Unit) int64) *LimitedPriorities {
	return &LimitedPriorities{*heap.NewMinMax[int64](placed), priority, min(limit, Any)}
}

func (q *LimitedPriorities) Push(u Unit, more int) bool {
	if n := q.heap.Len(); n >= q.limit+more || n >= Any {
		return false
	}
	q.heap.Push(q.priority.of(u), u)
	return true
}

func (q *LimitedPriorities) Pop() Unit { return popped(q.heap.Pop()) }

func (q *LimitedPriorities) PopLowest(u Unit) Unit {
	if lowest, ok := q.heap.Greatest(); !ok || lowest <= q.priority.of(u) {
		return nil
	}
	return popped(q.heap.PopGreatest())
}

func (q *LimitedPriorities) At(place int) Unit { return q.heap.At(place) }

func (q *LimitedPriorities) Remove(place int) {
	unplaced(q.heap.At(place))
	q.heap.Remove(place)
}

func (q *LimitedPriorities) RemoveFunc(match func(Unit) bool) []Unit {
	return allUnplaced(q.heap.RemoveFunc(match))
}

func (q *LimitedPriorities) Drain() []Unit       { return allUnplaced(q.heap.Drain()) }
func (q *LimitedPriorities) Len() int            { return q.heap.Len() }
func (q *LimitedPriorities) Ready() int          { return q.heap.Len() }
func (q *LimitedPriorities) Limit() int          { return q.limit }
func (q *LimitedPriorities) All() iter.Seq[Unit] { return q.heap.All() }
