package postgres_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest/pgserver"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Texts are the same for all programs, whatever encoding the role or the database has for clients.
func TestStoreWritesUTF8(t *testing.T) {
	for _, encoding := range []string{"LATIN1", "WIN1252", "EUC_JP", "SQL_ASCII"} {
		t.Run(encoding, func(t *testing.T) {
			dsn := dsn(t)
			owner := open(t, dsn)
			config := must(pgx.ParseConfig(dsn))
			role := "encoded_" + config.RuntimeParams["search_path"]
			for _, statement := range []string{
				"create role " + role + " login superuser", "alter role " + role + " set client_encoding = '" + encoding + "'",
			} {
				must(owner.DB().Exec(statement))
			}
			for _, option := range []string{"", pooled, "&default_query_exec_mode=simple_protocol"} {
				store, err := postgres.Open(strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1) + option)
				if err != nil {
					t.Errorf("%q: open: %v", option, err)
					continue
				}
				defer store.Close()
				must(store.Join(t.Context(), "a", time.Hour))
				key := "café/Á/日本" + option
				j := durable.NewJob{ID: durable.NewID(), Key: key, Kind: "k", Schedule: "once", Attempts: 3}
				placed, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{Node: "a", Limit: 1})
				if err != nil {
					t.Errorf("%q: %v", option, err)
					continue
				}
				if got, err := owner.Find(t.Context(), key); err != nil || got.ID != j.ID {
					t.Errorf("%q: found %q: %v", option, got.Key, err)
				}
				o := durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: placed[0].Epoch}, State: durable.Dead, Error: "naïve Á"}
				if _, err := store.Commit(t.Context(),
					durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{o}}); err != nil {
					t.Errorf("%q: settle: %v", option, err)
				}
			}
		})
	}
}

// A server that is named first and does not answer, as one whose machine has lost its power, does not keep the store
// from the next: neither Open, nor a call that has as long as a lease, nor Listen.
func TestOpenPassesSilentServer(t *testing.T) {
	dsn := dsn(t)
	silent := must(net.Listen("tcp", "127.0.0.1:0"))
	defer silent.Close()
	var store *postgres.Store
	if err := tried(func() (err error) {
		store, err = postgres.Open(before(dsn, silent.Addr().(*net.TCPAddr).Port))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for what, call := range map[string]func(context.Context) error{
		"a call":                     func(ctx context.Context) error { _, err := store.Now(ctx); return err },
		"a transaction's connection": store.DB().PingContext,
	} {
		if err := tried(func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			return call(ctx)
		}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	listening, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := tried(func() error {
		err := store.Listen(listening, cancel)
		if listening.Err() == context.Canceled {
			return nil
		}
		return err
	}); err != nil {
		t.Errorf("listen: %v", err)
	}
}

// tried returns the error of what fails three times. A machine that is busy may take too
// long for it once, but not each time.
func tried(f func() error) (err error) {
	for range 3 {
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

// A server that takes no writes any more is left for another that the dsn names, though it keeps its connections: by
// calls and by Listen.
func TestStoreLeavesServerThatTakesNoWrites(t *testing.T) {
	defer postgres.SetSilence(time.Millisecond, time.Minute)()
	dsn := dsn(t)
	there := open(t, dsn)
	if major, _, _ := strings.Cut(server.Version, "."); must(strconv.Atoi(major)) < 14 {
		t.Skip("it does not say so before version 14")
	}
	other, err := pgserver.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	schema := must(pgx.ParseConfig(dsn)).RuntimeParams["search_path"]
	old := must(pgx.Connect(t.Context(), other.DSN()))
	defer old.Close(t.Context())
	must(old.Exec(t.Context(), "create schema "+schema))
	store := open(t, before(dsn, other.Port))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(store.Join(ctx, "a", time.Hour))
	listened := make(chan error, 1)
	go func() {
		listened <- store.Listen(ctx, func() {
			_, err := old.Exec(ctx, "alter system set default_transaction_read_only = on")
			if err == nil {
				_, err = old.Exec(ctx, "select pg_reload_conf()")
			}
			if err != nil {
				cancel()
			}
		})
	}()
	if err := <-listened; ctx.Err() != nil {
		t.Errorf("it goes on listening: %v", err)
	}
	n := 0
	for n == 0 && ctx.Err() == nil {
		store.Join(ctx, "b", time.Hour) // the first call may still be declined
		there.DB().QueryRowContext(ctx, "select count(*) from executor_node where id = 'b'").Scan(&n)
	}
	if n == 0 {
		t.Error("calls are not made to the other server")
	}
}

// gate is a way to the server, which takes connections at any time. What has come
// through one goes on, for the first so many pieces that each sends, or nowhere.
type gate struct {
	forgets atomic.Bool // see forgetful
	dsn     string
	pieces  atomic.Int64 // of a client, for connections to come
	silent  atomic.Bool  // what comes on any connection is dropped
	lines   atomic.Int64 // connections that were taken

	refusals atomic.Int64 // connections to come that are closed at once
}

// endless is for a connection through which all goes on.
const endless = 1 << 30

func newGate(t *testing.T, dsn string) *gate {
	g := new(gate)
	g.pieces.Store(endless)
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	port := must(pgx.ParseConfig(dsn)).Port
	g.dsn = strings.Replace(dsn, fmt.Sprint(":", port, "/"), fmt.Sprint(":", l.Addr().(*net.TCPAddr).Port, "/"), 1)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		l.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if g.refusals.Load() > 0 {
				g.refusals.Add(-1)
				client.Close()
				continue
			}
			server, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
			if err != nil {
				client.Close()
				continue
			}
			context.AfterFunc(ctx, func() { client.Close(); server.Close() })
			if g.forgets.Load() {
				client = forgetful{client}
			}
			left := g.pieces.Load()
			g.lines.Add(1)
			wg.Go(func() { g.pass(client, server, endless) })
			wg.Go(func() { g.pass(server, client, left) })
		}
	})
	return g
}

// A forgetful connection is that of a pooler that ignores the search_path with which a client begins.
type forgetful struct{ net.Conn }

func (c forgetful) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	copy(b, bytes.ReplaceAll(b[:n], []byte("\x00search_path\x00"), []byte("\x00exec.ignore\x00")))
	return n, err
}

// Behind a pooler that ignores the search path of the dsn the tables would be made elsewhere: Open fails, and the error
// says how to set it.
func TestOpenDeclinesIgnoredSearchPathBehindPooler(t *testing.T) {
	g := newGate(t, dsn(t))
	g.forgets.Store(true)
	_, err := postgres.Open(g.dsn + pooled)
	if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "set search_path = ") {
		t.Error(err)
	}
}

