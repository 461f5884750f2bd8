package heap_test

import (
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// The elements of a lane that has few left are told their new places.
func TestLaneClosesRanks(t *testing.T) {
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
			where, told := make([]int, n), 0
			q := heap.New[int](oneByOne(func(e, place int) { where[e] = place; told++ }))
			for e := range n {
				where[e] = q.Push(e, e)
			}
			remove(q, where)
			if told == 0 {
				t.Error("told nothing")
			}
			for e := 0; e < n; e += 64 {
				if got := q.Take(where[e]); got != e {
					t.Fatalf("%d is at the place of %d", got, e)
				}
			}
		})
	}
}
