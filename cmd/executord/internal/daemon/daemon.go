// Package daemon runs the jobs of a file when they are due, on package durable:
//
//	file ──▶ catalog.Apply ──▶ store
//	store ──▶ schedule is due ──▶ fire: skipped, missed, excluded, or a run ──▶ store
//	store ──▶ run is due ──▶ handle ──▶ process.Supervisor.Run
//	  ◀── history ◀── outcome ◀──┘
//
// A job is a schedule in the store, and each run of it a row, for all daemons that share the store. Without --store,
// that is the memory of this daemon. What becomes of a due time is a function of the job, of its runs and of the time:
// planOf. Jobs that run at the start of a daemon are not in the store: it runs them itself.
//
// The files read one way, each uses those before it: config, base, plan, entry, tell, fire; span, attempt, trace, retry
// and run for one run of a command; after, recover and handle for that of a job in the store; state, channels, look, watch,
// apply, summary and daemon for all of them. Runs know the base of a daemon, and not the
// daemon.
package daemon

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/durable"
)

// keepForever has the daemon remove nothing from the store. A job that was canceled would come back with the next start
// of a daemon if it were removed, and jobs of other programs may be in the store, with their own rules.
var keepForever = durable.Retention{Succeeded: -1, Dead: -1, History: -1}

// Ends are the three steps in which a daemon ends, of growing force. The cause of each context is the reason in the
// log. A later step may come without those before it.
type Ends struct {
	Drain context.Context // nothing is due any more; runs in progress may end by themselves
	Stop  context.Context // runs in progress are ended: SIGTERM, then SIGKILL
	Kill  context.Context // runs in progress are killed
}

// New returns a daemon that does nothing yet.
func New(c Config) (*Daemon, error) {
	d := &Daemon{supervisor: process.New(c.Grace), ended: make(chan struct{})}
	if c.Machine.Name == "" {
		c.Machine, _ = job.NewMachine("", nil)
	}
	d.Config = c
	d.command = d.supervisor.Run
	if d.Record == nil {
		d.Record = record.New(record.Limits{})
	}
	d.questions = make(chan struct{}, 1)
	d.notices.asking = make(chan struct{}, 1)
	leaving, leave := context.WithCancel(context.Background())
	d.leaving, d.leave = leaving, func() {
		d.notifier.Leave()
		leave()
	}
	d.stopping, d.stopRuns = context.WithCancel(context.Background())
	d.mu.entries, d.mu.channels = make(map[string]*entry), make(map[string][]string)
	var err error
	if d.pool, err = executor.NewScheduled(executor.ScheduledConfig{
		Name: "executord", Workers: workers(c.File), KeepAlive: time.Minute, KeepNone: true, Logger: c.Log,
		Observer: c.Observer,
	}); err != nil {
		return nil, err
	}
	history, output := keptRuns, c.Output
	if !c.Store.shared() {
		history, output = -1, -1 // no command could read it
		if c.Observer != nil {
			history = fewKeptRuns // somebody may look
		}
	}
	jobs, err := durable.New(durable.Config{
		Name: c.Machine.Name, Store: c.Store.Store, Executor: d.pool, Lease: c.Store.Lease, Poll: c.Store.Poll, Drain: math.MaxInt64, // drain has the limit
		Keep: keepForever, History: history, Output: output,
		Logger: c.Log,
		Hooks:  durable.Hooks{Failed: func(durable.Job, durable.Run) {}}, // the log says how each run ended
	})
	if err != nil {
		d.pool.Close()
		return nil, err
	}
	d.notifier = newNotifier(c, jobs)
	d.catalog = catalog.Catalog{Namespace: c.Store.Namespace, Machine: c.Machine, Store: c.Store.Store, Jobs: jobs, Keep: max(history, 1)}
	d.kinds = make(map[string]bool)
	durable.Handle(jobs, catalog.Kind(c.Store.Namespace), d.handle, durable.OnFire(d.fire))
	return d, nil
}

