package queue_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

// own is a context of the user's.
type own struct {
	context.Context
	done func() <-chan struct{}
	err  func() error
}

func (c *own) Done() <-chan struct{} { return c.done() }
func (c *own) Err() error            { return c.err() }

// waitingCalls are the calls that wait, each made on a queue where it has to:
// one that is full, or one that is empty.
var waitingCalls = map[string]func(*queue.Blocking[int], context.Context) error{
	"Put": func(q *queue.Blocking[int], ctx context.Context) error { return q.Put(ctx, 7) },
	"OfferFor": func(q *queue.Blocking[int], ctx context.Context) error {
		_, err := q.OfferFor(ctx, 7, time.Hour)
		return err
	},
	"Take": func(q *queue.Blocking[int], ctx context.Context) error { _, err := q.Take(ctx); return err },
	"PollFor": func(q *queue.Blocking[int], ctx context.Context) error {
		_, _, err := q.PollFor(ctx, time.Hour)
		return err
	},
}

// forWaiting runs test with every call that waits and every kind of queue where
// it does.
func forWaiting(t *testing.T, test func(*testing.T, *queue.Blocking[int], func(context.Context) error)) {
	for name, call := range waitingCalls {
		t.Run(name, func(t *testing.T) {
			one := forAll
			if name == "Put" || name == "OfferFor" {
				one = forFull
			}
			one(t, func(t *testing.T, _ kind, q *queue.Blocking[int]) {
				test(t, q, func(ctx context.Context) error { return call(q, ctx) })
			})
		})
	}
}

// Takes that wait are served in the order in which they came.
func TestBlockingTakersAreServedInOrder(t *testing.T) {
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

// Puts that wait are served in the order in which they came.
func TestBlockingPuttersAreServedInOrder(t *testing.T) {
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

// An element belongs to the take that waits for it from the moment it is put: no later
// call gets it.
func TestBlockingNoBarging(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		result := waits(t, func() error {
			v, err := q.Take(t.Context())
			if v != 1 {
				t.Errorf("Take = %d", v)
			}
			return err
		})
		if !q.Offer(1) {
			t.Fatal("Offer failed while a taker waits")
		}
		mustBeEmpty(t, q) // all of it before the waiter runs
		if err := result(); err != nil {
			t.Error(err)
		}
	})
}

// A waiter that was served returns no error, although its context ends before it runs.
func TestBlockingHandedOverIsKept(t *testing.T) {
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

// A take that has given up is not served, and those before and behind it are.
func TestBlockingGivingUpIsSkipped(t *testing.T) {
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

// Calls that time out leave no waiter behind.
func TestBlockingTimeoutsLeaveNothing(t *testing.T) {
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

// On a handoff queue a put and a take meet, whichever comes first.
func TestHandoffMeets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewHandoff[*int]()
		v := new(int)
		if q.Offer(v) {
			t.Error("Offer succeeded while no taker waits")
		}
		taken := waits(t, func() error {
			got, _, err := q.PollFor(t.Context(), time.Minute)
			if got != v {
				t.Error("got another element")
			}
			return err
		})
		if !q.Offer(v) {
			t.Error("Offer failed while a taker waits")
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
				t.Errorf("%s returned another element", name)
			}
			if err := put(); err != nil {
				t.Error(err)
			}
		}
		checkQueue(t, q)
	})
}

// The methods of a context may use the queue that calls them.
func TestBlockingContextMayUseQueue(t *testing.T) {
	forWaiting(t, func(t *testing.T, q *queue.Blocking[int], call func(context.Context) error) {
		inner, cancel := context.WithCancel(t.Context())
		ctx := &own{
			inner,
			func() <-chan struct{} { q.Len(); return inner.Done() },
			func() error { q.Len(); return inner.Err() },
		}
		result := waits(t, func() error { return call(ctx) })
		cancel()
		if err := result(); err != context.Canceled {
			t.Error(err)
		}
	})
}

// If a method of a context panics, the call that waits with it panics, and no waiter and
// no element is lost.
func TestBlockingContextPanics(t *testing.T) {
	for _, method := range []string{"Done", "Err"} {
		t.Run(method, func(t *testing.T) {
			forWaiting(t, func(t *testing.T, q *queue.Blocking[int], call func(context.Context) error) {
				inner, cancel := context.WithCancel(context.Background())
				var waiting atomic.Bool
				ctx := &own{inner,
					func() <-chan struct{} {
						if method == "Done" {
							panic("own")
						}
						return inner.Done()
					},
					func() error {
						if waiting.Load() {
							panic("own")
						}
						return nil
					},
				}
				ended := make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					call(ctx)
				}()
				synctest.Wait()
				waiting.Store(true)
				cancel()
				if r := <-ended; r != "own" {
					t.Errorf("panics with %v", r)
				}

				if takers, putters := q.Waiting(); takers+putters > 0 {
					t.Errorf("%d takers and %d putters are left", takers, putters)
				}
				left := q.Len()
				if all := q.Drain(math.MaxInt); len(all) != left {
					t.Errorf("drained %v, %d were left", all, left)
				}
				checkQueue(t, q)
			})
		})
	}
}

// With a context whose Done channel is closed before it has an error, no call waits, and
// none reports success.
func TestBlockingContextWithoutError(t *testing.T) {
	forWaiting(t, func(t *testing.T, q *queue.Blocking[int], call func(context.Context) error) {
		closed := make(chan struct{})
		close(closed)
		ctx := &own{t.Context(), func() <-chan struct{} { return closed }, func() error { return nil }}
		before := q.Len()
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
		if q.Len() != before {
			t.Errorf("Len = %d, was %d", q.Len(), before)
		}
	})
}
