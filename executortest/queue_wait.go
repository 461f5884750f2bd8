package executortest

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

// fillUp fills q up to its capacity. It reports false if q has no limit.
func fillUp(t testing.TB, q Queue) bool {
	if q.Cap() > 1000 {
		return false
	}
	for i := range q.Cap() {
		if !q.Offer(Item{0, -1 - i}) {
			t.Fatalf("Offer to a queue of capacity %d with %d items: false", q.Cap(), i)
		}
	}
	return true
}

func (o orderChecks) takersInOrder(t testing.TB, make func() Queue) {
	q := make()
	const n = 5
	var got [n]Item
	var waiters sync.WaitGroup
	for i := range n {
		waiters.Go(func() {
			var err error
			if i%2 == 0 {
				got[i], err = q.Take(waitContext(t))
			} else {
				var ok bool
				if got[i], ok, err = q.PollFor(context.Background(), maxWait); !ok {
					t.Errorf("taker %d was not woken", i)
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
			t.Errorf("Offer with %d goroutines waiting to take: false", n-i)
		}
	}
	waiters.Wait()
	for i, v := range got {
		if v.Seq != i {
			t.Errorf("taker %d took item %d, want item %d", i, v.Seq, i)
		}
	}
	expectEmpty(t, q)
}

func (o orderChecks) puttersInOrder(t testing.TB, make func() Queue) {
	q := make()
	if !fillUp(t, q) {
		return
	}
	const n = 5
	var waiters sync.WaitGroup
	var order []int
	var mu sync.Mutex
	for i := range n {
		waiters.Go(func() {
			if err := q.Put(waitContext(t), Item{0, i}); err != nil {
				t.Errorf("putter %d: %v", i, err)
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
		})
		synctest.Wait()
	}
	if len(order) != 0 {
		t.Errorf("putters %v returned while the queue was full", order)
	}
	for range n {
		if _, ok := q.Poll(); !ok {
			t.Error("Poll of a full queue: no item")
		}
		synctest.Wait()
	}
	waiters.Wait()
	if !slices.IsSorted(order) || len(order) != n {
		t.Errorf("putters returned in the order %v, want the order of their calls", order)
	}
}

func (o orderChecks) removalWakesPutters(t testing.TB, make func() Queue) {
	for name, remove := range map[string]func(Queue){
		"Drain":      func(q Queue) { q.Drain(1) },
		"Clear":      func(q Queue) { q.Clear() },
		"RemoveFunc": func(q Queue) { q.RemoveFunc(func(v Item) bool { return v.Seq < 0 }) },
		"Take":       func(q Queue) { q.Take(waitContext(t)) },
	} {
		q := make()
		if !fillUp(t, q) || q.Cap() == 0 {
			return
		}
		var waiters sync.WaitGroup
		waiters.Go(func() {
			if ok, err := q.OfferFor(context.Background(), Item{0, 1}, maxWait); !ok || err != nil {
				t.Errorf("%s: OfferFor that waits for room: %v, %v", name, ok, err)
			}
		})
		synctest.Wait()
		at := time.Now()
		remove(q)
		waiters.Wait()
		if d := time.Since(at); d != 0 {
			t.Errorf("%s: OfferFor that waits for room returned %v later, want at once", name, d)
		}
	}
	for name, remove := range map[string]func(q Queue, n int){
		"Drain":      func(q Queue, n int) { q.Drain(n) },
		"Clear":      func(q Queue, _ int) { q.Clear() },
		"RemoveFunc": func(q Queue, n int) { q.RemoveFunc(func(v Item) bool { return v.Seq >= -n && v.Seq < 0 }) },
	} {
		q := make()
		if !fillUp(t, q) {
			return
		}
		n := min(q.Cap(), 3)
		var waiters sync.WaitGroup
		var in atomic.Int32
		for i := range n {
			waiters.Go(func() {
				if ok, _ := q.OfferFor(context.Background(), Item{0, i}, maxWait); ok {
					in.Add(1)
				}
			})
		}
		synctest.Wait()
		remove(q, n)
		synctest.Wait()
		if got := int(in.Load()); got != n {
			t.Errorf("%s made room for %d items, and %d of %d waiting OfferFor returned", name, n, got, n)
		}
		q.Clear()
		for synctest.Wait(); int(in.Load()) < n && q.Len() > 0; synctest.Wait() {
			q.Clear()
		}
		waiters.Wait()
	}
}

// matches reports whether err is that of a method whose context has ended: it matches the error of the context and its
// cause, and may be another error for the rest.
func matches(err error, ctx context.Context) bool {
	return errors.Is(err, ctx.Err()) && errors.Is(err, context.Cause(ctx))
}

func (o orderChecks) endedContext(t testing.TB, make func() Queue) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errBody)
	q := make()
	if err := q.Put(ended, Item{0, 1}); !matches(err, ended) {
		t.Errorf("Put: %v", err)
	}
	if ok, err := q.OfferFor(ended, Item{0, 1}, time.Hour); ok || !matches(err, ended) {
		t.Errorf("OfferFor: %v, %v", ok, err)
	}
	expectEmpty(t, q)
	all := fill(t, q)
	if v, err := q.Take(ended); !matches(err, ended) {
		t.Errorf("Take: %v, %v", v, err)
	}
	if v, ok, err := q.PollFor(ended, time.Hour); ok || !matches(err, ended) {
		t.Errorf("PollFor: %v, %v, %v", v, ok, err)
	}
	expectItems(t, q, o.sorted(all))
}

// canceledWait ends waits by their context or time limit, and requires that they have
// no effect: the next item goes to others, and no item of theirs is in the queue.
func (o orderChecks) canceledWait(t testing.TB, make func() Queue) {
	q := make()
	ctx, cancel := context.WithCancel(context.Background())
	var waits sync.WaitGroup
	waits.Go(func() {
		if v, err := q.Take(ctx); !matches(err, ctx) {
			t.Errorf("Take: %v, %v", v, err)
		}
	})
	waits.Go(func() {
		if v, ok, err := q.PollFor(context.Background(), time.Second); ok || err != nil {
			t.Errorf("PollFor: %v, %v, %v", v, ok, err)
		}
	})
	time.Sleep(time.Minute)
	cancel()
	waits.Wait()
	synctest.Wait()
	if q.Cap() == 0 && q.Offer(Item{0, 1}) {
		t.Error("Offer handed an item to a canceled Take")
	}
	expectItems(t, q, o.sorted(fill(t, q)))

	if !fillUp(t, q) {
		return
	}
	ctx, cancel = context.WithCancel(context.Background())
	waits.Go(func() {
		if err := q.Put(ctx, Item{0, 1}); !matches(err, ctx) {
			t.Errorf("Put: %v", err)
		}
	})
	waits.Go(func() {
		if ok, err := q.OfferFor(context.Background(), Item{0, 2}, time.Second); ok || err != nil {
			t.Errorf("OfferFor: %v, %v", ok, err)
		}
	})
	time.Sleep(time.Minute)
	cancel()
	waits.Wait()
	synctest.Wait()
	for _, v := range q.Drain(math.MaxInt) {
		if v.Seq > 0 {
			t.Errorf("the queue has %v, the item of a canceled Put", v)
		}
	}
	expectEmpty(t, q)
}

// cancelRacesWakeUp cancels the first of two waits at the moment of a wake-up. If the
// first wait fails, the wake-up must go to the second one, which would never end
// otherwise.
func (o orderChecks) cancelRacesWakeUp(t testing.TB, make func() Queue) {
	q := make()
	full := make()
	limited := fillUp(t, full)
	for i := range 40 {
		race := func(what string, wait func(context.Context, int) error, wake func()) {
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
				wake()
			} else {
				wake()
				cancel()
			}
			synctest.Wait()
			got := second.Load()
			end()
			waiting.Wait()
			if first != nil && !got {
				t.Fatalf("%s: the first wait was canceled, and the second was not woken", what)
			}
		}
		race("Offer",
			func(ctx context.Context, _ int) error { _, err := q.Take(ctx); return err },
			func() { q.Offer(Item{0, i}) })
		q.Clear()
		if limited {
			race("Poll",
				func(ctx context.Context, n int) error { return full.Put(ctx, Item{0, n}) },
				func() { full.Poll() })
			full.Clear()
			fillUp(t, full)
		}
	}
}

func (o orderChecks) waitsForDuration(t testing.TB, make func() Queue) {
	q := make()
	full := make()
	limited := fillUp(t, full)
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
	// The context may end the wait first.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	start := time.Now()
	_, ok, err := q.PollFor(ctx, math.MaxInt64)
	if d := time.Since(start); ok || !matches(err, ctx) || d != time.Minute {
		t.Errorf("PollFor with a deadline in a minute: %v, %v after %v", ok, err, d)
	}
}

// losesNoItem puts and takes items in all ways at once, and requires that each item
// is taken once.
func (o orderChecks) losesNoItem(t testing.TB, make func() Queue) {
	q := make()
	const putters, each = 4, 200
	var taken [putters * each]int
	var mu sync.Mutex
	take := func(vs ...Item) {
		mu.Lock()
		defer mu.Unlock()
		for _, v := range vs {
			taken[v.Seq]++
		}
	}
	var putting, taking sync.WaitGroup
	for p := range putters {
		putting.Go(func() {
			for i := range each {
				v := Item{(i * 7) % 10, p*each + i}
				switch i % 3 {
				case 0:
					q.Put(waitContext(t), v)
				case 1:
					q.OfferFor(context.Background(), v, maxWait)
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
						take(v)
					}
				case 1:
					if v, ok, err := q.PollFor(ctx, time.Second); ok && err == nil {
						take(v)
					}
				case 2:
					if v, ok := q.Poll(); ok {
						take(v)
					}
				case 3:
					take(q.Drain(3)...)
				}
			}
		})
	}
	putting.Wait()
	time.Sleep(time.Hour)
	cancel()
	taking.Wait()
	for i, n := range taken {
		if n != 1 {
			t.Fatalf("item %d was taken %d times", i, n)
		}
	}
	expectEmpty(t, q)
}

