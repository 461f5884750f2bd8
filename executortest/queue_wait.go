package executortest

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// brim fills q up to its capacity, and reports false if it has no limit.
func brim(t testing.TB, q Queue) bool {
	if q.Cap() > 1000 {
		return false
	}
	for i := range q.Cap() {
		if !q.Offer(Item{0, -1 - i}) {
			t.Fatalf("Offer: false, with %d items in a queue of %d", i, q.Cap())
		}
	}
	return true
}

func (o orderly) takersInOrder(t testing.TB, make func() Queue) {
	q := make()
	const n = 5
	var got [n]Item
	var served sync.WaitGroup
	for i := range n {
		served.Go(func() {
			var err error
			if i%2 == 0 {
				got[i], err = q.Take(patient(t))
			} else {
				var ok bool
				if got[i], ok, err = q.PollFor(context.Background(), patience); !ok {
					t.Errorf("taker %d waited in vain", i)
				}
			}
			if err != nil {
				t.Errorf("taker %d: %v", i, err)
			}
		})
		synctest.Wait()
	}
	for i := range n {
		if !q.Offer(Item{n - i, i}) {
			t.Errorf("Offer: false, though %d wait to take", n-i)
		}
	}
	served.Wait()
	for i, v := range got {
		if v.Seq != i {
			t.Errorf("taker %d was given item %d", i, v.Seq)
		}
	}
	empty(t, q)
}

func (o orderly) puttersInOrder(t testing.TB, make func() Queue) {
	q := make()
	if !brim(t, q) {
		return
	}
	const n = 5
	var served sync.WaitGroup
	var order []int
	var mu sync.Mutex
	for i := range n {
		served.Go(func() {
			if err := q.Put(patient(t), Item{0, i}); err != nil {
				t.Errorf("putter %d: %v", i, err)
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
		})
		synctest.Wait()
	}
	if len(order) != 0 {
		t.Errorf("%v were let in while the queue was full", order)
	}
	for range n {
		if _, ok := q.Poll(); !ok {
			t.Error("Poll: nothing")
		}
		synctest.Wait()
	}
	served.Wait()
	if !slices.IsSorted(order) || len(order) != n {
		t.Errorf("served in the order %v", order)
	}
}

func (o orderly) removalWakesPutters(t testing.TB, make func() Queue) {
	for name, remove := range map[string]func(Queue){
		"Drain":      func(q Queue) { q.Drain(1) },
		"Clear":      func(q Queue) { q.Clear() },
		"RemoveFunc": func(q Queue) { q.RemoveFunc(func(v Item) bool { return v.Seq < 0 }) },
		"Take":       func(q Queue) { q.Take(patient(t)) },
	} {
		q := make()
		if !brim(t, q) || q.Cap() == 0 {
			return
		}
		var served sync.WaitGroup
		served.Go(func() {
			if ok, err := q.OfferFor(context.Background(), Item{0, 1}, patience); !ok || err != nil {
				t.Errorf("%s: who waited for room got %v, %v", name, ok, err)
			}
		})
		synctest.Wait()
		at := time.Now()
		remove(q)
		served.Wait()
		if d := time.Since(at); d != 0 {
			t.Errorf("%s: who waits for room is let in %v later", name, d)
		}
	}
	for name, remove := range map[string]func(q Queue, n int){
		"Drain":      func(q Queue, n int) { q.Drain(n) },
		"Clear":      func(q Queue, _ int) { q.Clear() },
		"RemoveFunc": func(q Queue, n int) { q.RemoveFunc(func(v Item) bool { return v.Seq >= -n && v.Seq < 0 }) },
	} {
		q := make()
		if !brim(t, q) {
			return
		}
		n := min(q.Cap(), 3)
		var served sync.WaitGroup
		var in atomic.Int32
		for i := range n {
			served.Go(func() {
				if ok, _ := q.OfferFor(context.Background(), Item{0, i}, patience); ok {
					in.Add(1)
				}
			})
		}
		synctest.Wait()
		remove(q, n)
		synctest.Wait()
		if got := int(in.Load()); got != n {
			t.Errorf("%s made room for %d, and of %d who wait %d were let in", name, n, n, got)
		}
		q.Clear()
		for synctest.Wait(); int(in.Load()) < n && q.Len() > 0; synctest.Wait() {
			q.Clear()
		}
		served.Wait()
	}
}

func (o orderly) endedContext(t testing.TB, make func() Queue) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	q := make()
	if err := q.Put(ended, Item{0, 1}); err != context.Canceled {
		t.Errorf("Put: %v", err)
	}
	if ok, err := q.OfferFor(ended, Item{0, 1}, time.Hour); ok || err != context.Canceled {
		t.Errorf("OfferFor: %v, %v", ok, err)
	}
	empty(t, q)
	all := fill(t, q)
	if v, err := q.Take(ended); err != context.Canceled {
		t.Errorf("Take: %v, %v", v, err)
	}
	if v, ok, err := q.PollFor(ended, time.Hour); ok || err != context.Canceled {
		t.Errorf("PollFor: %v, %v, %v", v, ok, err)
	}
	gives(t, q, o.sorted(all))
}

