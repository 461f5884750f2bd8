package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// item is an element of the tests: it has its own place, as a task has.
type item struct {
	Item[*item]
	id, key, place int
}

func newQueue(limit int) *Queue[*item] {
	return New(limit, func(i *item, place int) { i.place = place })
}

// Whatever is pushed, popped, released and removed: the elements of a key leave in order, as
// many as may be out, all of them are somewhere, and each knows its place.
func TestQueueModel(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit, keys := 1+r.IntN(3), 1+r.IntN(8)
		q := newQueue(limit)
		waiting := make(map[int][]*item) // by key; -1 for none
		out := make(map[int][]*item)
		for id := range 400 {
			key := r.IntN(keys+1) - 1
			switch r.IntN(6) {
			case 0, 1, 2:
				i := &item{id: id, key: key}
				if key >= 0 {
					i.SetKey(key)
				}
				q.Push(&i.Item, i)
				waiting[key] = append(waiting[key], i)
			case 3:
				i, ok := q.Pop()
				if !ok {
					break
				}
				at := slices.Index(waiting[i.key], i)
				if at < 0 || at > 0 && i.key >= 0 {
					t.Fatalf("seed %d: popped %d of key %d, at place %d of its lane", seed, i.id, i.key, at)
				}
				waiting[i.key] = slices.Delete(waiting[i.key], at, at+1)
				if i.key >= 0 {
					out[i.key] = append(out[i.key], i)
				}
			case 4:
				if n := len(out[key]); n > 0 {
					q.Release(&out[key][n-1].Item)
					out[key] = out[key][:n-1]
				}
			case 5:
				if n := len(waiting[key]); n > 0 {
					at := r.IntN(n)
					q.Remove(waiting[key][at].place)
					waiting[key] = slices.Delete(waiting[key], at, at+1)
				}
			}
			all, ready := 0, len(waiting[-1])
			for key, line := range waiting {
				all += len(line)
				if key >= 0 {
					ready += max(0, min(len(line), limit-len(out[key])))
				}
				for _, i := range line {
					if q.At(i.place) != i {
						t.Fatalf("seed %d: another element is in the place of %d", seed, i.id)
					}
				}
			}
			if q.Len() != all || q.Ready() != ready {
				t.Fatalf("seed %d: Len %d, Ready %d, want %d, %d", seed, q.Len(), q.Ready(), all, ready)
			}
		}
	}
}

// Keys whose elements may leave take turns.
func TestQueueTakesTurns(t *testing.T) {
	q := newQueue(math.MaxInt)
	for id := range 9 {
		i := &item{id: id, key: id / 3}
		i.SetKey(i.key)
		q.Push(&i.Item, i)
	}
	var got []int
	for i, ok := q.Pop(); ok; i, ok = q.Pop() {
		got = append(got, i.id)
	}
	if want := []int{0, 3, 6, 1, 4, 7, 2, 5, 8}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// What is removed comes in the order of arrival.
func TestQueueRemoveInOrder(t *testing.T) {
	q := newQueue(1)
	for id := range 100 {
		i := &item{id: id}
		i.SetKey(id % 7)
		q.Push(&i.Item, i)
	}
	ids := func(is []*item) (all []int) {
		for _, i := range is {
			all = append(all, i.id)
		}
		return all
	}
	odd := ids(q.RemoveFunc(func(i *item) bool { return i.id%2 == 1 }))
	even := ids(q.RemoveFunc(func(*item) bool { return true }))
	if len(odd) != 50 || len(even) != 50 || !slices.IsSorted(odd) || !slices.IsSorted(even) {
		t.Errorf("removed %v and %v", odd, even)
	}
}

// A key without elements is forgotten, also one that does not equal itself.
func TestQueueForgetsKeys(t *testing.T) {
	q := newQueue(1)
	for id := range 1000 {
		i := new(item)
		i.SetKey(any(id))
		if id%2 == 1 {
			i.SetKey(math.NaN())
		}
		q.Push(&i.Item, i)
	}
	for i, ok := q.Pop(); ok; i, ok = q.Pop() {
		q.Release(&i.Item)
	}
	if len(q.byKey) != 0 || q.most > 64 {
		t.Errorf("%d keys are left, in a map for %d", len(q.byKey), q.most)
	}
}
