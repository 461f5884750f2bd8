package stores

import (
	"context"
	"errors"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// Open opens a store, and returns the name by which it may be shown: a
// password is never in it, nor in an error. Unless o.Create is true, it must be
// there already, and must have been a store before: a name that is mistyped is
// no reason to make tables.
func Open(ctx context.Context, name string, o Options) (store durable.Store, shown string, err error) {
	_, _, isURL := strings.Cut(name, "://")
	key, _, isPair := strings.Cut(name, "=")
	open := openerOf(name)
	switch {
	case open != nil:
		return open(ctx, name, o)
	case isURL || strings.HasPrefix(name, "file:") || strings.Contains(name, ":memory:"):
		// not shown: it may have a password
		return nil, "", errors.New("the store is neither a file, a PostgreSQL database nor a cluster: " + Hint)
	case isPair && !strings.ContainsAny(key, `/\`) && (strings.Contains(name, " ") || strings.Contains(name, "password")):
		return nil, "", errors.New("the store looks like the key=value form of a database's name: write it as a URL, as in --store postgres://user@host/database")
	case name == "":
		return nil, "", errors.New("the name of the store is empty: " + Hint)
	case isAlmostURL(name):
		// not shown: it may have a password
		return nil, "", errors.New("the store looks like a URL of an unknown kind: " + Hint + "; a file with such a name is ./NAME")
	}
	store, err = openFile(name, o.Create)
	return store, name, err
}

// isAlmostURL reports whether a name is the name of a database of which the begin is
// missing or mistyped, such as postgres:/me:secret@host/database, with what may be a
// password in it. As the name of a file, it would be shown.
func isAlmostURL(name string) bool {
	return complaint.WithoutSecrets(name) != name && name[0] != '.' && !job.IsAbs(name)
}
