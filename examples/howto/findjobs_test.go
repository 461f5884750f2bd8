package howto

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// The mails of a campaign that a server has refused are found, counted by customer, and revived; others are not.
func TestReviveFindsWhatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		var down atomic.Bool
		down.Store(true)
		var mu sync.Mutex
		sent := make(map[string]int) // guarded by mu: four workers send
		mails := durable.Handle(jobs, "mail", func(_ context.Context, m Mail) (string, error) {
			if down.Load() {
				return "", executor.Permanent(errors.New("dial tcp: connection refused"))
			}
			mu.Lock()
			defer mu.Unlock()
			sent[m.Customer+m.Campaign]++
			return "sent", nil
		})
		durabletest.Start(t, jobs)
		since := time.Now()
		for _, m := range []Mail{{"a", "spring", ""}, {"a", "spring", ""}, {"b", "spring", ""}, {"b", "other", ""}} {
			if err := send(t.Context(), mails, m); err != nil {
				t.Fatal(err)
			}
		}
		if err := durabletest.Idle(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		f := refused("spring", since)
		n, err := customers(t.Context(), jobs, f)
		if want := map[string]int{"a": 2, "b": 1}; err != nil || !maps.Equal(n, want) {
			t.Errorf("the customers are %v, %v, want %v", n, err, want)
		}
		down.Store(false)
		if revived, _, err := revive(t.Context(), jobs, f); revived != 3 || err != nil {
			t.Errorf("revived %d jobs, %v, want 3", revived, err)
		}
		if err := durabletest.Idle(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if want := map[string]int{"aspring": 2, "bspring": 1}; !maps.Equal(sent, want) {
			t.Errorf("sent %v, want %v", sent, want)
		}
	})
}
