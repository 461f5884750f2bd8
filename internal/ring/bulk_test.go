package ring_test

import (
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/ring"
)

// If the function passed to RemoveFunc panics, the ring is unchanged.
func TestRingRemoveFuncPanics(t *testing.T) {
	var r ring.Ring[int]
	for i := range 20 {
		r.Push(i)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("RemoveFunc did not panic")
			}
		}()
		r.RemoveFunc(func(i int) bool {
			if i == 15 {
				panic("boom")
			}
			return true
		})
	}()
	if got := slices.Collect(r.All()); !slices.Equal(got, upTo(20)) {
		t.Errorf("ring has changed: %v", got)
	}
}

// RemoveFunc calls its function once for each element.
func TestRingRemoveFuncCallsOnce(t *testing.T) {
	var r ring.Ring[int]
	for i := range 100 {
		r.Push(i)
	}
	calls := map[int]int{}
	r.RemoveFunc(func(i int) bool { calls[i]++; return i%2 == 0 })
	for i := range 100 {
		if calls[i] != 1 {
			t.Errorf("%d calls for %d", calls[i], i)
		}
	}
}

// An iteration over All may stop early.
func TestRingAllStops(t *testing.T) {
	var r ring.Ring[int]
	r.Push(1)
	r.Push(2)
	for range r.All() {
		break
	}
}
