package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Transactions of pgx's own pass the suite, in each of the ways in which pgx sends statements.
func TestTxOfPgx(t *testing.T) {
	modes := []string{"simple_protocol", "cache_statement", "cache_describe", "describe_exec", "exec"}
	if os.Getenv("EXECUTOR_LONG") == "" {
		modes = modes[:2]
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			storetest.RunTx(t, func(t *testing.T) (durable.Store, storetest.DB) {
				dsn := dsn(t)
				return open(t, dsn), native{pool(t, dsn+"&default_query_exec_mode="+mode), new(sync.Map)}
			})
		})
	}
}

// A transaction that is nil is declined as one of database/sql is.
func TestTxNil(t *testing.T) {
	jobs, err := durable.New(durable.Config{Store: new(postgres.Store)})
	if err != nil {
		t.Fatal(err)
	}
	k := durable.KindOf[string, string](jobs, "k")
	for _, tx := range []pgx.Tx{nil, (*pgxpool.Tx)(nil)} {
		if _, err := k.AddTx(t.Context(), postgres.Tx(tx), 0, ""); !errors.Is(err, executor.ErrInvalid) ||
			!strings.Contains(err.Error(), "must not be nil") {
			t.Errorf("%T: %v", tx, err)
		}
	}
}

// A transaction of another driver, or where the store's tables are not, is an error with that reason, of a call that
// adds a job and of one that completes its run.
func TestTxOfAnotherDatabase(t *testing.T) {
	store := open(t, dsn(t))
	id := claimed(t, store, "a", 1, 0)[0].ID
	job := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	outside := must(sql.Open("pgx", server.DSN()))
	defer outside.Close()
	file := must(sqlite.Open(filepath.Join(t.TempDir(), "jobs.db")))
	defer file.Close()
	other := must(sql.Open("sqlite", file.DSN()))
	defer other.Close()
	natives := pool(t, server.DSN())
	for what, c := range map[string]struct {
		begin func() (durable.Tx, error)
		want  string
	}{
		"another driver":           {func() (durable.Tx, error) { return other.Begin() }, "it is of another driver"},
		"another schema":           {func() (durable.Tx, error) { return outside.Begin() }, "it does not see the tables of the store"},
		"another schema, of pgx's": {func() (durable.Tx, error) { return native{natives, new(sync.Map)}.Begin(t.Context()) }, "it does not see the tables of the store"},
	} {
		for call, do := range map[string]func(tx durable.Tx) error{
			"get": func(tx durable.Tx) error { _, err := store.GetTx(t.Context(), tx, id); return err },
			"insert": func(tx durable.Tx) error {
				_, err := store.InsertTx(t.Context(), tx, []durable.NewJob{job})
				return err
			},
		} {
			tx := must(c.begin())
			if err := do(tx); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v", what, call, err)
			}
			tx.Rollback()
		}
	}
}

// pool returns a pool of pgx's, which is closed at the end of the test.
func pool(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// native is a storetest.DB of pgx's.
type native struct {
	pool *pgxpool.Pool
	of   *sync.Map // from a durable.Tx to its pgx.Tx
}

func (n native) Begin(ctx context.Context) (durable.Tx, error) {
	tx, err := n.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	of := postgres.Tx(tx)
	n.of.Store(of, tx)
	return of, nil
}

// tx returns what Begin has made the transaction of.
func (n native) tx(of durable.Tx) pgx.Tx {
	tx, _ := n.of.Load(of)
	return tx.(pgx.Tx)
}

func (n native) Exec(ctx context.Context, tx durable.Tx, statement string) error {
	_, err := n.tx(tx).Exec(ctx, statement)
	return err
}

func (n native) Count(ctx context.Context, tx durable.Tx, statement string) (count int, err error) {
	err = n.tx(tx).QueryRow(ctx, statement).Scan(&count)
	return count, err
}

// A job that a transaction got can't be changed by others until that ends.
func TestGetTxLocksJob(t *testing.T) {
	store := open(t, dsn(t))
	job := claimed(t, store, "node", 1, 0)[0]
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	must(store.GetTx(t.Context(), tx, job.ID))
	if _, err := store.DB().ExecContext(t.Context(), lockJob+" nowait", uuidText(job)); err == nil {
		t.Error("it is not locked")
	}
	tx.Rollback()
	if _, err := store.DB().ExecContext(t.Context(), lockJob+" nowait", uuidText(job)); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// Jobs that can't be added in a transaction, as the parent of one is missing, leave nothing in it, and no lock on
// another parent.
func TestInsertTxWithoutParentLocksNothing(t *testing.T) {
	store := open(t, dsn(t))
	parent := claimed(t, store, "a", 1, 0)[0]
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	child := durable.NewJob{ID: durable.NewID(), Kind: "child", Schedule: "once", Attempts: 1,
		After: durablestore.After{Parents: []durable.ID{parent.ID, durable.NewID()}, Need: 1}}
	other := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	for _, jobs := range [][]durable.NewJob{{child}, {other, child}} {
		if _, err := store.InsertTx(t.Context(), tx, jobs); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("%d jobs: %v", len(jobs), err)
		}
	}
	r := must(store.Commit(soon(t), durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{success(parent)}}))
	if len(r.Locked) > 0 || !r.Committed[0] {
		t.Errorf("the end of the other parent is answered %+v", r)
	}
	must(0, tx.Commit())
	if _, err := store.Get(t.Context(), other.ID); !errors.Is(err, durable.ErrNotFound) {
		t.Errorf("of the other job: %v", err)
	}
}
