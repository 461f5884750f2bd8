package daemon

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Config configures a daemon.
type Config struct {
	File job.File
	Log  *slog.Logger

	// Machine is that of the daemon. Without a name it has that of the host.
	Machine job.Machine

	// Admit is asked before a line of a command is logged, with about as many bytes as it has in the log. It may wait
	// for the reader of the log, until ctx ends. If it returns false, the line is left out. Nil means that all lines are
	// logged at once.
	Admit func(ctx context.Context, size int) bool

	// Grace is the time between SIGTERM and SIGKILL for a run that is to end.
	Grace time.Duration

	// Patience is how long a drain waits for the runs in progress, before it ends them. Zero means no limit.
	Patience time.Duration

	// MaxOutput is how many bytes of the log the lines of one run may take, about. Zero means no limit.
	MaxOutput int64

	// Store is where the jobs are while the daemon runs.
	Store Store

	// Output is how many bytes of the begin, and of the end, of what a run writes a shared store keeps with its
	// history.
	Output int

	// Record keeps what the runs write, and how they end. Nil means that nothing is kept.
	Record *record.Log

	// Tracer makes a span of each run. Nil means that there are none.
	Tracer trace.Tracer

	// Observer sees the pool that the jobs run in. Nil means that nobody looks at the daemon.
	Observer *executor.Observer

	// Again sends files that replace File while the daemon runs. It may be nil.
	Again <-chan job.File

	// Applied is called when the jobs of a file are scheduled: File, or one that Again has sent, of which the store may
	// have taken none, or a part. It may be nil.
	Applied func(file job.File, err error)
}

// Store is where jobs are kept.
type Store struct {
	durable.Store
	Name      string        // as it may be shown; empty for one that ends with the daemon
	Namespace string        // of the jobs
	Lease     time.Duration // as in durable.Config
	Poll      time.Duration // as there, too
}

// Memory returns a store that ends with the daemon. No other daemon waits for its lease, which lasts for as long as
// there may be one: a process that was stopped for hours goes on with its runs.
func Memory() Store {
	return Store{Store: memory.New(), Namespace: "memory", Lease: LongestLease}
}

// LongestLease is the longest lease that package durable accepts.
const LongestLease = 365 * 24 * time.Hour

// shared reports whether other daemons may use the store, now or later.
func (s Store) shared() bool { return s.Name != "" }

const (
	// keptRuns is how many runs of each job a shared store keeps. It is documented.
	keptRuns = 1000

	// fewKeptRuns is how many runs of each job a store keeps that ends with the daemon, if that can be looked at.
	fewKeptRuns = 100

	// leastWorkers is how many runs a daemon can have at once, if its file does not have more jobs: other daemons may
	// have added more to the store. It is documented.
	leastWorkers = 64

	// patience is how long a look at the jobs in the store may take.
	patience = 30 * time.Second
)
