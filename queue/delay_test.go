package queue_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

// event is an element of a delay queue.
type event struct {
	at   time.Time
	name string
}

func newEvents() *queue.Blocking[event] {
	return queue.NewDelay(func(e event) time.Time { return e.at })
}

// in returns an event that is due in d.
func in(d time.Duration) event { return event{at: time.Now().Add(d)} }

// Each element of a delay queue leaves when it is due, the earliest first.
func TestDelayOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		for i := range 20 {
			q.Put(t.Context(), in(time.Duration(20-i)*time.Second))
		}
		start := time.Now()
		for i := range 20 {
			e, err := q.Take(t.Context())
			if err != nil || !time.Now().Equal(e.at) || time.Since(start) != time.Duration(i+1)*time.Second {
				t.Errorf("took one that was due at %v after %v: %v", e.at, time.Since(start), err)
			}
		}
	})
}

// An element that is not due is counted and shown, and is neither polled nor drained.
func TestDelayNotDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		for n := range 3 {
			if e, ok := q.Poll(); ok {
				t.Errorf("Poll = %v", e)
			}
			start := time.Now()
			if e, ok, err := q.PollFor(t.Context(), time.Minute); ok || err != nil || time.Since(start) != time.Minute {
				t.Errorf("PollFor = %v, %v, %v after %v", e, ok, err, time.Since(start))
			}
			if all := q.Drain(math.MaxInt); all != nil {
				t.Errorf("Drain = %v", all)
			}
			if _, ok := q.Peek(); ok != (n > 0) || q.Len() != n || len(slices.Collect(q.All())) != n {
				t.Errorf("Peek = %v, Len = %d with %d elements", ok, q.Len(), n)
			}
			q.Offer(in(math.MaxInt64))
		}
		if n := q.RemoveFunc(func(event) bool { return true }); n != 3 {
			t.Errorf("removed %d", n)
		}
		q.Offer(in(time.Hour))
		q.Clear()
		if q.Len() != 0 {
			t.Error("Clear left something")
		}
	})
}

// Drain returns the elements that are due, in order and up to the limit.
func TestDelayDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		for i := range 10 {
			q.Offer(in(time.Duration(9-i) * time.Second))
		}
		time.Sleep(4 * time.Second)
		for _, want := range []int{3, 2, 0} {
			all := q.Drain(3)
			inOrder := slices.IsSortedFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
			if len(all) != want || !inOrder {
				t.Errorf("Drain = %v, want %d", all, want)
			}
		}
		if q.Len() != 5 {
			t.Errorf("Len = %d", q.Len())
		}
	})
}

// Times out of range are due at once or never, and do not overflow (JDK-6725789).
func TestDelaySaturates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		far := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
		q.Offer(event{far, "far"})
		q.Offer(event{time.Unix(1<<62, 0), "farther"})
		q.Offer(event{time.Now().Add(math.MaxInt64), "max"})
		q.Offer(event{time.Now().Add(math.MinInt64), "min"})
		q.Offer(event{time.Time{}, "zero"})
		q.Offer(event{time.Unix(-1<<62, 0), "past"})
		q.Offer(event{time.Now(), "now"})
		var names []string
		for _, e := range q.Drain(9) {
			names = append(names, e.name)
		}
		if len(names) != 4 || names[3] != "now" {
			t.Errorf("due: %v", names)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Hour)
		defer cancel()
		if e, err := q.Take(ctx); err == nil {
			t.Errorf("took %v", e)
		}
		if q.Len() != 3 {
			t.Errorf("Len = %d", q.Len())
		}
	})
}

// A take that waits for an element that is never due sets no timer: in a bubble the clock
// would run to its end.
func TestDelayNeverDue(t *testing.T) {
	for name, due := range map[string]time.Time{
		"on the wall clock":      time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		"on the monotonic clock": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newEvents()
				time.Sleep(time.Second)
				if due.IsZero() {
					due = time.Now().Add(math.MaxInt64)
				}
				q.Offer(event{due, "never"})
				ctx, cancel := context.WithCancel(t.Context())
				taken := waits(t, func() error { _, err := q.Take(ctx); return err })
				time.Sleep(math.MaxInt64)
				synctest.Wait()
				cancel()
				if err := taken(); err != context.Canceled {
					t.Error(err)
				}
			})
		})
	}
}

