package stores

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable"
)

// What a database says of itself becomes what to do, and the name of the store stands
// there once.
func TestExplain(t *testing.T) {
	const hint = ": it cannot be written, or the directory it is in: run executord as its owner"
	if got := Explain("a.db", fmt.Errorf("durable: cancel: %w: make room on the disk of the server", durable.ErrFull)).Error(); got != "the store a.db: its disk is full: make room there" {
		t.Errorf("a full store became %q", got)
	}
	if got := Explain("a.db", fmt.Errorf("durable/sqlite: %w", durable.ErrNewerSchema)).Error(); !strings.Contains(got, "by a newer executord: use that one, or a newer one") {
		t.Errorf("a newer store became %q", got)
	}
	for said, want := range map[string]string{
		"job q: attempt to write a readonly database (8)": hint,
		"unable to open database file (14)": ": it, or its log beside it, cannot be opened: run executord as its owner, or " +
			"allow more open files (ulimit -n)",
		"job q: database is locked (5) (SQLITE_BUSY)": ": another process has it locked",
		"database or disk is full (13)":               ": its disk is full: make room there",
		`durable/sqlite: "a.db": it is a directory`:   ": it is a directory",
		"durable/postgres: it can't be reached":       ": it can't be reached",
	} {
		if got := Explain("a.db", errors.New(said)).Error(); got != "the store a.db"+want {
			t.Errorf("%q became %q", said, got)
		}
	}
}
