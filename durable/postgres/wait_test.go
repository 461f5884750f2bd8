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
			_, err := store.Insert(ctx, []durable.NewJob{again}, durable.Placement{})
			return err
		}},
		"insert": {"lock table executor_job in share mode", 10, false, func(ctx context.Context, store durable.Store) error {
			j := once
			j.ID = durable.NewID()
			_, err := store.Insert(ctx, []durable.NewJob{j}, durable.Placement{})
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			store := open(t, dsn(t))
			must(store.Join(t.Context(), "a", time.Hour))
			must(store.Insert(t.Context(), []durable.NewJob{periodic}, durable.Placement{}))
			end := leaveOpen(t, store, test.lock)
			errs := make(chan error, calls)
			for range calls {
				go func() { errs <- test.call(t.Context(), store) }()
			}
			waitForWaiting(t, store, test.waiting)
			if p, err := store.Heartbeat(soon(t), "a", time.Hour, durable.Watch{}); err != nil || !p.Alive {
				t.Errorf("pulse is %+v: %v", p, err)
			}
			if test.adding {
				if _, err := store.Insert(soon(t), []durable.NewJob{once}, durable.Placement{}); err != nil {
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

// What is registered again together is all changed, though it had to wait in the
// middle of it.
func TestAllThatIsRegisteredAgainIsChanged(t *testing.T) {
	store := open(t, dsn(t))
	jobs := []durable.NewJob{
		{ID: durable.NewID(), Key: "first", Kind: "k", Schedule: "rate:1s", Attempts: 3},
		{ID: durable.NewID(), Key: "second", Kind: "k", Schedule: "rate:1s", Attempts: 3},
	}
	added := must(store.Insert(t.Context(), jobs, durable.Placement{}))
	end := leaveOpen(t, store, lockJob, uuidText(added[1].Job))
	errs := make(chan error, 1)
	go func() {
		for i := range jobs {
			jobs[i].ID, jobs[i].Schedule = durable.NewID(), "rate:2s"
		}
		_, err := store.Insert(t.Context(), jobs, durable.Placement{})
		errs <- err
	}()
	// Until it is not the first try any more, which ends soon.
	for waiting := false; !waiting; {
		if err := store.DB().QueryRow("select exists (select from pg_locks l join pg_stat_activity using (pid) where not granted and now() - state_change > '100ms')").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	end()
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
	for _, j := range added {
		if got := must(store.Get(t.Context(), j.ID)); got.Schedule != "rate:2s" {
			t.Errorf("%s: schedule is %s", j.Key, got.Schedule)
		}
	}
}
