package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// someFlags are the flags by which some of the jobs are chosen.
type someFlags struct {
	tags   []string
	states *choices
	error  string
}

// listedStates are those of jobs in the list.
var listedStates = []string{"waiting", "due", "running", "paused", "canceled", "dead", "ended", "removed", "no machine", "elsewhere"}

func newSomeFlags(cmd *cobra.Command) *someFlags {
	f := &someFlags{states: &choices{among: listedStates, name: "state"}}
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, "list only jobs with this tag, such as team=shop; if given again, with all of them")
	cmd.Flags().Var(f.states, "state", "list only jobs in this state, such as dead; if given again, in any of them")
	cmd.Flags().StringVar(&f.error, "error", "", "list only jobs whose last error contains this text")
	return f
}

// filter returns what a store is asked for. It knows fewer states, see of.
func (f *someFlags) filter() durable.Filter { return durable.Filter{Tags: f.tags, Error: f.error} }

// of returns those of the jobs that are chosen.
func (f *someFlags) of(list []view.Job) []view.Job {
	return slices.DeleteFunc(list, func(j view.Job) bool {
		return !f.states.has(string(j.State.State)) || !hasError(j, f.error) ||
			slices.ContainsFunc(f.tags, func(tag string) bool { return !slices.Contains(j.Tags, tag) })
	})
}

// hasError reports whether the last error of a job, or what its last run wrote to standard error, has a text in it.
func hasError(j view.Job, text string) bool {
	return strings.Contains(j.Error, text) ||
		j.Last != nil && slices.ContainsFunc(j.Last.Stderr, func(line string) bool { return strings.Contains(line, text) })
}
