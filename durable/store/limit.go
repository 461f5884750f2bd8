package store

import (
	"context"
	"time"
)

// A Limiter is a Store that keeps jobs from beginning too often, and too many of a partition from running.
type Limiter interface {
	// ClaimLimited is Claim, where one of the kinds at least has a Rate or PerPartition. Claim itself need not look at
	// these.
	//
	// Partitions of a kind with PerPartition, of those that have jobs of the same priority which are near enough, take
	// turns: first comes the one of which none was claimed for the longest time, or, if that came later, that has had
	// jobs since. In a partition the order is that of Claim. A job without a partition is not bounded by PerPartition;
	// it is found at the latest when fewer than a hundred jobs of its kind and priority are due before it.
	ClaimLimited(ctx context.Context, r ClaimRequest) (ClaimResult, error)
}

// A Rate is how often jobs of a kind may begin on all nodes together: a bucket of Burst tokens, which has one more each
// Every until it is full. A claim takes a token for each job, for the time at which that begins: now, or when it is
// due. So of all jobs that were claimed, no more than Burst + d/Every begin within any d. The zero Rate is no bound.
//
// A job that is released, or lost with its node, does not give its token back. All nodes must have the same Rate for a
// kind; if they differ, each uses its own.
type Rate struct {
	Every time.Duration // at least a microsecond, in whole ones
	Burst int           // at least 1
}

// Limited reports whether a Limiter has to claim the kind.
func (k KindLimit) Limited() bool { return k.Rate != Rate{} || k.PerPartition > 0 }
