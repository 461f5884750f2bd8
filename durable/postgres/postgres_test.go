package postgres_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/pgtest"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/storetest"
)

// server is shared by the tests; each has a schema of its own.
var server *pgtest.Server

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m.Run, &server, "fsync=off"))
}

// dsn gives the name of a schema that is empty.
func dsn(t *testing.T) string {
	t.Helper()
	return server.Schema(t)
}

// pooled is what a dsn has behind a pooler that pools transactions.
const pooled = "&default_query_exec_mode=exec"

// open opens a store, which is closed at the end of the test.
func open(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// The store in PostgreSQL does what is demanded of one.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) durable.Store { return open(t, dsn(t)) })
}

// It does so, too, where transactions are serializable unless they say otherwise.
func TestConformanceWhereSerializableIsTheDefault(t *testing.T) {
	storetest.Run(t, func(t *testing.T) durable.Store {
		return open(t, dsn(t)+"&default_transaction_isolation=serializable")
	})
}

// It does so, too, without statements that outlive a transaction, as behind a
// pooler.
func TestConformanceBehindPooler(t *testing.T) {
	storetest.Run(t, func(t *testing.T) durable.Store { return open(t, dsn(t)+pooled) })
	storetest.RunTx(t, func(t *testing.T) (durable.Store, storetest.DB) {
		store := open(t, dsn(t)+pooled)
		return store, storetest.SQL(store.DB())
	})
}

// Transactions of the caller do what is demanded of them.
func TestTransactions(t *testing.T) {
	storetest.RunTx(t, func(t *testing.T) (durable.Store, storetest.DB) {
		store := open(t, dsn(t))
		return store, storetest.SQL(store.DB())
	})
}

// A name that leads to no database is an error at Open that says what is wrong.
func TestOpenDeclines(t *testing.T) {
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
func TestNewerSchemaIsDeclined(t *testing.T) {
	dsn := dsn(t)
	if _, err := open(t, dsn).DB().Exec("update executor_schema set version = 1000"); err != nil {
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
