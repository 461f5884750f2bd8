package howto

import (
	"context"
	"time"

	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// Invoice is the payload of a job, stored as JSON.
type Invoice struct{ Number int }

// runNode makes this process a node until ctx ends. The node shares the jobs in the database with all other nodes.
func runNode(ctx context.Context, dsn string, print func(context.Context, Invoice) (pages int, err error)) error {
	store, err := postgres.Open(dsn)
	if err != nil {
		return err
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		return err
	}
	durable.Handle(jobs, "invoice", print,
		durable.Limit(4),        // at a time on this node
		durable.GlobalLimit(10), // at a time on all nodes together
	)

	// Every node registers the schedule. Its key makes it one schedule, and each night one node runs the job.
	cleanup := durable.Handle(jobs, "cleanup", cleanUp)
	schedule := cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *")
	if _, err := cleanup.On(ctx, "cleanup/nightly", schedule, 30*24*time.Hour); err != nil {
		return err
	}
	return jobs.Run(ctx) // claims jobs and runs them; returns when ctx has ended and the handlers have returned
}

// cleanUp deletes what is older than age.
func cleanUp(ctx context.Context, age time.Duration) (deleted int, err error) {
	return 0, nil // a statement of the program's own
}

// newInvoices is for a program that adds jobs and runs none, such as a web server beside the nodes. Close the store at
// the end of the program.
func newInvoices(dsn string) (*postgres.Store, *durable.Kind[Invoice, int], error) {
	store, err := postgres.Open(dsn)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		store.Close()
		return nil, nil, err
	}
	return store, durable.KindOf[Invoice, int](jobs, "invoice"), nil
}
