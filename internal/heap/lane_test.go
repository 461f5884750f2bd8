package heap_test

import (
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// Elements that come in order go to the lane, also under equal keys, and leave it in
// that order, with elements of the tree between them.
func TestLaneOrder(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 1000 {
		q.Push(i/2*10, i)
	}
	if q.Lane() != 1000 {
		t.Errorf("%d of 1000 in the lane", q.Lane())
	}
	for i := range 100 {
		q.Push((99-i)*10, 1000+i) // after their equals
		q.Push(i*10+5, 2000+i)
	}
	keys, elems := popAll(&q)
	if !slices.IsSorted(keys) || len(keys) != 1200 {
		t.Errorf("popped %v", keys)
	}
	if want := []int{0, 1, 1099, 2000, 2, 3, 1098, 2001}; !slices.Equal(elems[:8], want) {
		t.Errorf("popped %v, want %v", elems[:8], want)
	}
}

// A few elements with great keys are moved out of the lane for elements that come in
// order before them.
func TestLaneIsEmptied(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range heap.LaneRetry {
		q.Push(1000+i, -1)
	}
	for i := range heap.LaneRetry + 100 {
		q.Push(i, i)
	}
	if q.Lane() != 101 {
		t.Errorf("%d in the lane", q.Lane())
	}
	for i := range heap.LaneRetry + 100 {
		if _, got, _ := q.Pop(); got != i {
			t.Fatalf("popped %d, want %d", got, i)
		}
	}
}

// The lane is not emptied if it is long, or if elements out of order do not come in a
// row.
func TestLaneIsNotEmptied(t *testing.T) {
	var long, mixed heap.Queue[int, int]
	for i := range heap.LaneRetry + 1 {
		long.Push(1000+i, i)
	}
	for i := range 10 * heap.LaneRetry {
		long.Push(-i, i)
		mixed.Push(1000+i, i)
		mixed.Push(-i, i)
	}
	if long.Lane() != heap.LaneRetry+1 || mixed.Lane() != 10*heap.LaneRetry {
		t.Errorf("%d and %d in the lanes", long.Lane(), mixed.Lane())
	}
}

// When the lane is emptied, the new places of its elements are reported.
func TestLaneReportsPlaces(t *testing.T) {
	where := map[int]int{}
	q := heap.New[int](oneByOne(func(e, place int) { where[e] = place }))
	push := func(key, e int) { where[e] = q.Push(key, e) }
	push(1000, -1)
	push(1001, -2)
	for i := range heap.LaneRetry {
		push(i, i)
	}
	for _, want := range []int{-2, -1} {
		if got := q.Take(where[want]); got != want {
			t.Errorf("%d was at the place of %d", got, want)
		}
	}
}

// When a lane that has few elements left is compacted, their new places are reported.
func TestLaneIsCompacted(t *testing.T) {
	const n = 64_000
	stays := func(e int) bool { return e%64 == 0 }
	for name, remove := range map[string]func(q *heap.Queue[int, int], where []int){
		"one by one": func(q *heap.Queue[int, int], where []int) {
			for e := range n {
				if !stays(e) {
					q.Remove(where[e])
				}
			}
		},
		"together": func(q *heap.Queue[int, int], _ []int) {
			q.RemoveFunc(func(e int) bool { return !stays(e) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			where, moves := make([]int, n), 0
			q := heap.New[int](oneByOne(func(e, place int) { where[e] = place; moves++ }))
			for e := range n {
				where[e] = q.Push(e, e)
			}
			remove(q, where)
			if moves == 0 {
				t.Error("no move was reported")
			}
			for e := 0; e < n; e += 64 {
				if got := q.Take(where[e]); got != e {
					t.Fatalf("%d is at the place of %d", got, e)
				}
			}
		})
	}
}
