package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/runlog"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/cmd/executord/internal/systemd"
	"github.com/executor-go/executor/cmd/executord/internal/traces"
)

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run the jobs of files until SIGINT or SIGTERM",
		Long: strings.TrimSpace(`
run reads each FILE (- for standard input), a crontab or TOML, and runs the jobs
when they are due. If FILE has a mistake, run starts nothing, prints every
mistake and exits with 1; see executord check. A file of --dir with a mistake is
left out, and logged.

A due time during a run of the same job is skipped, counted and logged, unless
the job sets overlap. The log goes to standard output, short on a terminal and
as JSON elsewhere: a line at the start and at the end of each run, and one for
each line that the job writes.

With --store the jobs and the history of their runs are kept in a file, in
PostgreSQL, or in etcd. With --cluster HOST,HOST,HOST --data DIR, the same on
each of three machines, the daemons keep them by themselves: nothing else is
installed, and if one machine is lost the others go on. One catch-up run makes
up for due times at which no daemon ran. Daemons with the same store and
namespace share the jobs: each due time runs on one of them, or on the machines
that the job names with the key "on". --name and --label set the name and the
labels of this machine. The other commands show and change the jobs in a store.

With --listen 127.0.0.1:8384 it serves pages with the jobs, their runs and
output, live, and answers executord jobs, runs and logs, Prometheus (/metrics)
and probes (/healthz, /readyz). --keep-output, --keep-runs and --keep-for limit
the output that is kept. An address that other machines can reach needs a
--token-file; a socket such as unix:/run/executord.sock is protected by its file
permissions. With --actions the pages can run, pause and resume jobs, and end
runs. With --tls-cert and --tls-key it speaks TLS.

Signals
  SIGINT, SIGTERM, SIGQUIT
          the first: no new runs; exit when the runs in progress have ended
          the second: end them, children too: SIGTERM, then SIGKILL
          the third: SIGKILL at once
  SIGHUP, SIGUSR2
          read the files again, also those of tokens and of the certificate;
          unchanged jobs keep their times

Exit codes
  0  every run ended by itself
  1  FILE has mistakes, FILE or the store cannot be read, or the log was lost
  2  the command line is wrong
  3  executord had to end runs, by a second signal, by --drain-timeout, or
     because the store did not answer after the first signal`),
		Args: someFiles,
	}
	opts := newRunOptions(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		opts.files.names = args
		if err := opts.validate(); err != nil {
			return err
		}
		return opts.run()
	}
	return cmd
}

// run runs the jobs until a signal ends the daemon.
func (o *runOptions) run() error {
	var watch *watch
	if o.watch {
		watch = newWatch(o.files) // before they are read: what changes meanwhile is read again
	}
	file, read, refused, _, err := o.files.usable(o.stored(), false)
	if err != nil {
		return o.files.told(file, err)
	}
	if err := checkUsers(file, o.machine); err != nil {
		return err
	}
	noteHereAndNow(&file, o.machine)
	o.hadJobs = len(file.Jobs) > 0
	reloads := catchReloads()
	defer signal.Stop(reloads)
	ends, drain, release := watchSignals()
	defer release()
	var lost atomic.Bool
	log := runlog.New(os.Stdout, o.log.value, func(err error) {
		lost.Store(true)
		drain(fmt.Errorf("the log cannot be written: %w", err))
	})
	defer log.Close()
	store, dead, err := o.openStore(ends.Drain, log.Logger)
	if err != nil && ends.Drain.Err() != nil { // nothing has begun
		return conclude(log, daemon.Summary{}, lost.Load())
	}
	if err != nil {
		return &exitError{exitMistake, err.Error()}
	}
	defer store.Close()

	listening, err := o.listen.open()
	if err != nil {
		return &exitError{exitMistake, err.Error()}
	}
	defer listening.close()

	o.service = systemd.FromEnvironment(func(err error) {
		log.Warn("service manager not notified", "reason", err.Error())
	})
	if zone := job.Misnamed(); zone != "" {
		log.Warn("TZ ignored", "TZ", zone, "reason", misnamedZone, "hint", job.ZoneHint)
	}
	for _, node := range dead {
		log.Info("took over from a daemon that was killed", "node", node)
	}
	o.inUse.shared = o.stored()
	o.inUse.look(log.Logger, o.files.all())
	defer o.inUse.end()
	defer context.AfterFunc(ends.Drain, o.inUse.end)()
	o.tellRefused(log.Logger, refused)
	exposure.Log(log.Logger, exposure.Of(read, o.store.name()))
	again := make(chan job.File)
	defer answerReloads(reloads, watch, o.unread, func(quit <-chan struct{}) (unread string) {
		listening.again()
		return o.reload(log.Logger, again, quit)
	})()

	var observer *executor.Observer
	var kept *record.Log // nil if nobody can look
	if listening != nil {
		kept = record.New(record.Limits{
			Output: o.keepOutput << 10, Runs: o.keepRuns, Bytes: keptBytes, Age: o.keepFor,
		})
		observer = &executor.Observer{Every: 1, MaxEvents: 100}
	}
	spans := traces.FromEnvironment(traces.Config{Log: log.Logger, Version: version()})
	d, err := daemon.New(daemon.Config{
		Observer: observer, File: file, Machine: o.machine, Log: log.Logger, Admit: log.Admit, Grace: o.killAfter,
		Patience: o.drainTimeout, MaxOutput: int64(o.maxOutput) << 20, Store: store, Again: again,
		Output: o.keepOutput << 10, Record: kept, Applied: o.applied(),
		Tracer: spans.Tracer(),
	})
	if err != nil {
		spans.Close(ends.Kill)
		return &exitError{exitMistake, err.Error()}
	}
	stopServing := listening.serve(log, d, observer, file.Name, o.reading.get)
	stopTelling := o.tellService(ends, d)
	sum, err := d.Run(ends)
	stopTelling()
	stopServing()
	spans.Close(ends.Kill)
	if err != nil {
		return &exitError{exitMistake, stores.Explain(store.Name, err).Error()}
	}
	return conclude(log, sum, lost.Load())
}

// openStore opens the store of the command line, or one in memory. dead has the names of nodes whose processes were
// killed.
func (o *runOptions) openStore(ctx context.Context, log *slog.Logger) (store daemon.Store, dead []string, err error) {
	if !o.stored() {
		return daemon.Memory(), nil, nil
	}
	store = daemon.Store{Namespace: *o.namespace, Lease: o.lease}
	store.Store, store.Name, dead, err = stores.OpenForNode(ctx, o.store.name(), stores.Options{Wait: databaseWait, Log: log})
	return store, dead, err
}

// conclude logs the last line, closes the log, and returns the error of run.
func conclude(log runlog.Log, sum daemon.Summary, logLost bool) error {
	code := exitOK
	switch {
	case sum.Interrupted > 0 || sum.Survivors > 0:
		code = exitInterrupted
	case logLost:
		code = exitMistake
	}
	log.Info("executord ended", about.Key, about.Ended, "jobs", sum.Jobs, "runs", sum.Runs, "failed", sum.Failed,
		"skipped", sum.Skipped, "missed", sum.Missed, "interrupted", sum.Interrupted, "exit", code)
	left := log.Close()
	switch {
	case left.Lines > 0 && !logLost:
		return &exitError{code, fmt.Sprintf("the log was not read, or could not be written: %d lines are lost", left.Lines)}
	case code == exitOK:
		return nil
	case logLost:
		return &exitError{code, "the log has no reader, so executord has ended"}
	}
	return &exitError{code, ""} // the log has said it
}
