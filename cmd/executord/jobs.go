package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

func newJobs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs [JOB...]",
		Short: "List the jobs in a store, or of a daemon",
		Long: strings.TrimSpace(`
jobs lists the jobs in a store, or those of a daemon that runs with --listen:
all, or those named. Each has its next time, and how its last run ended. Times
are in the time zone of the job.

States
  waiting   waits for its next time
  due       its time is near or has come, and a daemon is about to run it; or a
            run waits, for the end of its jitter or of other runs
  running   runs, for this long, on NODE; of a job that waits, NODE has in
            parentheses the machines that may run it
  paused    does not run until executord resume, or until a time
  canceled  was canceled; executord resume brings it back
  dead      its next time cannot be computed; resume tries again
  ended     has no next time
  removed   is no longer in its file (with --all)
  no machine
            waits; no daemon is running on a machine that may run it
  elsewhere is for other machines; the daemon has no store`),
		Example: strings.Trim(`
  executord jobs --at 127.0.0.1:8384
  executord jobs --store jobs.db
  executord jobs --store jobs.db backup
  executord jobs --store jobs.db --tag team=shop --state dead
  executord jobs --store 'postgres://app@db/app?sslmode=verify-full' --json`, "\n"),
	}
	store := newStoreFlag(cmd, "the store: a file, postgres://... or etcd://...")
	at := newAtFlag(cmd)
	namespace := newNamespaceFlag(cmd, "list only the jobs of this namespace")
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, at, namespace)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each job")
	all := cmd.Flags().Bool("all", false, "list jobs that were removed from their file too")
	some := newSomeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := errors.Join(checkNamespace(*namespace), some.query.Check()); err != nil {
			return err
		}
		if at.chosen(store) {
			list, err := at.jobs(names)
			if err != nil {
				return err
			}
			if list = some.of(list); *asJSON {
				return job.WriteJSON(cmd.OutOrStdout(), list)
			}
			printJobs(cmd.OutOrStdout(), list, false)
			return nil
		}
		return store.visit(func(ctx context.Context, v client.Client) error {
			entries, full, err := v.Find(ctx, *namespace, names)
			if err != nil {
				return err
			}
			if !*all && len(names) == 0 && !slices.Contains(some.states.values, "removed") {
				entries = slices.DeleteFunc(entries, catalog.Entry.Removed)
			}
			lasts, err := v.Lasts(ctx, entries)
			if err != nil {
				return err
			}
			list := make([]view.Job, len(entries))
			for i, e := range entries {
				list[i] = view.Of(e, lasts[i], time.Now())
			}
			if err := v.AddMachines(ctx, entries, list); err != nil {
				return err
			}
			if err := v.AddEnds(ctx, entries, list); err != nil {
				return err
			}
			list = some.of(list)
			if err := v.AddProgress(ctx, list); err != nil {
				return err
			}
			if *asJSON {
				return job.WriteJSON(cmd.OutOrStdout(), list)
			}
			printJobs(cmd.OutOrStdout(), list, full)
			return nil
		})
	}
	return cmd
}

// printJobs writes the table, with the full names of jobs or their own. On a terminal it fits that.
func printJobs(w io.Writer, list []view.Job, full bool) {
	if len(list) == 0 {
		fmt.Fprintln(os.Stderr, "no jobs")
		return
	}
	wide := terminal.Width(w)
	t := jobTable(list, full, showInstant)
	if wide > 0 && t.Width() > wide {
		now := time.Now()
		t = jobTable(list, full, func(at time.Time) string { return showShort(at, now) })
	}
	t.Fit(wide).Write(w)
}

// jobTable returns the table of jobs, with times as show has them.
func jobTable(list []view.Job, full bool, show func(time.Time) string) *terminal.Table {
	t := new(terminal.Table)
	t.Add("JOB", "SCHEDULE", "STATE", "NEXT", "LAST RUN", "NODE")
	for _, j := range list {
		next, last, state := "-", "never", j.State.String()
		if j.Next != nil {
			next = show(*j.Next)
		}
		if j.Last != nil {
			last = show(j.Last.Started) + " " + string(j.Last.Outcome)
		}
		if j.State.State == catalog.StateRunning && j.Running != nil {
			since := j.State
			since.State += catalog.State(" " + view.Span(j.Running.Took).Truncate(time.Second).String())
			state = since.String()
			if p := j.Running.Progress; p != nil && p.Total > 0 {
				state += " " + p.String()
			}
		}
		if !j.Until.IsZero() {
			state += " until " + show(j.Until)
		}
		node := j.Node
		if node == "" && len(j.On) > 0 {
			node = "(" + strings.Join(j.On, ", ") + ")"
		}
		t.Add(client.CalledIn(j.Namespace, j.Job, full), j.Schedule, state, next, last, node)
	}
	return t
}
