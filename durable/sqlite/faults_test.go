package sqlite_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	driversqlite "modernc.org/sqlite"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
)

// What can go wrong with a statement: its rows come in each case.
const (
	failed     = "it fails after its rows"
	undone     = "it fails after its rows, and its transaction with it" // as when the disk is full
	unanswered = "it fails when it was committed"
	lied       = "its transaction is undone, and it succeeds" // SQLite never does so
)

var errFault = errors.New("the statement fails")

// Every answer of the store is so in its file, whatever statement fails after its rows or at its commit.
func TestStoreFaults(t *testing.T) {
	storetest.RunFaults(t, func(t *testing.T) (durablestore.Store, storetest.Faults) {
		return faulty(t, failed, undone, unanswered)
	})
}

// The suite finds a store whose answers are not committed, in each method that changes rows: one whose commits lie
// looks so. It does that in a process whose tests may fail.
func TestStoreFaultsFindUncommittedAnswers(t *testing.T) {
	if os.Getenv(lying) != "" {
		storetest.RunFaults(t, func(t *testing.T) (durablestore.Store, storetest.Faults) { return faulty(t, lied) })
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoreFaultsFindUncommittedAnswers$")
	cmd.Env = append(os.Environ(), lying+"=1")
	out, _ := cmd.CombinedOutput()
	in := strings.ReplaceAll(lied, " ", "_")
	for _, method := range []string{"Insert", "InsertTx", "Join", "Heartbeat", "Leave", "Claim", "Release", "Commit", "CompleteTx",
		"Change_cancels", "Change_deletes", "PauseKind", "NoteAct", "Report", "Prune"} {
		if !bytes.Contains(out, []byte("FAIL: TestStoreFaultsFindUncommittedAnswers/"+in+"/"+method+" (")) {
			t.Errorf("an answer of %s that is not so is not missed", method)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

const lying = "EXECUTOR_TEST_LYING_COMMITS"

// faulty returns a store by a driver with faults.
func faulty(t *testing.T, kinds ...string) (durablestore.Store, storetest.Faults) {
	d := new(faultyDriver)
	dir := t.TempDir()
	name := "sqlite in " + dir
	sql.Register(name, d)
	store, err := sqlite.OpenBy(name, filepath.Join(dir, "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(name, store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		db.Close()
		store.Close()
	})
	return store, storetest.Faults{Kinds: kinds, Plant: d.plant, Met: d.met,
		Begin: func(ctx context.Context) (durable.Tx, error) { return db.BeginTx(ctx, nil) }}
}

// faultyDriver is SQLite's driver, with a fault that can be planted.
type faultyDriver struct {
	real driversqlite.Driver
	mu   struct {
		sync.Mutex
		kind  string
		after int // how many statements there are before it
		met   bool
	}
}

func (d *faultyDriver) plant(kind string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.kind, d.mu.after, d.mu.met = kind, n-1, false
}

func (d *faultyDriver) met() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.kind = ""
	return d.mu.met
}

// next counts a statement, and returns what is to go wrong with it.
func (d *faultyDriver) next() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.kind == "" || d.mu.met {
		return ""
	}
	if d.mu.after--; d.mu.after >= 0 {
		return ""
	}
	d.mu.met = true
	return d.mu.kind
}

func (d *faultyDriver) Open(name string) (driver.Conn, error) {
	c, err := d.real.Open(name)
	if err != nil {
		return nil, err
	}
	return &faultyConn{c.(realConn), d}, nil
}

// realConn is what a connection of the driver does.
type realConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

type faultyConn struct {
	realConn
	of *faultyDriver
}

// exec runs a statement by run, and has it go wrong if it is its turn.
func (c *faultyConn) exec(text string, run func() error) error {
	fault, commit := c.of.next(), strings.EqualFold(text, "commit")
	if fault != "" && commit && fault != unanswered {
		if fault != failed { // which leaves it open, as if another process were in the way
			c.undo()
		}
	} else if err := run(); err != nil {
		return err
	}
	return c.fail(fault)
}

func (c *faultyConn) undo() { c.realConn.ExecContext(context.Background(), "rollback", nil) }

// fail returns the error of a statement that has run, and undoes its transaction if that goes with it.
func (c *faultyConn) fail(fault string) error {
	switch fault {
	case "":
		return nil
	case lied:
		c.undo()
		return nil
	case undone:
		c.undo()
	}
	return errFault
}

func (c *faultyConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (r driver.Result, err error) {
	err = c.exec(text, func() (err error) {
		r, err = c.realConn.ExecContext(ctx, text, args)
		return err
	})
	return r, err
}

func (c *faultyConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.realConn.QueryContext(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return &faultyRows{Rows: rows, conn: c, fault: c.of.next()}, nil
}

func (c *faultyConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.realConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &faultyTx{tx, c}, nil
}

func (c *faultyConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.realConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &faultyStmt{s.(realStmt), c, text}, nil
}

type faultyTx struct {
	driver.Tx
	conn *faultyConn
}

// Commit leaves no transaction open that failed: database/sql takes the connection for one without.
func (tx *faultyTx) Commit() error {
	err := tx.conn.exec("commit", tx.Tx.Commit)
	if err != nil {
		tx.Tx.Rollback()
	}
	return err
}

// realStmt is what a statement of the driver does.
type realStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type faultyStmt struct {
	realStmt
	conn *faultyConn
	text string
}

func (s *faultyStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (r driver.Result, err error) {
	r = driver.RowsAffected(0)
	err = s.conn.exec(s.text, func() (err error) {
		r, err = s.realStmt.ExecContext(ctx, args)
		return err
	})
	return r, err
}

func (s *faultyStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.realStmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	return &faultyRows{Rows: rows, conn: s.conn, fault: s.conn.of.next()}, nil
}

// faultyRows go wrong at their end.
type faultyRows struct {
	driver.Rows
	conn   *faultyConn
	fault  string
	closed bool
}

func (r *faultyRows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.Rows.Close()
}

func (r *faultyRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if err != io.EOF || r.fault == "" {
		return err
	}
	r.Close()
	return cmp.Or(r.conn.fail(r.fault), io.EOF)
}
