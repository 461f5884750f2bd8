package queue_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

var closables = map[string]func() *queue.Blocking[int]{
	"Bounded":   func() *queue.Blocking[int] { return queue.NewBounded[int](3) },
	"Unbounded": queue.NewUnbounded[int],
	"Handoff":   queue.NewHandoff[int],
	"Priority":  func() *queue.Blocking[int] { return queue.NewPriority(func(v int) int { return v }) },
	"Delay": func() *queue.Blocking[int] {
		start := time.Now()
		return queue.NewDelay(func(v int) time.Time { return start.Add(time.Duration(v) * time.Hour) })
	},
}

// eachKind runs a test for each kind of queue, in a bubble.
func eachKind(t *testing.T, test func(t *testing.T, q *queue.Blocking[int])) {
	for name, make := range closables {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, make()) })
		})
	}
}

// A closed queue accepts nothing, by any method, and keeps what it had.
func TestBlockingClosedAcceptsNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, q *queue.Blocking[int]) {
		had := q.Offer(1)
		q.Close()
		q.Close()
		if err := q.Put(t.Context(), 2); err != queue.ErrClosed {
			t.Errorf("Put: %v", err)
		}
		if ok, err := q.OfferFor(t.Context(), 2, time.Hour); ok || err != queue.ErrClosed {
			t.Errorf("OfferFor: %v, %v", ok, err)
		}
		if q.Offer(2) {
			t.Error("Offer: true")
		}
		if n := q.Len(); (n == 1) != had {
			t.Errorf("%d elements", n)
		}
	})
}

// Takers get what is left in order, in a delay queue when it is due, and then the error.
func TestBlockingClosedIsDrained(t *testing.T) {
	eachKind(t, func(t *testing.T, q *queue.Blocking[int]) {
		n := min(q.Cap(), 3)
		for i := range n {
			q.Offer(i)
		}
		q.Close()
		for i := range n {
			if v, err := q.Take(t.Context()); v != i || err != nil {
				t.Errorf("Take: %d, %v; want %d", v, err, i)
			}
		}
		if _, err := q.Take(t.Context()); err != queue.ErrClosed {
			t.Errorf("Take: %v", err)
		}
		if _, ok, err := q.PollFor(t.Context(), 0); ok || err != queue.ErrClosed {
			t.Errorf("PollFor: %v, %v", ok, err)
		}
	})
}

// Close wakes all goroutines that wait to take or to put; the elements of the latter are
// not in the queue.
func TestBlockingCloseWakesWaiters(t *testing.T) {
	eachKind(t, func(t *testing.T, q *queue.Blocking[int]) {
		var waiters sync.WaitGroup
		defer waiters.Wait()
		for range 3 {
			waiters.Go(func() {
				if v, err := q.Take(t.Context()); err != queue.ErrClosed {
					t.Errorf("Take: %d, %v", v, err)
				}
			})
		}
		synctest.Wait()
		q.Close()
	})
	for name, q := range map[string]*queue.Blocking[int]{
		"Bounded": queue.NewBounded[int](1),
		"Handoff": queue.NewHandoff[int](),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q.Offer(0)
				had := q.Len()
				var waiters sync.WaitGroup
				for range 3 {
					waiters.Go(func() {
						if err := q.Put(t.Context(), 1); err != queue.ErrClosed {
							t.Errorf("Put: %v", err)
						}
					})
				}
				synctest.Wait()
				q.Close()
				waiters.Wait()
				if q.Len() != had {
					t.Errorf("%d elements, %d before", q.Len(), had)
				}
			})
		})
	}
}

