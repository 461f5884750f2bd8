package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	driversqlite "modernc.org/sqlite"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
)

// open opens a new file, which is closed at the end of the test.
func open(t *testing.T) *sqlite.Store {
	t.Helper()
	store, _ := openAt(t)
	return store
}

// openAt is open, and returns the file's path too.
func openAt(t *testing.T) (store *sqlite.Store, path string) {
	t.Helper()
	name := "jobs #1?.db"
	if runtime.GOOS == "windows" {
		name = "jobs #1%.db" // no file may have a question mark there
	}
	path = filepath.Join(t.TempDir(), name)
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, path
}

// The store in a file passes the suite.
func TestStoreConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) durable.Store { return open(t) })
}

// Transactions of the caller pass the suite.
func TestStoreTransactions(t *testing.T) {
	storetest.RunTx(t, func(t *testing.T) (durable.Store, storetest.DB) {
		store := open(t)
		db, err := sql.Open("sqlite", store.DSN())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return store, storetest.SQL(db)
	})
}

// What can't be a database is an error at Open that names it.
func TestOpenDeclinesBadPaths(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", ":memory:", "file:x?mode=memory", "postgres://host/db", dir, text, filepath.Join(dir, "missing", "jobs.db")} {
		store, err := sqlite.Open(path)
		if err == nil {
			store.Close()
			t.Errorf("%q was opened", path)
		} else if !strings.Contains(err.Error(), fmt.Sprintf("%q", path)) {
			t.Errorf("%q is not named in: %v", path, err)
		}
	}
}

// An option that is nil is an error, and nothing is made.
func TestOpenDeclinesNilOption(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	if _, err := sqlite.Open(path, nil); !errors.Is(err, executor.ErrInvalid) {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
}

// A file of a newer program is left alone, and closed.
func TestOpenDeclinesNewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", store.DSN())
	if err == nil {
		_, err = db.Exec("insert into executor_schema (version) values (1000)")
	}
	if err := errors.Join(err, db.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(path); !errors.Is(err, durable.ErrNewerSchema) || !strings.Contains(err.Error(), "1000") {
		t.Error(err)
	}
	// The last program that closes the file removes its log.
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still open: %v", err)
	}
}

// The last program that closes the file leaves all that it has in the file alone, so that it can be copied.
func TestCloseLeavesWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	j := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	_, err = store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{})
	if err == nil {
		_, err = store.Get(t.Context(), j.ID) // by a connection that reads
	}
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("beside the file there are %q", left)
	}
}

// A disk that is full is an error, loses nothing, and the store goes on when there is room.
func TestStoreOutlastsFullDisk(t *testing.T) {
	store := open(t)
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := store.Limit(64); err != nil { // pages
		t.Fatal(err)
	}
	accepted := 0
	add := func() error {
		j := durable.NewJob{ID: durable.NewID(), Kind: "k", Payload: make([]byte, 4000), Schedule: "once", Attempts: 1}
		_, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{})
		return err
	}
	for err == nil {
		if err = add(); err == nil {
			accepted++
		}
	}
	if !errors.Is(err, durable.ErrFull) || !strings.Contains(err.Error(), "make room on its disk") {
		t.Error(err)
	}
	if err := store.Limit(1 << 20); err != nil {
		t.Fatal(err)
	}
	if err := add(); err != nil {
		t.Error(err)
	}
	all, err := store.List(t.Context(), durable.Filter{Limit: 1000})
	if err != nil || len(all) != accepted+1 || accepted == 0 {
		t.Errorf("%d jobs were accepted and %d are there: %v", accepted+1, len(all), err)
	}
}

// A call that is given up while another process holds the file leaves the caller's result alone, and does not hold up
// the next.
func TestWriterCallGivenUp(t *testing.T) {
	store := open(t)
	if _, err := store.Join(t.Context(), "node", time.Hour); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin() // a writer from the beginning
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	claimed := make(chan error, 1)
	go func() {
		_, err := store.Claim(ctx, durablestore.ClaimRequest{Node: "node", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}})
		claimed <- err
	}()
	cancel()
	if err := <-claimed; !errors.Is(err, context.Canceled) {
		t.Errorf("Claim: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if p, err := store.Heartbeat(t.Context(), "node", time.Hour, durablestore.Watch{}); err != nil || !p.Alive {
		t.Errorf("Beat: %+v, %v", p, err)
	}
}

// A data source name is that of the file that was opened, wherever the program has gone since.
func TestDSNAfterChdir(t *testing.T) {
	t.Chdir(t.TempDir())
	store, err := sqlite.Open("jobs.db")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	dsn := store.DSN()
	t.Chdir(t.TempDir())
	if got := store.DSN(); got != dsn {
		t.Errorf("it was %s and is %s", dsn, got)
	}
}

// A node is alone as long as no other is there.
func TestStoreReportsLoneNode(t *testing.T) {
	s := open(t)
	alone := func(want bool) {
		t.Helper()
		p, err := s.Heartbeat(t.Context(), "a", time.Minute, durablestore.Watch{})
		if err != nil || p.Alone != want {
			t.Errorf("alone is %t, want %t; error %v", p.Alone, want, err)
		}
	}
	for _, node := range []string{"a", "b"} {
		if _, err := s.Join(t.Context(), node, time.Minute); err != nil {
			t.Fatal(err)
		}
		alone(node == "a")
	}
	if err := s.Leave(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	alone(true)
}

// Acts are forgotten after a year, when the next is noted, and their numbers are not used again.
func TestActsAreForgotten(t *testing.T) {
	store := open(t)
	for range 2 {
		if err := store.NoteAct(t.Context(), durable.Act{Action: "run"}); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, store, fmt.Sprintf("update executor_act set noted = noted - %d", durable.KeepActs.Microseconds()))
	if err := store.NoteAct(t.Context(), durable.Act{Action: "pause"}); err != nil {
		t.Fatal(err)
	}
	acts, err := store.Acts(t.Context(), durable.ActFilter{Limit: 10})
	if err != nil || len(acts) != 1 || acts[0].Seq != 3 {
		t.Errorf("%v, %v", acts, err)
	}
}

// dotfileDriver opens files as on a file system on which processes can't share memory.
type dotfileDriver struct{ driversqlite.Driver }

func (d *dotfileDriver) Open(name string) (driver.Conn, error) {
	return d.Driver.Open(name + "&vfs=unix-dotfile")
}

// A file where there can be no write-ahead log, as on some network file systems, is declined: each reader would be in
// the way of all writers.
func TestOpenDeclinesFileWithoutLog(t *testing.T) {
	dir := t.TempDir()
	name := "sqlite without shared memory in " + dir
	sql.Register(name, new(dotfileDriver))
	store, err := sqlite.OpenBy(name, filepath.Join(dir, "jobs.db"))
	if err == nil {
		store.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "write-ahead log") {
		t.Errorf("the error is %v", err)
	}
}
