package node

import (
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
)

// A node whose lease is renewed at the moment when it would fence itself goes on, whichever of the two comes first.
func TestNodeGoesOnThatIsRenewedAtTheFence(t *testing.T) {
	pool := executor.Scheduled(1)
	t.Cleanup(pool.Close)
	n := New(t.Context(), Config{Name: "n", Pool: pool, Work: Work{Lease: time.Hour,
		Log: func() *slog.Logger { return slog.New(slog.DiscardHandler) }}})
	for range 500 {
		n.renew(time.Now().Add(-time.Hour)) // its lease is over
		n.ledger.mu.Lock()
		n.ledger.mu.fenced = false // but the timer has not fired
		var timer sync.WaitGroup
		timer.Go(n.fence)
		for range 100 { // mostly it waits for the lock then
			runtime.Gosched()
		}
		n.ledger.mu.Unlock()
		n.renew(time.Now())
		timer.Wait()
		if n.ledger.standing().fenced {
			t.Fatal("it is fenced, though its lease is renewed")
		}
	}
}