// givesUp has some who wait give up, and requires that they are gone: what comes
// then is for others, and what they wanted to put is nowhere.
func (o orderly) givesUp(t testing.TB, make func() Queue) {
	q := make()
	ctx, cancel := context.WithCancel(context.Background())
	var gone sync.WaitGroup
	gone.Go(func() {
		if v, err := q.Take(ctx); err != context.Canceled {
			t.Errorf("Take: %v, %v", v, err)
		}
	})
	gone.Go(func() {
		if v, ok, err := q.PollFor(context.Background(), time.Second); ok || err != nil {
			t.Errorf("PollFor: %v, %v, %v", v, ok, err)
		}
	})
	time.Sleep(time.Minute)
	cancel()
	gone.Wait()
	synctest.Wait()
	if q.Cap() == 0 && q.Offer(Item{0, 1}) {
		t.Error("an item was handed to one who had given up")
	}
	gives(t, q, o.sorted(fill(t, q)))

	if !brim(t, q) {
		return
	}
	ctx, cancel = context.WithCancel(context.Background())
	gone.Go(func() {
		if err := q.Put(ctx, Item{0, 1}); err != context.Canceled {
			t.Errorf("Put: %v", err)
		}
	})
	gone.Go(func() {
		if ok, err := q.OfferFor(context.Background(), Item{0, 2}, time.Second); ok || err != nil {
			t.Errorf("OfferFor: %v, %v", ok, err)
		}
	})
	time.Sleep(time.Minute)
	cancel()
	gone.Wait()
	synctest.Wait()
	for _, v := range q.Drain(math.MaxInt) {
		if v.Seq > 0 {
			t.Errorf("an item is there whose putter has given up: %v", v)
		}
	}
	empty(t, q)
}

// givesUpInTheSameMoment has the first of two who wait give up as what he waits
// for comes: if he does not get it, the other must, since nobody will wake him
// otherwise.
func (o orderly) givesUpInTheSameMoment(t testing.TB, make func() Queue) {
	q := make()
	full := make()
	limited := brim(t, full)
	for i := range 40 {
		race := func(what string, wait func(context.Context, int) error, come func()) {
			ctx, cancel := context.WithCancel(context.Background())
			others, end := context.WithCancel(context.Background())
			var waiting sync.WaitGroup
			var first error
			var second atomic.Bool
			waiting.Go(func() { first = wait(ctx, 1) })
			synctest.Wait()
			waiting.Go(func() { second.Store(wait(others, 2) == nil) })
			synctest.Wait()
			if i%2 == 0 {
				cancel()
				come()
			} else {
				come()
				cancel()
			}
			synctest.Wait()
			got := second.Load()
			end()
			waiting.Wait()
			if first != nil && !got {
				t.Fatalf("%s: who was first has given up, and the other was not woken", what)
			}
		}
		race("an item comes",
			func(ctx context.Context, _ int) error { _, err := q.Take(ctx); return err },
			func() { q.Offer(Item{0, i}) })
		q.Clear()
		if limited {
			race("room comes",
				func(ctx context.Context, n int) error { return full.Put(ctx, Item{0, n}) },
				func() { full.Poll() })
			full.Clear()
			brim(t, full)
		}
	}
}

func (o orderly) waitsAsLongAsAsked(t testing.TB, make func() Queue) {
	q := make()
	full := make()
	limited := brim(t, full)
	for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, time.Second, time.Hour} {
		start := time.Now()
		if v, ok, err := q.PollFor(context.Background(), d); ok || err != nil {
			t.Errorf("PollFor: %v, %v, %v", v, ok, err)
		}
		if got := time.Since(start); got != max(d, 0) {
			t.Errorf("PollFor(%v) took %v", d, got)
		}
		if !limited {
			continue
		}
		start = time.Now()
		if ok, err := full.OfferFor(context.Background(), Item{}, d); ok || err != nil {
			t.Errorf("OfferFor: %v, %v", ok, err)
		}
		if got := time.Since(start); got != max(d, 0) {
			t.Errorf("OfferFor(%v) took %v", d, got)
		}
	}
	// The context may end the wait before, or after.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	start := time.Now()
	if _, ok, err := q.PollFor(ctx, math.MaxInt64); ok || err != context.DeadlineExceeded || time.Since(start) != time.Minute {
		t.Errorf("PollFor: %v, %v after %v", ok, err, time.Since(start))
	}
}

// losesNothing has many put and take in all ways, and requires that each item
// arrives, once.
func (o orderly) losesNothing(t testing.TB, make func() Queue) {
	q := make()
	const putters, each = 4, 200
	var arrived [putters * each]int
	var mu sync.Mutex
	arrive := func(vs ...Item) {
		mu.Lock()
		defer mu.Unlock()
		for _, v := range vs {
			arrived[v.Seq]++
		}
	}
	var putting, taking sync.WaitGroup
	for p := range putters {
		putting.Go(func() {
			for i := range each {
				v := Item{(i * 7) % 10, p*each + i}
				switch i % 3 {
				case 0:
					q.Put(patient(t), v)
				case 1:
					q.OfferFor(context.Background(), v, patience)
				case 2:
					for !q.Offer(v) {
						time.Sleep(time.Millisecond)
					}
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	for g := range putters {
		taking.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				switch (i + g) % 4 {
				case 0:
					if v, err := q.Take(ctx); err == nil {
						arrive(v)
					}
				case 1:
					if v, ok, err := q.PollFor(ctx, time.Second); ok && err == nil {
						arrive(v)
					}
				case 2:
					if v, ok := q.Poll(); ok {
						arrive(v)
					}
				case 3:
					arrive(q.Drain(3)...)
				}
			}
		})
	}
	putting.Wait()
	time.Sleep(time.Hour)
	cancel()
	taking.Wait()
	for i, n := range arrived {
		if n != 1 {
			t.Fatalf("item %d arrived %d times", i, n)
		}
	}
	empty(t, q)
}
