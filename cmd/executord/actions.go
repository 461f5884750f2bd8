package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// act is one way of changing jobs in a store.
type act struct {
	action      client.Action
	short, long string
	byDaemon    bool // a daemon does it, too
}

func newActs() []*cobra.Command {
	var all []*cobra.Command
	for _, a := range []act{
		{client.Cancel, "Cancel jobs in a store", `
cancel keeps the named jobs from running until resume, even if a daemon starts
whose file has them. A run in progress is ended, as by a timeout.`, false},
		{client.Pause, "Keep jobs from running until they are resumed", `
pause keeps the jobs named from running until resume, also when a daemon is
started whose file has them. A run in progress may end.`, true},
		{client.Resume, "Let jobs run again", `
resume lets jobs that are paused go on: at their next time, or at once if a time
has passed meanwhile. Jobs that are canceled or dead are brought back, and wait
for their next time.`, true},
		{client.RunNow, "Make jobs due at once", `
run-now makes the named jobs due at once: one of the daemons runs them. Their
schedules go on afterwards. A job that is paused is resumed. --set sets a
parameter, which the job file declares, for this run. --wait waits for the end
of the runs, and prints how each has ended.`, true},
	} {
		all = append(all, newAct(a))
	}
	return all
}

func newAct(a act) *cobra.Command {
	use := string(a.action)
	long := strings.TrimSpace(a.long)
	if a.byDaemon {
		long += `

The jobs are those of a store, or of a daemon that runs with --listen and
--actions.`
	}
	cmd := &cobra.Command{
		Use:   use + " JOB...",
		Short: a.short,
		Long: long + `

It prints a line for each job. The exit code is 0 if all jobs were changed, or
will be when their run has ended; it is 1 if a job does not exist, or its state
does not allow the change.`,
		Example: "  executord " + use + " --store jobs.db backup",
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				return fmt.Errorf("%s needs the name of a job, such as: executord %s backup", use, use)
			}
			return nil
		},
	}
	store := newStoreFlag(cmd, "the store: a file, or postgres://...")
	namespace := newNamespaceFlag(cmd, "the namespace of the jobs, if the store has several")
	var at *atFlag
	if a.byDaemon {
		at = newAtFlag(cmd)
		cmd.Example += "\n  executord " + use + " --at 127.0.0.1:8384 --token-file token backup"
	}
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, at, namespace)
	reason := cmd.Flags().String("reason", "", "the reason, which executord acts shows")
	set, wait := new([]string), new(bool)
	if a.action == client.RunNow {
		cmd.Flags().StringArrayVar(set, "set", nil, "a parameter of this run, as `NAME=value`; may be repeated")
		if err := cmd.RegisterFlagCompletionFunc("set", parametersOfJobs(store, namespace)); err != nil {
			panic(err) // the flag is there
		}
		cmd.Flags().BoolVar(wait, "wait", false, "wait for the end of the runs; the exit code is 4 if one has not ended well")
		cmd.Long += " With --wait it is 4 if a run has not ended well."
		cmd.Example += "\n  executord run-now --store jobs.db report --set DAY=2026-11-27"
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		if at != nil && at.chosen(store) {
			return at.act(cmd.OutOrStdout(), a.action, names, *reason, *set, *wait)
		}
		return store.visit(func(ctx context.Context, v client.Client) error {
			entries, full, missing := v.Find(ctx, *namespace, names)
			if missing != nil && !errors.As(missing, new(*client.MissingError)) {
				return missing
			}
			for _, e := range entries { // before any is due
				if _, err := job.Parameters(e.Spec.Parameters).Given(*set); err != nil {
					return &exitError{exitMistake, fmt.Sprintf("job %s: %v", client.Called(e, full), err)}
				}
			}
			done := missing == nil
			var waits []waiting
			for _, e := range entries {
				w := waiting{called: client.Called(e, full), runs: func(n int) ([]view.Run, error) { return runsOf(v, e, n) }}
				if *wait {
					if err := w.begin(); err != nil {
						return err
					}
				}
				answer, text, err := v.Do(ctx, a.action, e, *set...)
				if err != nil {
					return fmt.Errorf("job %s: %w", client.Called(e, full), err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", client.Called(e, full), text)
				if err := v.Note(ctx, e, a.action, *reason, text); err != nil {
					fmt.Fprintf(os.Stderr, "executord: the action was done, but could not be stored in the audit log: %v\n", err)
				}
				done = done && client.Done(answer)
				if *wait && client.Done(answer) {
					waits = append(waits, w)
				}
			}
			waited := waitFor(cmd.OutOrStdout(), waits)
			switch {
			case missing != nil:
				return missing
			case !done:
				return &exitError{exitMistake, ""}
			}
			return waited
		})
	}
	return cmd
}

// act does it to jobs of a daemon.
func (f *atFlag) act(w io.Writer, action client.Action, names []string, reason string, set []string, wait bool) error {
	jobs, err := f.jobs(names)
	if err != nil {
		return err
	}
	c, err := f.client()
	if err != nil {
		return err
	}
	done := true
	var waits []waiting
	for _, j := range jobs {
		one := waiting{called: job.Printable(j.Job), runs: func(n int) ([]view.Run, error) { return f.runs([]string{j.Job}, n) }}
		if wait {
			if err := one.begin(); err != nil {
				return err
			}
		}
		result, err := c.act(action, j.Job, cmp.Or(reason, "executord "+string(action)+", by "+client.WhoAmI()), set)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", one.called, job.Printable(result.Answer))
		if done = done && result.Done; wait && result.Done {
			waits = append(waits, one)
		}
	}
	waited := waitFor(w, waits)
	if !done {
		return &exitError{exitMistake, ""}
	}
	return waited
}

// runsOf returns the latest runs of a job in a store, that in progress too.
func runsOf(v client.Client, e catalog.Entry, n int) (runs []view.Run, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), stores.Patience)
	defer cancel()
	row, err := v.Jobs.Get(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	now, ok := catalog.Read(row)
	if !ok {
		return nil, nil
	}
	return v.Runs(ctx, []catalog.Entry{now}, n)
}
