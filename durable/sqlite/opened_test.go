//go:build !windows

package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// Nothing is written to a file that was removed or replaced, nor where that has happened to its write-ahead log or the
// index of that: it would be lost. The program is not healthy meanwhile. When the file is back, all goes on. A path that
// is a link to the file is as good.
func TestStoreNoticesRemovedFile(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		t.Run("jobs.db"+suffix, func(t *testing.T) {
			store, path := openAt(t)
			testRemovedWhileOpen(t, store, path+suffix)
		})
		t.Run("link"+suffix, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "jobs.db")
			link := filepath.Join(t.TempDir(), "link.db")
			if err := os.Symlink(path, link); err != nil {
				t.Fatal(err)
			}
			store, err := sqlite.Open(link)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			testRemovedWhileOpen(t, store, path+suffix)
		})
	}
}

func testRemovedWhileOpen(t *testing.T, store *sqlite.Store, path string) {
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	k := durable.KindOf[string, string](jobs, "k")
	add := func(want string) {
		t.Helper()
		_, err := k.Add(t.Context(), "")
		for what, err := range map[string]error{"Schedule": err, "Healthy": jobs.Healthy(t.Context())} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", what, err, want)
			}
		}
	}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	add("")
	try(os.Rename(path, path+".old"))
	add("was removed while it was open")
	try(os.WriteFile(path, nil, 0o600))
	add("was replaced by another file")
	try(os.Rename(path+".old", path))
	add("")
}

// Reading does not make a file anew that was removed.
func TestStoreReadsMakeNoFile(t *testing.T) {
	store, path := openAt(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := store.List(t.Context(), durable.Filter{}); err == nil {
		t.Error("jobs are read from a file that is not there")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is there again: %v", err)
	}
}
