package anystore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// changes are the commands that change jobs.
func (h Host) changes() (all []*cobra.Command) {
	for _, c := range []struct {
		use, short string
		op         durable.Op
	}{
		{"cancel", "Cancel jobs; runs in progress are ended", durable.OpCancel},
		{"pause", "Keep jobs from running until resume", durable.OpPause},
		{"resume", "Let paused jobs go on", durable.OpResume},
		{"run-now", "Make jobs due at once", durable.OpRunNow},
		{"reschedule", "Make jobs due at another time", durable.OpReschedule},
		{"revive", "Make dead or canceled jobs due again", durable.OpRevive},
		{"move", "Put jobs into another queue", durable.OpMove},
		{"delete", "Remove jobs that do not run, with their history", durable.OpDelete},
	} {
		all = append(all, h.change(c.use, c.short, c.op))
	}
	return all
}

func (h Host) change(use, short string, op durable.Op) *cobra.Command {
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
	open, flags := h.Flag(cmd), newFilterFlags(cmd)
	dry := cmd.Flags().Bool("dry-run", false, "count the jobs that the flags choose, and change nothing")
	yes := cmd.Flags().Bool("yes", false, "change all jobs that the flags choose")
	reason := cmd.Flags().String("reason", "", "the reason, which executord acts shows")
	var to string
	switch op {
	case durable.OpReschedule:
		cmd.Example = "  executord store reschedule --store jobs.db welcome/17 --to 2027-03-27T14:00:00Z"
		cmd.Flags().StringVar(&to, "to", "", "the time, or from now, such as 90m")
	case durable.OpMove:
		cmd.Example = "  executord store move --store jobs.db --queue gpu --to cpu --dry-run"
		cmd.Flags().StringVar(&to, "to", "", "the queue; '' is that of jobs without one")
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		f, some, err := flags.filter()
		switch {
		case err != nil:
			return err
		case len(names) > 0 && some:
			return fmt.Errorf("name jobs, or choose them by flags, and not both")
		case len(names) == 0 && !some:
			return fmt.Errorf("%s needs the ID or key of a job, or a flag that chooses jobs, such as --kind", use)
		case len(names) > 0 && *dry:
			return fmt.Errorf("--dry-run is for jobs that flags choose")
		}
		change, due := durable.Change{Op: op}, job.When{}
		switch op {
		case durable.OpReschedule:
			if due, err = when("--to", to); err != nil {
				return err
			}
		case durable.OpMove:
			if change.Queue = to; !cmd.Flags().Changed("to") {
				return fmt.Errorf("move needs --to, the queue")
			}
		}
		return h.visit(cmd, open, false, 0, func(ctx context.Context, c client) error {
			if op == durable.OpReschedule {
				var err error
				if change.Due, err = c.at(ctx, due); err != nil {
					return err
				}
			}
			if len(names) > 0 {
				return h.changeNamed(ctx, c, use, change, names, *reason)
			}
			return h.changeChosen(ctx, c, use, change, f, *yes, *dry, *reason)
		})
	}
	return cmd
}

// when reads the time that a flag has.
func when(flag, text string) (job.When, error) {
	w, ok := job.ParseWhen(text, time.Local)
	if !ok {
		return w, fmt.Errorf("%s %q: it must be a time as %s, or from now as 90m", flag, text, job.TimeForms)
	}
	return w, nil
}

// at returns a time on the clock of the store.
func (c client) at(ctx context.Context, w job.When) (time.Time, error) {
	now, err := c.jobs.Now(ctx)
	return w.At(now), err
}

// changeBy makes the change to one job.
func (c client) changeBy(ctx context.Context, id durable.ID, change durable.Change) (durable.Answer, error) {
	switch change.Op { // Jobs know what times and queues there may be
	case durable.OpReschedule:
		return c.jobs.Reschedule(ctx, id, change.Due)
	case durable.OpMove:
		return c.jobs.Move(ctx, id, change.Queue)
	}
	return c.store.Change(ctx, id, change)
}

func (h Host) changeNamed(ctx context.Context, c client, use string, change durable.Change, names []string, reason string) error {
	done := true
	for _, name := range names {
		j, err := c.find(ctx, name)
		if err != nil {
			return err
		}
		answer, err := c.changeBy(ctx, j.ID, change)
		if err != nil {
			return err
		}
		text := answer.String()
		switch answer {
		case durable.TooLate:
			if text = "too late: it is " + j.State.String(); change.Op == durable.OpMove && !j.State.Done() {
				text = "not moved: it has the partition " + printable(j.Partition)
			}
		case durable.Deferred:
			text = "when its run has ended"
		}
		if done = done && (answer == durable.Applied || answer == durable.Deferred); answer == durable.NotFound {
			text = "it was removed a moment ago"
		}
		fmt.Fprintf(c.out, "%s: %s\n", printable(name), text)
		c.note(ctx, durable.Act{Who: h.Who(), Action: use, Job: j.ID, Key: j.Key, Reason: reason, Answer: text})
	}
	if !done {
		return h.Quiet
	}
	return nil
}

