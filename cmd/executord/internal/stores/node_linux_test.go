package stores

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

// A daemon that opens a file finds those dead that have joined and ended without leaving, once, and only if none of them is
// alive.
func TestOpenForNodeBuriesTheDead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "jobs.db")
	open := func(wants ...string) durable.Store {
		t.Helper()
		store, _, dead, err := OpenForNode(t.Context(), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(dead, wants) {
			t.Errorf("the dead are %q, want %q", dead, wants)
		}
		return store
	}
	end := func(store durable.Store) { // as the kernel does when the process ends
		t.Helper()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	first := open()
	if _, err := first.Join(t.Context(), "web1", time.Hour); err != nil {
		t.Fatal(err)
	}
	second := open()
	end(first)
	third := open() // the second is alive
	end(second)
	end(third)
	end(open("web1"))
	end(open())
}
