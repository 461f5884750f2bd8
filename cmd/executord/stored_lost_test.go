//go:build unix

package main

import (
	"database/sql"
	"syscall"
	"testing"
)

// A run that is ended since the store does not answer while executord drains was
// not waited for: the exit code says so, as if a second signal had ended it.
func TestRunLostInADrain(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := start(t, "# name: long\n@every 200ms echo up; exec sleep 1000\n", "--store", store, "--lease", "2s")
	p.until("up")
	p.signal(syscall.SIGTERM)
	p.until("draining", "running", 1)
	db, err := sql.Open("sqlite", store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"pragma busy_timeout = 60000", "begin immediate"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	p.until("run ended", "job", "long", "outcome", "lost")
	if _, err := db.Exec("rollback"); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "executord ended", "interrupted", 1, "exit", exitInterrupted) // a busy machine may have lost runs before
}
