package main

import (
	"cmp"
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
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

func newJobs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs [JOB...]",
		Short: "List the jobs in a store",
		Long: strings.TrimSpace(`
jobs lists the jobs that daemons keep in a store, or those named, with when each
is due next, and how its last run ended. Times are in the job's own time zone.

States
  waiting   for its next time
  claimed   as waiting, and a daemon has it in hand, since its time is near
  running   see NODE for where
  paused    it does not run until executord resume
  canceled  by executord cancel; executord resume brings it back
  dead      the daemons that ran it were lost, time after time; resume tries again
  ended     there is no next time
  removed   it is not in its file any more (with --all)`),
		Example: strings.Trim(`
  executord jobs --store jobs.db
  executord jobs --store jobs.db backup
  executord jobs --store 'postgres://app@db/app?sslmode=verify-full' --json`, "\n"),
	}
	store := newStoreFlag(cmd, "the store: a file, or postgres://...")
	namespace := newNamespaceFlag(cmd, "list the jobs of this namespace only")
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each job")
	all := cmd.Flags().Bool("all", false, "list jobs that were removed from their file too")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		return store.visit(func(ctx context.Context, v client) error {
			entries, full, err := v.find(ctx, *namespace, names)
			if err != nil {
				return err
			}
			if !*all && len(names) == 0 {
				entries = slices.DeleteFunc(entries, catalog.Entry.Removed)
			}
			runs, err := v.histories(ctx, entries, 1)
			if err != nil {
				return err
			}
			list := make([]listed, len(entries))
			for i, e := range entries {
				list[i].Entry = e
				if len(runs[i]) > 0 {
					list[i].last = &runs[i][0]
				}
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

// listed is one job of the list.
type listed struct {
	catalog.Entry
	last *durable.Run // nil if it never ran
}

// state returns the state in the words of the manual.
func (l listed) state() string {
	switch {
	case l.Removed():
		return "removed"
	case l.State == durable.Succeeded:
		return "ended"
	case l.State.Granted() && l.Spec.Off:
		return "running, then removed"
	case l.State.Granted() && l.Pending == durable.PendingCancel:
		return "running, then canceled"
	case l.State.Granted() && l.Pending == durable.PendingPause:
		return "running, then paused"
	case l.State.Granted():
		return "running"
	}
	return l.State.String()
}

// next returns when the job is due next, the zero Time if that is not known or it
// is not to run.
func (l listed) next() time.Time {
	switch {
	case l.State.Done(), l.State == durable.Paused:
		return time.Time{}
	case !l.State.Granted():
		return l.Due
	case l.Pending != durable.PendingNone:
		return time.Time{}
	case !l.NextDue.IsZero():
		return l.NextDue
	}
	if times := catalog.Times(l.Job); times != nil {
		return times.Next(time.Now())
	}
	return time.Time{}
}

// printJobs writes the table, with the full names of jobs or their own.
func printJobs(w io.Writer, list []listed, full bool) {
	if len(list) == 0 {
		fmt.Fprintln(os.Stderr, "there are no jobs")
		return
	}
	var t table
	t.add("JOB", "SCHEDULE", "STATE", "NEXT", "LAST RUN", "NODE")
	for _, l := range list {
		next, last := "-", "never"
		if at := l.next(); !at.IsZero() {
			next = showInstant(at, l.Spec.Location())
		}
		if l.last != nil {
			last = showInstant(l.last.Started, l.Spec.Location()) + " " + outcome(*l.last)
		}
		t.add(l.called(full), job.Printable(l.Spec.Schedule), l.state(), next, last, job.Printable(l.Owner))
	}
	io.WriteString(w, t.String())
}

func severalNamespaces[T any](list []T, entry func(T) catalog.Entry) bool {
	return slices.ContainsFunc(list, func(one T) bool { return entry(one).Namespace != entry(list[0]).Namespace })
}

func (l listed) called(full bool) string { return called(l.Entry, full) }

// called returns the name of a job, with its namespace if full is true, as it may be
// shown: in a store of another user, a name may be anything.
func called(e catalog.Entry, full bool) string {
	if full {
		return job.Printable(e.Namespace + "/" + e.Name)
	}
	return job.Printable(e.Name)
}

// showInstant writes a time to the second, in a zone.
func showInstant(t time.Time, loc *time.Location) string {
	return t.In(loc).Format("2006-01-02 15:04:05 -07:00")
}

// outcome returns how a run ended, in one word: the log's, as far as the history
// has it.
func outcome(r durable.Run) string {
	switch r.Verdict {
	case durable.RunSucceeded:
		return "ok"
	case durable.RunFailed:
		if strings.HasPrefix(r.Error, "timeout: ") {
			return "timeout"
		}
	case durable.RunSnoozed:
		return cmp.Or(daemon.CutOutcome(r.Error), r.Verdict.String())
	}
	return r.Verdict.String()
}

// jobJSON is a job as --json has it. The variables of a job are not in it: they
// may be secret.
type jobJSON struct {
	Namespace string     `json:"namespace"`
	Job       string     `json:"job"`
	ID        durable.ID `json:"id"`
	Schedule  string     `json:"schedule"`
	Zone      string     `json:"zone"`
	Command   string     `json:"command"`
	State     string     `json:"state"`
	Next      *time.Time `json:"next"`
	Node      string     `json:"node,omitempty"`
	Attempt   int        `json:"attempt"`
	Runs      int64      `json:"runs"`
	Error     string     `json:"error,omitempty"`
	Last      *runJSON   `json:"last_run"`
}

func (l listed) MarshalJSON() ([]byte, error) {
	j := jobJSON{
		Namespace: l.Namespace, Job: l.Name, ID: l.ID, Schedule: l.Spec.Schedule, Zone: l.Spec.Zone,
		Command: l.Spec.Job(l.Name).Command.String(), State: l.state(),
		Node: l.Owner, Attempt: l.Attempt, Runs: l.Runs, Error: reason(l.Error),
	}
	if at := l.next().In(l.Spec.Location()); !at.IsZero() {
		j.Next = &at
	}
	if l.last != nil {
		j.Last = newRunJSON(l.Entry, *l.last)
	}
	return json.Marshal(j)
}

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
