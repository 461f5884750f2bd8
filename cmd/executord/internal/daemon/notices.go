package daemon

import (
	"context"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// Notices returns what waits to be sent here, and then what was sent or given up, here or by other daemons that keep it
// in the same store, the latest first, n at most. If the store does not answer, it returns those that are known here,
// and an error.
func (d *Daemon) Notices(ctx context.Context, n int) (all []notify.Notice, err error) {
	all = d.notifier.Notices()
	if d.Store.shared() {
		var stored []notify.Notice
		stored, err = d.storedNotices(ctx)
		known := make(map[string]bool, len(all))
		for _, notice := range all {
			known[notice.ID] = true
		}
		for _, notice := range stored {
			if !known[notice.ID] {
				all = append(all, notice)
			}
		}
	}
	notify.Sort(all)
	return all[:min(len(all), n)], err
}

// storedNotices returns those of the store, as they were at most a moment ago.
func (d *Daemon) storedNotices(ctx context.Context) ([]notify.Notice, error) {
	ctx, cancel := context.WithTimeout(ctx, patienceOfReaders)
	defer cancel()
	n := &d.notices
	select {
	case n.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-n.asking }()
	if !n.at.IsZero() && time.Since(n.at) < freshness {
		return n.stored, nil
	}
	stored, err := notify.Latest(ctx, d.Store.Store, d.Store.Namespace, notify.MostNotices)
	if err == nil {
		n.stored, n.at = stored, time.Now()
	}
	return stored, err
}
