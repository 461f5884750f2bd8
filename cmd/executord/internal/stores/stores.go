// Package stores opens the stores of executord, files and databases of PostgreSQL, if they can be trusted: whoever can
// write to a store chooses the commands that are run.
package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// Hint says how a store is named.
const Hint = "name a file, as in --store jobs.db, or a database, as in --store postgres://user@host/database"

// Patience bounds what the commands ask of a store that only visit it.
const Patience = 30 * time.Second

// Options say how a store is opened.
type Options struct {
	Create bool          // also if it is not there, or has never been a store
	Wait   time.Duration // for a server that does not answer
}

// Open opens a store, and returns the name by which it may be shown: a
// password is never in it, nor in an error. Unless o.Create is true, it must be
// there already, and must have been a store before: a name that is mistyped is
// no reason to make tables.
func Open(name string, o Options) (store durable.Store, shown string, err error) {
	_, _, isURL := strings.Cut(name, "://")
	key, _, isPair := strings.Cut(name, "=")
	switch {
	case IsDatabase(name):
		return openDatabase(name, o)
	case isURL || strings.HasPrefix(name, "file:") || strings.Contains(name, ":memory:"):
		return nil, "", errors.New("the store is neither a file nor a PostgreSQL database: " + Hint) // not shown: it may have a password
	case isPair && !strings.ContainsAny(key, `/\`) && (strings.Contains(name, " ") || strings.Contains(name, "password")):
		return nil, "", errors.New("the store looks like the key=value form of a database's name: write it as a URL, as in --store postgres://user@host/database")
	case name == "":
		return nil, "", errors.New("the name of the store is empty: " + Hint)
	case isAlmostURL(name):
		return nil, "", errors.New("the store looks like a URL of an unknown kind: " + Hint + "; a file with such a name is ./NAME") // not shown: it may have a password
	}
	store, err = openFile(name, o.Create)
	return store, name, err
}

// IsDatabase reports whether a name is that of a database of PostgreSQL.
func IsDatabase(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// isAlmostURL reports whether a name is the name of a database of which the begin is
// missing or mistyped, such as postgres:/me:secret@host/database, with what may be a
// password in it. As the name of a file, it would be shown.
func isAlmostURL(name string) bool {
	return complaint.WithoutSecrets(name) != name && name[0] != '.' && !job.IsAbs(name)
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
	default:
		text = strings.TrimPrefix(text, "durable/postgres: ")
		text = strings.TrimPrefix(text, "durable/sqlite: ")
		text = strings.TrimPrefix(text, fmt.Sprintf("%q: ", shown))
	}
	return fmt.Errorf("the store %s: %s", shown, text)
}
