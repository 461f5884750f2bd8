// Package lanes implements a queue by key: elements with the same key leave in order, at
// most a given number of them are out at a time, and the keys take turns.
//
//	Push ─▶ lane of the key ─▶ Pop, if fewer than limit of the key are out ─▶ Release
//
// It takes no locks.
package lanes

import (
	"iter"
	"slices"

	"github.com/executor-go/executor/internal/list"
)

// Queue is a queue of elements E by key, made by New. The lanes that have an element that
// may leave are in a list, and take turns. A lane exists as long as it has an element that
// waits or is out.
type Queue[E any] struct {
	limit    int // elements of a key that are out at once
	moved    func(E, int)
	byKey    map[any]*lane[E]
	most     int                 // keys in byKey since it was made
	open     list.List[*lane[E]] // with an element that may leave
	ready    int                 // elements that may leave
	wanted   list.List[*lane[E]] // of those in open, with an element that is marked; the last to come first
	nWanted  int                 // lanes in wanted
	byPlace  []*Item[E]          // all that wait, and nil in the holes
	holes    []int               // places without an item
	spare    []*lane[E]          // to be used again
	arrivals uint64
}

// maxSpare is how many lanes are kept to be used again: where tasks are short, the next key
// comes as soon as one has left.
const maxSpare = 64

// lane has the elements of a key.
type lane[E any] struct {
	key      any
	inMap    bool // it is in byKey
	out      int
	waiting  int
	ready    int // elements that may leave
	line     list.List[*Item[E]]
	inOpen   bool
	openNode list.Node[*lane[E]]

	marked     int // elements that are, and wait
	inWanted   bool
	wantedNode list.Node[*lane[E]]
}

// Item is an element with its key and its place. It belongs to the user of the queue. The
// zero Item has no key.
type Item[E any] struct {
	key     any
	keyed   bool
	out     bool // it has left by Pop, and its key is not released
	marked  bool // by Want
	lane    *lane[E]
	value   E
	arrival uint64
	place   int // in byPlace
	node    list.Node[*Item[E]]
}

// SetKey sets the key of i, which was not pushed yet. The key must be hashable.
func (i *Item[E]) SetKey(key any) { i.key, i.keyed = key, true }

// Key returns the key.
func (i *Item[E]) Key() any { return i.key }

// New returns a queue from which at most limit elements of a key are out at a time. moved is
// called with the place of an element whenever it has a new one.
func New[E any](limit int, moved func(e E, place int)) *Queue[E] {
	return &Queue[E]{limit: limit, moved: moved, byKey: make(map[any]*lane[E])}
}

// Push adds value, with the key of i, in which the queue keeps it.
func (q *Queue[E]) Push(i *Item[E], value E) {
	i.value, i.arrival, i.node.Value = value, q.arrivals, i
	q.arrivals++
	l := q.laneOf(i)
	i.lane = l
	l.line.PushBack(&i.node)
	q.change(l, 1, 0)
	place := len(q.byPlace)
	if last := len(q.holes) - 1; last >= 0 {
		place, q.holes = q.holes[last], q.holes[:last]
	} else {
		q.byPlace = append(q.byPlace, nil)
	}
	q.setPlace(i, place)
}

// setPlace puts an item in a place of byPlace.
func (q *Queue[E]) setPlace(i *Item[E], place int) {
	q.byPlace[place] = i
	i.place = place
	q.moved(i.value, place)
}

// laneOf returns the lane of an item, a new one if there is none.
func (q *Queue[E]) laneOf(i *Item[E]) *lane[E] {
	if i.keyed {
		if l := q.byKey[i.key]; l != nil {
			return l
		}
	}
	l := q.newLane()
	if i.keyed && i.key == i.key { // else it is a NaN, which no map would find again
		l.key, l.inMap = i.key, true
		q.byKey[i.key] = l
		q.most = max(q.most, len(q.byKey))
	}
	return l
}

func (q *Queue[E]) newLane() *lane[E] {
	if last := len(q.spare) - 1; last >= 0 {
		l := q.spare[last]
		q.spare[last], q.spare = nil, q.spare[:last]
		return l
	}
	l := new(lane[E])
	l.openNode.Value, l.wantedNode.Value = l, l
	return l
}

// change adds to the numbers of elements of l, and updates what depends on them.
func (q *Queue[E]) change(l *lane[E], waiting, out int) {
	l.waiting += waiting
	l.out += out
	before := l.ready
	l.ready = max(0, min(l.waiting, q.limit-l.out))
	q.ready += l.ready - before
	switch {
	case l.ready > 0 && !l.inOpen:
		l.inOpen = true
		q.open.PushBack(&l.openNode)
	case l.ready == 0 && l.inOpen:
		l.inOpen = false
		q.open.Remove(&l.openNode)
	}
	switch wanted := l.ready > 0 && l.marked > 0; {
	case wanted && !l.inWanted:
		l.inWanted = true
		q.wanted.InsertAfter(&l.wantedNode, nil)
		q.nWanted++
	case !wanted && l.inWanted:
		l.inWanted = false
		q.wanted.Remove(&l.wantedNode)
		q.nWanted--
	}
	if l.waiting+l.out == 0 {
		q.drop(l)
	}
}

