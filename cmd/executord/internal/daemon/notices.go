package daemon

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// NoticeLog keeps notices beyond the end of the daemon.
type NoticeLog interface {
	Add(k notify.Kept) // does not wait
	Latest(ctx context.Context, limit int) ([]notify.Notice, error)
	Claim(ctx context.Context, channels []string) ([]notify.Kept, error) // those that a daemon was killed with
}

// MostNotices is how many notices are shown at once.
const MostNotices = 1000

// Notices returns what waits to be sent here, and then what was sent or given up, here or by other daemons that keep it
// in the same store, the latest first, n at most. If the store does not answer, it returns those that are known here,
// and an error.
func (d *Daemon) Notices(ctx context.Context, n int) (all []notify.Notice, err error) {
	all = d.notifier.Notices()
	if d.NoticeLog != nil {
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
	waits := func(n notify.Notice) int {
		if n.Outcome == notify.Waiting {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b notify.Notice) int {
		return cmp.Or(waits(a)-waits(b), b.At.Compare(a.At))
	})
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
	stored, err := d.NoticeLog.Latest(ctx, MostNotices)
	if err == nil {
		n.stored, n.at = stored, time.Now()
	}
	return stored, err
}

// adoptNotices has the messages sent that a daemon was killed with.
func (d *Daemon) adoptNotices(ctx context.Context) {
	if d.NoticeLog == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patienceOfReaders)
	defer cancel()
	left, _ := d.NoticeLog.Claim(ctx, d.notifier.Names()) // if the store does not answer, the next look asks again
	for _, k := range left {
		d.notifier.Adopt(k)
		d.Log.Info("notification taken over", "channel", k.Channel, "subject", k.Subject, "reason", "its daemon was killed")
	}
}

// recallNotices has the limits of channels count what was sent before the start. If the store does not answer, they
// begin anew.
func (d *Daemon) recallNotices(ctx context.Context) {
	if d.NoticeLog == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patienceOfReaders)
	defer cancel()
	sent, _ := d.NoticeLog.Latest(ctx, MostNotices)
	d.notifier.Recall(sent)
}