// Elements with equal times leave in order of arrival, on the wall clock and on the
// monotonic one.
func TestDelayTies(t *testing.T) {
	at := time.Now().Add(-time.Second) // outside of a bubble: clocks that move
	for _, at := range []time.Time{at, at.Round(0)} {
		q := newEvents()
		for i := range 1000 {
			q.Offer(event{at, string(rune(i))})
		}
		for i := range 1000 {
			if e, _ := q.Poll(); e.name != string(rune(i)) {
				t.Fatalf("the %d. is %q", i, e.name)
			}
		}
	}
}

// A time without a monotonic reading is due when the wall clock shows it.
func TestDelayWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		time.Sleep(time.Hour)
		start := time.Now()
		q.Offer(event{start.Round(0).Add(time.Minute).UTC(), ""})
		if _, err := q.Take(t.Context()); err != nil || time.Since(start) != time.Minute {
			t.Errorf("took it after %v: %v", time.Since(start), err)
		}
	})
}

// The first taker becomes the leader and is on time: after the leader gives up, after it
// is served, when an earlier element comes, and when the first is removed.
func TestDelayLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		start := time.Now()
		take := func(ctx context.Context, want time.Duration) func() error {
			return waits(t, func() error {
				_, err := q.Take(ctx)
				if took := time.Since(start); took != want {
					t.Errorf("served after %v instead of %v", took, want)
				}
				checkQueue(t, q)
				return err
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		leader := take(ctx, time.Second)
		second := take(t.Context(), 10*time.Second)
		third := take(t.Context(), 20*time.Second)
		fourth := take(t.Context(), 50*time.Second)

		q.Offer(in(time.Hour)) // no timer is set for this one
		q.Offer(in(20 * time.Second))
		time.Sleep(time.Second)
		cancel()
		if err := leader(); err != context.Canceled {
			t.Error(err)
		}
		checkQueue(t, q)
		q.Offer(in(9 * time.Second)) // earlier than the first
		time.Sleep(time.Minute / 2)
		if second() != nil || third() != nil {
			t.Error("not served")
		}
		q.RemoveFunc(func(event) bool { return true })
		checkQueue(t, q)
		q.Offer(in(19 * time.Second))
		time.Sleep(time.Minute)
		if fourth() != nil {
			t.Error("not served")
		}
		checkQueue(t, q)
	})
}

// A leader that is served wakes the next one, also for an element that is due at the same
// instant.
func TestDelayManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		var results []func() error
		for range 300 {
			results = append(results, waits(t, func() error { _, err := q.Take(t.Context()); return err }))
		}
		for i := range 300 {
			q.Offer(in(time.Duration(i/3) * 10 * time.Millisecond))
		}
		time.Sleep(time.Second)
		for _, result := range results {
			if err := result(); err != nil {
				t.Error(err)
			}
		}
		checkQueue(t, q)
	})
}

// A take that waits for an element gets it, and not a call that comes later, at the
// instant when it is due.
func TestDelayNoBarging(t *testing.T) {
	for name, barge := range map[string]func(q *queue.Blocking[event]) bool{
		"Poll":  func(q *queue.Blocking[event]) bool { _, ok := q.Poll(); return ok },
		"Drain": func(q *queue.Blocking[event]) bool { return q.Drain(1) != nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for range 50 {
					q := newEvents()
					q.Offer(in(time.Second))
					barged := waits(t, func() error {
						time.Sleep(time.Second)
						if barge(q) {
							t.Error("a call that came later got it")
						}
						return nil
					})
					taken := waits(t, func() error { _, err := q.Take(t.Context()); return err })
					time.Sleep(time.Second)
					if barged() != nil || taken() != nil {
						t.Error("not served")
					}
				}
			})
		})
	}
}

// A timeout counts from the call, however often the wait is disturbed: here by elements
// that come each second and are due earlier than those before.
func TestDelayTimeoutCountsFromCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newEvents()
		go func() {
			for i := range 10 {
				q.Offer(in(time.Duration(20-i) * time.Hour))
				time.Sleep(time.Second)
			}
		}()
		defer time.Sleep(time.Minute) // until it has ended
		start := time.Now()
		e, ok, err := q.PollFor(t.Context(), 3500*time.Millisecond)
		if ok || err != nil || time.Since(start) != 3500*time.Millisecond {
			t.Errorf("PollFor = %v, %v, %v after %v", e, ok, err, time.Since(start))
		}
	})
}
