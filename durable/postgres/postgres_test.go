package postgres_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
)

// Of two transactions that wait for each other the server breaks one off. It is run again, and both are done.
func TestInTxRepeatsAfterDeadlock(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 2, 0)
	const add = "update executor_job set runs = runs + 1 where id = $1"
	var tries [2]int
	var errs [2]error
	var both, done sync.WaitGroup
	both.Add(2)
	for i := range tries {
		done.Go(func() {
			errs[i] = postgres.InTx(t.Context(), store.DB(), func(exec func(string, ...any) error) error {
				tries[i]++
				if err := exec(add, uuidText(jobs[i])); err != nil {
					return err
				}
				if tries[i] == 1 { // each has the row for which the other is to wait
					both.Done()
					both.Wait()
				}
				return exec(add, uuidText(jobs[1-i]))
			})
		})
	}
	done.Wait()
	for i, j := range jobs {
		var runs int
		if err := store.DB().QueryRow("select runs from executor_job where id = $1", uuidText(j)).Scan(&runs); err != nil {
			t.Fatal(err)
		}
		if errs[i] != nil || runs != 2 {
			t.Errorf("job %d has %d changes, want 2: %v", i, runs, errs[i])
		}
	}
	if tries[0]+tries[1] < 3 {
		t.Errorf("there was no deadlock: %v tries", tries)
	}
}

// Transactions of handlers take no connection from the store, however many are open: a node must be able to renew its
// lease.
func TestStoreKeepsConnectionsForNode(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	for range 20 {
		leaveOpen(t, store, "select 1")
	}
	if p, err := store.Heartbeat(soon(t), "a", time.Hour, durablestore.Watch{}); err != nil || !p.Alive {
		t.Errorf("answer is %+v: %v", p, err)
	}
}

// atNight skips a test that holds the same statements against the whole suite once more: only the long form of the tests
// has it.
func atNight(t *testing.T) {
	t.Helper()
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("set EXECUTOR_LONG=1 to run the suite once more")
	}
}

// conformance holds stores whose dsn has that at its end against the suite.
func conformance(t *testing.T, more string) {
	storetest.Run(t, func(t *testing.T) durable.Store { return opened(t, more) })
}

// opened returns a store that is empty, whose dsn has that at its end.
func opened(t *testing.T, more string) *postgres.Store {
	return ready(t, more, func() *postgres.Store { return must(postgres.Open(dsn(t) + more)) })
}

// withoutEffects drops the table that the suite for transactions makes, at the end of a test, and returns the store.
func withoutEffects(t *testing.T, store *postgres.Store) *postgres.Store {
	t.Cleanup(func() { must(store.DB().Exec("drop table if exists effect")) })
	return store
}

// The store in PostgreSQL passes the suite.
func TestStoreConformance(t *testing.T) {
	conformance(t, "")
}

// It passes it, too, where transactions are serializable by default.
func TestStoreConformanceWhereSerializableIsTheDefault(t *testing.T) {
	atNight(t)
	conformance(t, "&default_transaction_isolation=serializable")
}

// It passes it, too, without statements that outlive a transaction, as behind a pooler.
func TestStoreConformanceBehindPooler(t *testing.T) {
	atNight(t)
	conformance(t, pooled)
	storetest.RunTx(t, func(t *testing.T) (durable.Store, storetest.DB) {
		store := withoutEffects(t, opened(t, pooled))
		return store, storetest.SQL(store.DB())
	})
}

// Transactions of the caller pass the suite.
func TestStoreTransactions(t *testing.T) {
	storetest.RunTx(t, func(t *testing.T) (durable.Store, storetest.DB) {
		store := withoutEffects(t, opened(t, ""))
		return store, storetest.SQL(store.DB())
	})
}

// A name that leads to no database is an error at Open with the reason.
func TestOpenDeclinesBadNames(t *testing.T) {
	for dsn, want := range map[string]string{
		"nonsense":                          "data source name",
		"postgres://user@127.0.0.1:port/db": "data source name",
		"postgres://user:secret@127.0.0.1:1/jobs?sslmode=disable":                  `open database "jobs" on 127.0.0.1`,
		"host=127.0.0.1 port=1 user=u password=secret dbname=jobs sslmode=disable": `open database "jobs" on 127.0.0.1`,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		store, err := postgres.OpenContext(ctx, dsn)
		cancel()
		if err == nil {
			store.Close()
			t.Errorf("%q was opened", dsn)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", dsn, err)
		}
	}
}

// A database of a newer program is left alone.
func TestOpenDeclinesNewerSchema(t *testing.T) {
	dsn := dsn(t)
	if _, err := open(t, dsn).DB().Exec("update executor_schema set version = 1000, oldest = 1000"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(dsn); !errors.Is(err, durable.ErrNewerSchema) || !strings.Contains(err.Error(), "1000") {
		t.Error(err)
	}
}

// Programs that open a new database at the same moment make its tables once.
func TestOpenTogether(t *testing.T) {
	dsn := dsn(t)
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() {
			store, err := postgres.Open(dsn)
			if err == nil {
				err = store.Close()
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
