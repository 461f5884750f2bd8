package daemon

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// base is what the runs of a daemon need of it.
type base struct {
	Config
	catalog  catalog.Catalog
	pool     *executor.ScheduledPool // has a worker for each run
	notifier *notify.Notifier
	command  func(context.Context, process.Command, process.Observer) process.Result // runs one

	stopping context.Context // ends when the runs in progress are ended
	leaving  context.Context // ends when the drain begins
	running  atomic.Int64    // runs in progress

	// mu is held for moments only. It is taken before the locks of the notifier.
	mu struct {
		sync.Mutex
		entries   map[string]*entry // of the jobs in the file, and of those that were run
		order     []*entry
		file      map[string]*job.Job // what was applied last, as it is for this machine; nil before
		elsewhere map[string]job.Job  // of the same file, jobs for other machines that are not in the store
		channels  map[string][]string // the Notify of each job that a file has had
		outage    outage
	}
}

// entry is one job while the daemon runs.
type entry struct {
	base *base
	name string
	log  *slog.Logger

	// mu is held for moments only. A count and the line of the log about it are not one step, so lines of concurrent
	// events may change places.
	mu struct {
		sync.Mutex
		Counts
		figures Figures
		ends    map[int]context.CancelCauseFunc // of the runs in progress, by their numbers
		skips   skips
		// the run that ended last was not ok, of those that say something of the job
		bad      bool
		judged   bool // there was such a run here
		replaced int  // runs up to the last that have come to no end of their own
	}
}

// Counts is what became of the times at which a job was due. Each time is a run, or skipped, or missed.
type Counts struct {
	Runs        int
	Failed      int // runs that could not start, or ended otherwise than with exit code 0
	Interrupted int // failed runs that were ended because the daemon was, or lost while it drained
	Skipped     int // times at which the run before was in progress
	Missed      int // times that passed without the daemon: asleep, stopped, without a processor, or draining
}

// Figures are the counters of a job since the daemon started.
type Figures struct {
	Job string
	Counts
	Running     int // runs in progress in this daemon
	Ended       map[outcome.Outcome]int
	LastStart   time.Time // zero if there is none
	LastSuccess time.Time
}

// entry returns the entry of the job of that name.
func (d *base) entry(name string) *entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.mu.entries[name]
	if e == nil {
		e = &entry{base: d, name: name, log: d.Log.With("job", name)}
		d.mu.entries[name] = e
		d.mu.order = append(d.mu.order, e)
	}
	return e
}

// stamp is a time as logs write it, to the second, which cron's times are, or to the millisecond.
func stamp(t time.Time) about.Time { return about.Time{Time: t} }
