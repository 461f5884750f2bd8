package queue_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// Patience counts from the call, however often the wait is disturbed: here by
// elements that come, one each second, and are due earlier than those before.
func TestPatienceCountsFromTheCall(t *testing.T) {
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
