package daemon

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A daemon is alive while nothing is due, while all its workers have runs, in the drain, and after it.
func TestAliveWhateverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jobs = 5
		h := begin(t, Config{File: parse(t, strings.Repeat("@every 1m sleep 90s\n", jobs))})
		h.pool.Resize(jobs) // there are more, unless other daemons add to a store
		ask := func(when string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if !h.Alive(ctx) {
				t.Errorf("not alive %s", when)
			}
		}
		ask("at the begin")
		time.Sleep(70 * time.Second)
		if n := h.running.Load(); n != jobs {
			t.Fatalf("%d runs", n)
		}
		ask("while all workers have runs")
		h.drain(errPatience)
		synctest.Wait()
		ask("in the drain")
		<-h.done
		ask("at the end")
	})
}

// A daemon is not alive if nothing that is due can begin, although there are workers for it.
func TestAliveNeedsLocks(t *testing.T) {
	h := begin(t, Config{File: parse(t, "@every 1h sleep 1s")})
	defer h.end()
	limited, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	h.mu.Lock()
	if h.Alive(limited) {
		t.Error("alive, although runs wait for a lock")
	}
	var free atomic.Bool
	answered := make(chan bool)
	go func() {
		alive := h.Alive(context.Background())
		answered <- alive && free.Load()
	}()
	free.Store(true)
	h.mu.Unlock()
	if !<-answered {
		t.Error("not alive after the lock was free, or before")
	}
}
