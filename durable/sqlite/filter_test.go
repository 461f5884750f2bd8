package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/executor-go/executor/durable/sqlite"
	"github.com/executor-go/executor/durable/storetest"
)

// Each filter selects what it says, also where more jobs than are few have what it asks for.
func FuzzFilters(f *testing.F) {
	store, err := sqlite.Open(filepath.Join(f.TempDir(), "jobs.db"), sqlite.Normal())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { store.Close() })
	store.SetFew(4)
	storetest.FuzzFilters(f, store)
}
