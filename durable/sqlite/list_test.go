package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Keys with a prefix are all found, be they taken to be few or many, and in a file in which texts have another order
// since it is of a program with UTF-16.
func TestListOfPrefix(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		path := filepath.Join(t.TempDir(), "jobs.db")
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.Exec("pragma encoding = '" + encoding + "'; create table theirs (a text)")
			db.Close()
		}
		s, openErr := Open(path)
		if err != nil || openErr != nil {
			t.Fatal(err, openErr)
		}
		defer s.Close()
		for prefix, n := range map[string]int{"few/\u00ff": few - 1, "many/": few} {
			jobs := make([]durable.NewJob, n)
			for i := range jobs {
				jobs[i] = durable.NewJob{ID: durable.NewID(), Key: fmt.Sprint(prefix, i), Kind: "k", Schedule: "once",
					Attempts: 1}
			}
			if _, err := s.Insert(t.Context(), jobs, store.Placement{}); err != nil {
				t.Fatal(err)
			}
			got, err := s.List(t.Context(), durable.Filter{Prefix: prefix, Limit: 2 * few})
			if err != nil || len(got) != n {
				t.Errorf("%s: %q: %d of %d: %v", encoding, prefix, len(got), n, err)
			}
			narrow, byKey := false, encoding == "UTF-8" && n < few
			if err := s.read.QueryRow(fewKeys, prefix, prefix+"~", few, few).Scan(&narrow); err != nil || narrow != byKey {
				t.Errorf("%s: %q: %d keys are few: %v, %v", encoding, prefix, n, narrow, err)
			}
		}
	}
}
