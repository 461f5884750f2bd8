package store

import (
	"errors"
	"time"

	"github.com/executor-go/executor/durable/internal/argument"
)

var (
	// ErrNotFound is returned where no job has the ID or key that was asked for.
	ErrNotFound = errors.New("durable: no such job")

	// ErrNewerSchema is matched by the error of opening a database that a newer version of its store has migrated.
	ErrNewerSchema = errors.New("durable: the database requires a newer version of this program")
)

// RenewedError is an error of Heartbeat that came when the lease had been renewed: the store had more to do, as to free
// the jobs of a dead node, and has not done all of it. The node goes on.
type RenewedError struct {
	Now time.Time // on the store's clock
	Err error
}

// Error returns what went wrong.
func (e *RenewedError) Error() string {
	return "the lease was renewed, and the rest of the heartbeat failed: " + e.Err.Error()
}

// Unwrap returns Err.
func (e *RenewedError) Unwrap() error { return e.Err }

// MaxLabel is how many bytes of a label are kept.
const MaxLabel = 64

// MaxMeta is the most bytes of the Meta of a job as JSON.
const MaxMeta = 2 << 10

// MaxTags is how many tags a job may have, and MaxTag how many bytes each of them.
const (
	MaxTags = 32
	MaxTag  = 128
)

// invalid returns an error that matches executor.ErrInvalid, and what format wraps.
func invalid(format string, args ...any) error { return argument.Invalid("durable: "+format, args...) }
