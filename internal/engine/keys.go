package engine

import (
	"iter"

	"github.com/executor-go/executor/internal/lanes"
)

// Keys is a queue by key: at most a given number of units of a key run at a time, in the order
// of their arrival, and the keys take turns.
type Keys struct {
	lanes *lanes.Queue[Unit]
	limit int
}

// KeyItem is what Keys keeps of a unit.
type KeyItem = lanes.Item[Unit]

// NewKeys returns an empty queue with a limit, of which at most perKey units of a key run at a time.
func NewKeys(perKey, limit int) *Keys { return &Keys{lanes.New(perKey, placed), min(limit, Any)} }

// keyed returns the item of a unit with a key.
func keyed(u Unit) (*KeyItem, bool) {
	k, ok := u.(interface{ Key() *KeyItem })
	if !ok {
		return nil, false
	}
	i := k.Key()
	return i, i != nil
}

// Push has room beyond the limit only for as many units as may run: one whose key bars it waits, whoever is free.
func (q *Keys) Push(u Unit, more int) bool {
	n := q.lanes.Len()
	i, ok := keyed(u)
	if !ok {
		i = new(KeyItem) // without a key
	}
	if n >= Any || q.limit < Any && more < Any && n+1-min(more, q.lanes.ReadyWith(i)) > q.limit {
		return false
	}
	q.lanes.Push(i, u)
	return true
}

// PopNext removes the unit that would run next, if there is one: where keys bar all of them, the one that came first.
func (q *Keys) PopNext() Unit {
	if u := q.Pop(); u != nil || q.Len() == 0 {
		return u
	}
	place := q.lanes.Oldest()
	u := q.At(place)
	q.Remove(place)
	return u
}

func (q *Keys) Pop() Unit { return popped(q.lanes.Pop()) }

func (q *Keys) Release(u Unit) {
	if i, ok := keyed(u); ok {
		q.lanes.Release(i)
	}
}

func (q *Keys) Bars(u Unit) bool {
	i, ok := keyed(u)
	return ok && i.MayRun()
}

func (q *Keys) Want(place int) { q.lanes.Want(place) }
func (q *Keys) Wanted() int    { return q.lanes.Wanted() }

func (q *Keys) PopWanted() Unit { return popped(q.lanes.PopWanted()) }

func (q *Keys) IsBefore(u Unit) bool {
	i, ok := keyed(u)
	return ok && i.IsWanted()
}

func (q *Keys) At(place int) Unit { return q.lanes.At(place) }

func (q *Keys) Remove(place int) {
	unplaced(q.lanes.At(place))
	q.lanes.Remove(place)
}

func (q *Keys) RemoveFunc(match func(Unit) bool) []Unit {
	return allUnplaced(q.lanes.RemoveFunc(match))
}
func (q *Keys) Drain() []Unit       { return q.RemoveFunc(func(Unit) bool { return true }) }
func (q *Keys) Len() int            { return q.lanes.Len() }
func (q *Keys) Ready() int          { return q.lanes.Ready() }
func (q *Keys) Limit() int          { return q.limit }
func (q *Keys) All() iter.Seq[Unit] { return q.lanes.All() }
