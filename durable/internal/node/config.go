package node

import (
	"context"
	"log/slog"
	"slices"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// maxHeld is the most jobs that a node claims ahead.
const maxHeld = 1024

// A Config is what a node needs to know. Functions may be called by several goroutines at once.
type Config struct {
	Work
	Pool *executor.ScheduledPool

	// These are as in durable.Config, with their defaults.
	Name        string
	Poll, Drain time.Duration
	Keep        store.Retention

	Kind   func(name string) *Kind // what the program handles under that name, or nil
	Kinds  func() []string         // the names, in order
	Queues func() []string         // that the node serves now, in order, each once; "" is the default queue

	// Settled, unless nil, is called with what became of a run. Changed is called when a run of the job has ended.
	Settled func(job store.Job, o store.Outcome, committed bool)
	Changed func(store.ID)
}

// Work is what the handling of a job needs of the program. Functions may be called by several goroutines at once.
type Work struct {
	Store store.Store
	Parts store.Parts // of the store

	// These are as in durable.Config, with their defaults.
	Lease           time.Duration
	History, Output int
	Triggers        map[string]executor.Trigger

	Log func() *slog.Logger
	// Around calls run, which calls a handler. Failed, unless nil, is called in place of the line of the log about a run
	// that was the last attempt.
	Around func(ctx context.Context, job store.Job, run func(context.Context) error) error
	Failed func(job store.Job, run store.Run)
	// Decode reads into v what is stored of a job of any kind. what says what it is.
	Decode func(kind, what string, stored []byte, v any) error
	// Transact returns the store for work in a transaction, or what is wrong with that.
	Transact func(store.Tx) (store.TxStore, error)
}

// opContext bounds one call of the store. A call that takes longer than a lease is of no use.
func (w *Work) opContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, w.Lease)
}

// logOf returns the log for lines about one job, which all name it in the same way.
func (w *Work) logOf(job *store.Job) *slog.Logger {
	return w.Log().With("job", job.ID, "key", job.Key, "kind", job.Kind)
}

// serves reports whether the node serves a queue.
func (c *Config) serves(queue string) bool {
	_, found := slices.BinarySearch(c.Queues(), queue)
	return found
}

// workers returns how many workers the pool has.
func (c *Config) workers() int { return max(c.Pool.Settings().Workers, 1) }
