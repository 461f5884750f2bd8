package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// Open waits for a server that cannot be reached yet, as one that is restarted.
func TestOpenWaitsForServer(t *testing.T) {
	g := newGate(t, dsn(t))
	g.refusals.Store(3)
	open(t, g.dsn)
	if left := g.refusals.Load(); left > 0 {
		t.Errorf("%d of 3 refusals are left: the store was opened without the server", left)
	}
}

// A login that the server refuses, and a database that is not there, are errors at
// once: to wait does not change them.
func TestOpenReportsRefusedLoginAtOnce(t *testing.T) {
	dsn := dsn(t)
	config := must(pgx.ParseConfig(dsn))
	for what, refused := range map[string]string{
		"no such role":     strings.Replace(dsn, "//"+config.User+"@", "//nobody_of_that_name@", 1),
		"no such database": strings.Replace(dsn, "/"+config.Database+"?", "/nothing_of_that_name?", 1),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		store, err := postgres.OpenContext(ctx, refused)
		if err == nil {
			store.Close()
		}
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
}

// OpenContext stops waiting for the server when ctx ends, and reports both why the
// server was not reached and the end of ctx.
func TestOpenContextEndsWithContext(t *testing.T) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	address := l.Addr().String()
	l.Close() // nobody listens there now
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := postgres.OpenContext(ctx, "postgres://app@"+address+"/jobs?sslmode=disable")
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*pgconn.ConnectError)) {
		t.Error(err)
	}
}

// Where commits need not be on the disk by default, those of the store's sessions are,
// and those of DB; a stricter setting stays.
func TestStoreSetsSynchronousCommit(t *testing.T) {
	for setting, want := range map[string]string{"off": "on", "local": "on", "on": "on", "remote_apply": "remote_apply"} {
		store := open(t, dsn(t)+"&synchronous_commit="+setting)
		for name, db := range map[string]*sql.DB{"calls": postgres.Calls(store), "DB": store.DB()} {
			if got := synchronousCommit(t, db); got != want {
				t.Errorf("%s, by default %s: %s; want %s", name, setting, got, want)
			}
		}
	}
}

// queryRower is a database or a transaction.
type queryRower interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func synchronousCommit(t *testing.T, q queryRower) (setting string) {
	t.Helper()
	if err := q.QueryRowContext(t.Context(), "show synchronous_commit").Scan(&setting); err != nil {
		t.Fatal(err)
	}
	return setting
}

// Behind a pooler the store cannot set it: Open fails, and the error says how to.
func TestOpenDeclinesAsynchronousCommitsBehindPooler(t *testing.T) {
	_, err := postgres.Open(dsn(t) + pooled + "&synchronous_commit=off")
	if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "set synchronous_commit = on") {
		t.Error(err)
	}
}

// A job that is added in a transaction of the program's own connections is as durable.
func TestInsertTxSetsSynchronousCommit(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	db := stdlib.OpenDB(*must(pgx.ParseConfig(dsn + "&synchronous_commit=off")))
	defer db.Close()
	tx := must(db.BeginTx(t.Context(), nil))
	defer tx.Rollback()
	must(store.InsertTx(t.Context(), tx, []durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once"}}))
	if got := synchronousCommit(t, tx); got != "on" {
		t.Errorf("synchronous_commit is %s at the commit", got)
	}
}

// The error of a pooler's connection on which a prepared statement is there already, or
// is not there any more, says what to add to the data source name.
func TestExplainPooler(t *testing.T) {
	for _, code := range []string{"42P05", "26000"} {
		err := postgres.Explain(&pgconn.PgError{Code: code, Message: "prepared statement"}, "app")
		if !strings.Contains(err.Error(), "add default_query_exec_mode=exec") {
			t.Error(err)
		}
	}
}
