package heap

import "testing"

// A lane of which few elements are left closes ranks.
func TestLaneClosesRanks(t *testing.T) {
	where := make([]int, 64_000) // by element
	for name, remove := range map[string]func(q *Queue[int, int], odd func(int) bool){
		"one by one": func(q *Queue[int, int], odd func(int) bool) {
			for e := range where {
				if odd(e) {
					q.Remove(where[e])
				}
			}
		},
		"together": func(q *Queue[int, int], odd func(int) bool) { q.RemoveFunc(odd) },
	} {
		q := New[int, int](func(e, place int) { where[e] = place })
		for i := range 64_000 {
			where[i] = q.Push(i, i)
		}
		remove(q, func(e int) bool { return e%64 != 0 })
		if q.lane.Sparse() {
			t.Errorf("%s: the lane of %d elements is sparse", name, q.lane.Len())
		}
		for want := range 1000 {
			if _, e, ok := q.Pop(); !ok || e != 64*want {
				t.Fatalf("%s: Pop gives %d, %t, want %d", name, e, ok, 64*want)
			}
		}
	}
}
