package daemon

import (
	"context"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// recovers notes an outcome, and reports whether it is good after a bad one. A store knows of runs of other daemons and
// of those before this one began; it is asked only after a good run of which somebody is told.
func (r *run) recovers(ctx context.Context, o outcome.Outcome) bool {
	bad, known := r.entry.judge(o)
	if o != outcome.OK || r.told == nil {
		return false
	}
	if r.before != nil {
		if stored, there := r.before(ctx); there {
			return stored
		}
	}
	return known && bad
}

// recoverPatience is how long the store may take to say how the runs before ended, and mostRecalled how many of them
// are looked at.
const (
	recoverPatience = 5 * time.Second
	mostRecalled    = 200
)

// history returns whether the last run before this one that says something of the job was bad, if the store knows.
func (r *handled) history(ctx context.Context) (bad, known bool) {
	if wasLost(r.row) {
		return true, true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recoverPatience)
	defer cancel()
	key, number := durable.RunNumber(r.row.Key)
	for before, n := number-1, 1; before > 0 && number-before < mostRecalled; before, n = before-int64(n), min(10*n, mostRecalled) {
		past, err := catalog.ListRuns(ctx, r.entry.base.Store, catalog.Entry{Job: durable.Job{Key: key}, Number: before}, n)
		if err != nil {
			return false, false
		}
		for _, run := range past {
			if o := outcome.OfRow(run); o == outcome.OK || o.IsError() {
				return o != outcome.OK, true
			}
		}
	}
	return false, true
}
