package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// someFlags are the flags by which some of the jobs are chosen.
type someFlags struct {
	query  admin.Query
	states *choices // which are more than those that a Query knows
}

func newSomeFlags(cmd *cobra.Command) *someFlags {
	f := &someFlags{states: newChoices("state", catalog.States())}
	cmd.Flags().StringArrayVar(&f.query.Tags, "tag", nil, "list only jobs with this tag, such as team=shop; if given again, with all of them")
	cmd.Flags().Var(f.states, "state", "list only jobs in this state, such as dead; if given again, in any of them")
	cmd.Flags().StringVar(&f.query.Error, "error", "", "list only jobs whose last error contains this text")
	return f
}

// of returns those of the jobs that are chosen. The error of a job is that of its last run, with what this wrote to
// standard error.
func (f *someFlags) of(list []view.Job) []view.Job {
	asked := f.query.Filter(time.Time{})
	return slices.DeleteFunc(list, func(j view.Job) bool {
		row := durable.Job{Tags: j.Tags, Error: j.Error}
		if j.Last != nil {
			row.Error = strings.Join(append([]string{row.Error}, j.Last.Stderr...), "\n")
		}
		return !f.states.has(string(j.State.State)) || !asked.Matches(&row)
	})
}
