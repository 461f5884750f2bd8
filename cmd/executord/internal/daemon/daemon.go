// Package daemon runs jobs when they are due, on two pools of package executor.
//
//	scheduled pool          entry                 pool of runs        process
//	due ──▶ arrive ──▶ idle? ── yes ──▶ Go ──▶ execute ──▶ Supervisor.Run
//	                         └─ no: skip, count, log
//
// One pool would do for running jobs, since periodic work never overlaps itself
// there. But then the pool would leave out what comes due during a run without
// anybody knowing, and a job that hangs would look like one that is never due.
// So the scheduled pool only says that a job is due, which takes microseconds,
// and sees every time of every job.
package daemon

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// Config says what to run and how.
type Config struct {
	File job.File
	Log  *slog.Logger

	// Grace is the time between SIGTERM and SIGKILL for a run that is to end.
	Grace time.Duration

	// Patience is how long a drain waits for the runs that go on, before it
	// ends them. Zero means: as long as they take.
	Patience time.Duration

	// Shared, if not nil, has the jobs kept in a store.
	Shared *Shared
}

// Ends tells a daemon to end, in three steps of growing force. The cause of
// each context says why, for the log. A later step may come without those
// before it.
type Ends struct {
	Drain context.Context // nothing is due any more; what runs may end by itself
	Stop  context.Context // what runs is told to end: SIGTERM, then SIGKILL
	Kill  context.Context // what runs is killed
}

// Daemon runs the jobs of one file.
type Daemon struct {
	Config
	entries    []*entry
	scheduled  *executor.ScheduledPool // says when a job is due
	runs       *executor.Pool          // one task for each run; a job has at most one
	supervisor *process.Supervisor
	node       *node // the part in the jobs of a store, nil without one
}

// New returns a daemon that does nothing yet.
func New(c Config) *Daemon {
	return &Daemon{Config: c, supervisor: process.New(c.Grace)}
}

// Run runs the jobs until ends.Drain ends, and then those that are running to
// their end. When it returns, no process that a job started is left.
//
// It takes charge of all child processes of the program, so there can be one
// Run in a program, and nothing else that starts processes.
func (d *Daemon) Run(ends Ends) (Summary, error) {
	defer d.supervisor.Adopt()()
	if err := d.start(ends.Stop); err != nil {
		return Summary{}, err
	}

	// These act at once, even while a line of the log waits for its reader.
	defer context.AfterFunc(ends.Stop, d.stop)()
	defer context.AfterFunc(ends.Kill, d.supervisor.Kill)()

	d.await(ends)
	d.drain(ends)
	for _, stray := range d.supervisor.EndStrays() {
		d.Log.Warn("process ended", "pid", stray.PID, "name", job.Printable(stray.Name),
			"reason", "it had left the group of its run and was still there after the drain")
	}
	return d.summarize(), nil
}

// await waits for the end, and reads the file again whenever it is told to.
func (d *Daemon) await(ends Ends) {
	ctx, cancel := context.WithCancel(ends.Drain)
	defer cancel()
	defer context.AfterFunc(ends.Stop, cancel)()
	var again <-chan job.File  // nil without a store: such a daemon reads its file once
	var looks <-chan time.Time // nil without a store
	if d.Shared != nil {
		again = d.Shared.Again
		ticker := time.NewTicker(d.node.lookEvery())
		defer ticker.Stop()
		looks = ticker.C
	}
	for {
		select {
		case <-ends.Drain.Done():
			return
		case <-ends.Stop.Done():
			return
		case file := <-again:
			d.node.reload(ends.Stop, file) // a drain lets it finish
		case <-looks:
			d.node.look(ctx)
		}
	}
}

// start makes the pools and schedules the jobs. With a store, that is for those
// that run at the start; the others are brought there.
func (d *Daemon) start(ctx context.Context) error {
	var err error
	// Dispatching never waits for a job, so one worker keeps all in time.
	if d.scheduled, err = executor.NewScheduled(executor.ScheduledConfig{
		Name: "executord", Core: 1, Logger: d.Log,
	}); err != nil {
		return err
	}
	// No limit: there are no more runs than jobs, since none overlaps itself.
	if d.runs, err = executor.New(executor.Config{
		Name: "executord runs", Max: math.MaxInt, KeepAlive: time.Minute, Queue: executor.Handoff(), Logger: d.Log,
	}); err != nil {
		return err
	}

	started := []any{"file", d.File.Name, "jobs", len(d.File.Jobs)}
	if d.Shared != nil {
		if d.node, err = newNode(d); err != nil {
			return err
		}
		started = append(started, "store", d.Shared.Name, "namespace", d.Shared.Namespace)
	}
	d.Log.Info("executord started", started...)
	for _, note := range d.File.Notes {
		d.Log.Warn("note on the file", "line", note.Line, "what", note.What, "hint", note.Hint)
	}
	began := time.Now()
	if d.node != nil {
		if err := d.node.start(ctx); err != nil {
			return err
		}
	}
	for _, j := range d.File.Jobs {
		if d.node != nil && !j.Schedule.AtStart {
			continue
		}
		e := newEntry(d, j)
		d.entries = append(d.entries, e)
		e.schedule(began)
	}
	return nil
}

// stop ends what runs.
func (d *Daemon) stop() {
	if d.node != nil {
		d.node.stop()
	}
	d.runs.ShutdownNow()
}

// running says how many runs go on.
func (d *Daemon) running() int {
	n := d.runs.Stats().Active
	if d.node != nil {
		n += int(d.node.running.Load())
	}
	return n
}

// ended waits until no run goes on, or ctx ends, and reports which.
func (d *Daemon) ended(ctx context.Context) bool {
	if d.node != nil {
		select {
		case <-d.node.ended:
		case <-ctx.Done():
			return false
		}
	}
	return d.runs.AwaitTermination(ctx) == nil
}

// drain waits for the runs that go on, and ends them if it has to.
//
// Order matters: the scheduled pool first, so that whatever it has begun to
// hand over still finds the pool of runs open. What has come due by then and was
// not come to, as lines of the log waited for their reader, or its jitter had not
// gone by, is missed.
func (d *Daemon) drain(ends Ends) {
	d.scheduled.Close()
	d.runs.Shutdown()
	if d.node != nil {
		d.node.leave()
	}
	now := time.Now() // one for all
	for _, e := range d.entries {
		e.close(now)
	}
	d.Log.Info("draining", "reason", reason(ends.Drain, ends.Stop), "running", d.running())

	stop, release := ends.Stop, context.CancelFunc(func() {})
	if d.Patience > 0 {
		stop, release = context.WithTimeoutCause(ends.Stop, d.Patience, errPatience)
	}
	defer release()
	if d.ended(stop) {
		return
	}
	d.Log.Warn("stopping", "reason", reason(stop), "running", d.running(), "grace", d.Grace)
	d.stop()
	d.ended(context.Background())
}

// reason returns the cause of the first context that has ended.
func reason(ctxs ...context.Context) string {
	for _, ctx := range ctxs {
		if ctx.Err() != nil {
			return context.Cause(ctx).Error()
		}
	}
	return ""
}
