package durable

import (
	"context"
	"log/slog"
	"time"
)

// An outage is the time during which one loop's calls of the store fail. The log has a line at its begin and its end,
// and calls are spaced out meanwhile.
type outage struct {
	n      *node
	log    *slog.Logger
	what   string
	since  time.Time
	failed int
}

func (n *node) outage(what string) *outage { return &outage{n: n, log: n.jobs.log(), what: what} }

// over notes the error of a call and reports whether it was nil.
func (o *outage) over(err error) bool {
	switch {
	case err == nil && o.failed > 0:
		o.log.Info("durable: the store answers again", "call", o.what, "failed", o.failed, "after", time.Since(o.since))
		o.failed = 0
		o.n.fails(o.what, time.Time{}, nil)
	case err != nil:
		if o.failed == 0 {
			o.since = time.Now()
			o.log.Warn("durable: the store does not answer; will go on trying", "call", o.what, "error", err)
		}
		o.failed++
		o.n.fails(o.what, o.since, err)
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
