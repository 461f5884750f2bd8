package anystore

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// changes are the commands that change jobs.
func (h Host) changes() (all []*cobra.Command) {
	for _, c := range []struct {
		do    admin.Verb
		short string
	}{
		{admin.Cancel, "Cancel jobs; runs in progress are ended"},
		{admin.Pause, "Keep jobs from running until resume"},
		{admin.Resume, "Let paused jobs go on"},
		{admin.RunNow, "Make jobs due at once"},
		{admin.Reschedule, "Make jobs due at another time"},
		{admin.Revive, "Make dead or canceled jobs due again"},
		{admin.Move, "Put jobs into another queue"},
		{admin.Delete, "Remove jobs that do not run, with their history"},
	} {
		all = append(all, h.change(c.do, c.short))
	}
	return all
}

func (h Host) change(do admin.Verb, short string) *cobra.Command {
	use := string(do)
	cmd := &cobra.Command{
		Use:   use + " [ID|KEY...]",
		Short: short,
		Long: short + `.

Name the jobs, or choose them by flags; a job must match all flags. Jobs that
flags choose are only counted, unless --yes is given. The exit code is 1 if a job
does not exist, or if the state of a named job does not allow the change; of jobs
that flags choose, if none was changed.`,
		Example: "  executord store " + use + " --store jobs.db welcome/17\n  executord store " + use + " --store jobs.db --kind mail --dry-run",
	}
	open, query := h.Flag(cmd), queryFlags(cmd)
	action := admin.Action{Do: do}
	dry := cmd.Flags().Bool("dry-run", false, "count the jobs that the flags choose, and change nothing")
	yes := cmd.Flags().Bool("yes", false, "change all jobs that the flags choose")
	cmd.Flags().StringVar(&action.Reason, "reason", "", "the reason, which executord acts shows")
	var to string
	switch do {
	case admin.Reschedule:
		cmd.Example = "  executord store reschedule --store jobs.db welcome/17 --to 2027-03-27T14:00:00Z"
		cmd.Flags().StringVar(&to, "to", "", "the time, or from now, such as 90m")
	case admin.Move:
		cmd.Example = "  executord store move --store jobs.db --queue gpu --to cpu --dry-run"
		cmd.Flags().StringVar(&action.Queue, "to", "", "the queue; '' is that of jobs without one")
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) (err error) {
		some := !query.IsZero()
		switch {
		case len(names) > 0 && some:
			return fmt.Errorf("name jobs, or choose them by flags, and not both")
		case len(names) == 0 && !some:
			return fmt.Errorf("%s needs the ID or key of a job, or a flag that chooses jobs, such as --kind", use)
		case len(names) > 0 && *dry:
			return fmt.Errorf("--dry-run is for jobs that flags choose")
		case do == admin.Move && !cmd.Flags().Changed("to"):
			return fmt.Errorf("move needs --to, the queue")
		case do == admin.Reschedule:
			if action.When, err = when("--to", to); err != nil {
				return err
			}
		}
		if err := check(query); err != nil {
			return err
		}
		return h.visit(cmd, open, false, 0, func(ctx context.Context, c client) error {
			if len(names) > 0 {
				return h.changeNamed(ctx, c, action, names)
			}
			return h.changeChosen(ctx, c, action, query, *yes, *dry)
		})
	}
	return cmd
}

// when reads the time that a flag has.
func when(flag, text string) (admin.When, error) {
	w, err := admin.ParseWhen(text, time.Local)
	if err != nil {
		return w, fmt.Errorf("%s %w", flag, err)
	}
	return w, nil
}

func (h Host) changeNamed(ctx context.Context, c client, action admin.Action, names []string) error {
	good := true
	for _, name := range names {
		j, err := c.find(ctx, name)
		if err != nil {
			return err
		}
		action.Job = j.ID
		answer, err := c.do(ctx, action)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s: %s\n", printable(name), printable(answer.Text))
		good = good && answer.Done()
	}
	if !good {
		return h.Quiet
	}
	return nil
}

