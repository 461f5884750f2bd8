package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// An outage is the time during which one loop's calls of the store fail. The log has a line at its begin and its end,
// and calls are spaced out meanwhile.
type outage struct {
	health *health
	log    *slog.Logger
	what   string
	since  time.Time
	failed int
}

// over notes the error of a call and reports whether it was nil.
func (o *outage) over(err error) bool {
	switch {
	case err == nil && o.failed > 0:
		o.log.Info("durable: the store answers again", "call", o.what, "failed", o.failed, "after", time.Since(o.since))
		o.failed = 0
		o.health.fails(o.what, time.Time{}, nil)
	case err != nil:
		if o.failed == 0 {
			o.since = time.Now()
			text := "durable: the store does not answer; retrying"
			if errors.Is(err, store.ErrFull) {
				text = "durable: the store takes no changes; retrying"
			}
			o.log.Warn(text, "call", o.what, "error", err)
		}
		o.failed++
		o.health.fails(o.what, o.since, err)
	}
	return err == nil
}

// delay is how long to wait before the next call: 20 ms after the first failure,
// a second after some.
func (o *outage) delay() time.Duration {
	return min(20*time.Millisecond<<min(o.failed-1, 6), time.Second)
}

// wait waits for the delay, or until ctx ends.
func (o *outage) wait(ctx context.Context) {
	sleep(ctx, o.delay())
}

// sleep waits for d and reports whether ctx was still alive then.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// health is which sorts of calls of the store fail.
type health struct {
	mu      sync.Mutex
	failing map[string]failing
}

// failing is a sort of call that fails.
type failing struct {
	since time.Time
	err   error
}

// fails notes that a sort of call fails, or, with a nil error, does not.
func (h *health) fails(call string, since time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.failing, call)
		return
	}
	if h.failing == nil {
		h.failing = make(map[string]failing)
	}
	h.failing[call] = failing{since, err}
}

// long returns the error of a sort of call, without which jobs don't run, that has failed for longer than patience.
func (h *health) long(patience time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := slices.Sorted(maps.Keys(h.failing))
	if _, beats := h.failing["heartbeat"]; beats {
		calls = append([]string{"heartbeat"}, calls...) // without a lease the others do not matter
	}
	for _, call := range calls {
		if call == "listen" || call == "prune" || call == "report" {
			continue // jobs run all the same
		}
		f := h.failing[call]
		if d := time.Since(f.since); d > patience {
			return fmt.Errorf("durable: not healthy: the store has not answered %s for %v: %w", call, d.Round(time.Millisecond), f.err)
		}
	}
	return nil
}
