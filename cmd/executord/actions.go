package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// act is one way of changing jobs in a store.
type act struct {
	action      client.Action
	short, long string
}

func newActs() []*cobra.Command {
	var all []*cobra.Command
	for _, a := range []act{
		{client.Cancel, "Cancel jobs in a store", `
cancel keeps the named jobs from running until resume, even if a daemon starts
whose file has them. A run in progress is ended, as by a timeout.`},
		{client.Pause, "Keep jobs in a store from running until they are resumed", `
pause keeps the jobs named from running until resume, also when a daemon is
started whose file has them. A run in progress may end.`},
		{client.Resume, "Let jobs in a store run again", `
resume lets jobs that are paused go on: at their next time, or at once if a time
has passed meanwhile. Jobs that are canceled or dead are brought back, and wait
for their next time.`},
		{client.RunNow, "Make jobs in a store due at once", `
run-now makes the named jobs due at once: one of the daemons runs them. Their
schedules go on afterwards. A job that is paused is resumed. --set sets a
parameter, which the job file declares, for this run.`},
	} {
		all = append(all, newAct(a))
	}
	return all
}

func newAct(a act) *cobra.Command {
	use := string(a.action)
	cmd := &cobra.Command{
		Use:   use + " JOB...",
		Short: a.short,
		Long: strings.TrimSpace(a.long) + `

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
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, nil, namespace)
	reason := cmd.Flags().String("reason", "", "the reason, which executord acts shows")
	set := new([]string)
	if a.action == client.RunNow {
		cmd.Flags().StringArrayVar(set, "set", nil, "a parameter of this run, as `NAME=value`; may be repeated")
		if err := cmd.RegisterFlagCompletionFunc("set", parametersOfJobs(store, namespace)); err != nil {
			panic(err) // the flag is there
		}
		cmd.Example += "\n  executord run-now --store jobs.db report --set DAY=2026-11-27"
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
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
			for _, e := range entries {
				answer, text, err := v.Do(ctx, a.action, e, *set...)
				if err != nil {
					return fmt.Errorf("job %s: %w", client.Called(e, full), err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", client.Called(e, full), text)
				if err := v.Note(ctx, e, a.action, *reason, text); err != nil {
					fmt.Fprintf(os.Stderr, "executord: the action was done, but could not be stored in the audit log: %v\n", err)
				}
				done = done && client.Done(answer)
			}
			if missing != nil {
				return missing
			}
			if !done {
				return &exitError{exitMistake, ""}
			}
			return nil
		})
	}
	return cmd
}
