package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A key, a kind or a prefix that no job can have, such as one with a zero byte, which PostgreSQL has no text for, is of
// no job; that is no failure of the database.
func TestStoreFindsNothingForImpossibleText(t *testing.T) {
	jobs := must(durable.New(durable.Config{Store: open(t, dsn(t))}))
	must(durable.KindOf[int, int](jobs, "k").AddAfter(t.Context(), time.Hour, 1, durable.Key("key")))
	for _, text := range []string{"a\x00b", "\xff"} {
		if _, err := jobs.Find(t.Context(), text); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("Find(%q): %v", text, err)
		}
		for _, f := range []durable.Filter{{Kind: text}, {Prefix: text}} {
			if all, err := jobs.List(t.Context(), f); err != nil || len(all) != 0 {
				t.Errorf("List(%+v): %v, %v", f, all, err)
			}
		}
	}
}

// A list of keys with a prefix does not cost more where more jobs are kept: it finds few of them by the index of the
// keys, and many by that of the order, from either end.
func TestListOfPrefixUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), 'key/' || i % 1000 || '/' || i, 'k', '', 0, 'once', '', 0, 0, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from generate_series(1, 20000) i`))
	must(store.DB().Exec("analyze executor_job"))
	for prefix, index := range map[string]string{"key/7/": "executor_job_key", "nothing": "executor_job_key", "key/": "executor_job_pkey"} {
		for _, latest := range []bool{false, true} {
			statement, args := postgres.ListJobs(durable.Filter{Prefix: prefix, LatestFirst: latest})
			rows := must(store.DB().Query("explain (analyze, timing off) "+statement, args...))
			plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
			if !strings.Contains(plan, index) || strings.Contains(plan, "Rows Removed by Filter") {
				t.Errorf("%q, the latest first %v: the plan is\n%s", prefix, latest, plan)
			}
		}
	}
}

// A list of jobs with a text in their error reads no job without an error, in either order.
func TestListOfErrorsUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, 0, 0, 0, 3, 0, 0, '', 0, 1, 0, 0, 0,
			case when i % 1000 = 0 then 'refused' else '' end, null, 0, 0, false, '', '', '', '', 0, ''
		from generate_series(1, 20000) i`))
	must(store.DB().Exec("analyze executor_job"))
	for _, f := range []durable.Filter{{Error: "fuse"}, {Error: "fuse", LatestFirst: true}, {Error: "fuse", Kind: "k", States: []durable.State{durable.Succeeded}}} {
		statement, args := postgres.ListJobs(f)
		rows := must(store.DB().Query("explain (analyze, timing off) "+statement, args...))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if !strings.Contains(plan, "executor_job_error") || strings.Contains(plan, "Rows Removed by Filter") {
			t.Errorf("%+v: the plan is\n%s", f, plan)
		}
	}
}

// Calls of users that wait for another transaction, however many they are, leave the node the connections with which it
// renews its lease, and others those with which they add and read jobs.
func TestChangeThatWaitsLeavesConnections(t *testing.T) {
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
			_, err := store.Insert(ctx, []durable.NewJob{again}, durablestore.Placement{})
			return err
		}},
		"insert": {"lock table executor_job in share mode", 10, false, func(ctx context.Context, store durable.Store) error {
			j := once
			j.ID = durable.NewID()
			_, err := store.Insert(ctx, []durable.NewJob{j}, durablestore.Placement{})
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			store := open(t, dsn(t))
			must(store.Join(t.Context(), "a", time.Hour))
			must(store.Insert(t.Context(), []durable.NewJob{periodic}, durablestore.Placement{}))
			end := leaveOpen(t, store, test.lock)
			errs := make(chan error, calls)
			for range calls {
				go func() { errs <- test.call(t.Context(), store) }()
			}
			waitForWaiting(t, store, test.waiting)
			if p, err := store.Heartbeat(soon(t), "a", time.Hour, durablestore.Watch{}); err != nil || !p.Alive {
				t.Errorf("answer is %+v: %v", p, err)
			}
			if test.adding {
				if _, err := store.Insert(soon(t), []durable.NewJob{once}, durablestore.Placement{}); err != nil {
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
