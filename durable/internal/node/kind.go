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

// bounded reports whether the end of a run of the kind may make room for another.
func (k *Kind) bounded() bool { return k.Limit > 0 || k.Global > 0 || k.limit().Limited() }

// limit returns how many of the kind all nodes together may hold, and how often they may begin.
func (k *Kind) limit() store.KindLimit {
	return store.KindLimit{Kind: k.Name, Global: k.Global, Rate: k.Rate, PerPartition: k.PerPartition}
}
