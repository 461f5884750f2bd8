package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// entry is one job while the daemon runs.
type entry struct {
	daemon *Daemon
	job    job.Job
	log    *slog.Logger
	times  *watched // the scheduled pool's until it is terminated; nil if the job is due at the start, or in a store

	// mu is held for moments only. A state and the line of the log that tells
	// of it are not one step, so lines of concurrent events may change places.
	mu struct {
		sync.Mutex
		running bool // a run was handed over and has not ended: idle <-> running
		current int  // the number of the latest run
		skips   int  // times skipped since that began
		Counts
	}
}

// Counts is what became of the times at which a job was due. Each time is a
// run, or skipped, or missed.
type Counts struct {
	Runs        int
	Failed      int // runs that could not start, or ended otherwise than with exit code 0
	Interrupted int // failed runs that were ended because the daemon was, or lost while it drained
	Skipped     int // times at which the run before was still going on
	Missed      int // times that passed without the daemon: asleep, stopped, without a processor, or draining
}

func newEntry(d *Daemon, j job.Job) *entry {
	return &entry{daemon: d, job: j, log: d.Log.With("job", j.Name)}
}

// schedule has the entry told when its job is due. If that fails, it is for this
// job alone, and the others go on.
func (e *entry) schedule(began time.Time) {
	if e.job.Schedule.AtStart {
		e.log.Info("job scheduled", "schedule", e.job.Schedule.Text)
		e.arrive(began.Truncate(time.Millisecond))
		return
	}
	opts := []executor.Option{executor.Named(e.job.Name)}
	if e.job.Jitter > 0 {
		opts = append(opts, executor.Jitter(e.job.Jitter))
	}
	e.times = &watched{Trigger: e.job.Schedule.From(began), missed: e.late}
	if next := e.times.Next(time.Now()); !next.IsZero() {
		e.log.Info("job scheduled", "schedule", e.job.Schedule.Text, "next", stamp(next.In(e.job.Schedule.Location()))) // before its first run
	}
	_, err := e.daemon.scheduled.On(context.Background(), e.times, func(context.Context) error {
		e.arrive(e.times.use()) // executor.Due would have the jitter in it
		return nil
	}, opts...)
	if err != nil {
		e.log.Error("job not scheduled", "schedule", e.job.Schedule.Text, "reason", err.Error())
	}
}

// arrive is called each time the job is due. It starts a run, unless one goes
// on, and does not wait for it.
func (e *entry) arrive(due time.Time) {
	due = due.In(e.job.Schedule.Location())
	e.mu.Lock()
	running := e.mu.running
	if running {
		e.mu.skips++
		e.mu.Skipped++
	} else {
		e.mu.running = true
		e.mu.Runs++
		e.mu.current, e.mu.skips = e.mu.Runs, 0
	}
	number := e.mu.current
	e.mu.Unlock()
	if running {
		e.log.Warn("run skipped", "due", stamp(due), "reason", "the run before is still going on", "running", number)
		return
	}

	r := &run{entry: e, job: e.job, number: number, due: due, log: e.log.With("run", number)}
	err := e.daemon.runs.Go(context.Background(), r.execute, executor.Named(e.job.Name))
	if err != nil {
		// The pool has no limit, so it can only be the second signal, which
		// came in this very moment.
		r.report(process.Result{Err: err, Stopped: true}, stopped, e.skips())
		e.finish(true, true)
	}
}

// skips returns how many times were skipped during the present run, so far.
func (e *entry) skips() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.skips
}

// finish makes the entry idle again.
func (e *entry) finish(failed, interrupted bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.running = false
	if failed {
		e.mu.Failed++
	}
	if interrupted {
		e.mu.Interrupted++
	}
}

// late records times that had passed before the scheduled pool came to them.
func (e *entry) late(n int, first time.Time) {
	e.miss(n, first, "the time had passed when executord came to it")
}

// miss records times that passed without being told to arrive.
func (e *entry) miss(n int, first time.Time, reason string) {
	e.mu.Lock()
	e.mu.Missed += n
	e.mu.Unlock()
	e.log.Warn("runs missed", "count", n, "first", stamp(first.In(e.job.Schedule.Location())), "reason", reason)
}

// close records the times up to now that the scheduled pool, which is terminated,
// has not come to. One of them may be waiting for the end of its jitter.
func (e *entry) close(now time.Time) {
	if e.times == nil {
		return
	}
	e.times.missed = func(n int, first time.Time) {
		e.miss(n, first, "the drain began before executord came to it")
	}
	e.times.Next(now)
}

// stamp writes a time as logs do, to the second, which cron's times are, or as
// exactly as it is.
func stamp(t time.Time) string { return t.Format(time.RFC3339Nano) }
