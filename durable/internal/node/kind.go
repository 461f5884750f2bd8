package node

import (
	"context"
	"math/rand/v2"
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
	First, Max   time.Duration
	// Internal kinds are those of package durable itself. The node does not report them.
	Internal bool
	// Encode returns what is stored of a value, and Decode reads that. what says what it is.
	Encode func(what string, v any, limit int) ([]byte, error)
	Decode func(what string, data []byte, v any) error
	// Handle decodes the payload, calls the user's function, and encodes the result.
	Handle func(ctx context.Context, payload []byte) (result []byte, err error)
}

// backoff returns how long to wait after the nth failed attempt.
func (k *Kind) backoff(attempt int) time.Duration {
	d := k.Max
	if shift := attempt - 1; shift < 40 && k.First < k.Max>>shift {
		d = k.First << shift
	}
	return d - rand.N(d/2+1)
}
