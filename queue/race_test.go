package queue_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/executor-go/executor/queue"
)

// The tests of this file are about many goroutines on real processors: they
// run outside of bubbles, and have no clock.

func forAllRacing(t *testing.T, test func(*testing.T, kind, *queue.Blocking[int])) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			q := k.make()
			test(t, k, q)
			mustBeEmpty(t, q)
			checkQueue(t, q)
		})
	}
}

const (
	goroutines = 4
	rounds     = 1500
)

// Whatever many producers put, many consumers take: everything, once.
func TestProducersAndConsumers(t *testing.T) {
	forAllRacing(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		var wg sync.WaitGroup
		var produced, consumed atomic.Int64
		for p := range goroutines {
			wg.Go(func() {
				for i := range rounds {
					v := p*rounds + i
					produced.Add(int64(v))
					switch i % 3 {
					case 0:
						q.Put(t.Context(), v)
					case 1:
						for ok := false; !ok; {
							ok, _ = q.OfferFor(t.Context(), v, time.Microsecond)
						}
					case 2:
						if !q.Offer(v) {
							q.Put(t.Context(), v)
						}
					}
				}
			})
			wg.Go(func() {
				for i := range rounds {
					var v int
					switch ok := false; i % 3 {
					case 0:
						v, _ = q.Take(t.Context())
					case 1:
						for !ok {
							v, ok, _ = q.PollFor(t.Context(), time.Microsecond)
						}
					case 2:
						if v, ok = q.Poll(); !ok {
							v, _ = q.Take(t.Context())
						}
					}
					consumed.Add(int64(v))
				}
			})
		}
		wg.Wait()
		if produced.Load() != consumed.Load() {
			t.Errorf("put %d, took %d", produced.Load(), consumed.Load())
		}
	})
}

// Of one producer's elements every consumer sees ascending ones.
func TestOneProducerManyConsumers(t *testing.T) {
	forAllRacing(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				last := -1
				for range rounds {
					v, err := q.Take(t.Context())
					if v <= last || err != nil {
						t.Errorf("took %d after %d: %v", v, last, err)
					}
					last = v
				}
			})
		}
		for i := range goroutines * rounds {
			q.Put(t.Context(), i)
		}
		wg.Wait()
	})
}

// Of those who give up at the very moment when they are served, none loses an
// element, and none gives one back twice.
func TestGivingUpLosesNothing(t *testing.T) {
	forAllRacing(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		var wg sync.WaitGroup
		var produced, consumed atomic.Int64
		impatient := func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), time.Duration(rand.N(20_000)))
		}
		for range goroutines {
			wg.Go(func() {
				for i := range rounds {
					ctx, cancel := impatient()
					if q.Put(ctx, i+1) == nil {
						produced.Add(int64(i + 1))
					}
					cancel()
				}
			})
			wg.Go(func() {
				for range rounds {
					ctx, cancel := impatient()
					v, _ := q.Take(ctx)
					consumed.Add(int64(v))
					cancel()
				}
			})
		}
		wg.Wait()
		for _, v := range q.Drain(math.MaxInt) {
			consumed.Add(int64(v))
		}
		if produced.Load() != consumed.Load() {
			t.Errorf("put %d, took %d", produced.Load(), consumed.Load())
		}
	})
}

// One who has put an element finds one, though all others take as well: each
// took no more than it has put (JDK-8371740).
func TestMissedPoll(t *testing.T) {
	forAllRacing(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		if !k.holds {
			return
		}
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for i := range rounds {
					if !q.Offer(i) {
						t.Error("no room")
					}
					if _, ok := q.Peek(); !ok {
						t.Error("Peek found nothing")
					}
					if _, ok := q.Poll(); !ok {
						t.Error("Poll found nothing")
					}
				}
			})
		}
		wg.Wait()
	})
}

// Batches that are drained while others put and look are consecutive, and what
// a traversal sees is ascending (JDK-6805775, JDK-6815766).
func TestOfferDrainScan(t *testing.T) {
	forAllRacing(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		if !k.holds {
			return
		}
		var wg sync.WaitGroup
		var done atomic.Bool
		wg.Go(func() {
			for i := range 4 * rounds {
				q.Put(t.Context(), i)
			}
		})
		wg.Go(func() {
			for next := 0; next < 4*rounds; {
				for _, v := range q.Drain(rand.N(30)) {
					if v != next {
						t.Errorf("drained %d, want %d", v, next)
					}
					next = v + 1
				}
				runtime.Gosched()
			}
			done.Store(true)
		})
		wg.Go(func() {
			for !done.Load() {
				all := slices.Collect(q.All())
				if (k.name == "Bounded" || k.name == "Unbounded") && !slices.IsSorted(all) {
					t.Errorf("saw %v", all)
				}
				q.Len()
				q.Remaining()
				runtime.Gosched()
			}
		})
		wg.Wait()
	})
}

// RemoveFunc and Poll never both claim an element, nor neither
// (JDK-6785442).
func TestRemovePollRace(t *testing.T) {
	forAllRacing(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		if !k.holds {
			return
		}
		var producing, wg sync.WaitGroup
		var removed, polled atomic.Int64
		var done atomic.Bool
		for p := range goroutines {
			producing.Go(func() {
				for i := range rounds / 3 {
					q.Put(t.Context(), p*rounds+i)
				}
			})
		}
		wg.Go(func() {
			for last := false; !last; {
				last = done.Load()
				removed.Add(int64(q.RemoveFunc(func(v int) bool { return v%2 == 0 || last })))
				runtime.Gosched()
			}
		})
		wg.Go(func() {
			for !done.Load() {
				if _, ok := q.Poll(); ok {
					polled.Add(1)
				}
				runtime.Gosched()
			}
		})
		producing.Wait()
		done.Store(true)
		wg.Wait()
		if n := removed.Load() + polled.Load(); n != goroutines*(rounds/3) {
			t.Errorf("removed %d and polled %d of %d", removed.Load(), polled.Load(), goroutines*(rounds/3))
		}
	})
}

// A real clock, real waits: many wait in a delay queue for elements a few
// hundred microseconds apart (JDK-6609775), and none comes early.
func TestDelayRace(t *testing.T) {
	q := newEvents()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 25 {
				e, err := q.Take(t.Context())
				if early := time.Until(e.at); early > 0 || err != nil {
					t.Errorf("early by %v: %v", early, err)
				}
			}
		})
		wg.Go(func() {
			for range 25 {
				q.Offer(in(rand.N(30 * time.Millisecond)))
			}
		})
	}
	wg.Wait()
	mustBeEmpty(t, q)
	checkQueue(t, q)
}
