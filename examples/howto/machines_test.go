package howto

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// startServer returns the dsn of a PostgreSQL server that ends with the test.
func startServer(t *testing.T) string {
	t.Helper()
	server, err := pgserver.Start("fsync=off") // the test does not cut the power
	if errors.Is(err, pgserver.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server.DSN()
}

// Two nodes share the jobs that a third program adds: each is done once, and both have a part. The schedule that both
// register is one.
func TestNodesShareJobs(t *testing.T) {
	dsn := startServer(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	printed := make(map[int]int) // how often, by number
	begun := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	ended := make(chan error, len(begun))
	for node := range begun {
		var first sync.Once
		go func() {
			ended <- runNode(ctx, dsn, func(ctx context.Context, i Invoice) (int, error) {
				first.Do(func() { close(begun[node]) })
				for _, other := range begun { // no job ends before both nodes have begun one
					select {
					case <-other:
					case <-ctx.Done():
						return 0, context.Cause(ctx)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				printed[i.Number]++
				return i.Number % 3, nil
			})
		}()
	}

	store, invoices, err := newInvoices(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var ids []durable.ID
	for n := range 20 {
		id, err := invoices.Add(ctx, Invoice{n}, durable.Key(fmt.Sprint("invoice/", n)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for n, id := range ids {
		if pages, err := invoices.Await(ctx, id); pages != n%3 || err != nil {
			t.Errorf("invoice %d: %d pages, %v; want %d", n, pages, err, n%3)
		}
	}
	stop() // both nodes
	for range begun {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for n, times := range printed {
		if times != 1 {
			t.Errorf("invoice %d was printed %d times", n, times)
		}
	}
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	schedules, err := jobs.List(t.Context(), durable.Filter{Kind: "cleanup"})
	if err != nil || len(schedules) != 1 || schedules[0].Key != "cleanup/nightly" {
		t.Errorf("got %v, %v; want one schedule", schedules, err)
	}
}
