package durable

import (
	"context"

	"github.com/executor-go/executor/durable/internal/node"
)

// FencingToken returns the epoch of the run that ctx belongs to. Of two runs of the same job, the one that began later
// has the greater epoch. If an external system remembers the greatest token that it has seen for a job, and refuses
// smaller ones, a node that lost its lease without noticing can't change that system. FencingToken returns 0 if ctx is
// not a handler's.
func FencingToken(ctx context.Context) int64 {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		return h.Job().Epoch
	}
	return 0
}

// Current returns the job that ctx belongs to, as it was when the run began; Occurrence and Attempt are those of the
// run. It reports false if ctx is not a handler's.
func Current(ctx context.Context) (Job, bool) {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		return h.Job(), true
	}
	return Job{}, false
}
