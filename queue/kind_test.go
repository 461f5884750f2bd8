package queue_test

import (
	"math"
	"slices"
	"testing"

	"github.com/executor-go/executor/queue"
)

// A bounded queue needs room for one at least.
func TestBoundedCapacity(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewBounded(%d) did not panic", n)
				}
			}()
			queue.NewBounded[int](n)
		}()
	}
	if q := queue.NewBounded[int](math.MaxInt); q.Remaining() != math.MaxInt {
		t.Errorf("Remaining = %d", q.Remaining())
	}
}

// A bounded queue accepts as many as its capacity and refuses one more, until
// one has left.
func TestBoundedIsFull(t *testing.T) {
	for capacity := 1; capacity < 70; capacity++ {
		q := queue.NewBounded[int](capacity)
		fill(t, q, capacity)
		if q.Offer(99) || q.Remaining() != 0 || q.Len() != capacity {
			t.Errorf("one more than %d was accepted", capacity)
		}
		q.Poll()
		if !q.Offer(99) || q.Offer(99) {
			t.Error("not room for one")
		}
	}
}

// A nil element is an element.
func TestNilElement(t *testing.T) {
	q := queue.NewUnbounded[*int]()
	q.Offer(nil)
	if v, ok := q.Poll(); v != nil || !ok {
		t.Errorf("Poll = %v, %v", v, ok)
	}
}

type job struct {
	rank int
	name string
}

// A priority queue gives the least first, and the oldest among equals, also
// after some have been removed.
func TestPriorityOrder(t *testing.T) {
	q := queue.NewPriority(func(j job) int { return j.rank })
	for _, j := range []job{{2, "a"}, {1, "b"}, {2, "c"}, {0, "d"}, {1, "e"}, {1, "x"}, {2, "f"}} {
		q.Offer(j)
	}
	q.RemoveFunc(func(j job) bool { return j.name == "x" })
	if got, want := q.Drain(9), []job{{0, "d"}, {1, "b"}, {1, "e"}, {2, "a"}, {2, "c"}, {2, "f"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An element that changes after it was put keeps its rank and harms nobody's.
func TestPriorityKeyIsReadOnce(t *testing.T) {
	asked := 0
	q := queue.NewPriority(func(j *job) int { asked++; return j.rank })
	var jobs []*job
	for i := range 100 {
		jobs = append(jobs, &job{rank: i * 37 % 100})
		q.Offer(jobs[i])
	}
	want := slices.SortedFunc(slices.Values(jobs), func(a, b *job) int { return a.rank - b.rank })
	for _, j := range jobs {
		j.rank = -j.rank
	}
	if got := q.Drain(100); !slices.Equal(got, want) {
		t.Error("the order has changed")
	}
	if asked != 100 {
		t.Errorf("asked %d times for the keys of a hundred", asked)
	}
}

// The key is read while no lock is held: it may use the queue, and if it
// panics nothing has been put.
func TestPriorityKeyHoldsNoLock(t *testing.T) {
	var q *queue.Blocking[int]
	q = queue.NewPriority(func(i int) int {
		if i == 13 {
			panic("boom")
		}
		return i + q.Len()
	})
	q.Offer(1)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		q.Offer(13)
	}()
	if q.Len() != 1 {
		t.Errorf("Len = %d", q.Len())
	}
}

// A queue that is ordered by a key needs one.
func TestNilKey(t *testing.T) {
	for name, make := range map[string]func(){
		"nil key": func() { queue.NewPriority[int, int](nil) },
		"nil due": func() { queue.NewDelay[int](nil) },
	} {
		func() {
			defer func() {
				if r := recover(); r != "queue: "+name {
					t.Errorf("recovered %v", r)
				}
			}()
			make()
		}()
	}
}
