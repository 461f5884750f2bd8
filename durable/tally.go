package durable

import (
	"context"
	"slices"
	"time"
)

// tally is what Jobs.Tally has counted last. Its one slot is had by the caller that reads or counts.
type tally struct {
	turn   chan struct{}
	counts []Count
	asOf   time.Time
}

func newTally() tally { return tally{turn: make(chan struct{}, 1)} }

// Tally returns Counts that are at most age old, and the time at which they were counted, on this machine's clock.
// Callers share the counts, and while one of them counts, the others wait for it: so the store is read once, however
// many callers there are. A negative age counts as 0.
func (j *Jobs) Tally(ctx context.Context, age time.Duration) (counts []Count, asOf time.Time, err error) {
	mustContext(ctx)
	called := time.Now()
	t := &j.tally
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, time.Time{}, context.Cause(ctx)
	}
	defer func() { <-t.turn }()
	if !t.asOf.IsZero() && called.Sub(t.asOf) <= max(age, 0) {
		return slices.Clone(t.counts), t.asOf, nil
	}
	asOf = time.Now()
	if counts, err = j.Counts(ctx, Filter{}); err != nil {
		return nil, time.Time{}, err
	}
	t.counts, t.asOf = counts, asOf
	return slices.Clone(counts), asOf, nil
}