func (h Host) changeChosen(ctx context.Context, c client, action admin.Action, query *admin.Query, yes, dry bool) error {
	n, counts, err := admin.Count(ctx, c.jobs, *query)
	switch {
	case err != nil:
		return err
	case n == 0:
		fmt.Fprintln(c.cmd.ErrOrStderr(), "there are no such jobs")
		if dry {
			return nil
		}
		return h.Quiet
	case dry || !yes:
		if err := printTable(c.out, countRows(counts, nil)); err != nil || dry {
			return err
		}
		return mistake("%s would concern %d jobs; to do it, add --yes", action.Do, n)
	}
	action.Query = query
	answer, err := c.do(ctx, action)
	if answer.Text != "" {
		fmt.Fprintln(c.out, printable(answer.Text))
	}
	if err == nil && !answer.Done() {
		return h.Quiet
	}
	return err
}

// namedCommand does something to each of the kinds or nodes that its arguments name.
type namedCommand struct {
	cobra.Command
	do admin.Verb
	of string // what the arguments name, such as "the name of a node"
}

// pauses are the commands that pause kinds.
func (h Host) pauses() []*cobra.Command {
	until := ""
	pause := h.named(namedCommand{
		Command: cobra.Command{Use: "pause-kind KIND...", Short: "Keep all jobs of a kind from beginning, on all nodes",
			Example: "  executord store pause-kind --store jobs.db mail --until 2h"},
		do: admin.PauseKind, of: "the name of a kind",
	}, &until)
	pause.Flags().StringVar(&until, "until", "", "end the pause then: a time, or from now, such as 90m; a program that runs jobs of any kind ends it")
	return []*cobra.Command{
		pause,
		h.named(namedCommand{
			Command: cobra.Command{Use: "resume-kind KIND...", Short: "Let the jobs of a kind begin again",
				Example: "  executord store resume-kind --store jobs.db mail"},
			do: admin.ResumeKind, of: "the name of a kind",
		}, nil),
	}
}

// aboutNodes is the text of the commands that name nodes.
const aboutNodes = `

A node has the name that nodes shows, until its program ends. It learns of the
command from its next heartbeat.`

// drains are the commands that have nodes take no more jobs, and take some again.
func (h Host) drains() []*cobra.Command {
	return []*cobra.Command{
		h.named(namedCommand{
			Command: cobra.Command{Use: "drain NODE...", Short: "Have nodes take no more jobs; runs in progress go on",
				Long:    "Have nodes take no more jobs; runs in progress go on." + aboutNodes,
				Example: "  executord store drain --store jobs.db web-1-qm3v7t2x9a"},
			do: admin.Drain, of: "the name of a node",
		}, nil),
		h.named(namedCommand{
			Command: cobra.Command{Use: "undrain NODE...", Short: "Have nodes take jobs again",
				Long:    "Have nodes take jobs again." + aboutNodes,
				Example: "  executord store undrain --store jobs.db web-1-qm3v7t2x9a"},
			do: admin.Undrain, of: "the name of a node",
		}, nil),
	}
}

// named returns the command. until is its flag of that name, nil if it has none.
func (h Host) named(n namedCommand, until *string) *cobra.Command {
	cmd := &n.Command
	cmd.Args = complaint.SomeArguments(n.of)
	open := h.Flag(cmd)
	action := admin.Action{Do: n.do}
	cmd.Flags().StringVar(&action.Reason, "reason", "", "the reason, which executord acts shows")
	cmd.RunE = func(cmd *cobra.Command, names []string) (err error) {
		if until != nil && *until != "" {
			if action.When, err = when("--until", *until); err != nil {
				return err
			}
		}
		return h.visit(cmd, open, false, stores.Patience, func(ctx context.Context, c client) error {
			var undone error
			for _, name := range names {
				action.Name = name
				answer, err := c.do(ctx, action)
				switch {
				case err != nil:
					return err
				case answer.Outcome == durable.NotFound:
					return mistake("%s has no live node %s; nodes lists them", c.shown, printable(name))
				}
				fmt.Fprintf(c.out, "%s: %s\n", printable(name), printable(answer.Text))
				if !answer.Done() {
					undone = h.Quiet
				}
			}
			return undone
		})
	}
	return cmd
}
