// Package postgres provides databases on a temporary PostgreSQL server, and counts
// statements.
package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// ErrMissing is the error of Start on a machine without PostgreSQL.
var ErrMissing = pgserver.ErrMissing

// Server is a server with default settings: each commit is synced to the disk.
type Server struct{ *pgserver.Server }

// Start creates a cluster and starts its server.
func Start() (*Server, error) {
	s, err := pgserver.Start()
	if err != nil {
		return nil, err
	}
	return &Server{s}, nil
}

// Close stops the server and removes its files.
func (s *Server) Close() { s.Stop() }

// env is the environment variable with the server of the parent process.
const env = "BENCH_POSTGRES"

// Env returns the environment variable by which Open of a child process finds the server.
func (s *Server) Env() string { return env + "=" + s.DSN() }

// Open creates a database, on the server that the environment names or else on a server of
// its own. It returns the dsn of the database, and a function that removes it.
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
		// The checkpoint completes the work of the previous subject.
		err = exec(ctx, server, "create database "+name, "checkpoint")
	}
	if err != nil {
		close()
		return "", nil, err
	}
	at.Path = "/" + name
	return at.String(), close, nil
}

// exec runs statements in the database of dsn.
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