// pass moves so many pieces, and drops what comes after them.
func (g *gate) pass(to, from net.Conn, pieces int64) {
	defer to.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if pieces--; pieces >= 0 && !g.silent.Load() {
			to.Write(buf[:n])
		}
	}
}

// However many calls there were while the server did not answer, those after it are answered: a connection that was to
// be made meanwhile for a call that waited for one, and on which no answer will ever come, is given up.
func TestStoreGoesOnAfterServerWasSilent(t *testing.T) {
	restore := postgres.SetSilence(time.Minute, 100*time.Millisecond)
	g := newGate(t, dsn(t))
	store := open(t, g.dsn)
	restore()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := func(ctx context.Context) error {
		if _, err := store.Get(ctx, durable.NewID()); !errors.Is(err, durable.ErrNotFound) {
			return err
		}
		return nil
	}
	reach := func(what string, done func() bool) {
		t.Helper()
		for !done() {
			if runtime.Gosched(); ctx.Err() != nil {
				t.Fatal(what)
			}
		}
	}
	const most = 10 // connections
	crowd := func() (leave func()) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		for range most {
			all.Go(func() { ask(ctx) })
		}
		return func() { cancel(); all.Wait() }
	}
	calls := postgres.Calls(store)
	g.pieces.Store(0)
	lines := g.lines.Load()
	first := crowd()
	reach("not all calls have asked for a connection", func() bool { return g.lines.Load() == lines+most })
	second := crowd()
	reach("not all calls wait for a connection", func() bool { return calls.Stats().WaitCount == most })
	first()
	reach("no connection is made for those that wait", func() bool { return g.lines.Load() > lines+most })
	second()
	g.pieces.Store(endless)
	for err := ask(ctx); err != nil; err = ask(ctx) {
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// A transaction of DB does not wait for a server that has fallen silent, though its context does not end: neither where
// it begins, on a connection that was used before, nor where it ends.
func TestDBTransactionEndsOnSilentLine(t *testing.T) {
	defer postgres.SetSilence(time.Minute, 100*time.Millisecond)()
	begin := func(ctx context.Context, db *sql.DB, _ *sql.Tx) error {
		_, err := db.BeginTx(ctx, nil)
		return err
	}
	for what, end := range map[string]func(context.Context, *sql.DB, *sql.Tx) error{
		"Commit":                     func(_ context.Context, _ *sql.DB, tx *sql.Tx) error { return tx.Commit() },
		"Rollback":                   func(_ context.Context, _ *sql.DB, tx *sql.Tx) error { return tx.Rollback() },
		"BeginTx, which pings first": begin,
		"BeginTx, just after a call": begin,
	} {
		t.Run(what, func(t *testing.T) {
			g := newGate(t, dsn(t))
			store := open(t, g.dsn)
			for range strings.Count(what, "just") + 1 { // the driver pings where it does not know of a use
				must(0, store.DB().PingContext(t.Context()))
			}
			ctx := soon(t)
			var tx *sql.Tx
			if !strings.HasPrefix(what, "BeginTx") {
				tx = must(store.DB().BeginTx(ctx, nil))
			}
			g.silent.Store(true)
			if err := end(ctx, store.DB(), tx); ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ends with %v, its context with %v", err, ctx.Err())
			}
		})
	}
}

