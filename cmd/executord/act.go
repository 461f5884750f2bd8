package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// act is one way of changing jobs in a store.
type act struct {
	use, short, long string

	// do does it, and returns what became of it. The text is about the job as it
	// was just before.
	do func(ctx context.Context, v client, e catalog.Entry) (durable.Answer, string, error)
}

func newActs() []*cobra.Command {
	var all []*cobra.Command
	for _, a := range []act{
		{"cancel", "Cancel jobs in a store", `
cancel keeps the jobs named from running, for good: also when a daemon is
started whose file has them. A run in progress is ended, as by a timeout.
resume brings a job back.`, cancelJob},
		{"pause", "Keep jobs in a store from running until they are resumed", `
pause keeps the jobs named from running until resume, also when a daemon is
started whose file has them. A run in progress may end.`, pauseJob},
		{"resume", "Let jobs in a store run again", `
resume lets jobs that are paused go on: at their next time, or at once if a time
has passed meanwhile. Jobs that are canceled or dead are brought back, and wait
for their next time.`, resumeJob},
		{"run-now", "Make jobs in a store due at once", `
run-now makes the jobs named due at once: some daemon runs them. Their schedules
go on afterwards. A job that is paused is resumed.`, runJobNow},
	} {
		all = append(all, newAct(a))
	}
	return all
}

