package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

// Calls of users that wait for somebody else's transaction, however many they are,
// leave the node the connections with which it renews its lease, and others those
// with which they add and look at jobs.
func TestCallsThatWaitLeaveTheStoreAlone(t *testing.T) {
	const calls = 20
	periodic := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "rate:1s", Attempts: 3}
	once := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}
	for what, test := range map[string]struct {
		lock    string
		waiting int // how many of the calls have a connection
		adding  bool
		call    func(context.Context, durable.Store) error
	}{
		"cancel": {"select from executor_job for update", 10, true, func(ctx context.Context, store durable.Store) error {
			_, err := store.Change(ctx, periodic.ID, durable.Change{Op: durable.OpCancel})
			return err
		}},
		"register": {"select from executor_job for update", 10, true, func(ctx context.Context, store durable.Store) error {
			again := periodic
			again.ID, again.Schedule = durable.NewID(), "rate:2s"
			_, err := store.Insert(ctx, []durable.NewJob{again}, durable.Place{})
			return err
		}},
		"insert": {"lock table executor_job in share mode", 10, false, func(ctx context.Context, store durable.Store) error {
			j := once
			j.ID = durable.NewID()
			_, err := store.Insert(ctx, []durable.NewJob{j}, durable.Place{})
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			store := open(t, dsn(t))
			must(store.Join(t.Context(), "a", time.Hour))
			must(store.Insert(t.Context(), []durable.NewJob{periodic}, durable.Place{}))
			end := leaveOpen(t, store, test.lock)
			errs := make(chan error, calls)
			for range calls {
				go func() { errs <- test.call(t.Context(), store) }()
			}
			waitForWaiting(t, store, test.waiting)
			if p, err := store.Beat(soon(t), "a", time.Hour, durable.Watch{}); err != nil || !p.Alive {
				t.Errorf("pulse is %+v: %v", p, err)
			}
			if test.adding {
				if _, err := store.Insert(soon(t), []durable.NewJob{once}, durable.Place{}); err != nil {
					t.Errorf("insert: %v", err)
				}
				if _, err := store.Get(soon(t), once.ID); err != nil {
					t.Errorf("get: %v", err)
				}
			}
			end()
			for range calls {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		})
	}
}
