package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/cmd/executord/internal/web"
	"github.com/executor-go/executor/durable/admin"
)

// runFlags are the flags by which some of the runs are chosen.
type runFlags struct {
	cmd      *cobra.Command
	number   int
	since    string
	outcomes *choices
}

func newRunFlags(cmd *cobra.Command) *runFlags {
	f := &runFlags{cmd: cmd, outcomes: newChoices("outcome", outcome.All())}
	cmd.Flags().IntVarP(&f.number, "number", "n", 20, fmt.Sprintf("how many runs to show, at most; with --since, the default is %d", web.MostRuns))
	cmd.Flags().StringVar(&f.since, "since", "", "show only runs that were in progress at this time, or later: 90m or 48h ago, 2027-03-27, '2027-03-27 14:00' or RFC 3339")
	cmd.Flags().Var(f.outcomes, "outcome", "show only runs with this outcome, such as failed; if given again, with any of them")
	return f
}

// chosenRuns says which runs are to be shown.
type chosenRuns struct {
	number   int // at most
	look     int // how many of each job have to be looked at
	since    time.Time
	outcomes *choices
}

// at returns what the flags choose, at a time.
func (f *runFlags) at(now time.Time) (c chosenRuns, err error) {
	c = chosenRuns{number: f.number, outcomes: f.outcomes}
	if f.number < 1 {
		return c, fmt.Errorf("-n %d: it must be 1 or more", f.number)
	}
	if f.since != "" {
		since, err := admin.ParseWhen(f.since, time.Local)
		ok := err == nil
		if ok {
			c.since, ok = since.Ago(now)
		}
		if !ok {
			return c, fmt.Errorf("--since %s: neither a time nor how long ago one was; write it as 90m or 48h, or as %s", f.since, admin.TimeForms)
		}
		if !f.cmd.Flags().Changed("number") {
			c.number = web.MostRuns
		}
	}
	if c.look = c.number; len(f.outcomes.values) > 0 {
		c.look = max(c.number, web.MostRuns)
	}
	return c, nil
}

// of returns the latest of those of the runs that are chosen, the latest first.
func (c chosenRuns) of(runs []view.Run) []view.Run {
	return latestOf(slices.DeleteFunc(runs, func(r view.Run) bool {
		over := r.Outcome != outcome.InProgress && r.Finished.Before(c.since) && r.Started.Before(c.since)
		return over || !c.outcomes.has(string(r.Outcome))
	}), c.number)
}
