package main

import (
	"cmp"
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
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable/admin"
)

// act is the command for one way of changing jobs.
type act struct {
	action      admin.Verb
	short, long string
	example     string // besides that with a job
}

func newActs() []*cobra.Command {
	var all []*cobra.Command
	for _, a := range []act{
		{admin.RunNow, "Make jobs due at once", `
run-now makes the named jobs due at once: one of the daemons runs them. Their
schedules go on afterwards. A job that is paused is resumed. --set sets a
parameter, which the job file declares, for this run. --wait waits for the end
of the runs, and prints how each has ended.`, "report --set DAY=2026-11-27"},
		{admin.Pause, "Keep jobs from running until they are resumed", `
pause keeps the jobs named from running until resume, or until the time of
--until, also when a daemon is started whose file has them. A run in progress
may end.`, "'sync/*' --until 2h"},
		{admin.Resume, "Let jobs run again", `
resume lets jobs that are paused go on: at their next time, or at once if a time
has passed meanwhile. Jobs that are canceled or dead are brought back, and wait
for their next time.`, ""},
		{client.ExcludeNext, "Leave out the next due times of jobs", `
exclude-next leaves out the next due time of each named job, as except in a file
does: its history says excluded, and its schedule goes on afterwards. Given
again, it leaves out the time after that. run-now runs the job nevertheless.`, ""},
		{client.EndRun, "End runs that are in progress", `
end-run ends the run of each named job that is in progress, as a timeout does,
whichever daemon has it: its processes get SIGTERM, and SIGKILL if they do not
end. It is not tried again, and its outcome is canceled. The schedule of the job
goes on; to stop that, too, use cancel. If several runs of the job are in
progress, --run says which one.`, "backup --run 17"},
		{admin.Cancel, "Keep jobs from running, and end their runs", `
cancel keeps the named jobs from running until resume, even if a daemon starts
whose file has them. A run in progress is ended, as by end-run.`, ""},
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

The jobs are those of a store, or of a daemon that runs with --listen and
--actions. A name with * or ? stands for all that match: 'sync/*'.

It prints a line for each job. The exit code is 0 if all of them were changed,
or will be when their run has ended; it is 1 if a job does not exist, or its
state does not allow the change.`,
		Example: "  executord " + use + " --store jobs.db backup\n  executord " + use + " --at 127.0.0.1:8384 --token-file token backup",
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				return fmt.Errorf("%s needs the name of a job, such as: executord %s backup", use, use)
			}
			return nil
		},
	}
	if a.example != "" {
		cmd.Example += "\n  executord " + use + " --store jobs.db " + a.example
	}
	store := newStoreFlag(cmd, "the store: a file, postgres://... or etcd://...")
	namespace := newNamespaceFlag(cmd, "the namespace of the jobs, if the store has several")
	at := newAtFlag(cmd)
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, at, namespace)
	reason := cmd.Flags().String("reason", "", "the reason, which executord acts shows")
	order, wait := client.Order{Do: a.action}, false
	switch a.action {
	case admin.RunNow:
		cmd.Flags().StringArrayVar(&order.Set, "set", nil, "a parameter of this run, as `NAME=value`; may be repeated")
		if err := cmd.RegisterFlagCompletionFunc("set", parametersOfJobs(store, namespace)); err != nil {
			panic(err) // the flag is there
		}
		cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the runs; the exit code is 4 if one has not ended well")
		cmd.Long += "\nWith --wait it is 4 if a run has not ended well."
	case admin.Pause:
		cmd.Flags().StringVar(&order.Until, "until", "", "resume the jobs then: 90m from now, 2027-03-27, '2027-03-27 14:00' or RFC 3339")
	case client.EndRun:
		cmd.Flags().Int64Var(&order.Run, "run", 0, "the `number` of the run, which executord runs shows; the default is the one in progress")
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		if cmd.Flags().Changed("run") && order.Run < 1 {
			return fmt.Errorf("--run %d: it must be the number of a run", order.Run)
		}
		if until, err := admin.ParseWhen(order.Until, time.Local); err == nil {
			order.Until = until.String()
		} else if cmd.Flags().Changed("until") {
			return fmt.Errorf("--until %w", err)
		}
		if at.chosen(store) {
			targets, err := at.targets(names, cmp.Or(*reason, "executord "+use+", by "+client.WhoAmI()))
			return carryOut(cmd.OutOrStdout(), order, wait, targets, err)
		}
		return store.visit(func(ctx context.Context, v client.Client) error {
			targets, err := targetsIn(ctx, v, *namespace, names, *reason)
			return carryOut(cmd.OutOrStdout(), order, wait, targets, err)
		})
	}
	return cmd
}

// target is a job to which something is done.
type target struct {
	called string
	check  func(client.Order) error // before anything is done to any
	do     func(client.Order) (done bool, text string, run int64, err error)
	runs   func(n int) (latest, error)
}

// targetsIn returns jobs of a store. With an error about some, it returns the others.
func targetsIn(ctx context.Context, v client.Client, namespace string, names []string, reason string) (all []target, err error) {
	entries, full, err := v.Find(ctx, namespace, names)
	for _, e := range entries {
		called := client.Called(e, full)
		all = append(all, target{
			called: called,
			check: func(o client.Order) error {
				_, err := e.Spec.Parameters.Given(o.Set)
				return err
			},
			do: func(o client.Order) (bool, string, int64, error) {
				answer, err := v.Act(ctx, o, e, reason)
				if err == nil && answer.Unnoted != nil {
					fmt.Fprintf(os.Stderr, "executord: the action was done, but could not be stored in the audit log: %v\n", answer.Unnoted)
				}
				if err != nil {
					return false, "", 0, fmt.Errorf("job %s: %w", called, err)
				}
				return answer.Done(), answer.Text, answer.Run, nil
			},
			runs: func(n int) (latest, error) { return runsOf(v, e, n) },
		})
	}
	return all, err
}

// targets returns jobs of a daemon. With an error about some, it returns the others.
func (f *atFlag) targets(names []string, reason string) (all []target, err error) {
	jobs, missing := f.jobs(names)
	c, err := f.client()
	for _, j := range jobs {
		all = append(all, target{
			called: job.Printable(j.Job),
			check:  func(client.Order) error { return nil }, // the daemon does
			do: func(o client.Order) (bool, string, int64, error) {
				o.Job = j.Job
				result, err := c.act(o, reason)
				run := int64(0)
				for _, t := range result.Targets {
					run = t.Run
				}
				return result.Done, job.Printable(result.Answer), run, err
			},
			runs: func(n int) (latest, error) { return f.runsOf(j.Job, n) },
		})
	}
	return all, cmp.Or(missing, err)
}

// carryOut does to jobs what is ordered, and prints what has become of it. wrong is what is wrong with other names.
func carryOut(w io.Writer, o client.Order, wait bool, all []target, wrong error) error {
	if wrong != nil && !errors.As(wrong, new(*client.MissingError)) {
		return wrong
	}
	for _, t := range all {
		if err := t.check(o); err != nil {
			return &exitError{exitMistake, fmt.Sprintf("job %s: %v", t.called, err)}
		}
	}
	good := true
	var waits []waiting
	for _, t := range all {
		done, text, run, err := t.do(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", t.called, text)
		if good = good && done; wait && done {
			waits = append(waits, waiting{t.called, t.runs, run})
		}
	}
	waited := waitFor(w, waits)
	switch {
	case wrong != nil:
		return wrong
	case !good:
		return &exitError{exitMistake, ""}
	}
	return waited
}

// runsOf returns the latest runs of a job in a store.
func runsOf(v client.Client, e catalog.Entry, n int) (l latest, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), stores.Patience)
	defer cancel()
	row, err := v.Jobs.Get(ctx, e.ID)
	if err != nil {
		return l, err
	}
	now, ok := catalog.Read(row)
	if !ok {
		return l, nil
	}
	one := []catalog.Entry{now}
	if err := catalog.AddRuns(ctx, v.Store, one); err != nil {
		return l, err
	}
	l.number, l.idle = now.Number, len(one[0].Open) == 0
	l.runs, err = v.Runs(ctx, one, n)
	return l, err
}

// runsOf returns the latest runs of a job of a daemon.
func (f *atFlag) runsOf(name string, n int) (l latest, err error) {
	jobs, err := f.jobs([]string{name})
	if err != nil || len(jobs) == 0 {
		return l, err
	}
	states := []catalog.State{catalog.StateWaiting, catalog.StateEnded, catalog.StateCanceled, catalog.StateDead}
	l.number, l.idle = jobs[0].Runs, slices.Contains(states, jobs[0].State.State)
	l.runs, err = f.runs([]string{name}, n)
	return l, err
}
