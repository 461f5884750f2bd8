// Package anystore is the command "store", which looks at the store of any program, and acts on it: it knows no kinds
// and no payloads.
package anystore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
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
	who   func() string
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
	err = fn(ctx, client{store, jobs, shown, cmd.OutOrStdout(), cmd, h.Who})
	switch mistake := new(mistaken); {
	case err == nil || errors.Is(err, h.Quiet):
		return err
	case errors.As(err, &mistake), errors.Is(err, executor.ErrInvalid):
		return h.Mistake(err)
	}
	return h.Mistake(stores.Explain(shown, err))
}

// A mistaken is an error that is not the store's.
type mistaken struct{ text string }

func (m *mistaken) Error() string { return m.text }

func mistake(format string, args ...any) error { return &mistaken{fmt.Sprintf(format, args...)} }

// queryFlags adds the flags that choose jobs, and returns what they choose.
func queryFlags(cmd *cobra.Command) *admin.Query {
	q := new(admin.Query)
	cmd.Flags().StringVar(&q.Kind, "kind", "", "jobs of this kind")
	cmd.Flags().StringVar(&q.Queue, "queue", "", "jobs in this queue")
	cmd.Flags().StringVar(&q.Key, "key", "", "jobs whose key begins with this text")
	cmd.Flags().StringSliceVar(&q.States, "state", nil, "jobs in this state, such as dead or waiting; if given again, in any of them")
	cmd.Flags().StringArrayVar(&q.Tags, "tag", nil, "jobs with this tag, such as team=shop; if given again, with all of them")
	cmd.Flags().StringVar(&q.Error, "error", "", "jobs whose error contains this text")
	cmd.Flags().DurationVar(&q.Within, "within", 0, "jobs that were changed at most so long ago, such as 24h")
	return q
}

// check returns what is wrong with what flags choose.
func check(q *admin.Query) error {
	if err := q.Check(); err != nil {
		return fmt.Errorf("--%w", err) // whose text begins with the name
	}
	return nil
}

// find returns the job with that ID or key.
func (c client) find(ctx context.Context, name string) (durable.Job, error) {
	j, err := admin.Find(ctx, c.jobs, name)
	if errors.Is(err, durable.ErrNotFound) {
		return j, mistake("%s has no job with the ID or key %s", c.shown, printable(name))
	}
	return j, err
}

// do carries out an action of whoever runs the command.
func (c client) do(ctx context.Context, a admin.Action) (admin.Answer, error) {
	a.Who = c.who()
	answer, err := admin.Do(ctx, c.jobs, a)
	if err == nil && answer.Unnoted != nil {
		fmt.Fprintf(c.cmd.ErrOrStderr(), "executord: the action was done, but could not be stored in the audit log: %v\n", answer.Unnoted)
	}
	return answer, err
}
