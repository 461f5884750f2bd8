package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/executor-go/executor/durable/internal/aheadtest"
	"github.com/executor-go/executor/durable/sqlite"
)

// The store does not forget that its clock was ahead.
func TestStoreShowsThatTheClockWasAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	aheadtest.Run(t, s, func() {
		for _, column := range aheadtest.Columns {
			statement := fmt.Sprintf("update executor_job set %[1]s = %[1]s + %[2]d where %[1]s <> 0", column, aheadtest.Step.Microseconds())
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	})
}
