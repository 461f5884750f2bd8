package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

// A new queue is empty by every method, and has its capacity.
func TestBlockingNew(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		mustBeEmpty(t, q)
		if q.Cap() != k.cap {
			t.Errorf("Cap = %d, want %d", q.Cap(), k.cap)
		}
	})
}

// Elements that were put are counted, shown and taken once, in order, and then the
// queue is empty.
func TestBlockingPutThenTake(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for i := range size {
			if err := q.Put(t.Context(), i); err != nil {
				t.Fatal(err)
			}
			if k.cap == size && q.Remaining() != size-i-1 || k.cap > size && q.Remaining() != math.MaxInt {
				t.Errorf("Remaining = %d with %d elements", q.Remaining(), i+1)
			}
		}
		for i := range size {
			if n := q.Len(); n != size-i {
				t.Errorf("Len = %d, want %d", n, size-i)
			}
			if v, ok := q.Peek(); !ok || v != i {
				t.Errorf("Peek = %d, %v, want %d", v, ok, i)
			}
			var v int
			var ok bool
			var err error
			switch i % 4 {
			case 0:
				v, err = q.Take(t.Context())
				ok = err == nil
			case 1:
				v, ok = q.Poll()
			case 2:
				v, ok, err = q.PollFor(t.Context(), 0)
			case 3:
				v, ok, err = q.PollFor(t.Context(), time.Hour)
			}
			if v != i || !ok || err != nil {
				t.Errorf("took %d, %v, %v, want %d", v, ok, err, i)
			}
		}
		mustBeEmpty(t, q)
	})
}

// The text of a queue has its length and its capacity, if it has one.
func TestBlockingString(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		q.Offer(1)
		want := map[string]string{"Bounded": "queue: length 1, capacity 20", "Handoff": "queue: length 0, capacity 0"}[k.name]
		if want == "" {
			want = "queue: length 1"
		}
		if got := fmt.Sprint(q); got != want {
			t.Errorf("text is %q, want %q", got, want)
		}
	})
}

// A nil context panics before anything else.
func TestBlockingNilContext(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for _, do := range []func(){
			func() { q.Put(nil, 1) },                //lint:ignore SA1012 the mistake
			func() { q.OfferFor(nil, 1, 0) },        //lint:ignore SA1012 the mistake
			func() { q.Take(nil) },                  //lint:ignore SA1012 the mistake
			func() { q.PollFor(nil, -time.Second) }, //lint:ignore SA1012 the mistake
		} {
			func() {
				defer func() {
					if r := recover(); r != "queue: nil Context" {
						t.Errorf("recovered %v", r)
					}
				}()
				do()
			}()
		}
		synctest.Wait()
	})
}

// A put to a full queue returns the error of its context, which has ended before or
// ends while it waits, and its element is not in the queue.
func TestBlockingPutEndsWithContext(t *testing.T) {
	puts := map[string]func(*queue.Blocking[int], context.Context) error{
		"Put": func(q *queue.Blocking[int], ctx context.Context) error { return q.Put(ctx, 99) },
		"OfferFor": func(q *queue.Blocking[int], ctx context.Context) error {
			_, err := q.OfferFor(ctx, 99, 1<<62)
			return err
		},
	}
	forFull(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		before := slices.Collect(q.All())
		for name, put := range puts {
			if err := put(q, canceled()); err != context.Canceled {
				t.Errorf("%s with an ended context = %v", name, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			result := waits(t, func() error { return put(q, ctx) })
			cancel()
			if err := result(); err != context.Canceled {
				t.Errorf("%s = %v", name, err)
			}
		}
		if after := slices.Collect(q.All()); !slices.Equal(before, after) || q.Remaining() != 0 {
			t.Errorf("%v have become %v", before, after)
		}
		q.Clear()
		mustBeEmpty(t, q)
	})
}

// An OfferFor to a full queue returns when its time is over, at once if it has none.
func TestBlockingOfferForTimeout(t *testing.T) {
	forFull(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, time.Minute} {
			start := time.Now()
			if ok, err := q.OfferFor(t.Context(), 99, d); ok || err != nil {
				t.Errorf("OfferFor = %v, %v", ok, err)
			}
			if took := time.Since(start); took != max(d, 0) {
				t.Errorf("OfferFor(%v) took %v", d, took)
			}
		}
		if q.Offer(99) {
			t.Error("Offer succeeded")
		}
		if q.Len() != k.cap {
			t.Errorf("Len = %d", q.Len())
		}
	})
}

