package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// Of a file that may not be written, jobs can be read; the error of a call that writes says what to make writable.
func TestReadOnlyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
		f.Close()
		t.Skip("this user may write any file")
	}
	if store, err = sqlite.Open(path); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if all, err := store.List(t.Context(), durable.Filter{}); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	_, err = store.Change(t.Context(), durable.NewID(), durable.Change{Op: durable.OpCancel})
	if err != nil {
		t.Errorf("of no job: %v", err)
	}
	err = store.PauseKind(t.Context(), "k", true)
	if err == nil || !strings.Contains(err.Error(), "make the file, its directory, and -wal and -shm beside it writable") {
		t.Errorf("the error is %v", err)
	}
}

// The error of Open for a path where no file can be names what must be there.
func TestOpenWhereNoFileCanBe(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing", "jobs.db")} {
		store, err := sqlite.Open(path)
		if err == nil {
			store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "it must be a file, in a directory that exists and is writable") {
			t.Errorf("%s: the error is %v", path, err)
		}
	}
}
