// Package anystore is the command "store", which looks at the store of any program, and acts on it: it knows no kinds
// and no payloads.
package anystore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// A Host is the program that has the command.
type Host struct {
	// Flag adds the flag that names the store, and returns a function that opens it, and returns the name by which it
	// may be shown. If create is true, a store that is not there is made.
	Flag func(cmd *cobra.Command) (open func(create bool) (store durable.Store, shown string, err error))
	// Mistake makes an error one of the program's. Quiet is a Mistake of which all is said.
	Mistake func(err error) error
	Quiet   error
	// Who returns who acts.
	Who func() string
}

// Command returns the command.
func Command(h Host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look into the store of any program, change its jobs, or move it",
		Long: strings.TrimSpace(`
store works on the store of any program that uses the package durable, and on
those of daemons. It knows jobs by their IDs and keys, and shows payloads as
JSON or text, or else as their size and first bytes.`),
		Example: strings.Trim(`
  executord store list --store jobs.db --state dead --kind mail
  executord store show --store jobs.db welcome/17
  executord store revive --store jobs.db --state dead --error refused --dry-run
  executord store export --store jobs.db >jobs.jsonl
  executord store import --store postgres://app@db/app jobs.jsonl`, "\n"),
	}
	complaint.OnlyCommands(cmd)
	cmd.AddCommand(h.list(), h.show(), h.counts(), h.nodes(), h.queues(), h.export(), h.importing(), h.serve())
	cmd.AddCommand(h.changes()...)
	cmd.AddCommand(h.pauses()...)
	cmd.AddCommand(h.drains()...)
	return cmd
}

// A client is a command that works on a store.
type client struct {
	store durable.Store
	jobs  *durable.Jobs
	shown string
	out   io.Writer
	cmd   *cobra.Command
}

// visit opens a store, and calls fn with it.
func (h Host) visit(cmd *cobra.Command, open func(bool) (durable.Store, string, error), create bool, wait time.Duration,
	fn func(ctx context.Context, c client) error) error {
	store, shown, err := open(create)
	if err != nil {
		return err
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		return h.Mistake(err)
	}
	ctx := context.Background()
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	err = fn(ctx, client{store, jobs, shown, cmd.OutOrStdout(), cmd})
	switch mistake := new(mistaken); {
	case err == nil || errors.Is(err, h.Quiet):
		return err
	case errors.As(err, &mistake):
		return h.Mistake(mistake)
	}
	return h.Mistake(stores.Explain(shown, err))
}

// A mistaken is an error that is not the store's.
type mistaken struct{ text string }

func (m *mistaken) Error() string { return m.text }

func mistake(format string, args ...any) error { return &mistaken{fmt.Sprintf(format, args...)} }

// filterFlags choose jobs.
type filterFlags struct {
	kind, queue, prefix, error string
	states, tags               []string
}

var states = []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Succeeded,
	durable.Dead, durable.Canceled, durable.Paused, durable.Blocked}

func newFilterFlags(cmd *cobra.Command) *filterFlags {
	f := new(filterFlags)
	cmd.Flags().StringVar(&f.kind, "kind", "", "jobs of this kind")
	cmd.Flags().StringVar(&f.queue, "queue", "", "jobs in this queue")
	cmd.Flags().StringVar(&f.prefix, "key", "", "jobs whose key begins with this text")
	cmd.Flags().StringArrayVar(&f.states, "state", nil, "jobs in this state, such as dead or waiting; if given again, in any of them")
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, "jobs with this tag, such as team=shop; if given again, with all of them")
	cmd.Flags().StringVar(&f.error, "error", "", "jobs whose error contains this text")
	return f
}

// filter returns the filter, and whether it selects less than all.
func (f *filterFlags) filter() (durable.Filter, bool, error) {
	of := durable.Filter{Kind: f.kind, Queue: f.queue, Prefix: f.prefix, Tags: f.tags, Error: f.error}
	for _, name := range f.states {
		i := slices.IndexFunc(states, func(s durable.State) bool { return s.String() == name })
		if i < 0 {
			return of, false, fmt.Errorf("--state %q: it must be one of %v", name, states)
		}
		of.States = append(of.States, states[i])
	}
	some := f.kind != "" || f.queue != "" || f.prefix != "" || f.error != "" || len(f.states)+len(f.tags) > 0
	return of, some, nil
}

// find returns the job with that ID or key.
func (c client) find(ctx context.Context, name string) (durable.Job, error) {
	j, err := c.jobs.Find(ctx, name)
	if id, not := durable.ParseID(name); not == nil && errors.Is(err, durable.ErrNotFound) {
		j, err = c.jobs.Get(ctx, id)
	}
	if errors.Is(err, durable.ErrNotFound) {
		return j, mistake("%s has no job with the ID or key %s", c.shown, printable(name))
	}
	return j, err
}
