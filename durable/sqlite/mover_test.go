package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/sqlite"
)

// Each table is one whose rows are moved, or one that is named among those whose rows are not.
func TestExportKnowsAllTables(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables, err := sqlrow.Strings(db.QueryContext(t.Context(), `select name from sqlite_master where type = 'table' and name like 'executor_%' order by name`))
	if want := sqlrow.AllTables(); err != nil || !slices.Equal(tables, want) {
		t.Errorf("the tables are %q, and those that Export knows %q, %v", tables, want, err)
	}
}
