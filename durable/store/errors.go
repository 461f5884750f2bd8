package store

import (
	"errors"
	"time"

	"github.com/executor-go/executor/durable/internal/argument"
)

var (
	// ErrNotFound reports that no job has the given ID or key.
	ErrNotFound = errors.New("durable: no such job")

	// ErrNewerSchema reports that a newer version of the store has migrated the database; the error of opening the
	// database matches it.
	ErrNewerSchema = errors.New("durable: the database requires a newer version of this program")

	// ErrThere reports that a job which was to be unpacked, or another job with its key, is in the store already.
	ErrThere = errors.New("durable: there is such a job already")

	// ErrFull reports that the database has no room left: the errors of calls that a store has therefore not carried out
	// match it. Such a store can often be read.
	ErrFull = errors.New("the store is full")
)

// RenewedError is the error of a Heartbeat that has renewed the lease, and failed in the rest of its work, such as
// freeing the jobs of a dead node. The node goes on.
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

// MaxTags is how many tags a job may have, and MaxTag is how many bytes a tag may have.
const (
	MaxTags = 32
	MaxTag  = 128
)

// invalid returns an error that matches executor.ErrInvalid, and what format wraps.
func invalid(format string, args ...any) error { return argument.Invalid("durable: "+format, args...) }
