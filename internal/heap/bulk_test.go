package heap_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// If the function passed to RemoveFunc panics, the queue is unchanged.
func TestQueueRemoveFuncPanics(t *testing.T) {
	q := newItems()
	for i := range 20 {
		q.Push(i, &item{key: i})
	}
	before := slices.Collect(elements(q))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("RemoveFunc did not panic")
			}
		}()
		q.RemoveFunc(func(it *item) bool {
			if it.key == 15 {
				panic("boom")
			}
			return true
		})
	}()
	if !slices.Equal(before, slices.Collect(elements(q))) {
		t.Error("queue has changed")
	}
}

// RemoveFunc calls its function once for each element.
func TestQueueRemoveFuncCallsOnce(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 100 {
		q.Push(-i, i)
	}
	calls := map[int]int{}
	q.RemoveFunc(func(i int) bool { calls[i]++; return i%2 == 0 })
	for i := range 100 {
		if calls[i] != 1 {
			t.Errorf("%d calls for %d", calls[i], i)
		}
	}
}

// An iteration over All may stop early.
func TestQueueAllStops(t *testing.T) {
	var q heap.Queue[int, int]
	q.Push(1, 1)
	q.Push(2, 2)
	for range q.All() {
		break
	}
}

func elements[K int, E any](q *heap.Queue[K, E]) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range q.All() {
			if !yield(e) {
				return
			}
		}
	}
}
