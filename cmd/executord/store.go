package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// storeFlag is the flag --store, and what stands for it in the environment.
type storeFlag struct{ cmd *cobra.Command }

const storeHint = "name a file, as in --store jobs.db, or a database, as in --store postgres://user@host/database"

func newStoreFlag(cmd *cobra.Command, usage string) storeFlag {
	cmd.Flags().String("store", "", usage+"; the default is in "+daemon.StoreVariable)
	return storeFlag{cmd}
}

// name returns the store of the command line or the environment, "" for none.
func (f storeFlag) name() string {
	if flag := f.cmd.Flags().Lookup("store"); flag.Changed {
		return flag.Value.String()
	}
	return os.Getenv(daemon.StoreVariable)
}

// checkNamed refuses an empty name, as of a script whose variable is not set.
// Run without a store, jobs that many daemons were to share would be run by each.
func (f storeFlag) checkNamed() error {
	if f.name() == "" && f.cmd.Flags().Changed("store") {
		return fmt.Errorf("--store is empty: %s, or leave it out", storeHint)
	}
	return nil
}

// clientTimeout bounds what the commands ask of a store that only visit it.
const clientTimeout = 30 * time.Second

// visit opens a store that is there, and calls fn with it.
func (f storeFlag) visit(fn func(context.Context, client) error) error {
	name := f.name()
	if name == "" {
		return fmt.Errorf("%s needs a store: %s, or set %s", f.cmd.Name(), storeHint, daemon.StoreVariable)
	}
	store, shown, err := openStore(name, false)
	if err != nil {
		return &exitError{exitMistake, err.Error()}
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		return &exitError{exitMistake, err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	defer cancel()
	err = fn(ctx, client{store, jobs, shown})
	var exit *exitError
	if err != nil && !errors.As(err, &exit) {
		return &exitError{exitMistake, explainStore(shown, err).Error()}
	}
	return err
}

// client is a command that looks at a store and acts on it.
type client struct {
	store durable.Store
	jobs  *durable.Jobs
	shown string // the store's name, as it may be shown
}

// openStore opens a store, and returns the name by which it may be shown: a
// password is never in it, nor in an error. Unless create is true, it must be
// there already, and must have been a store before: a name that is mistyped is
// no reason to make tables.
func openStore(name string, create bool) (store durable.Store, shown string, err error) {
	_, _, isURL := strings.Cut(name, "://")
	key, _, isPair := strings.Cut(name, "=")
	switch {
	case isDatabase(name):
		return openDatabase(name, create)
	case isURL || strings.HasPrefix(name, "file:") || strings.Contains(name, ":memory:"):
		return nil, "", errors.New("the store is neither a file nor a PostgreSQL database: " + storeHint) // not shown: it may have a password
	case isPair && !strings.ContainsAny(key, `/\`) && (strings.Contains(name, " ") || strings.Contains(name, "password")):
		return nil, "", errors.New("the store looks like the key=value form of a database's name: write it as a URL, as in --store postgres://user@host/database")
	case name == "":
		return nil, "", errors.New("the name of the store is empty: " + storeHint)
	case isAlmostURL(name):
		return nil, "", errors.New("the store looks like a URL of an unknown kind: " + storeHint + "; a file with such a name is ./NAME") // not shown: it may have a password
	}
	store, err = openFile(name, create)
	return store, name, err
}

// isDatabase reports whether a name is that of a database of PostgreSQL.
func isDatabase(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// isAlmostURL reports whether a name is the name of a database of which the begin is
// missing or mistyped, such as postgres:/me:secret@host/database, with what may be a
// password in it. As the name of a file, it would be shown.
func isAlmostURL(name string) bool {
	return complaint.WithoutSecrets(name) != name && name[0] != '.' && !job.IsAbs(name)
}

// openFile opens a store in a file.
func openFile(name string, create bool) (durable.Store, error) {
	if err := lookAtFile(name, create); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(name)
	if err != nil {
		return nil, explainStore(name, err)
	}
	return store, nil
}

// sqliteMagic is how a file of SQLite begins.
const sqliteMagic = "SQLite format 3\x00"

// lookAtFile says why a file can't be a store, and makes a new one.
func lookAtFile(name string, create bool) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return fmt.Errorf("store %s does not exist; check the name, or create it with executord run --store", name)
	case errors.Is(err, fs.ErrNotExist):
		return makeFile(name)
	case err != nil:
		return fmt.Errorf("the store %s: %w", name, complaint.Cause(err))
	case info.IsDir():
		return fmt.Errorf("the store %s is a directory: name a file in it", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("the store %s is neither a file nor a directory", name) // to open a pipe takes until somebody writes to it
	}
	if err := checkBeside(name, info); err != nil {
		return err
	}
	head, err := readHead(name)
	switch {
	case err != nil:
		return fmt.Errorf("the store %s: %w", name, complaint.Cause(err))
	case head == "" && create:
		return nil
	case head == "":
		return fmt.Errorf("the store %s is empty: no daemon has used it", name)
	case head != sqliteMagic:
		return fmt.Errorf("%s is not a store: it is not an SQLite file", name)
	case create:
		return nil
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: abs}).EscapedPath(), RawQuery: "mode=ro&_pragma=busy_timeout(2000)"}
	ready, err := isStore("sqlite", dsn.String(), "select count(*) from sqlite_master where name = 'executor_schema'")
	if err != nil {
		return explainStore(name, err)
	}
	if !ready {
		return fmt.Errorf("%s is not a store: it is an SQLite file that no daemon has used", name)
	}
	return nil
}

// makeFile makes an empty file that only its user may read: commands and their
// variables are in it, and a user who can write to it can have commands run. It
// follows no link, which may be another user's. Another daemon may make the file
// at the same time.
func makeFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("the store %s cannot be created: it is a link to a file that is not there", name)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the store %s cannot be created: %s", name, notMade(name))
	case err != nil:
		return fmt.Errorf("the store %s cannot be created: %w", name, complaint.Cause(err))
	}
	return f.Close()
}

// notMade returns what is missing when a file cannot be made.
func notMade(name string) string {
	dir := filepath.Dir(name)
	if _, err := os.Stat(dir); err != nil {
		return "there is no directory " + dir
	}
	return "no file can be created in the directory " + dir
}

func readHead(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := [len(sqliteMagic)]byte{}
	n, err := io.ReadFull(f, head[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(head[:n]), err
}

// isStore asks a database whether it has tables of package durable.
func isStore(driver, dsn, query string) (bool, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return false, err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	defer cancel()
	n := 0
	err = db.QueryRowContext(ctx, query).Scan(&n)
	return n > 0, err
}

// explainStore returns why a store cannot be opened, or does not do what it is asked.
func explainStore(shown string, err error) error {
	text := err.Error()
	switch {
	case errors.Is(err, durable.ErrNewerSchema):
		text = "it was brought up to date by a newer executord: use that one, or a newer one, here as well"
	case strings.Contains(text, "SQLITE_BUSY") || strings.Contains(text, "database is locked"):
		text = "another process has it locked"
	case strings.Contains(text, "SQLITE_READONLY") || strings.Contains(text, "readonly database"):
		text = "it cannot be written, or the directory it is in: run executord as its owner"
	case strings.Contains(text, "unable to open database file"): // with all that SQLite says of it
		text = "it, or its log beside it, cannot be opened: run executord as its owner, or allow more open files (ulimit -n)"
	default:
		text = strings.TrimPrefix(text, "durable/postgres: ")
		text = strings.TrimPrefix(text, "durable/sqlite: ")
		text = strings.TrimPrefix(text, fmt.Sprintf("%q: ", shown))
	}
	return fmt.Errorf("the store %s: %s", shown, text)
}