// An OfferFor that waits adds its element when another is taken (testOfferInExecutor).
func TestBlockingOfferForThenTake(t *testing.T) {
	forFull(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		result := waits(t, func() error {
			ok, err := q.OfferFor(t.Context(), 99, time.Minute)
			if !ok {
				t.Error("OfferFor timed out")
			}
			return err
		})
		time.Sleep(time.Second)
		if _, err := q.Take(t.Context()); err != nil {
			t.Error(err)
		}
		if err := result(); err != nil {
			t.Error(err)
		}
	})
}

// When an element is taken, the first put that waits returns, and the second waits on.
func TestBlockingPutWaitsForTake(t *testing.T) {
	forFull(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		first := waits(t, func() error { return q.Put(t.Context(), k.cap) }) // 0 if nothing is held
		ctx, cancel := context.WithCancel(t.Context())
		second := waits(t, func() error { return q.Put(ctx, k.cap+1) })
		if v, err := q.Take(t.Context()); v != 0 || err != nil {
			t.Errorf("Take = %d, %v", v, err)
		}
		if err := first(); err != nil {
			t.Error(err)
		}
		if q.Remaining() != 0 {
			t.Errorf("Remaining = %d", q.Remaining())
		}
		cancel()
		if err := second(); err != context.Canceled {
			t.Error(err)
		}
	})
}

// A take from an empty queue returns the error of its context, which has ended before
// or ends while it waits.
func TestBlockingTakeEndsWithContext(t *testing.T) {
	takes := map[string]func(*queue.Blocking[int], context.Context) error{
		"Take": func(q *queue.Blocking[int], ctx context.Context) error { _, err := q.Take(ctx); return err },
		"PollFor": func(q *queue.Blocking[int], ctx context.Context) error {
			_, _, err := q.PollFor(ctx, 1<<62)
			return err
		},
	}
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		for name, take := range takes {
			if err := take(q, canceled()); err != context.Canceled {
				t.Errorf("%s with an ended context = %v", name, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			result := waits(t, func() error { return take(q, ctx) })
			time.Sleep(time.Minute)
			if err := result(); err != context.DeadlineExceeded {
				t.Errorf("%s = %v", name, err)
			}
			mustBeEmpty(t, q)
		}
		for _, d := range []time.Duration{math.MinInt64, -1, 0, time.Minute} {
			if _, ok, err := q.PollFor(canceled(), d); ok || err != context.Canceled {
				t.Errorf("PollFor(%v) with an ended context = %v, %v", d, ok, err)
			}
		}
	})
}

// A PollFor that has to wait returns when its time is over, or with an element that is
// offered before.
func TestBlockingPollForTimeout(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		start := time.Now()
		if v, ok, err := q.PollFor(t.Context(), time.Minute); ok || err != nil {
			t.Errorf("PollFor = %d, %v, %v", v, ok, err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("returned after %v", took)
		}
		result := waits(t, func() error {
			v, ok, err := q.PollFor(t.Context(), time.Minute)
			if v != 7 || !ok {
				t.Errorf("PollFor = %d, %v, %v", v, ok, err)
			}
			return err
		})
		if ok, err := q.OfferFor(t.Context(), 7, 0); !ok || err != nil {
			t.Errorf("OfferFor = %v, %v", ok, err)
		}
		if err := result(); err != nil {
			t.Error(err)
		}
		mustBeEmpty(t, q)
	})
}

// With a context that has ended, a put or take that would not have to wait fails and
// does not change the queue.
func TestBlockingEndedContextFails(t *testing.T) {
	forHolding(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		fill(t, q, 2)
		ctx := canceled()
		_, err1 := q.Take(ctx)
		_, ok2, err2 := q.PollFor(ctx, time.Hour)
		err3 := q.Put(ctx, 7)
		ok4, err4 := q.OfferFor(ctx, 7, time.Hour)
		for _, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		if ok2 || ok4 || q.Len() != 2 {
			t.Errorf("done all the same: %v, %v, %d elements", ok2, ok4, q.Len())
		}
	})
}