func (h Host) changeChosen(ctx context.Context, c client, use string, change durable.Change, f durable.Filter, yes, dry bool, reason string) error {
	counts, err := c.jobs.Counts(ctx, f)
	if err != nil {
		return err
	}
	n := 0
	for _, count := range counts {
		n += count.Jobs
	}
	switch {
	case n == 0:
		fmt.Fprintln(c.cmd.ErrOrStderr(), "there are no such jobs")
		if dry {
			return nil
		}
		return h.Quiet
	case dry || !yes:
		sortCounts(counts)
		if err := printTable(c.out, countRows(counts, nil)); err != nil || dry {
			return err
		}
		return mistake("%s would concern %d jobs; to do it, add --yes", use, n)
	}
	var total durable.Changed
	for more := true; more; {
		done, err := c.jobs.ChangeAll(ctx, change, f)
		total.Applied += done.Applied
		total.Deferred += done.Deferred
		total.TooLate += done.TooLate
		total.NotFound += done.NotFound
		if f.After, more = done.After, done.More; err != nil || !more {
			text := changedText(total)
			fmt.Fprintln(c.out, text)
			c.note(ctx, durable.Act{Who: h.Who(), Action: use, Key: chosenText(c.cmd), Reason: reason, Answer: text})
			if err == nil && total.Applied+total.Deferred == 0 {
				return h.Quiet
			}
			return err
		}
	}
	return nil
}

func changedText(c durable.Changed) string {
	text := fmt.Sprintf("%d changed", c.Applied)
	for _, more := range []struct {
		n    int
		what string
	}{{c.Deferred, "when their runs have ended"}, {c.TooLate, "too late"}, {c.NotFound, "removed meanwhile"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	return text
}

// chosenText returns the flags by which jobs were chosen.
func chosenText(cmd *cobra.Command) string {
	var all []string
	for _, name := range []string{"kind", "queue", "key", "state", "tag", "error"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			all = append(all, "--"+name+" "+f.Value.String())
		}
	}
	return strings.Join(all, " ")
}

// note notes an act.
func (c client) note(ctx context.Context, a durable.Act) {
	if err := c.jobs.NoteAct(ctx, a); err != nil {
		fmt.Fprintf(c.cmd.ErrOrStderr(), "executord: the action was done, but could not be stored in the audit log: %v\n", err)
	}
}

// namedCommand does something to each of the kinds or nodes that its arguments name.
type namedCommand struct {
	cobra.Command
	of   string // what the arguments name, such as "the name of a node"
	do   func(ctx context.Context, c client, name string) error
	text string // the answer for a name
}

// pauses are the commands that pause kinds.
func (h Host) pauses() []*cobra.Command {
	var until string
	pause := h.named(namedCommand{
		Command: cobra.Command{Use: "pause-kind KIND...", Short: "Keep all jobs of a kind from beginning, on all nodes",
			Example: "  executord store pause-kind --store jobs.db mail --until 2h"},
		of:   "the name of a kind",
		do:   func(ctx context.Context, c client, kind string) error { return c.pauseKind(ctx, kind, until) },
		text: "paused",
	})
	pause.Flags().StringVar(&until, "until", "", "end the pause then: a time, or from now, such as 90m; a program that runs jobs of any kind ends it")
	return []*cobra.Command{
		pause,
		h.named(namedCommand{
			Command: cobra.Command{Use: "resume-kind KIND...", Short: "Let the jobs of a kind begin again",
				Example: "  executord store resume-kind --store jobs.db mail"},
			of:   "the name of a kind",
			do:   func(ctx context.Context, c client, kind string) error { return c.jobs.ResumeKind(ctx, kind) },
			text: "resumed",
		}),
	}
}

// pauseKind pauses a kind, until a time if one is given.
func (c client) pauseKind(ctx context.Context, kind, until string) error {
	if until == "" {
		return c.jobs.PauseKind(ctx, kind)
	}
	w, err := when("--until", until)
	if err != nil {
		return err
	}
	t, err := c.at(ctx, w)
	if err != nil {
		return err
	}
	return c.jobs.PauseKindUntil(ctx, kind, t)
}

// aboutNodes is the text of the commands that name nodes.
const aboutNodes = `

A node has the name that nodes shows, until its program ends. It learns of the
command from its next heartbeat.`

// drains are the commands that have nodes take no more jobs, and take some again.
func (h Host) drains() []*cobra.Command {
	known := func(c client, node string, err error) error {
		if errors.Is(err, durable.ErrNoNode) {
			return mistake("%s has no live node %s; nodes lists them", c.shown, printable(node))
		}
		return err
	}
	return []*cobra.Command{
		h.named(namedCommand{
			Command: cobra.Command{Use: "drain NODE...", Short: "Have nodes take no more jobs; runs in progress go on",
				Long:    "Have nodes take no more jobs; runs in progress go on." + aboutNodes,
				Example: "  executord store drain --store jobs.db web-1-qm3v7t2x9a"},
			of: "the name of a node",
			do: func(ctx context.Context, c client, node string) error {
				return known(c, node, c.jobs.DrainNode(ctx, node))
			},
			text: "drains",
		}),
		h.named(namedCommand{
			Command: cobra.Command{Use: "undrain NODE...", Short: "Have nodes take jobs again",
				Long:    "Have nodes take jobs again." + aboutNodes,
				Example: "  executord store undrain --store jobs.db web-1-qm3v7t2x9a"},
			of: "the name of a node",
			do: func(ctx context.Context, c client, node string) error {
				return known(c, node, c.jobs.UndrainNode(ctx, node))
			},
			text: "takes jobs again",
		}),
	}
}

// named returns the command. It records in the audit log what it has done.
func (h Host) named(n namedCommand) *cobra.Command {
	cmd := &n.Command
	cmd.Args = complaint.SomeArguments(n.of)
	open := h.Flag(cmd)
	reason := cmd.Flags().String("reason", "", "the reason, which executord acts shows")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		return h.visit(cmd, open, false, stores.Patience, func(ctx context.Context, c client) error {
			for _, name := range names {
				if err := n.do(ctx, c, name); err != nil {
					return err
				}
				fmt.Fprintf(c.out, "%s: %s\n", printable(name), n.text)
				c.note(ctx, durable.Act{Who: h.Who(), Action: cmd.Name(), Key: name, Reason: *reason, Answer: n.text})
			}
			return nil
		})
	}
	return cmd
}