// close requires that Close ends all waits, refuses further items, and leaves those that
// are there to be taken in order.
func (o orderChecks) close(t testing.TB, make func() Queue) {
	q := make()
	var waits sync.WaitGroup
	if fillUp(t, q) {
		waits.Go(func() {
			if err := q.Put(waitContext(t), Item{0, 1}); err != queue.ErrClosed {
				t.Errorf("Put that waits for room: %v, want ErrClosed", err)
			}
		})
		synctest.Wait()
		q.Close()
		waits.Wait()
	}

	q = make()
	all := fill(t, q)
	q.Close()
	if q.Offer(Item{0, 1}) {
		t.Error("Offer to a closed queue: true")
	}
	if err := q.Put(waitContext(t), Item{0, 1}); err != queue.ErrClosed {
		t.Errorf("Put into a closed queue: %v, want ErrClosed", err)
	}
	var got []Item
	for v, err := range q.TakeAll(waitContext(t)) {
		if err != nil {
			t.Errorf("TakeAll: %v", err)
			break
		}
		got = append(got, v)
	}
	if want := o.sorted(all); !slices.Equal(got, want) {
		t.Errorf("TakeAll of a closed queue yields %v, want %v", got, want)
	}
	if v, err := q.Take(waitContext(t)); err != queue.ErrClosed {
		t.Errorf("Take from a closed queue: %v, %v, want ErrClosed", v, err)
	}

	q = make()
	waits.Go(func() {
		if v, err := q.Take(waitContext(t)); err != queue.ErrClosed {
			t.Errorf("Take that waits for an item: %v, %v, want ErrClosed", v, err)
		}
	})
	synctest.Wait()
	q.Close()
	waits.Wait()
}
