package queue_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Every element has a history: it was put or it was not, and what was put went
// to one, whichever way, and what was not put to none. That holds with bulk
// operations among waits that are given up, or run out, at the very moment of
// the hand-over.
func TestHistoryOfEachElement(t *testing.T) {
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

			// The context of a round ends by itself, by whoever else is at it, or
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
					t.Errorf("%d was given to %d", id, n)
				case n == 1 && put[id] < 0:
					t.Errorf("%d was not put, and given", id)
				case n == 0 && put[id] > 0:
					lost++
				}
				if put[id] > 0 {
					puts++
				}
			}
			if lost != removed.Load() {
				t.Errorf("%d of %d were given to nobody, and %d removed", lost, puts, removed.Load())
			}
			mustBeEmpty(t, q)
			checkQueue(t, q)
		})
	}
}
