package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// Runs of a group take their turns by when they were begun, which the store has: of those in progress, the earliest
// begin their commands, as many as the group's limit, and the others wait. So the rule holds for all daemons of the
// store, with no place that a daemon which was killed would keep.
//
//	begun, noted in the store ──▶ ahead: those begun earlier, or not noted yet
//	fewer ahead than the limit ──▶ the command is started
//
// A run that is begun later is never ahead: none is before a run that has started its command.
//
// A kind of its own for each group, which package durable can limit, lost: a row of the store keeps its kind, so that a
// job could not change its group.

const (
	// firstTurn and lastTurn bound the waits between two looks whether it is the turn of a run. The end of a run of
	// this daemon is another reason to look, the end of one elsewhere is not.
	firstTurn = 10 * time.Millisecond
	lastTurn  = time.Second

	// turnMargin is what the clocks of two daemons may differ in what they take for that of the store.
	turnMargin = 100 * time.Millisecond
)

// awaitTurn waits until the run is among the first of its group. It is an error if the daemon ends or the run is
// canceled meanwhile.
func (r *handled) awaitTurn(ctx context.Context) error {
	if r.job.Group == "" {
		return nil
	}
	d := r.entry.base
	limit := max(r.job.GroupLimit, 1)
	logged := false
	for pause := firstTurn; ; pause = min(2*pause, lastTurn) {
		turned := d.turns.next()
		ahead, since, err := r.ahead(ctx)
		if err == nil && since > 0 && len(ahead) < limit && (!d.Store.shared() || since >= turnMargin) {
			return nil
		}
		if err == nil && len(ahead) >= limit && !logged {
			logged = true
			r.log.Info("run waits", about.Key, about.RunWaits, "due", stamp(r.due), "group", r.job.Group,
				"reason", fmt.Sprintf("at most %d at a time: %s", limit, strings.Join(ahead, ", ")))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-turned:
			pause = firstTurn / 2
		case <-d.leaving.Done():
			timer.Stop()
			return errDrain
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("not started: %w", context.Cause(ctx))
		}
		timer.Stop()
	}
}

// ahead returns the names of the jobs in the group that come before the run, or may do so, and how long ago the store
// has the run begun; 0 if it does not have that yet.
func (r *handled) ahead(ctx context.Context) (names []string, since time.Duration, err error) {
	d := r.entry.base
	running, err := catalog.Running(ctx, d.Store, d.Store.Namespace)
	if err != nil {
		return nil, 0, err
	}
	own := slices.IndexFunc(running, func(e catalog.Entry) bool { return e.ID == r.row.ID && e.Epoch == r.row.Epoch })
	if own < 0 || running[own].Started.IsZero() {
		return nil, 0, nil
	}
	began := running[own].Started
	for _, e := range running {
		if e.ID == r.row.ID || e.Spec.Group != r.job.Group || e.Spec.Off {
			continue
		}
		if before := e.Started.Compare(began); e.Started.IsZero() || before < 0 || before == 0 && less(e.ID, r.row.ID) {
			names = append(names, e.Name)
		}
	}
	return names, max(r.now().Sub(began), 1), nil
}

func less(a, b durable.ID) bool { return strings.Compare(a.String(), b.String()) < 0 }