var errNoTransactions = errors.New("transaction blocks not allowed in statement pooling mode")

// stateless is a connection behind a pooler that returns one to each statement.
type stateless struct{ *stdlib.Conn }

func (stateless) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, errNoTransactions
}

type statelessConnector struct{ driver.Connector }

func (c statelessConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return stateless{conn.(*stdlib.Conn)}, nil
}

// A pooler that knows no transactions is found at once, also if the tables are there.
func TestOpenDeclinesStatementPooling(t *testing.T) {
	dsn := dsn(t)
	for _, when := range []string{"first", "again"} {
		db := sql.OpenDB(statelessConnector{stdlib.GetConnector(*must(pgx.ParseConfig(dsn)))})
		if err := postgres.Migrate(t.Context(), db); !errors.Is(err, errNoTransactions) {
			t.Errorf("%s: %v", when, err)
		}
		db.Close()
		open(t, dsn)
	}
}

// Open waits for a server that cannot be reached yet, as one that is restarted.
func TestOpenWaitsForServer(t *testing.T) {
	g := newGate(t, dsn(t))
	g.refusals.Store(3)
	open(t, g.dsn)
	if left := g.refusals.Load(); left > 0 {
		t.Errorf("%d of 3 refusals are left: the store was opened without the server", left)
	}
}

// A login that the server refuses, a database that is not there, and a setting in the dsn that the server does not take,
// are errors at once: to wait does not change them.
func TestOpenReportsRefusedLoginAtOnce(t *testing.T) {
	dsn := dsn(t)
	config := must(pgx.ParseConfig(dsn))
	for what, refused := range map[string]string{
		"no such role":     strings.Replace(dsn, "//"+config.User+"@", "//nobody_of_that_name@", 1),
		"no such database": strings.Replace(dsn, "/"+config.Database+"?", "/nothing_of_that_name?", 1),
		"no such setting":  dsn + "&serach_path=jobs",
		"no such value":    dsn + "&statement_timeout=soon",
		"no TLS":           strings.Replace(dsn, "sslmode=disable", "sslmode=require", 1),
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
	l.Close() // no server listens there now
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
	if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "set synchronous_commit = 'on'") {
		t.Error(err)
	}
}

// Open fails if statements behind a pooler would not see what was committed before they began: claims and inserts of
// two programs would fail by each other.
func TestOpenDeclinesSnapshotsOfTransactionsBehindPooler(t *testing.T) {
	for _, level := range []string{"serializable", "repeatable read"} {
		_, err := postgres.Open(dsn(t) + pooled + "&default_transaction_isolation=" + url.PathEscape(level))
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "set default_transaction_isolation = 'read committed'") {
			t.Errorf("%s: %v", level, err)
		}
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

// A password that is changed in its file is used for the next connection.
func TestConnectReadsPasswordAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "passfile")
	rotate := func(password string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("db.internal:5432:x:me:"+password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rotate("old")
	t.Setenv("PGPASSFILE", file)
	config := must(pgx.ParseConfig("postgres://me@db.internal/x"))
	for _, password := range []string{"old", "new"} {
		rotate(password)
		next := config.Copy() // as for each connection
		if err := postgres.Share(t.Context(), next); err != nil || next.Password != password {
			t.Errorf("password %q, error %v; want %q", next.Password, err, password)
		}
	}
	config = must(pgx.ParseConfig("postgres://me:mine@db.internal/x"))
	if err := postgres.Share(t.Context(), config); err != nil || config.Password != "mine" {
		t.Errorf("password %q of the dsn, error %v", config.Password, err)
	}
}
