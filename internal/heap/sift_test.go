package heap_test

import (
	"slices"
	"testing"
)

// An element that fills the gap of a removed one may belong above the gap
// (JDK-8370887).
func TestTreeRemoveSiftsUp(t *testing.T) {
	q := newItems()
	q.Push(1000, nil) // keeps all that follow out of the lane
	var doomed *item
	for id, key := range []int{10, 100, 20, 30, 40, 110, 120, 130, 140, 25} {
		it := &item{key: key, id: id}
		it.place = q.Push(key, it)
		if key == 110 {
			doomed = it
		}
	}
	q.Remove(doomed.place)
	if err := q.Check(); err != nil {
		t.Error(err)
	}
	keys, _ := popAll(q)
	if want := []int{10, 20, 25, 30, 40, 100, 120, 130, 140, 1000}; !slices.Equal(keys, want) {
		t.Errorf("popped %v, want %v", keys, want)
	}
}

// After any of eleven elements is removed the others leave in ascending order
// (AscendingOrderAfterReplace).
func TestTreeAscendingOrderAfterRemoval(t *testing.T) {
	for doomed := range 11 {
		for shift := range 11 {
			q := newItems()
			var items []*item
			for i := range 11 {
				it := &item{key: (i*7 + shift) % 11}
				items = append(items, it)
				it.place = q.Push(it.key, it)
			}
			q.Remove(items[doomed].place)
			if keys, _ := popAll(q); !slices.IsSorted(keys) || len(keys) != 10 {
				t.Errorf("after removing %d: %v", items[doomed].key, keys)
			}
		}
	}
}
