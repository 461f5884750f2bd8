package postgres_test

import (
	"slices"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Each table is one whose rows are moved, or one that is named among those whose rows are not.
func TestExportKnowsAllTables(t *testing.T) {
	s := open(t, dsn(t))
	tables, err := sqlrow.Strings(s.DB().QueryContext(t.Context(), `select table_name::text from information_schema.tables
		where table_schema = current_schema() and table_name like 'executor\_%' order by table_name collate "C"`))
	if want := sqlrow.AllTables(); err != nil || !slices.Equal(tables, want) {
		t.Errorf("the tables are %q, and those that Export knows %q, %v", tables, want, err)
	}
}

// What children are yet to be told of the end of a parent they are told before an export; if they can't be, there is
// none.
func TestExportTellsWhatIsLate(t *testing.T) {
	s := open(t, dsn(t))
	parent := claimed(t, s, "a", 1, 0)
	child := childOf(t, s, parent...)
	end := leaveOpen(t, s, lockJob, child.String())
	must(s.Commit(soon(t), store.CommitRequest{Node: "a", Outcomes: []durable.Outcome{success(parent[0])}}))
	exported := func() (state durable.State, err error) {
		err = s.Export(t.Context(), func(row store.Row) error {
			if row.Job != nil && row.Job.ID == child {
				state = row.Job.State
			}
			return nil
		})
		return state, err
	}
	if state, err := exported(); err == nil {
		t.Errorf("while the child is locked it is exported as %v", state)
	}
	end()
	if state := must(exported()); state != durable.Waiting {
		t.Errorf("the child is exported as %v", state)
	}
}
