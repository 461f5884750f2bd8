package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A Kind is what a program knows of a kind of job.
type Kind struct {
	Name   string
	Limit  int // on this node; 0 for none
	Global int // on all nodes together; 0 for none
	Rate   store.Rate
	// PerPartition is how many of each partition may be held on all nodes together; 0 for no bound.
	PerPartition int
	// Backoff returns how long to wait after the nth failed attempt. It is the user's.
	Backoff func(n int) time.Duration
	// Internal kinds are those of package durable itself. The node does not report them.
	Internal bool
	// Encode returns what is stored of a value, and Decode reads that. what says what it is.
	Encode func(what string, v any, limit int) ([]byte, error)
	Decode func(what string, data []byte, v any) error
	// Handle decodes the payload, calls the user's function, and encodes the result.
	Handle func(ctx context.Context, payload []byte) (result []byte, err error)
}

// badBackoff is how long a job waits whose Backoff panics, or is negative.
const badBackoff = time.Hour

// backoff returns how long the job waits after its attempt has failed.
func (r *run) backoff() (d time.Duration) {
	defer func() {
		p := recover()
		if p != nil || d < 0 {
			r.n.logOf(&r.job).Error("durable: the backoff of a kind panicked, or is negative; the job waits for an hour",
				"attempt", r.job.Attempt, "backoff", d, "panic", p)
			d = badBackoff
		}
	}()
	return r.kind.Backoff(r.job.Attempt)
}
