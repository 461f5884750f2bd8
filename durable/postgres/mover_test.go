package postgres_test

import (
	"slices"
	"testing"

	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// Each table is one whose rows are moved, or one that is named among those whose rows are not.
func TestExportKnowsAllTables(t *testing.T) {
	store := open(t, dsn(t))
	tables, err := sqlrow.Strings(store.DB().QueryContext(t.Context(), `select table_name::text from information_schema.tables
		where table_schema = current_schema() and table_name like 'executor\_%' order by table_name collate "C"`))
	if want := sqlrow.AllTables(); err != nil || !slices.Equal(tables, want) {
		t.Errorf("the tables are %q, and those that Export knows %q, %v", tables, want, err)
	}
}
