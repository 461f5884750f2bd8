// Package stores opens the stores of executord, files, databases of PostgreSQL and clusters of etcd, if they can be
// trusted: whoever can write to a store chooses the commands that are run.
package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
)

// Hint says how a store is named.
const Hint = "name a file, as in --store jobs.db, a database, as in --store postgres://user@host/database, or a cluster, " +
	"as in --store etcd://host,host,host"

// Patience bounds what the commands ask of a store that only visit it.
const Patience = 30 * time.Second

// Options say how a store is opened.
type Options struct {
	Create bool          // also if it is not there, or has never been a store
	Wait   time.Duration // for a server that does not answer
	Log    *slog.Logger  // of a daemon

	node bool // for a daemon
}

// openers are how stores are opened that are no files, by the schemes of their names.
var openers = map[string]func(context.Context, string, Options) (durable.Store, string, error){
	"postgres": openDatabase, "postgresql": openDatabase, clusterScheme: openCluster,
}

// openerOf returns how a store is opened, nil if it is a file.
func openerOf(name string) func(context.Context, string, Options) (durable.Store, string, error) {
	scheme, _, found := strings.Cut(name, "://")
	if !found {
		return nil
	}
	return openers[scheme]
}

// IsDatabase reports whether a name is that of a database of PostgreSQL.
func IsDatabase(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// isStore asks a database whether it has tables of package durable.
func isStore(driver, dsn, query string) (bool, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return false, err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	n := 0
	err = db.QueryRowContext(ctx, query).Scan(&n)
	return n > 0, err
}

// Explain returns why a store cannot be opened, or does not do what it is asked.
func Explain(shown string, err error) error {
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
	case errors.Is(err, durable.ErrFull), strings.Contains(text, "database or disk is full"):
		text = "its disk is full: make room there"
	case strings.HasPrefix(text, "durable/etcd: "):
		text = ofCluster(err)
	case strings.Contains(text, "disk I/O error"):
		text = "its disk fails, or has no room: the log of the system says which"
	default:
		text = strings.TrimPrefix(text, "durable/postgres: ")
		text = strings.TrimPrefix(text, "durable/sqlite: ")
		text = strings.TrimPrefix(text, fmt.Sprintf("%q: ", shown))
	}
	return fmt.Errorf("the store %s: %s", shown, text)
}
