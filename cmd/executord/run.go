package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run the jobs of a file until SIGINT or SIGTERM",
		Long: strings.TrimSpace(`
run reads FILE (- for standard input), a crontab or TOML, and runs its jobs when
they are due. With a mistake in FILE it starts nothing, prints every mistake and
exits with 1; see executord check.

A job never overlaps itself: what comes due while a run goes on is skipped,
counted and logged. The log goes to standard output, as text on a terminal and
as JSON elsewhere, with one line at the start and at the end of each run, and
one for each line that a job writes.

With --store the jobs are kept in a file, or in PostgreSQL, with the history of
their runs: what was due while no daemon ran is made up for, once. Daemons that
share a store and a namespace share the jobs: each time at which one is due is
run by one of them.

Signals
  SIGINT, SIGTERM, SIGQUIT
          the first: no new runs; exit when those that run have ended
          the second: end them, children too: SIGTERM, then SIGKILL
          the third: SIGKILL at once
  SIGHUP  with --store: read FILE again
          without: is ignored, start executord again instead

Exit codes
  0  every run had ended by itself
  1  there are mistakes in FILE, it or the store cannot be read, or the log is lost
  2  the command line is wrong
  3  runs had to be ended, by a second signal, by --drain-timeout, or because the
     store did not answer after the first signal`),
		Args: oneFile,
	}
	format := newFormat(cmd)
	logFormat := &choice{"auto", []string{"auto", "text", "json"}}
	cmd.Flags().Var(logFormat, "log", "how the log is written; auto is text on a terminal and json elsewhere")
	patience := cmd.Flags().Duration("drain-timeout", 0, "how long the runs that go on may take after the first signal; 0 means no limit")
	grace := cmd.Flags().Duration("kill-after", 10*time.Second, "how long a run that is told to end may take, before it is killed")

	store := newStoreFlag(cmd, "keep the jobs in a file, which is made if it is not there, or in postgres://user@host/database")
	namespace := newNamespaceFlag(cmd, "what the jobs of this file go by in the store; the default is the name of FILE without its ending")
	lease := cmd.Flags().Duration("lease", 5*time.Second, "how long after a daemon's last sign of life others that share the store take over what it ran")

	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *patience < 0 || *grace < 0 {
			return fmt.Errorf("--drain-timeout and --kill-after cannot be negative")
		}
		if err := store.checkNamed(); err != nil {
			return err
		}
		if store.name() == "" && (cmd.Flags().Changed("namespace") || cmd.Flags().Changed("lease")) {
			return fmt.Errorf("--namespace and --lease are for jobs in a store: %s", storeHint)
		}
		shared, err := newShared(store.name(), *namespace, args[0], *lease)
		if err != nil {
			return err
		}
		file, err := load(args[0], format.value, shared != nil)
		if err != nil {
			return err
		}
		hangups := catchHangups()
		defer signal.Stop(hangups)
		if shared != nil {
			if shared.Store, shared.Name, err = openStore(store.name(), true); err != nil {
				return &exitError{exitMistake, err.Error()}
			}
			defer shared.Store.Close()
		}

		ends, drain, release := watchSignals()
		defer release()
		var lost atomic.Bool
		log := newLog(os.Stdout, logFormat.value, func(err error) {
			lost.Store(true)
			drain(fmt.Errorf("the log cannot be written: %w", err))
		})
		if zone := job.Misnamed(); zone != "" {
			log.Warn("TZ ignored", "TZ", zone, "reason", misnamedZone, "hint", job.ZoneHint)
		}
		logExposed(log, otherWriters(args[0], store.name()))
		again := make(chan job.File)
		defer answerHangups(hangups, func(quit <-chan struct{}) {
			if shared == nil || readOnce(args[0]) {
				log.Warn("SIGHUP ignored", "reason", fmt.Sprintf("%s is read once; to read it again, start executord again", file.Name))
				return
			}
			if file, ok := reload(log, args[0], format.value); ok {
				logExposed(log, otherWriters(args[0]))
				select {
				case again <- file:
				case <-quit:
				}
			}
		})()
		if shared != nil {
			shared.Again = again
		}

		sum, err := daemon.New(daemon.Config{File: file, Log: log, Grace: *grace, Patience: *patience, Shared: shared}).Run(ends)
		if err != nil {
			if shared != nil {
				err = explainStore(shared.Name, err)
			}
			return &exitError{exitMistake, err.Error()}
		}
		code := exitOK
		switch {
		case sum.Interrupted > 0:
			code = exitInterrupted
		case lost.Load():
			code = exitMistake
		}
		log.Info("executord ended", "jobs", sum.Jobs, "runs", sum.Runs, "failed", sum.Failed,
			"skipped", sum.Skipped, "missed", sum.Missed, "interrupted", sum.Interrupted, "exit", code)
		switch {
		case code == exitOK:
			return nil
		case lost.Load():
			return &exitError{code, "nobody reads the log, so executord has ended"}
		}
		return &exitError{code, ""} // the log has said it
	}
	return cmd
}

// longestLease is what package durable takes at most.
const longestLease = 365 * 24 * time.Hour

// newShared checks what the command line says about a store. It is nil without
// one.
func newShared(store, namespace, file string, lease time.Duration) (*daemon.Shared, error) {
	if store == "" {
		return nil, nil
	}
	if lease < time.Second || lease > longestLease {
		return nil, fmt.Errorf("--lease %v: it must be 1s to %v", lease, longestLease)
	}
	if namespace == "" {
		namespace = job.CanonicalName(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		if !catalog.ValidNamespace(namespace) || readOnce(file) || isDescriptor(file) {
			return nil, fmt.Errorf("the jobs need a namespace in the store, and %s gives none: set --namespace; %s", file, catalog.NamespaceHint)
		}
	}
	return &daemon.Shared{Namespace: namespace, Lease: lease}, checkNamespace(namespace)
}

// readOnce reports whether a job file is one that cannot be read again: standard
// input, or a pipe, as <(command) gives it in a shell, or as it may be in the
// place of the file by now. To open a pipe to which nobody writes takes until
// somebody does, and executord has to be able to end meanwhile.
func readOnce(name string) bool {
	if name == "-" {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() // for those, reading it tells more
}

// isDescriptor reports whether a name is that of an open file, such as /dev/fd/3
// or /dev/stdin: what it is of is not in it.
func isDescriptor(name string) bool {
	dir := filepath.Dir(name)
	return dir == "/dev" || dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/")
}

// reload reads the file again. With a mistake in it, all stays as it is.
func reload(log *slog.Logger, name, format string) (job.File, bool) {
	file, err := parse(name, format, true)
	if err == nil {
		return file, true
	}
	const what = "file not read again"
	var all job.Mistakes
	if !errors.As(err, &all) {
		log.Error(what, "reason", err.Error())
	}
	for _, m := range all {
		log.Error(what, "line", m.Line, "reason", m.What, "hint", m.Hint)
	}
	return job.File{}, false
}
