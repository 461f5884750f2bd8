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

// Many consumers take what many producers put, each element once.
func TestBlockingProducersAndConsumers(t *testing.T) {
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

// Each of many consumers gets elements of one producer in ascending order.
func TestBlockingOneProducerManyConsumers(t *testing.T) {
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

// A call that gives up at the moment when it is served loses no element and returns none
// twice.
func TestBlockingGivingUpLosesNothing(t *testing.T) {
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

// A goroutine that has put an element finds one, while others do the same (JDK-8371740).
func TestBlockingMissedPoll(t *testing.T) {
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

// Batches that are drained while others put and look are consecutive, and All is in order
// (JDK-6805775, JDK-6815766).
func TestBlockingOfferDrainScan(t *testing.T) {
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

// Every element is removed by either RemoveFunc or Poll (JDK-6785442).
func TestBlockingRemovePollRace(t *testing.T) {
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

// Many goroutines wait in a delay queue, and no element comes early (JDK-6609775).
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

// Every element that was put is taken once or removed, and no other is taken, among bulk
// operations and waits that are given up or time out as they are served.
func TestBlockingHistoryOfEachElement(t *testing.T) {
	const actors, n = 6, 1500
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			q := k.make()
			seen := make([]atomic.Int32, actors*n)
			var removed atomic.Int64
			var put [actors * n]int8 // 1 put, -1 refused; each written by its actor
			took := func(v int, ok bool) {
				if ok {
					seen[v].Add(1)
				}
			}

			// The context of a round ends by itself, by another goroutine, or
			// never before the operation does.
			var victim atomic.Pointer[context.CancelFunc]
			var over atomic.Bool
			var busy, others sync.WaitGroup
			others.Go(func() {
				for !over.Load() {
					if cancel := victim.Swap(nil); cancel != nil {
						(*cancel)()
					}
					runtime.Gosched()
				}
			})
			others.Go(func() {
				for !over.Load() {
					switch rand.N(4) {
					case 0:
						for _, v := range q.Drain(1 + rand.N(5)) {
							took(v, true)
						}
					case 1:
						removed.Add(int64(q.RemoveFunc(func(v int) bool { return v%7 == 0 })))
					case 2:
						v, ok := q.Poll()
						took(v, ok)
					}
					runtime.Gosched()
				}
			})
			for a := range actors {
				busy.Go(func() {
					for i := range n {
						id := a*n + i
						giving, cancel := context.WithCancel(context.Background())
						if rand.N(2) == 0 {
							victim.Store(&cancel)
						}
						d := time.Duration(rand.N(5000))
						var ok bool
						var err error
						switch rand.N(3) {
						case 0:
							ok, err = q.OfferFor(giving, id, d)
						case 1:
							go func() { runtime.Gosched(); cancel() }()
							err = q.Put(giving, id)
							ok = err == nil
						case 2:
							ok = q.Offer(id)
						}
						if ok && err != nil {
							t.Errorf("%d was put: %v", id, err)
						}
						if put[id] = -1; ok {
							put[id] = 1
						}
						cancel()

						asking, end := context.WithCancel(context.Background())
						if rand.N(2) == 0 {
							victim.Store(&end)
						}
						switch rand.N(3) {
						case 0:
							v, ok, err := q.PollFor(asking, d)
							if ok && err != nil {
								t.Errorf("%d was taken: %v", v, err)
							}
							took(v, ok)
						case 1:
							go func() { runtime.Gosched(); end() }()
							v, err := q.Take(asking)
							took(v, err == nil)
						case 2:
							v, ok := q.Poll()
							took(v, ok)
						}
						end()
					}
				})
			}
			busy.Wait()
			over.Store(true)
			others.Wait()
			for _, v := range q.Drain(math.MaxInt) {
				took(v, true)
			}

			var lost, puts int64
			for id := range seen {
				switch n := seen[id].Load(); {
				case n > 1:
					t.Errorf("%d was taken %d times", id, n)
				case n == 1 && put[id] < 0:
					t.Errorf("%d was not put, and taken", id)
				case n == 0 && put[id] > 0:
					lost++
				}
				if put[id] > 0 {
					puts++
				}
			}
			if lost != removed.Load() {
				t.Errorf("%d of %d were not taken, and %d removed", lost, puts, removed.Load())
			}
			mustBeEmpty(t, q)
			checkQueue(t, q)
		})
	}
}
