package sqlite_test

import (
	"errors"
	"testing"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// The error about an argument begins with the package that was called, and with no other.
func TestInvalidTextNamesThePackage(t *testing.T) {
	store, path := openAt(t)
	_, memory := sqlite.Open(":memory:")
	_, zero := sqlite.Open("jobs.db\x00.old")
	_, option := sqlite.Open("jobs.db", nil)
	_, tx := store.InsertTx(t.Context(), noTx{}, []durable.NewJob{{}})
	for want, err := range map[string]error{
		`durable/sqlite: ":memory:": the path must be that of a file; for tests there is package memory`:           memory,
		`durable/sqlite: "jobs.db\x00.old": the path has a zero byte, at which the name of a file ends; remove it`: zero,
		`durable/sqlite: "jobs.db": nil Option`:                                   option,
		`durable/sqlite: transaction is a sqlite_test.noTx; it must be a *sql.Tx`: tx,
	} {
		if err == nil || err.Error() != want || !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

type noTx struct{}

func (noTx) Commit() error   { return nil }
func (noTx) Rollback() error { return nil }
