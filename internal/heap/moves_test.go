package heap_test

import (
	"math/rand/v2"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// The moves of an operation are reported before it returns, up to 64 at a time.
func TestMovesAreReportedTogether(t *testing.T) {
	const n = 10_000
	where := make([]int, n)
	most := 0
	q := heap.New[int](func(elems []int, places []int32) {
		most = max(most, len(elems))
		for i, e := range elems {
			where[e] = int(places[i])
		}
	})
	r := rand.New(rand.NewPCG(1, 2))
	for e := range n {
		where[e] = q.Push(r.Int(), e)
	}
	for e := range n {
		if got := q.Take(where[e]); got != e {
			t.Fatalf("at the place of %d is %d", e, got)
		}
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if most < 2 || most > 64 {
		t.Errorf("at most %d moves were reported at once", most)
	}
}
