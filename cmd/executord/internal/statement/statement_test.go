package statement_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/statement"
)

// shop returns the path of a database with a table t of two rows. The path has characters that a URI escapes.
func shop(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "100%41#1.db")
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "#", "%23").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table t (a, b); insert into t values (1, 'x'), (2, null)"); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each statement of SQLite is answered, by its rows or by how many it has changed, however it is written.
func TestRunAnswersEachStatementOfSQLite(t *testing.T) {
	const trigger = "create temp trigger r after insert on t begin update t set b = case a when 1 then ';' end; delete from t where a = 7; end"
	for text, want := range map[string]string{
		"select a from t":                                             "a\n1\n2\n",
		"SELECT\na\nfrom t;":                                          "a\n1\n2\n",
		"-- all; of it\nselect a from t":                              "a\n1\n2\n",
		"/* all; of it */ select a from t -- the end":                 "a\n1\n2\n",
		"insert into t values (3, 4) returning\na":                    "a\n3\n",
		"delete from t where a = 1; select a from t":                  "rows changed: 1\na\n2\n",
		"select a from t; delete from t; create table u (a)":          "a\n1\n2\nrows changed: 2\nrows changed: 0\n",
		"select a from t; select b from t":                            "a\n1\n2\nb\nx\nNULL\n",
		"update t set b = ' returning ' where a = 1":                  "rows changed: 1\n",
		"with x as (select 5) insert into t select *, 6 from x":       "rows changed: 1\n",
		"select ';' \"a;b\", [a] `c;` from t where a = 1; select 2":   "a;b\tc;\n;\t1\n2\n2\n",
		"begin; delete from t; rollback; select count(*) n from t":    "rows changed: 0\nrows changed: 2\nrows changed: 0\nn\n2\n",
		trigger + "; insert into t values (7, 7); select a, b from t": "rows changed: 0\nrows changed: 1\na\tb\n1\t;\n2\tNULL\n",
		"select 1 where 0":                                            "(no rows)\n",
	} {
		var got strings.Builder
		if err := statement.Run(t.Context(), shop(t), text, &got); err != nil || got.String() != want {
			t.Errorf("%s: %q, %v; want %q", text, got.String(), err, want)
		}
	}
}

// A statement of SQLite that fails ends the run with what the database says, and those after it are not run.
func TestRunEndsWithFailedStatement(t *testing.T) {
	path := shop(t)
	var got strings.Builder
	if err := statement.Run(t.Context(), path, "delete from t where a = 1; select * from missing; delete from t", &got); err == nil ||
		!strings.Contains(err.Error(), "no such table: missing") {
		t.Errorf("error %v", err)
	}
	if err := statement.Run(t.Context(), path, "select a from t", &got); err != nil || got.String() != "rows changed: 1\na\n2\n" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

// A text without a statement is refused, whatever else is in it.
func TestRunRefusesTextWithoutStatement(t *testing.T) {
	for _, text := range []string{"", " \n", ";", " ; ;", "-- select 1", "/* select 1; */;"} {
		if err := statement.Run(t.Context(), shop(t), text, new(strings.Builder)); err == nil || err.Error() != "the input has no statement" {
			t.Errorf("%q: %v", text, err)
		}
	}
}
