package postgres_test

import (
	"errors"
	"strings"
	"testing"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/postgres"
)

// The error about an argument begins with the package that was called, and with what is wrong.
func TestInvalidTextNamesThePackage(t *testing.T) {
	_, dsn := postgres.Open("postgres://x:y@h:port/d")
	_, script := postgres.MigrationSQL(t.Context(), "postgres://h:port/d")
	_, option := postgres.Open("", nil)
	_, conns := postgres.Open("", postgres.MaxConns(3))
	_, pool := postgres.OpenPool(t.Context(), nil)
	for _, a := range []struct {
		err  error
		want string
	}{
		{dsn, "data source name: "}, {script, "data source name: "}, {option, "nil Option"},
		{conns, "MaxConns 3: it must be at least 4"}, {pool, "nil pool; make one with pgxpool.New"},
	} {
		if a.err == nil || !strings.HasPrefix(a.err.Error(), "durable/postgres: "+a.want) ||
			!errors.Is(a.err, executor.ErrInvalid) || strings.Contains(a.err.Error(), executor.ErrInvalid.Error()) {
			t.Errorf("%v, want %s", a.err, a.want)
		}
	}
}
