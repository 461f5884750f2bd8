package queue_test

import (
	"context"
	"errors"
	"math"
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

// The methods of a context may use the queue that asks them: no lock is held.
func TestContextMayUseTheQueue(t *testing.T) {
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

// A context that panics does so to the one who waits with it, and to nobody
// else: no place in line, and no element, is lost on him.
func TestContextThatPanics(t *testing.T) {
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

// With a context that closes Done before its Err says why, nobody waits, nor is
// anything said to have been put.
func TestContextThatEndsWithoutError(t *testing.T) {
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
