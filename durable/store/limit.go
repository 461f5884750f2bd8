package store

import (
	"context"
	"time"
)

// A Limiter is a Store that limits how often jobs of a kind begin, and how many jobs of a partition run.
type Limiter interface {
	// ClaimLimited is Claim for a request in which at least one kind has a Rate or PerPartition. Claim need not look at
	// these fields.
	//
	// The partitions of a kind with PerPartition take turns, for each priority, if they have jobs that may be claimed.
	// The partition that has waited longest comes first: since a job of it was last claimed or, if that is later, since
	// it has had jobs. Within a partition the order is that of Claim. PerPartition does not bound jobs without a
	// partition; such a job is claimed at the latest when fewer than a hundred jobs of its kind and priority are due
	// before it.
	ClaimLimited(ctx context.Context, r ClaimRequest) (ClaimResult, error)
}

// A Rate is how often jobs of a kind may begin on all nodes together: a bucket of Burst tokens, which gets another
// token after each Every until it is full. A claim takes a token for each job, for the time at which the job begins:
// now, or when it is due. So no more than Burst + d/Every of the claimed jobs begin within any d. The zero Rate means
// no bound.
//
// A job that is released, or lost with its node, does not give its token back. All nodes must have the same Rate for a
// kind; if they differ, each uses its own.
type Rate struct {
	Every time.Duration // at least a microsecond, in whole ones
	Burst int           // at least 1
}

// Limited reports whether a Limiter has to claim the kind.
func (k KindLimit) Limited() bool { return k.Rate != Rate{} || k.PerPartition > 0 }
