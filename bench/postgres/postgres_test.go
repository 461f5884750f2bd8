package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/bench/postgres"
)

// Open returns a database that exists until it is closed, on the server that the environment
// names, or else on a server of its own.
func TestOpenCreatesDatabase(t *testing.T) {
	server, err := postgres.Start()
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	name, value, _ := strings.Cut(server.Env(), "=")
	for _, set := range []string{value, ""} {
		t.Setenv(name, set)
		dsn, closeIt, err := postgres.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if there := strings.Contains(dsn, fmt.Sprint(":", server.Port, "/")); there != (set != "") {
			t.Errorf("with %s=%q: dsn %s", name, set, dsn)
		}
		for _, open := range []bool{true, false} {
			if !open {
				closeIt()
			}
			conn, err := pgx.Connect(t.Context(), dsn)
			if err == nil {
				conn.Close(t.Context())
			}
			if (err == nil) != open {
				t.Errorf("with %s=%q and open=%v: %v", name, set, open, err)
			}
		}
	}
}
