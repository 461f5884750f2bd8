package main

import (
	"strings"
	"testing"
)

// import prints a job file that check takes, and says how much was not imported.
func TestImportPrintsJobFile(t *testing.T) {
	stdout, stderr, code := output(t, "", "import", "internal/importer/testdata/backup.timer", "internal/importer/testdata/dkron.json")
	if code != 0 || stderr != "executord: 9 jobs, 1 of them commented out, and 13 remarks on what was not imported\n" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	table, fail, code := output(t, stdout, "check", "-", "--format", "toml", "-n", "1")
	if code != 0 || strings.Count(table, "\n") != 10 || !strings.Contains(table, "backup-4") {
		t.Errorf("exit code %d: %s%s", code, fail, table)
	}
}

// A file that cannot be imported is a mistake, and one without jobs too.
func TestImportRefusesFiles(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n":                     "executord: stdin: the scheduler of the file was not recognized; set --kind ",
		"kind: PodList\nitems: []\n": "executord: no jobs in -\n",
	} {
		if stdout, stderr, code := output(t, text, "import", "-"); code != exitMistake || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("exit code %d: %s%s", code, stdout, stderr)
		}
	}
}
