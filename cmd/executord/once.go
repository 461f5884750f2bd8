package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/foreground"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

func newRunOnce() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run-once {FILE|--dir DIR} JOB",
		Short: "Run a job of a file now, here, without a daemon",
		Long: strings.TrimSpace(`
run-once reads FILE (- for standard input) as run would, and runs one of its
jobs in the foreground, at once: with the environment, user, directory, standard
input and timeout that a daemon would give it. What the command writes goes to
standard output and standard error, line by line, with *** for secrets. --set
sets a parameter.

Neither a store nor a daemon is used. So nothing is recorded or reported, failed
attempts are not repeated, and no other job is looked at: not those after this
one, not its group, and not a run of it that is in progress elsewhere.

SIGINT (Ctrl-C), SIGTERM, SIGQUIT and SIGHUP end the run, children too: SIGTERM,
and after --kill-after SIGKILL. A second signal is SIGKILL at once.

Exit codes
  that of the command, if it has ended by itself; and
  1    FILE has mistakes, or cannot be read, or has no such job
  2    the command line is wrong
  124  the command took longer than its timeout
  126  the command could not be started
  128+n  signal n has ended the command, or was sent to executord: 130 is SIGINT`),
		Example: strings.Trim(`
  executord run-once jobs.crontab backup
  executord run-once jobs.toml report --set DAY=2026-11-27
  executord run-once --dir /etc/cron.d backup/dump`, "\n"),
	}
	files := newSources(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := fileAndJobs(cmd, args); err != nil {
			return err
		}
		if left := len(args) - len(files.first(args)); left != 1 {
			return errors.New("run-once needs the name of one job, such as: executord run-once jobs.crontab backup")
		}
		return nil
	}
	set := cmd.Flags().StringArray("set", nil, "a parameter of this run, as `NAME=value`; may be repeated")
	killAfter := cmd.Flags().Duration("kill-after", defaultGrace, "how long the run may take to end after SIGTERM, before it is killed")
	cmd.ValidArgsFunction = namesInFiles(&files)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *killAfter < 0 {
			return errors.New("--kill-after cannot be negative")
		}
		files.names = files.first(args)
		file, _, err := files.load(false)
		if err != nil {
			return err
		}
		jobs, err := chosen(file.Jobs, args[len(args)-1:])
		if err != nil {
			return &exitError{exitMistake, err.Error()}
		}
		return runOnce(jobs[0], *set, *killAfter)
	}
	return cmd
}

// runOnce runs a job, and returns the error that has the exit code.
func runOnce(j job.Job, set []string, grace time.Duration) error {
	given, err := j.Parameters.Given(set)
	if err != nil {
		return &exitError{exitMistake, fmt.Sprintf("job %s: %v", j.Name, err)}
	}
	ends, _, release := watchSignals(syscall.SIGHUP)
	defer release()
	end := foreground.Run{
		Job: j, Given: given, Grace: grace, Stop: ends.Drain, Kill: ends.Stop, Stdout: os.Stdout, Stderr: os.Stderr,
	}.Do()
	var sig *signalError
	if errors.As(end.Cause, &sig) {
		end.Code = foreground.Signaled + sig.number()
	}
	switch {
	case end.Text != "":
		return &exitError{end.Code, fmt.Sprintf("job %s: %s", j.Name, end.Text)}
	case end.Code != exitOK:
		return &exitError{code: end.Code} // the command has said why
	}
	return nil
}
