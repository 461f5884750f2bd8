package queue_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

// Those who wait to take are served in the order in which they came.
func TestTakersAreServedInOrder(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		var mu sync.Mutex
		var order []int
		for i := range 10 {
			waits(t, func() error {
				v, err := q.Take(t.Context())
				mu.Lock()
				defer mu.Unlock()
				order = append(order, v)
				if v != i {
					t.Errorf("the %d. got %d", i, v)
				}
				return err
			})
		}
		for i := range 10 {
			q.Offer(i)
		}
		synctest.Wait()
		if len(order) != 10 {
			t.Errorf("served: %v", order)
		}
	})
}

// Those who wait to put are served in the order in which they came.
func TestPuttersAreServedInOrder(t *testing.T) {
	forFull(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for i := range 10 {
			waits(t, func() error { return q.Put(t.Context(), k.cap+i) })
		}
		for i := range k.cap + 10 {
			if v, ok := q.Poll(); !ok || v != i {
				t.Errorf("Poll = %d, %v, want %d", v, ok, i)
			}
		}
		mustBeEmpty(t, q)
	})
}

// An element belongs to the one who waits for it from the moment it is put:
// nobody takes it before that one gets to run.
func TestNobodyBarges(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		result := waits(t, func() error {
			v, err := q.Take(t.Context())
			if v != 1 {
				t.Errorf("Take = %d", v)
			}
			return err
		})
		if !q.Offer(1) {
			t.Fatal("Offer failed while somebody waits")
		}
		mustBeEmpty(t, q) // and everybody who asks runs before the waiter
		if err := result(); err != nil {
			t.Error(err)
		}
	})
}

// An element that was handed to a waiter is not lost, though the waiter's
// context ends before it gets to run.
func TestHandedOverBeatsEndedContext(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		ctx, cancel := context.WithCancel(t.Context())
		result := waits(t, func() error {
			v, err := q.Take(ctx)
			if v != 1 {
				t.Errorf("Take = %d", v)
			}
			return err
		})
		q.Offer(1)
		cancel()
		if err := result(); err != nil {
			t.Error(err)
		}
	})
	forFull(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		ctx, cancel := context.WithCancel(t.Context())
		result := waits(t, func() error { return q.Put(ctx, 1) })
		q.Poll()
		cancel()
		if err := result(); err != nil {
			t.Error(err)
		}
		if q.Len() != k.cap {
			t.Errorf("Len = %d", q.Len())
		}
	})
}

// One who gave up is not served, and those behind are.
func TestGivingUpLeavesTheLine(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		ctx, cancel := context.WithCancel(t.Context())
		take := func(ctx context.Context, want int) func() error {
			return waits(t, func() error {
				v, err := q.Take(ctx)
				if v != want {
					t.Errorf("Take = %d, want %d", v, want)
				}
				return err
			})
		}
		first, gone, last := take(t.Context(), 1), take(ctx, 0), take(t.Context(), 2)
		cancel()
		if err := gone(); err != context.Canceled {
			t.Error(err)
		}
		q.Offer(1)
		q.Offer(2)
		if first() != nil || last() != nil {
			t.Error("not served")
		}
	})
}

// Waiting in vain leaves nothing behind, however often.
func TestWaitingInVainLeavesNothing(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for range 1000 {
			q.PollFor(t.Context(), 1)
		}
		if k.cap < math.MaxInt {
			fill(t, q, k.cap)
			for range 1000 {
				q.OfferFor(t.Context(), 1, 1)
			}
		}
		if takers, putters := q.Waiting(); takers+putters > 0 {
			t.Errorf("%d takers and %d putters are left", takers, putters)
		}
	})
}

// A put meets a take on a handoff queue whichever comes first.
func TestHandoffMeets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewHandoff[*int]()
		v := new(int)
		if q.Offer(v) {
			t.Error("Offer succeeded while nobody waits")
		}
		taken := waits(t, func() error {
			got, _, err := q.PollFor(t.Context(), time.Minute)
			if got != v {
				t.Error("got another element")
			}
			return err
		})
		if !q.Offer(v) {
			t.Error("Offer failed while somebody waits")
		}
		if err := taken(); err != nil {
			t.Error(err)
		}
		for name, take := range map[string]func() (*int, bool){
			"Poll": q.Poll,
			"Take": func() (*int, bool) { got, err := q.Take(t.Context()); return got, err == nil },
		} {
			put := waits(t, func() error { return q.Put(t.Context(), v) })
			if n := len(slices.Collect(q.All())); n != 0 || q.Len() != 0 {
				t.Error("a handoff queue holds something")
			}
			if _, ok := q.Peek(); ok {
				t.Error("a handoff queue shows something")
			}
			if got, ok := take(); !ok || got != v {
				t.Errorf("%s gave another element", name)
			}
			if err := put(); err != nil {
				t.Error(err)
			}
		}
		checkQueue(t, q)
	})
}
