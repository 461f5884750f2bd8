package main

import (
	"strings"
	"testing"
)

// import prints a job file that check takes, for a file of each kind.
func TestImportPrintsJobFile(t *testing.T) {
	text, err := here("import", "internal/importer/testdata/backup.timer", "internal/importer/testdata/ofelia.ini",
		write(t, "marked.timer", "\ufeff[Timer]\nOnCalendar=daily\n[Service]\nExecStart=/bin/true\n"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := here("check", write(t, "jobs.toml", text), "-n", "1")
	if err != nil || strings.Count(table, "\n") != 8 || !strings.Contains(table, "backup-4") {
		t.Errorf("%v: %s", err, table)
	}
}
