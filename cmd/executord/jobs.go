package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

func newJobs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs [JOB...]",
		Short: "List the jobs in a store, or of a daemon",
		Long: strings.TrimSpace(`
jobs lists the jobs that daemons keep in a store, or those of a daemon that runs
with --listen, or those named, with when each is due next, and how its last run
ended. Times are in the job's own time zone.

States
  waiting   for its next time
  claimed   as waiting; its time is near, and a daemon holds it
  running   for how long; see NODE for where
  paused    it does not run until executord resume
  canceled  by executord cancel; executord resume brings it back
  dead      its daemon was lost in twelve runs in a row; resume tries again
  ended     there is no next time
  removed   it is no longer in its file (with --all)`),
		Example: strings.Trim(`
  executord jobs --at 127.0.0.1:8384
  executord jobs --store jobs.db
  executord jobs --store jobs.db backup
  executord jobs --store jobs.db --tag team=shop --state dead
  executord jobs --store 'postgres://app@db/app?sslmode=verify-full' --json`, "\n"),
	}
	store := newStoreFlag(cmd, "the store: a file, or postgres://...")
	at := newAtFlag(cmd)
	namespace := newNamespaceFlag(cmd, "list the jobs of this namespace only")
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, at, namespace)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each job")
	all := cmd.Flags().Bool("all", false, "list jobs that were removed from their file too")
	some := newSomeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		if err := some.check(); err != nil {
			return err
		}
		if at.chosen(store) {
			list, err := at.jobs(names)
			if err != nil {
				return err
			}
			if list = some.of(list); *asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			printJobs(cmd.OutOrStdout(), list, false)
			return nil
		}
		return store.visit(func(ctx context.Context, v client) error {
			entries, full, err := v.findSome(ctx, *namespace, names, some.filter())
			if err != nil {
				return err
			}
			if !*all && len(names) == 0 && some.state != "removed" {
				entries = slices.DeleteFunc(entries, catalog.Entry.Removed)
			}
			runs, err := v.histories(ctx, entries, 1)
			if err != nil {
				return err
			}
			list := make([]view.Job, len(entries))
			for i, e := range entries {
				var last *durable.Run
				if len(runs[i]) > 0 {
					last = &runs[i][0]
				}
				list[i] = view.Of(e, last, time.Now())
			}
			list = some.of(list)
			if err := v.addProgress(ctx, list); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			printJobs(cmd.OutOrStdout(), list, full)
			return nil
		})
	}
	return cmd
}

func newNamespaceFlag(cmd *cobra.Command, usage string) *string {
	name := new(string)
	cmd.Flags().Var((*canonical)(name), "namespace", usage)
	return name
}

// canonical is the value of a flag that is a name.
type canonical string

func (c *canonical) String() string { return string(*c) }
func (c *canonical) Type() string   { return "string" }

func (c *canonical) Set(name string) error {
	*c = canonical(job.CanonicalName(name))
	return nil
}

func checkNamespace(name string) error {
	if name != "" && !catalog.ValidNamespace(name) {
		return fmt.Errorf("--namespace %q: %s", name, catalog.NamespaceHint)
	}
	return nil
}

// addProgress adds how far the runs in progress have come.
func (v client) addProgress(ctx context.Context, list []view.Job) error {
	var ids []durable.ID
	for _, j := range list {
		if j.Running != nil {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := v.jobs.Progress(ctx, ids...)
	for _, j := range list {
		if p, ok := found[j.ID]; ok && j.Running != nil && p.Total > 0 {
			j.Running.Progress = &view.Progress{Done: min(p.Done, p.Total), Total: p.Total, Note: p.Note}
		}
	}
	return err
}

// printJobs writes the table, with the full names of jobs or their own. On a terminal it fits that.
func printJobs(w io.Writer, list []view.Job, full bool) {
	if len(list) == 0 {
		fmt.Fprintln(os.Stderr, "there are no jobs")
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
		next, last, state := "-", "never", j.State
		if j.Next != nil {
			next = show(*j.Next)
		}
		if j.Last != nil {
			last = show(j.Last.Started) + " " + string(j.Last.Outcome)
		}
		if rest, ok := strings.CutPrefix(state, view.InProgress); ok && j.Running != nil {
			state = view.InProgress + " " + view.Span(j.Running.Took).Truncate(time.Second).String() + rest
			if p := j.Running.Progress; p != nil && p.Total > 0 {
				state += " " + p.String()
			}
		}
		t.Add(calledIn(j.Namespace, j.Job, full), job.Printable(j.Schedule), state, next, last, job.Printable(j.Node))
	}
	return t
}

func severalNamespaces[T any](list []T, namespace func(T) string) bool {
	return slices.ContainsFunc(list, func(one T) bool { return namespace(one) != namespace(list[0]) })
}

// called returns the name of a job, with its namespace if full is true, as it may be
// shown: in a store of another user, a name may be anything.
func called(e catalog.Entry, full bool) string { return calledIn(e.Namespace, e.Name, full) }

func calledIn(namespace, name string, full bool) string {
	if full {
		return job.Printable(namespace + "/" + name)
	}
	return job.Printable(name)
}

// showShort writes a time in its zone for a narrow terminal: of today to the second, of another day to the minute.
func showShort(t, now time.Time) string {
	if now = now.In(t.Location()); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

// showInstant writes a time to the second, in its zone.
func showInstant(t time.Time) string { return t.Format("2006-01-02 15:04:05 -07:00") }

// printJSON writes a line for each thing.
func printJSON[T any](w io.Writer, list []T) error {
	var lines strings.Builder
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for _, one := range list {
		if err := out.Encode(one); err != nil {
			return &exitError{exitMistake, err.Error()}
		}
	}
	w.Write(job.PrintableJSON([]byte(lines.String())))
	return nil
}
