package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
)

// On a disk that is full, changes are the error of a store that is, whichever of its files cannot grow, and the store goes
// on when there is room.
func TestStoreOnFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("full", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("this test may mount no disk: %v", err)
	}
	defer syscall.Unmount(disk, 0)
	path, rest := filepath.Join(disk, "jobs.db"), filepath.Join(disk, "rest")
	fill := func() {
		f, err := os.OpenFile(rest, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		for err == nil {
			_, err = f.Write(make([]byte, 4<<10))
		}
		f.Close()
	}
	add := func(store *sqlite.Store) error {
		j := durable.NewJob{ID: durable.NewID(), Kind: "k", Payload: make([]byte, 40_000), Schedule: "once", Attempts: 1}
		_, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{})
		return err
	}
	room := func() {
		t.Helper()
		if err := os.Remove(rest); err != nil {
			t.Fatal(err)
		}
	}
	store, err := sqlite.Open(path)
	if err == nil {
		err = store.Close() // which leaves no file beside the store
	}
	if err != nil {
		t.Fatal(err)
	}
	fill()
	if _, err := sqlite.Open(path); !errors.Is(err, durable.ErrFull) {
		t.Fatalf("a file that is opened: %v", err)
	}
	room()
	if store, err = sqlite.Open(path); err != nil {
		t.Fatal(err)
	}
	fill()
	if err := add(store); !errors.Is(err, durable.ErrFull) {
		t.Errorf("a change: %v", err)
	}
	room()
	if err := errors.Join(add(store), store.Close()); err != nil {
		t.Error(err)
	}
}
