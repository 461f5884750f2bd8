package main

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// password is to be found in the URL of a database, and nowhere else.
const password = "Tr0ub4dor%233"

// hides fails the test if there is a password in a text, in any form.
func hides(t *testing.T, what, text string) {
	t.Helper()
	plain, _ := url.PathUnescape(password)
	for _, secret := range []string{password, plain} {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the password: %s", what, text)
		}
	}
}

// shared is the server that the tests share, started by the first that needs it.
var shared struct {
	start  sync.Once
	server *pgserver.Server // nil if it was not
	err    error
}

// database returns the URL of a schema of the test's own.
func database(t *testing.T) string {
	t.Helper()
	shared.start.Do(func() { shared.server, shared.err = startPostgres() })
	if errors.Is(shared.err, pgserver.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	db, err := sql.Open("pgx", databaseURL(shared.server))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := "test_" + strings.ToLower(strings.NewReplacer("/", "_", "#", "_").Replace(t.Name()))
	if _, err := db.Exec("drop schema if exists " + name + " cascade; create schema " + name); err != nil {
		t.Fatal(err)
	}
	return databaseURL(shared.server) + "&search_path=" + name
}

func startPostgres() (*pgserver.Server, error) { return pgserver.Start("max_connections=200") }

// stopPostgres stops the server that the tests share.
func stopPostgres() {
	if shared.server != nil {
		shared.server.Stop()
	}
}

// databaseURL names the server's database, with a password. The server asks for
// none, so that any will do.
func databaseURL(s *pgserver.Server) string {
	return strings.Replace(s.DSN(), "@", ":"+password+"@", 1)
}
