package stores

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// firstLook bounds the look at a server that may not answer yet.
const firstLook = 3 * time.Second

// openDatabase opens a store in PostgreSQL.
func openDatabase(ctx context.Context, name string, o Options) (durable.Store, string, error) {
	u, shown, err := parseDatabase(name)
	if err != nil {
		return nil, "", err
	}
	hide := func(err error) error { return hidden(name, shown, err) }
	// Before anything is written to what may be another's tables, if the server answers already, else after.
	if err := checkOwners(inTurn(u), firstLook); errors.As(err, new(*foreignError)) {
		return nil, "", hide(err)
	}
	if !o.Create {
		ready, err := isStore("pgx", inTurn(u), "select count(*) from pg_catalog.pg_class where oid = to_regclass('executor_schema')")
		if err != nil {
			return nil, "", hide(err)
		}
		if !ready {
			return nil, "", fmt.Errorf("%s has no executord tables; run executord migrate, or check the database and the schema", shown)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	store, err := postgres.OpenContext(ctx, name)
	if err != nil {
		return nil, "", hide(err)
	}
	if err := checkOwners(inTurn(u), Patience); err != nil {
		store.Close()
		return nil, "", hide(err)
	}
	return store, shown, nil
}

// parseDatabase reads the URL of a database, and returns the name by which it may be shown.
func parseDatabase(name string) (u *url.URL, shown string, err error) {
	if u, err = url.Parse(name); err != nil || torn(name) {
		// What is wrong is not shown: it may be a part of the password.
		what := "a character such as % # / ? @ in the password is written as %25 %23 %2F %3F %40"
		if err != nil && strings.Contains(err.Error(), "invalid port") {
			what = "the port must be a number; if what is in its place belongs to the password, " + what
		}
		return nil, "", errors.New("the store's URL cannot be read: " + what)
	}
	shown = (&url.URL{Scheme: u.Scheme, User: url.User(u.User.Username()), Host: u.Host, Path: u.Path}).String()
	if err := checkTrust(name, u); err != nil {
		return nil, "", fmt.Errorf("the store %s: %w", shown, err)
	}
	return u, shown, nil
}

// hidden returns an error of a database without its password.
func hidden(name, shown string, err error) error {
	return errors.New(strings.ReplaceAll(Explain(shown, err).Error(), name, shown))
}

// MigrationSQL returns the SQL that brings a database up to date.
func MigrationSQL(ctx context.Context, name string) (string, error) {
	u, shown, err := parseDatabase(name)
	if err != nil {
		return "", err
	}
	if err := checkOwners(inTurn(u), firstLook); errors.As(err, new(*foreignError)) {
		return "", hidden(name, shown, err)
	}
	script, err := postgres.MigrationSQL(ctx, name)
	if err != nil {
		return "", hidden(name, shown, err)
	}
	return script, nil
}

// torn reports whether a URL has an @ where none belongs: before it is then, as a rule,
// a password that is not written as one is in a URL, and a part of which stands for a
// server or a database, which are shown.
func torn(name string) bool {
	_, rest, _ := strings.Cut(name, "://")
	rest, query, _ := strings.Cut(rest, "?")
	end := strings.IndexAny(rest, "/#")
	if end < 0 {
		end = len(rest)
	}
	for part := range strings.SplitSeq(query, "&") {
		if key, _, _ := strings.Cut(part, "="); strings.Contains(key, "@") {
			return true
		}
	}
	return strings.Count(rest[:end], "@") > 1 || strings.Contains(rest[end:], "@")
}

// inTurn returns a database's name by which a server that does not answer leaves time
// for the others that are named after it.
func inTurn(u *url.URL) string {
	named := *u
	if q := u.Query(); strings.Contains(u.Host, ",") && !q.Has("connect_timeout") {
		q.Set("connect_timeout", "1")
		named.RawQuery = q.Encode()
	}
	return named.String()
}