// Run runs the jobs until ends.Drain ends, and then those that are running to
// their end. When it returns, no process that a job started is left.
//
// It takes charge of all child processes of the program, so there can be one
// Run in a program, and nothing else that starts processes.
func (d *Daemon) Run(ends Ends) (Summary, error) {
	process.CloseOnExec()
	defer d.supervisor.Adopt()()
	if err := d.start(ends.Stop); err != nil {
		d.pool.Close()
		return Summary{}, err
	}

	// These act at once, even while a line of the log waits for its reader.
	defer context.AfterFunc(ends.Stop, d.stop)()
	defer context.AfterFunc(ends.Kill, d.supervisor.Kill)()

	d.await(ends)
	d.drain(ends)
	ended, survivors := d.supervisor.EndStrays()
	for _, stray := range ended {
		d.Log.Warn("process ended", "pid", stray.PID, "name", job.Printable(stray.Name),
			"reason", "it had left the group of its run and was still there after the drain")
	}
	for _, stray := range survivors {
		d.Log.Error("process could not be ended", "pid", stray.PID, "name", job.Printable(stray.Name),
			"reason", "it is still there after SIGKILL")
	}
	sum := d.summarize()
	sum.Survivors = len(survivors)
	return sum, nil
}

// start puts the jobs of the file into the store, and begins to run them.
func (d *Daemon) start(ctx context.Context) error {
	started := []any{about.Key, about.Started, "file", d.File.Name, "jobs", len(d.File.Jobs)}
	if d.Store.shared() {
		started = append(started, "store", d.Store.Name, "namespace", d.Store.Namespace)
	}
	if !d.Machine.IsDefault() {
		started = append(started, "machine", d.Machine.String())
	}
	d.Log.Info("executord started", started...)
	d.logNotes(d.File)
	d.logElsewhere(d.File)
	began := time.Now()
	if err := d.apply(ctx, d.File, hintSameName); err != nil {
		return err
	}
	if now, err := d.Store.Now(ctx); err == nil {
		d.catalog.Hasten(ctx, now) // else the first look does
	}
	d.setChannels(d.File)
	for _, j := range d.File.Jobs {
		if j.Schedule.AtStart && d.Machine.In(j.On) {
			d.runAtStart(j, began)
		}
	}
	d.noteApplied(d.File, nil)
	go func() { // ends after leave or stop; Run waits for ended
		defer close(d.ended)
		d.catalog.Jobs.Run(d.leaving)
		d.pool.Shutdown()
		<-d.pool.Terminated()
	}()
	return nil
}

// await waits for the end. Meanwhile it applies files that are sent, and looks at what others do to the jobs.
func (d *Daemon) await(ends Ends) {
	ctx, cancel := context.WithCancel(ends.Drain)
	defer cancel()
	defer context.AfterFunc(ends.Stop, cancel)()
	looks := time.NewTicker(d.lookEvery())
	defer looks.Stop()
	machines := time.NewTicker(d.machinesEvery())
	defer machines.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case file := <-d.Again:
			d.reload(ends.Stop, file) // a drain lets it finish
		case <-looks.C:
			d.look(ctx)
		case <-machines.C:
			d.lookForMachines(ctx)
		}
	}
}

// stop ends the runs in progress.
func (d *Daemon) stop() {
	d.leave()
	d.stopRuns()
	d.pool.ShutdownNow()
}

// errPatience is the reason for ending the runs when a drain takes too long.
var errPatience = errors.New("the drain took longer than --drain-timeout")

// drain waits for the runs in progress, and ends them if it has to.
func (d *Daemon) drain(ends Ends) {
	d.leave()
	began := time.Now()
	d.Log.Info("draining", about.Key, about.Draining, "reason", reason(ends.Drain, ends.Stop), "running", d.running.Load())

	stop, release := ends.Stop, context.CancelFunc(func() {})
	if d.Patience > 0 {
		stop, release = context.WithTimeoutCause(ends.Stop, d.Patience, errPatience)
	}
	defer release()
	select {
	case <-d.ended:
	case <-stop.Done():
		d.Log.Warn("stopping", about.Key, about.Stopping, "reason", reason(stop), "running", d.running.Load(), "grace", d.Grace)
		d.stop()
		<-d.ended
	}
	if !d.Store.shared() {
		d.noteNotBegun(began)
	}
	d.endNotifier(ends.Kill)
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
