package engine

import (
	"iter"

	"github.com/executor-go/executor/internal/lanes"
)

// Keys is a queue by key: at most a given number of units of a key run at a time, in the order
// of their arrival, and the keys take turns.
type Keys struct{ lanes *lanes.Queue[Unit] }

// KeyItem is what Keys keeps of a unit.
type KeyItem = lanes.Item[Unit]

// NewKeys returns an empty queue of which at most limit units of a key run at a time.
func NewKeys(limit int) *Keys { return &Keys{lanes.New(limit, placed)} }

// keyed returns the item of a unit with a key.
func keyed(u Unit) (*KeyItem, bool) {
	k, ok := u.(interface{ Key() *KeyItem })
	if !ok {
		return nil, false
	}
	i := k.Key()
	return i, i != nil
}

func (q *Keys) Push(u Unit, _ int) bool {
	if q.lanes.Len() >= Any {
		return false
	}
	i, ok := keyed(u)
	if !ok {
		i = new(KeyItem) // without a key
	}
	q.lanes.Push(i, u)
	return true
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
func (q *Keys) Limit() int          { return Any }
func (q *Keys) All() iter.Seq[Unit] { return q.lanes.All() }
