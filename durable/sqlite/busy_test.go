package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// hold begins a transaction in a file as another program would, which ends with
// the test at the latest.
func hold(t *testing.T, path, begin string) (letGo func()) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(begin); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.Exec("rollback"); err != nil {
			t.Error(err)
		}
	}
}

// held runs f for a file that another program has in each way that is in the way
// of one who opens it.
func held(t *testing.T, f func(t *testing.T, path string, letGo func())) {
	for _, c := range []struct{ name, begin string }{
		{"new file has a writer", "begin immediate"},
		{"new file is locked", "begin exclusive"},
		{"store has a writer", "begin immediate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "jobs.db")
				if c.name == "store has a writer" {
					s, err := Open(path)
					if err != nil {
						t.Fatal(err)
					}
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				f(t, path, hold(t, path, c.begin))
			})
		})
	}
}

// Open waits for another program that is about to release the file.
func TestOpenWaitsForAnotherProgram(t *testing.T) {
	held(t, func(t *testing.T, path string, letGo func()) {
		time.AfterFunc(busyTimeout/4, letGo)
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Open does not wait for ever for another program that keeps the file.
func TestOpenGivesUp(t *testing.T) {
	held(t, func(t *testing.T, path string, _ func()) {
		start := time.Now()
		if s, err := Open(path); err == nil {
			s.Close()
			t.Error("Open succeeded")
		} else if !isBusy(err) {
			t.Error(err)
		}
		if d := time.Since(start); d < busyTimeout || d > 2*busyTimeout {
			t.Errorf("Open took %v", d)
		}
	})
}

// A call that writes waits for another program that is about to release the file, and not for ever for one that keeps
// it.
func TestWriterWaitsForAnotherProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "jobs.db")
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		time.AfterFunc(busyTimeout/4, hold(t, path, "begin immediate"))
		if _, err := s.Join(t.Context(), "node", time.Hour); err != nil {
			t.Error(err)
		}
		hold(t, path, "begin immediate")
		if _, err := s.Join(t.Context(), "node", time.Hour); !isBusy(err) {
			t.Errorf("Join: %v", err)
		}
	})
}

// Time in which the machine stands still does not count as waiting.
func TestWhileBusyDoesNotCountStandstill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	hold(t, path, "begin exclusive")
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, busy := db.Exec("begin immediate")
	if !isBusy(busy) {
		t.Fatal(busy)
	}
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		err := whileBusy(func() error {
			time.Sleep(10 * busyTimeout) // the machine's doing
			if tries++; tries < 100 {
				return busy
			}
			return nil
		})
		if err != nil || tries != 100 {
			t.Errorf("after %d tries: %v", tries, err)
		}
	})
}
