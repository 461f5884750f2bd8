package durable_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// silentTx is a store with transactions whose line does not answer, from one of the two calls of CompleteTx on.
type silentTx struct {
	durable.Store
	early bool // from the first call on
}

// openTx is a transaction in which nothing was done.
type openTx struct{}

func (openTx) Commit() error   { return nil }
func (openTx) Rollback() error { return nil }

func silence[T any](ctx context.Context) (none T, err error) {
	<-ctx.Done()
	return none, ctx.Err()
}

func (s silentTx) GetTx(ctx context.Context, _ durable.Tx, id durable.ID) (durable.Job, error) {
	if s.early {
		return silence[durable.Job](ctx)
	}
	return s.Get(ctx, id)
}

func (s silentTx) CompleteTx(ctx context.Context, _ durable.Tx, _ durablestore.CommitRequest) (durablestore.CommitResult, error) {
	return silence[durablestore.CommitResult](ctx)
}

func (silentTx) InsertTx(ctx context.Context, _ durable.Tx, _ []durable.NewJob) ([]durable.InsertResult, error) {
	return silence[[]durable.InsertResult](ctx)
}

// CompleteTx on a line that does not answer ends after a lease, with an error that says so, though the context of the
// handler goes on.
func TestCompleteTxEndsOnSilentLine(t *testing.T) {
	for what, early := range map[string]bool{"GetTx": true, "CompleteTx": false} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const lease = 7 * time.Second
				jobs := newJobs(t, silentTx{memory.New(), early}, func(c *durable.Config) { c.Lease = lease })
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
					begun := time.Now()
					ctx, cancel := context.WithTimeout(ctx, time.Hour) // what ends the test on a fault
					defer cancel()
					err := durable.CompleteTx(ctx, openTx{}, 1)
					if d := time.Since(begun); d != lease {
						t.Errorf("it took %v", d)
					}
					if want := "durable: complete: the database has not answered within the lease of 7s: context deadline exceeded"; err == nil ||
						err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the error is %v", err)
					}
					return 2, nil
				})
				stop := start(t, jobs)
				if n := must(k.Await(t.Context(), must(k.Add(t.Context(), 1)))); n != 2 {
					t.Errorf("the result is %d", n)
				}
				stop()
			})
		})
	}
}