// A taker that waits for an element which is not due is woken once that is taken by another, or
// removed.
func TestBlockingClosedWaitsWhileThereAreElements(t *testing.T) {
	for name, remove := range map[string]func(*queue.Blocking[int]){
		"Take":       func(*queue.Blocking[int]) { time.Sleep(time.Hour) },
		"Clear":      (*queue.Blocking[int]).Clear,
		"RemoveFunc": func(q *queue.Blocking[int]) { q.RemoveFunc(func(int) bool { return true }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := closables["Delay"]()
				q.Offer(1)
				q.Close()
				var taken, closed atomic.Int32
				var waiters sync.WaitGroup
				for range 3 {
					waiters.Go(func() {
						switch _, err := q.Take(t.Context()); err {
						case nil:
							taken.Add(1)
						case queue.ErrClosed:
							closed.Add(1)
						}
					})
				}
				synctest.Wait()
				if closed.Load() > 0 {
					t.Error("a taker was ended while there was an element")
				}
				remove(q)
				synctest.Wait()
				want := int32(3)
				if name == "Take" {
					want = 2
				}
				if closed.Load() != want || taken.Load() != 3-want {
					t.Errorf("%d were ended, %d have an element", closed.Load(), taken.Load())
				}
				waiters.Wait()
			})
		})
	}
}

// TakeAll yields all elements until the queue is closed and empty.
func TestBlockingTakeAll(t *testing.T) {
	eachKind(t, func(t *testing.T, q *queue.Blocking[int]) {
		go func() {
			defer q.Close()
			for i := range 10 {
				q.Put(t.Context(), i)
				time.Sleep(time.Minute)
			}
		}()
		var got []int
		for v, err := range q.TakeAll(t.Context()) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, v)
		}
		if !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("TakeAll yields %v", got)
		}
	})
}

// A loop that is left leaves the other elements in the queue.
func TestBlockingTakeAllTakesNoMore(t *testing.T) {
	q := queue.NewUnbounded[int]()
	q.Offer(1)
	q.Offer(2)
	for range q.TakeAll(t.Context()) {
		break
	}
	if v, ok := q.Poll(); v != 2 || !ok {
		t.Errorf("left: %d, %t", v, ok)
	}
}

// The end of the context is the last that TakeAll yields.
func TestBlockingTakeAllEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewUnbounded[int]()
		q.Offer(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var errs []error
		for _, err := range q.TakeAll(ctx) {
			errs = append(errs, err)
		}
		if len(errs) != 2 || errs[0] != nil || errs[1] != context.DeadlineExceeded {
			t.Errorf("TakeAll yields the errors %v", errs)
		}
	})
}

// The error of a wait that its context ended matches the error of the context and its
// cause, also if it had ended before.
func TestBlockingErrorsMatchCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the user left")
		full := queue.NewHandoff[int]()
		for name, wait := range map[string]func(ctx context.Context) error{
			"Put":      func(ctx context.Context) error { return full.Put(ctx, 1) },
			"OfferFor": func(ctx context.Context) error { _, err := full.OfferFor(ctx, 1, time.Hour); return err },
			"Take":     func(ctx context.Context) error { _, err := queue.NewUnbounded[int]().Take(ctx); return err },
			"PollFor": func(ctx context.Context) error {
				_, _, err := queue.NewUnbounded[int]().PollFor(ctx, time.Hour)
				return err
			},
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			for range 2 {
				if err := wait(ctx); !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}

// However puts, takes and Close race, what was put is taken, and nothing else.
func TestBlockingCloseRace(t *testing.T) {
	for name, make := range closables {
		if name == "Delay" {
			continue // its elements are due in hours
		}
		t.Run(name, func(t *testing.T) {
			for range 200 {
				q := make()
				var put, taken atomic.Int64
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() {
						for q.Put(t.Context(), 1) == nil {
							if put.Add(1) > 1000 {
								return
							}
						}
					})
					all.Go(func() {
						for range q.TakeAll(t.Context()) {
							taken.Add(1)
						}
					})
				}
				all.Go(q.Close)
				all.Wait()
				if put.Load() != taken.Load() || q.Len() != 0 {
					t.Fatalf("%d were put, %d taken, %d are left", put.Load(), taken.Load(), q.Len())
				}
			}
		})
	}
}
