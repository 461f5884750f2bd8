package queue_test

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor/queue"
)

// Drain returns all elements in order and empties the queue, any number of times.
func TestBlockingDrain(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for range 2 {
			fill(t, q, size)
			all := q.Drain(math.MaxInt)
			if len(all) != size || !slices.IsSorted(all) {
				t.Errorf("Drain = %v", all)
			}
			mustBeEmpty(t, q)
		}
	})
}

// Drain removes up to limit elements, the first to leave.
func TestBlockingDrainLimit(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for limit := range size + 3 {
			q.Clear()
			fill(t, q, size)
			all := q.Drain(limit)
			if want := min(limit, size); len(all) != want || want > 0 && all[want-1] != want-1 {
				t.Errorf("Drain(%d) = %v", limit, all)
			}
			if q.Len() != max(size-limit, 0) {
				t.Errorf("%d left after Drain(%d)", q.Len(), limit)
			}
		}
	})
}

// Drain with a limit of zero or less removes nothing.
func TestBlockingDrainNonPositive(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		n := 0
		if k.holds {
			n = size
			fill(t, q, n)
		}
		for _, limit := range []int{0, -1, -42, math.MinInt} {
			if all := q.Drain(limit); all != nil {
				t.Errorf("Drain(%d) = %v", limit, all)
			}
		}
		if q.Len() != n {
			t.Errorf("Len = %d", q.Len())
		}
	})
}

// Every method that removes elements releases the puts that wait for room.
func TestBlockingRoomReleasesPutters(t *testing.T) {
	for name, makeRoom := range map[string]func(*queue.Blocking[int]){
		"Poll":       func(q *queue.Blocking[int]) { q.Poll() },
		"Drain":      func(q *queue.Blocking[int]) { q.Drain(1) },
		"RemoveFunc": func(q *queue.Blocking[int]) { q.RemoveFunc(func(i int) bool { return i == 5 }) },
		"Clear":      (*queue.Blocking[int]).Clear,
	} {
		t.Run(name, func(t *testing.T) {
			forFull(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
				if !k.holds && (name == "RemoveFunc" || name == "Clear") {
					return // there never is anything to remove
				}
				result := waits(t, func() error { return q.Put(t.Context(), 99) })
				makeRoom(q)
				if err := result(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// RemoveFunc removes the elements that match and no others, returns their number, and
// keeps the order of the others.
func TestBlockingRemoveFunc(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		fill(t, q, size)
		even := func(i int) bool { return i%2 == 0 }
		if n := q.RemoveFunc(even); n != size/2 {
			t.Errorf("removed %d", n)
		}
		if n := q.RemoveFunc(even); n != 0 {
			t.Errorf("then removed %d", n)
		}
		for i := 1; i < size; i += 2 {
			if v, ok := q.Poll(); !ok || v != i {
				t.Errorf("Poll = %d, %v, want %d", v, ok, i)
			}
		}
		mustBeEmpty(t, q)
	})
}

// If the function passed to RemoveFunc panics, nothing is removed.
func TestBlockingRemoveFuncPanics(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		fill(t, q, size)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("RemoveFunc did not panic")
				}
			}()
			q.RemoveFunc(func(i int) bool {
				if i == size/2 {
					panic("boom")
				}
				return true
			})
		}()
		if q.Len() != size {
			t.Errorf("Len = %d", q.Len())
		}
	})
}

// The function passed to RemoveFunc may use the queue. An element that leaves meanwhile
// is not counted, and an equal one that came later is not removed.
func TestBlockingRemoveFuncMayUseQueue(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		fill(t, q, 4)
		calls := 0
		n := q.RemoveFunc(func(i int) bool {
			if calls++; calls == 1 {
				if v, ok := q.Poll(); !ok || v != 0 {
					t.Errorf("Poll = %d, %v", v, ok)
				}
				q.Offer(0)
			}
			return i <= 1
		})
		if n != 1 || calls != 4 {
			t.Errorf("removed %d, %d calls", n, calls)
		}
		left := q.Drain(math.MaxInt)
		slices.Sort(left)
		if !slices.Equal(left, []int{0, 2, 3}) {
			t.Errorf("left: %v", left)
		}
	})
}

// A queue from which all elements were removed one by one can be used again.
func TestBlockingRemoveFuncLast(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for range 3 {
			fill(t, q, size)
			for i := range size {
				if n := q.RemoveFunc(func(v int) bool { return v == size-1-i }); n != 1 {
					t.Errorf("removed %d", n)
				}
			}
			mustBeEmpty(t, q)
			q.Offer(1)
			if v, err := q.Take(t.Context()); v != 1 || err != nil {
				t.Errorf("Take = %d, %v", v, err)
			}
		}
	})
}

// Clear removes all elements and restores the capacity.
func TestBlockingClear(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for range 3 {
			fill(t, q, size)
			q.Clear()
			mustBeEmpty(t, q)
		}
	})
}

// All returns every element once, the first to leave first, and stops when the loop
// does.
func TestBlockingAll(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for _, i := range []int{1, 0, 2} {
			q.Offer(i)
		}
		head, _ := q.Peek()
		all := slices.Collect(q.All())
		if len(all) != 3 || all[0] != head {
			t.Errorf("All = %v, the head is %d", all, head)
		}
		if k.name == "Bounded" && !slices.Equal(all, []int{1, 0, 2}) {
			t.Errorf("All = %v, out of order of arrival", all)
		}
		for range q.All() {
			break
		}
	})
}

// All returns the first to leave first also if the heap has others before it: 5 and 9
// came in order, 7 did not.
func TestBlockingAllHeadFirst(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for _, i := range []int{5, 9, 7} {
			q.Offer(i)
			head, _ := q.Peek()
			if all := slices.Collect(q.All()); all[0] != head {
				t.Errorf("All = %v, the head is %d", all, head)
			}
		}
	})
}

// All returns the elements of the moment when the loop begins, and can be used again.
func TestBlockingAllIsSnapshot(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		all := q.All()
		for n := range size {
			q.Offer(n)
			seen := 0
			for i := range all {
				q.RemoveFunc(func(v int) bool { return v == i })
				q.Poll()
				seen++
			}
			if seen != 1 {
				t.Errorf("saw %d elements of one", seen)
			}
		}
		fill(t, q, 3)
		seen := 0
		for range all {
			q.Clear()
			q.Offer(9)
			seen++
		}
		if seen != 3 {
			t.Errorf("saw %d elements of three", seen)
		}
	})
}

// Drain of a handoff queue takes the elements of puts that wait, up to the limit, and
// releases these puts.
func TestHandoffDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewHandoff[int]()
		first := waits(t, func() error { return q.Put(t.Context(), 1) })
		second := waits(t, func() error { return q.Put(t.Context(), 2) })
		for i, result := range []func() error{first, second} {
			if all := q.Drain(1); !slices.Equal(all, []int{i + 1}) {
				t.Errorf("Drain = %v", all)
			}
			if err := result(); err != nil {
				t.Error(err)
			}
		}
		if n := q.RemoveFunc(func(int) bool { return true }); n != 0 {
			t.Errorf("removed %d from a queue that holds nothing", n)
		}
		mustBeEmpty(t, q)
	})
}
