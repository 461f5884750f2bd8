package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

func newRuns() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs [JOB...]",
		Short: "Show the runs of the jobs in a store, or of a daemon",
		Long: strings.TrimSpace(`
runs lists the runs of all jobs, or of those named, the latest first. A run in
progress has the time that it has taken so far. Times are in the time zone of
the job.

An outcome is running, ok, failed, timeout, canceled, or lost, if the daemon was
lost during the run; --outcome chooses runs by it, and --since by their time.
With --verbose, the end of what a failed run wrote to its standard error is
printed below it.`),
		Example: strings.Trim(`
  executord runs --at 127.0.0.1:8384
  executord runs --store jobs.db --outcome failed --since 24h
  executord runs --store jobs.db backup -n 100 --verbose`, "\n"),
	}
	store := newStoreFlag(cmd, "the store: a file, postgres://... or etcd://...")
	at := newAtFlag(cmd)
	namespace := newNamespaceFlag(cmd, "use only the jobs of this namespace")
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, at, namespace)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each run")
	some := newRunFlags(cmd)
	verbose := cmd.Flags().BoolP("verbose", "v", false, "show what failed runs wrote to standard error")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		some, err := some.at(time.Now())
		if err != nil {
			return err
		}
		if at.chosen(store) {
			found, err := at.runs(names, some.look)
			if err != nil {
				return err
			}
			found = some.of(found)
			if *asJSON {
				return job.WriteJSON(cmd.OutOrStdout(), found)
			}
			printRuns(cmd.OutOrStdout(), found, *verbose)
			return nil
		}
		return store.visit(func(ctx context.Context, v client.Client) error {
			entries, _, err := v.Find(ctx, *namespace, names)
			if err != nil {
				return err
			}
			found, err := v.Runs(ctx, entries, some.look)
			if err != nil {
				return err
			}
			found = some.of(found)
			if *asJSON {
				return job.WriteJSON(cmd.OutOrStdout(), found)
			}
			printRuns(cmd.OutOrStdout(), found, *verbose)
			return nil
		})
	}
	return cmd
}

// indent is before what a run wrote.
const indent = "    "

// printRuns writes the table, and between its lines what runs wrote. On a terminal it fits that.
func printRuns(w io.Writer, list []view.Run, verbose bool) {
	if len(list) == 0 {
		fmt.Fprintln(os.Stderr, "no runs")
		return
	}
	full := client.SeveralNamespaces(list, func(r view.Run) string { return r.Namespace })
	wide := terminal.Width(w)
	t := runTable(list, full, showInstant)
	if wide > 0 && t.Width() > wide {
		now := time.Now()
		t = runTable(list, full, func(at time.Time) string { return showShort(at, now) })
	}
	row := 0 // the first is the header
	for line := range t.Fit(wide).Lines() {
		io.WriteString(w, line)
		if verbose && row > 0 {
			for _, text := range list[row-1].Stderr {
				for _, line := range terminal.WrapAnywhere(job.Printable(text), max(wide-len(indent), 0)) {
					fmt.Fprintln(w, indent+line)
				}
			}
		}
		row++
	}
}

// runTable returns the table of runs, with times as show has them.
func runTable(list []view.Run, full bool, show func(time.Time) string) *terminal.Table {
	t := new(terminal.Table)
	with := slices.ContainsFunc(list, func(r view.Run) bool { return r.Parameters != nil })
	row := func(with bool, cells ...string) {
		if !with { // no run has parameters that were given
			cells = slices.Delete(cells, 5, 6)
		}
		t.Add(cells...)
	}
	row(with, "JOB", "RUN", "STARTED", "TOOK", "OUTCOME", "WITH", "NODE", "ERROR")
	for _, r := range list {
		number := "-"
		if r.Run > 0 {
			number = strconv.FormatInt(r.Run, 10)
		}
		row(with, client.CalledIn(r.Namespace, r.Job, full), number, show(r.Started),
			view.Span(r.Took).String(), string(r.Outcome), r.With(), r.Node, r.Why(100))
	}
	return t
}
