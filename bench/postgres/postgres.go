// Package postgres gives the measurements databases on a PostgreSQL server of
// their own, and counts the statements that go there.
package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/internal/pgserver"
)

// ErrMissing says that the machine has no PostgreSQL.
var ErrMissing = pgserver.ErrMissing

// Server is a server with the settings it comes with: each commit is synced to
// the disk.
type Server struct{ *pgserver.Server }

// Start makes a new cluster and starts its server.
func Start() (*Server, error) {
	s, err := pgserver.Start()
	if err != nil {
		return nil, err
	}
	return &Server{s}, nil
}

// Close ends the server and removes its files.
func (s *Server) Close() { s.Stop() }

// env is how a child process learns of its parent's server.
const env = "BENCH_POSTGRES"

// Env is the setting by which Open of another process finds the server.
func (s *Server) Env() string { return env + "=" + s.DSN() }

// Open makes a new database, on the server that the environment names or on one
// of its own, and gives its name for a driver. Close removes it.
func Open(ctx context.Context) (dsn string, close func(), err error) {
	server, stop := os.Getenv(env), func() {}
	if server == "" {
		s, err := Start()
		if err != nil {
			return "", nil, err
		}
		server, stop = s.DSN(), s.Stop
	}
	name := fmt.Sprintf("b%d_%d", os.Getpid(), time.Now().UnixNano())
	close = func() {
		exec(context.Background(), server, "drop database "+name+" with (force)")
		stop()
	}
	at, err := url.Parse(server)
	if err == nil {
		// The work of the subject before is to be over when that of the next begins.
		err = exec(ctx, server, "create database "+name, "checkpoint")
	}
	if err != nil {
		close()
		return "", nil, err
	}
	at.Path = "/" + name
	return at.String(), close, nil
}

// exec runs statements in the database that dsn names.
func exec(ctx context.Context, dsn string, statements ...string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, text := range statements {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
