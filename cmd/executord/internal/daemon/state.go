package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// Daemon runs the jobs of one file.
type Daemon struct {
	base
	supervisor *process.Supervisor
	stopRuns   context.CancelFunc
	leave      context.CancelFunc
	kinds      map[string]bool // of groups, that are handled; for the goroutine of Run
	ended      chan struct{}   // closed when the daemon has left the store, and no run is in progress

	watcher watcher // for the goroutine of Run

	questions chan struct{} // has a value while answers are asked for
	answers   answers
	applied   atomic.Bool // a file was applied since the jobs were listed

	notices struct { // the last answer about them
		asking chan struct{} // has a value while it is asked for
		stored []notify.Notice
		at     time.Time
	}
}

// watcher is what the goroutine of Run knows of the jobs in the store.
type watcher struct {
	// reported has the jobs that the file has put into the store, and for each what keeps it from running, as far
	// as the log says so.
	reported map[string]catalog.State

	// last is the last job that a look asked for, and had the time to.
	last string

	unreachable bool      // the store, when it was last asked
	well        time.Time // when it last was not

	file     []job.Job            // what was applied last, of the jobs for this machine
	stranded map[string]*stranded // jobs that wait for a machine, by their names
}

// answers are what the store has said.
type answers struct {
	entries []catalog.Entry
	at      time.Time
	known   known
	pasts   map[durable.ID]past
	day     day
	nodes   catalog.Nodes            // nil if no job is for some machines only
	ends    map[durable.ID]time.Time // of pauses
}

// known are the jobs that were listed, those that are removed from their files too. The list reads each row of the store,
// also those of runs, so that it is asked for again only after a while that its time is a small share of; meanwhile the
// jobs that are known are read again, by their keys.
type known struct {
	jobs  []catalog.Entry
	until time.Time // is what they are good for
}

// listShare is how many times as long as it took a list is good for.
const listShare = 50

// hintSameName is for daemons with different files that remove each other's jobs. They can't know: it may be one
// file, of which one daemon has a newer version.
const hintSameName = "if that was another file of the same name, give each its own --namespace"

// resume returns the command that lets a job run again.
func (d *Daemon) resume(name string) string {
	args := []string{"executord", "resume", name} // as a daemon is asked that has no store
	if d.Store.shared() {
		args = []string{"executord", "resume", d.Store.Namespace + "/" + name, "--store", d.Store.Name}
	}
	return job.Command{Args: args}.Text()
}
