// Package pgtest starts a PostgreSQL server for the tests of a package, which they
// share, and each of them a schema of its own.
package pgtest

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/executor-go/executor/durable/storetest/pgserver"
	"github.com/jackc/pgx/v5"
)

// Server is the server that tests share, nil if the machine has no PostgreSQL.
type Server struct {
	*pgserver.Server
	schemas atomic.Int64
}

// Main is TestMain's work for a package whose tests share a server: it starts
// one, runs the tests and stops it. Without PostgreSQL the server is nil, or, if
// the variable CI is set, the tests fail.
func Main(run func() int, server **Server, settings ...string) int {
	s, err := pgserver.Start(append(settings, "max_connections=200")...)
	switch {
	case errors.Is(err, pgserver.ErrMissing) && os.Getenv("CI") == "":
		return run()
	case err != nil:
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		return 1
	}
	defer s.Stop()
	*server = &Server{Server: s}
	return run()
}

// Schema makes a schema and returns the dsn that names it. Without a server it
// skips the test.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	if s == nil {
		t.Skip(pgserver.ErrMissing)
	}
	conn, err := pgx.Connect(t.Context(), s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	name := fmt.Sprint("s", s.schemas.Add(1))
	if _, err := conn.Exec(t.Context(), "create schema "+name); err != nil {
		t.Fatal(err)
	}
	return s.DSN() + "&search_path=" + name
}
