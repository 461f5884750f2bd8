// Package sqlite keeps jobs in a file. It needs no server and no C compiler. The file survives a crash of the process
// at any moment and, with synchronous=FULL, a crash of the machine. Several processes of one machine may share a file.
// The file must not be on a network file system.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// An Option changes how a file is opened.
type Option func(*settings)

type settings struct{ synchronous string }

// Normal sets SQLite's synchronous=NORMAL, which is quicker: the newest commits may be lost when the machine loses its
// power, but not when the process dies. The default is FULL.
func Normal() Option { return func(s *settings) { s.synchronous = "NORMAL" } }

// A Store is a durable.Store in a file of SQLite.
type Store struct {
	path   string  // absolute
	write  *sql.DB // one connection, the writer's
	read   *sql.DB
	writer *writer
	few    int      // see way
	pruned struct { // how far the last prune has come; the writer's goroutine has it
		sqlrow.Pruned
		parts partName
	}
	close func() error
}

// Open opens the file, or creates it. Open creates the tables or brings them up to date; their names begin with
// "executor_", so the file may have other tables. A table that was dropped is created again, empty, except for the
// table of the jobs, which must come from a backup. If the program may not write to the file, it can only read jobs.
// Open waits for other writers for up to two seconds. It fails on a file system where there can be no write-ahead log.
// The error matches executor.ErrInvalid if path is not that of a file, such as ":memory:", and durable.ErrNewerSchema
// if a newer version has migrated the file.
func Open(path string, opts ...Option) (*Store, error) {
	s, err := open("sqlite", path, opts)
	if err != nil {
		return nil, fmt.Errorf("durable/sqlite: %q: %w", path, explain(err))
	}
	return s, nil
}

// explain adds to an error of SQLite what to do about it.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w; make the file, its directory, and -wal and -shm beside it writable for the user of this program", err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%w; it must be a file, in a directory that exists and is writable for the user of this program", err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: make room on its disk (%w)", store.ErrFull, err)
	case sqlite3.SQLITE_IOERR:
		if e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // the index of the log does not grow
			return fmt.Errorf("%w: make room on its disk (%w)", store.ErrFull, err)
		}
		return fmt.Errorf("%w; the disk fails: the log of the system says more", err)
	}
	return err
}

func open(driver, path string, opts []Option) (*Store, error) {
	if path == "" || strings.Contains(path, ":memory:") || strings.HasPrefix(path, "file:") || strings.Contains(path, "://") {
		return nil, argument.Invalid("the path must be that of a file; for tests there is package memory")
	}
	if strings.Contains(path, "\x00") {
		return nil, argument.Invalid("the path has a zero byte, at which the name of a file ends; remove it")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	set := settings{synchronous: "FULL"}
	for _, opt := range opts {
		if opt == nil {
			return nil, argument.Invalid("nil Option")
		}
		opt(&set)
	}
	s := &Store{path: abs, few: few}
	s.pruned.Pruned = sqlrow.NewPruned()
	if s.write, err = sql.Open(driver, dsn(abs)); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	conn, err := ready(context.Background(), s.write, set.synchronous)
	if err != nil {
		s.write.Close()
		return nil, err
	}
	files, err := watch(abs)
	if err == nil {
		// With mode=rw, reading a file that was removed does not make it anew.
		s.read, err = sql.Open(driver, dsn(abs, sqlWaits, "synchronous("+set.synchronous+")", "query_only(1)")+"&mode=rw")
	}
	if err != nil {
		conn.Close()
		s.write.Close()
		return nil, err
	}
	s.writer = newWriter(conn, files)
	s.read.SetMaxOpenConns(4)
	s.close = sync.OnceValue(func() error {
		s.writer.close()
		return errors.Join(s.read.Close(), s.write.Close())
	})
	return s, nil
}

// ready returns the writer's connection, to a file that is in WAL mode and has the tables.
func ready(ctx context.Context, db *sql.DB, synchronous string) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	mode := ""
	err = whileBusy(func() error { return conn.QueryRowContext(ctx, "pragma journal_mode = wal").Scan(&mode) })
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file can't have a write-ahead log, and its journal mode is %q: put it on a disk of this machine, "+
			"whose file system lets processes share memory", mode)
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "pragma synchronous = "+synchronous)
	}
	if err == nil {
		err = migrate(ctx, conn)
	}
	if err != nil {
		conn.Close() // the closing of db would leave it open
		return nil, err
	}
	return conn, nil
}

// sqlWaits makes SQLite wait for other processes. The writer's connection is without it: see whileBusy.
var sqlWaits = fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())

// dsn returns the name of a connection. Its transactions begin as writers, since one that turns into a writer midway
// can't wait for another.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// DSN returns a data source name by which a program opens the file with database/sql and the driver "sqlite", for the
// transactions of AddTx and CompleteTx. Use one connection, by SetMaxOpenConns(1), so that transactions wait in
// turn. If many connections wait for SQLite's one lock, some get it late, or fail with SQLITE_BUSY after two seconds.
func (s *Store) DSN() string {
	return dsn(s.path, sqlWaits, "synchronous(FULL)", "journal_mode(WAL)")
}

// Close closes the file. Calls that are under way end first.
func (s *Store) Close() error { return s.close() }

// now is the store's clock.
func now() time.Time { return time.Now().UTC().Round(0).Truncate(time.Microsecond) }

func micros(t time.Time) int64 { return sqlrow.Micros(t) }