func newAct(a act) *cobra.Command {
	cmd := &cobra.Command{
		Use:   a.use + " JOB...",
		Short: a.short,
		Long: strings.TrimSpace(a.long) + `

It prints a line for each job. The exit code is 0 if all jobs were changed, or
will be when their run has ended; it is 1 if a job does not exist, or its state
does not allow the change.`,
		Example: "  executord " + a.use + " --store jobs.db backup",
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				return fmt.Errorf("%s needs the name of a job, such as: executord %s backup", a.use, a.use)
			}
			return nil
		},
	}
	store := newStoreFlag(cmd, "the store: a file, or postgres://...")
	namespace := newNamespaceFlag(cmd, "the namespace of the jobs, if the store has several")
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, nil, namespace)
	reason := cmd.Flags().String("reason", "", "the reason, which executord acts shows")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		return store.visit(func(ctx context.Context, v client) error {
			entries, full, missing := v.find(ctx, *namespace, names)
			if missing != nil && !isMistake(missing) {
				return missing
			}
			done := missing == nil
			for _, e := range entries {
				answer, text, err := a.do(ctx, v, e)
				if err != nil {
					return fmt.Errorf("job %s: %w", called(e, full), err)
				}
				if answer == durable.NotFound {
					text = "it was removed a moment ago"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", called(e, full), text)
				v.note(ctx, e, a.use, *reason, text)
				done = done && (answer == durable.Applied || answer == durable.Deferred)
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

func cancelJob(ctx context.Context, v client, e catalog.Entry) (durable.Answer, string, error) {
	answer, err := v.jobs.Cancel(ctx, e.ID)
	switch answer {
	case durable.Applied:
		return answer, "canceled", err
	case durable.Deferred:
		return answer, "canceled; its run on " + on(e) + " is being ended", err
	}
	return answer, "it is " + e.Status() + " already", err
}

func pauseJob(ctx context.Context, v client, e catalog.Entry) (durable.Answer, string, error) {
	answer, err := v.jobs.Pause(ctx, e.ID)
	switch answer {
	case durable.Applied:
		return answer, "paused", err
	case durable.Deferred:
		return answer, "will be paused when its run on " + on(e) + " has ended", err
	}
	return answer, "cannot be paused: it is " + e.Status(), err
}

func resumeJob(ctx context.Context, v client, e catalog.Entry) (durable.Answer, string, error) {
	if e.Spec.Off {
		return durable.TooLate, "cannot be resumed: it was removed from its file; put it back there, and start a daemon or send it SIGHUP", nil
	}
	if e.State == durable.Canceled || e.State == durable.Dead {
		if err := catalog.Bring(ctx, v.jobs, v.store, e); err != nil {
			return durable.TooLate, "", err
		}
		return durable.Applied, "brought back; " + v.nextTime(ctx, e), nil
	}
	answer, err := v.jobs.Resume(ctx, e.ID)
	switch answer {
	case durable.Applied:
		return answer, "resumed; " + v.nextTime(ctx, e), err
	case durable.Deferred:
		return answer, "resumed; it will not be paused after its run on " + on(e), err
	}
	return answer, "not paused: it is " + e.Status(), err
}

func runJobNow(ctx context.Context, v client, e catalog.Entry) (durable.Answer, string, error) {
	if e.Spec.Off {
		return durable.TooLate, "cannot run: it was removed from its file", nil
	}
	answer, err := catalog.RunNow(ctx, v.jobs, v.store, e)
	switch {
	case answer == durable.Applied && e.State == durable.Paused:
		return answer, "due now, and no longer paused", err
	case answer == durable.Applied:
		return answer, "due now", err
	case e.State == durable.Canceled || e.State == durable.Dead:
		return answer, "cannot run: it is " + e.State.String() + "; executord resume brings it back", err
	case e.State.Granted():
		return answer, "it is running already, on " + on(e), err
	}
	return answer, "cannot run: it has begun, or it is over", err
}

// on returns the node on which a job is running, as far as that is known.
func on(e catalog.Entry) string {
	if e.Owner == "" {
		return "some node"
	}
	return job.Printable(e.Owner)
}

// nextTime returns when a job is due next.
func (v client) nextTime(ctx context.Context, e catalog.Entry) string {
	row, err := v.jobs.Get(ctx, e.ID)
	if err != nil {
		return "its next time is not known"
	}
	e.Job = row
	switch next := e.Next(time.Now()); {
	case next.IsZero():
		return "there is no next time"
	case next.Before(time.Now()):
		return "due at once"
	default:
		return "due " + showInstant(next.In(e.Spec.Location()))
	}
}

// find returns the jobs with the names, all jobs if there are none. A name may
// have its namespace before it: shop/backup. If some are not there, it returns
// the others, and an exitError. It reports whether there are several namespaces,
// so that jobs are shown by their full names.
func (v client) find(ctx context.Context, namespace string, names []string) (found []catalog.Entry, full bool,
	err error) {
	return v.findSome(ctx, namespace, names, durable.Filter{})
}

// findSome is find among the jobs that a filter of tags and errors selects, if there are no names, and returns those of
// them that it selects, if there are.
func (v client) findSome(ctx context.Context, namespace string, names []string,
	f durable.Filter) (found []catalog.Entry, full bool, err error) {
	among := f
	if len(names) > 0 {
		among = durable.Filter{} // one that is there is not to be missing
	}
	all, err := catalog.Select(ctx, v.store, namespace, among)
	full = severalNamespaces(all, func(e catalog.Entry) string { return e.Namespace })
	if err != nil || len(names) == 0 {
		return all, full, err
	}
	var missing []string
	for _, name := range names {
		name = job.CanonicalName(name)
		var match []catalog.Entry
		var known []string
		for _, e := range all {
			if known = append(known, e.Name); e.Name == name || called(e, true) == name {
				match = append(match, e)
			}
		}
		switch len(match) {
		case 0:
			missing = append(missing, v.notFound(name, namespace, known))
		case 1:
			if !slices.ContainsFunc(found, func(e catalog.Entry) bool { return e.ID == match[0].ID }) {
				found = append(found, match[0])
			}
		default:
			missing = append(missing, fmt.Sprintf("%s: there are several: say %s or %s", name, called(match[0], true), called(match[1], true)))
		}
	}
	if len(missing) > 0 {
		return found, full, &exitError{exitMistake, strings.Join(missing, "\nexecutord: ")}
	}
	return slices.DeleteFunc(found, func(e catalog.Entry) bool { return !f.Matches(&e.Job) }), full, nil
}

func (v client) notFound(name, namespace string, known []string) string {
	text := fmt.Sprintf("%s: there is no such job in %s", job.Printable(name), v.shown)
	if namespace != "" {
		text = fmt.Sprintf("%s: there is no such job in namespace %s of %s", job.Printable(name), namespace, v.shown)
	}
	if like := job.Closest(name, known); like != "" {
		text += "; is it " + job.Printable(like) + "?"
	}
	return text
}

func isMistake(err error) bool {
	_, ok := err.(*exitError)
	return ok
}