// drop removes a lane without elements.
func (q *Queue[E]) drop(l *lane[E]) {
	if l.inMap {
		delete(q.byKey, l.key)
		q.shrink()
	}
	if len(q.spare) < maxSpare {
		l.key, l.inMap = nil, false
		q.spare = append(q.spare, l)
	}
}

// shrink copies the map when it was much longer, since a map does not release memory.
func (q *Queue[E]) shrink() {
	if q.most < 64 || len(q.byKey) > q.most/8 {
		return
	}
	byKey := make(map[any]*lane[E], len(q.byKey))
	for key, l := range q.byKey {
		byKey[key] = l
	}
	q.byKey, q.most = byKey, len(byKey)
}

// Pop removes the first element whose key lets it leave, and reports whether there was one.
// An element with a key is out until Release.
func (q *Queue[E]) Pop() (value E, ok bool) {
	n := q.open.First()
	if n == nil {
		return value, false
	}
	return q.pop(n.Value), true
}

// Want marks the element in a place.
func (q *Queue[E]) Want(place int) {
	if i := q.byPlace[place]; !i.marked {
		i.marked = true
		i.lane.marked++
		q.change(i.lane, 0, 0)
	}
}

// Wanted returns how many keys have an element that may leave, and one that is marked.
func (q *Queue[E]) Wanted() int { return q.nWanted }

// PopWanted is Pop for these keys, the last one of which an element was marked first.
func (q *Queue[E]) PopWanted() (value E, ok bool) {
	n := q.wanted.First()
	if n == nil {
		return value, false
	}
	return q.pop(n.Value), true
}

// IsWanted reports whether i is out, and an element of its key is marked, and waits.
func (i *Item[E]) IsWanted() bool { return i.out && i.lane.marked > 0 }

// pop takes the first element of a lane that may leave.
func (q *Queue[E]) pop(l *lane[E]) (value E) {
	i := l.line.First().Value
	out := 0
	if i.keyed {
		out, i.out = 1, true
	}
	value = q.take(i, out)
	if l.inOpen { // it is another's turn
		q.open.Remove(&l.openNode)
		q.open.PushBack(&l.openNode)
	}
	return value
}

// take takes an item out of the queue.
func (q *Queue[E]) take(i *Item[E], out int) (value E) {
	q.byPlace[i.place] = nil
	q.holes = append(q.holes, i.place)
	q.compact()
	i.lane.line.Remove(&i.node)
	if i.marked {
		i.marked = false
		i.lane.marked--
	}
	q.change(i.lane, -1, out)
	return i.value
}

// compact closes the holes when most places are holes.
func (q *Queue[E]) compact() {
	if len(q.byPlace) <= 64 || q.Len() > len(q.byPlace)/4 {
		return
	}
	before := q.byPlace
	q.byPlace, q.holes = make([]*Item[E], 0, 2*q.Len()), nil
	for _, i := range before {
		if i != nil {
			q.byPlace = append(q.byPlace, nil)
			q.setPlace(i, len(q.byPlace)-1)
		}
	}
}

// Release ends the time for which an element with a key is out. It does nothing if i is not out.
func (q *Queue[E]) Release(i *Item[E]) {
	if i.out {
		i.out = false
		q.change(i.lane, 0, -1)
	}
}

// MayRun reports whether i has what it needs to run: it is out, or it has no key.
func (i *Item[E]) MayRun() bool { return i.out || !i.keyed }

// At returns the element in a place.
func (q *Queue[E]) At(place int) E { return q.byPlace[place].value }

// Remove removes the element in a place.
func (q *Queue[E]) Remove(place int) { q.take(q.byPlace[place], 0) }

// RemoveFunc removes all elements that match, and returns them in the order of their arrival.
func (q *Queue[E]) RemoveFunc(match func(E) bool) []E {
	var found []*Item[E]
	for _, i := range q.byPlace {
		if i != nil && match(i.value) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b *Item[E]) int { return int(int64(a.arrival - b.arrival)) })
	var all []E
	for _, i := range found {
		all = append(all, q.take(i, 0))
	}
	return all
}

// Len returns the number of elements that wait.
func (q *Queue[E]) Len() int { return len(q.byPlace) - len(q.holes) }

// Ready returns the number of elements that may leave.
func (q *Queue[E]) Ready() int { return q.ready }

// ReadyWith returns the number of elements that may leave once one with the key of i has been pushed.
func (q *Queue[E]) ReadyWith(i *Item[E]) int {
	if i.keyed {
		if l := q.byKey[i.key]; l != nil {
			return q.ready - l.ready + max(0, min(l.waiting+1, q.limit-l.out))
		}
	}
	return q.ready + 1
}

// Oldest returns the place of the element that waits for longest, whether it may leave or not. There must be one.
func (q *Queue[E]) Oldest() int {
	var oldest *Item[E]
	for _, i := range q.byPlace {
		if i != nil && (oldest == nil || i.arrival < oldest.arrival) {
			oldest = i
		}
	}
	return oldest.place
}

// All iterates over the elements that wait, in no order.
func (q *Queue[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, i := range q.byPlace {
			if i != nil && !yield(i.value) {
				return
			}
		}
	}
}
