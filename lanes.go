package executor

import (
	"iter"
	"slices"

	"github.com/executor-go/executor/internal/list"
	"github.com/executor-go/executor/internal/task"
)

// lanes is the queue of a [Keyed]: a line for each key that has tasks.
//
//	push ─▶ lane of the key ─▶ pop, if fewer than limit tasks of the key run ─▶ release
//
// Lanes with a task that may begin are in a list, and take turns. A lane is there as long
// as it has a task that waits or runs.
type lanes struct {
	limit    int // tasks of a key that run at once
	byKey    map[any]*lane
	most     int              // keys in byKey since it was made
	open     list.List[*lane] // with a task that may begin
	nReady   int              // tasks that may begin
	byPlace  []*keyedTask     // all tasks that wait
	arrivals uint64
}

// lane has the tasks of a key.
type lane struct {
	key      any // nil and not in byKey for a task without a key
	running  int
	waiting  int
	ready    int // tasks that may begin
	line     list.List[*keyedTask]
	inOpen   bool
	openNode list.Node[*lane]
}

// keyedTask is a task with its key, as it is queued.
type keyedTask struct {
	Runnable
	key     any
	keyless bool
	lane    *lane
	queued  entry // the entry that was pushed: this task, or what is queued in its place
	arrival uint64
	place   int // in byPlace
	node    list.Node[*keyedTask]
}

// keyed returns the keyedTask of e, nil if there is none.
func (e entry) keyed() *keyedTask {
	switch r := e.run.(type) {
	case *keyedTask:
		return r
	case *mark:
		return entry{r.Runnable}.keyed()
	}
	return nil
}

func (q *lanes) push(e entry) bool {
	if len(q.byPlace) >= maxQueued {
		return false
	}
	k := e.keyed()
	if k == nil {
		k = &keyedTask{keyless: true}
	}
	k.queued, k.arrival, k.node.Value = e, q.arrivals, k
	q.arrivals++
	l := q.laneOf(k)
	k.lane = l
	l.line.PushBack(&k.node)
	q.change(l, 1, 0)
	q.byPlace = append(q.byPlace, nil)
	q.setPlace(k, len(q.byPlace)-1)
	return true
}

// setPlace puts a task in a place of byPlace.
func (q *lanes) setPlace(k *keyedTask, place int) {
	q.byPlace[place] = k
	k.place = place
	k.queued.setPlace(place)
}

// laneOf returns the lane of a task, a new one if there is none.
func (q *lanes) laneOf(k *keyedTask) *lane {
	if !k.keyless {
		if l := q.byKey[k.key]; l != nil {
			return l
		}
	}
	l := &lane{key: k.key}
	l.openNode.Value = l
	if !k.keyless && k.key == k.key { // else it is a NaN, which no map would find again
		q.byKey[k.key] = l
		q.most = max(q.most, len(q.byKey))
	}
	return l
}

// change adds to the numbers of tasks of l, and has what depends on them follow.
func (q *lanes) change(l *lane, waiting, running int) {
	l.waiting += waiting
	l.running += running
	before := l.ready
	l.ready = max(0, min(l.waiting, q.limit-l.running))
	q.nReady += l.ready - before
	switch {
	case l.ready > 0 && !l.inOpen:
		l.inOpen = true
		q.open.PushBack(&l.openNode)
	case l.ready == 0 && l.inOpen:
		l.inOpen = false
		q.open.Remove(&l.openNode)
	}
	if l.waiting+l.running == 0 && q.byKey[l.key] == l {
		delete(q.byKey, l.key)
		q.shrink()
	}
}

// shrink makes the map anew when it was much longer: a map does not release memory.
func (q *lanes) shrink() {
	if q.most < 64 || len(q.byKey) > q.most/8 {
		return
	}
	byKey := make(map[any]*lane, len(q.byKey))
	for key, l := range q.byKey {
		byKey[key] = l
	}
	q.byKey, q.most = byKey, len(byKey)
}

func (q *lanes) pop() (entry, bool) {
	n := q.open.First()
	if n == nil {
		return entry{}, false
	}
	l := n.Value
	k := l.line.First().Value
	running := 1
	if k.keyless {
		running = 0
	}
	q.take(k, running)
	if l.inOpen { // it is another's turn
		q.open.Remove(n)
		q.open.PushBack(n)
	}
	return k.queued, true
}

// take takes a task out of the queue.
func (q *lanes) take(k *keyedTask, running int) {
	last := len(q.byPlace) - 1
	q.setPlace(q.byPlace[last], k.place)
	q.byPlace[last] = nil
	q.byPlace = q.byPlace[:last]
	if cap(q.byPlace) > 64 && last < cap(q.byPlace)/4 {
		q.byPlace = append(make([]*keyedTask, 0, 2*last), q.byPlace...)
	}
	k.queued.setPlace(task.Unplaced)
	k.lane.line.Remove(&k.node)
	q.change(k.lane, -1, running)
}

// release follows the end of a task that was popped.
func (q *lanes) release(e entry) {
	if k := e.keyed(); k != nil {
		q.change(k.lane, 0, -1)
	}
}

func (q *lanes) remove(t *task.Task) { q.take(q.byPlace[t.Place()], 0) }

func (q *lanes) removeFunc(match func(entry) bool) []entry {
	var found []*keyedTask
	for _, k := range q.byPlace {
		if match(k.queued) {
			found = append(found, k)
		}
	}
	return q.takeAll(found)
}

func (q *lanes) drain() []entry { return q.takeAll(slices.Clone(q.byPlace)) }

func (q *lanes) takeAll(ks []*keyedTask) []entry {
	slices.SortFunc(ks, func(a, b *keyedTask) int { return int(int64(a.arrival - b.arrival)) })
	var es []entry
	for _, k := range ks {
		q.take(k, 0)
		es = append(es, k.queued)
	}
	return es
}

func (q *lanes) len() int { return len(q.byPlace) }

func (q *lanes) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, k := range q.byPlace {
			if !yield(k.queued) {
				return
			}
		}
	}
}

func (q *lanes) at(t *task.Task) entry { return q.byPlace[t.Place()].queued }
