package main

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/daemon"
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

Signals
  SIGINT, SIGTERM   the first: no new runs; exit when those that run have ended
                    the second: end them, children too: SIGTERM, then SIGKILL
                    the third: SIGKILL at once
  SIGHUP            is ignored: FILE is read once, start executord again instead

Exit codes
  0  everything had ended by itself
  1  there are mistakes in FILE, it cannot be read, or the log is lost
  2  the command line is wrong
  3  runs had to be ended, by a second signal or by --drain-timeout`),
		Args: oneFile,
	}
	format := newFormat(cmd)
	logFormat := &choice{"auto", []string{"auto", "text", "json"}}
	cmd.Flags().Var(logFormat, "log", "how the log is written; auto is text on a terminal and json elsewhere")
	patience := cmd.Flags().Duration("drain-timeout", 0, "how long the runs that go on may take after the first signal; 0 means no limit")
	grace := cmd.Flags().Duration("kill-after", 10*time.Second, "how long a run that is told to end may take, before it is killed")

	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *patience < 0 || *grace < 0 {
			return fmt.Errorf("--drain-timeout and --kill-after cannot be negative")
		}
		file, err := load(args[0], format.value)
		if err != nil {
			return err
		}

		ends, drain, release := watchSignals()
		defer release()
		var lost atomic.Bool
		log := newLog(os.Stdout, logFormat.value, func(err error) {
			lost.Store(true)
			drain(fmt.Errorf("the log cannot be written: %w", err))
		})
		defer answerHangups(log, file.Name)()

		sum, err := daemon.New(daemon.Config{File: file, Log: log, Grace: *grace, Patience: *patience}).Run(ends)
		if err != nil {
			return &exitError{exitMistake, err.Error()}
		}
		code := exitOK
		switch {
		case sum.Cut > 0:
			code = exitCut
		case lost.Load():
			code = exitMistake
		}
		log.Info("executord ended", "jobs", sum.Jobs, "runs", sum.Runs, "failed", sum.Failed,
			"skipped", sum.Skipped, "missed", sum.Missed, "cut", sum.Cut, "exit", code)
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
