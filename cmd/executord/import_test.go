package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// import prints a job file that check takes, and says how much was not imported.
func TestImportPrintsJobFile(t *testing.T) {
	stdout, stderr, code := output(t, "", "import", "internal/importer/testdata/backup.timer", "internal/importer/testdata/ofelia.ini")
	if code != 0 || stderr != "executord: 6 jobs, 0 of them commented out, and 16 remarks on what was not imported\n" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	table, fail, code := output(t, stdout, "check", "-", "--format", "toml", "-n", "1")
	if code != 0 || strings.Count(table, "\n") != 7 || !strings.Contains(table, "backup-4") {
		t.Errorf("exit code %d: %s%s", code, fail, table)
	}
}

// A file that cannot be imported is a mistake, and one without jobs too.
func TestImportRefusesFiles(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n":       "executord: stdin: the file is no timer of systemd, and has no jobs of ofelia; docs/how-to/from-another-scheduler.md ",
		"services: {}": "executord: no jobs in -\n",
	} {
		if stdout, stderr, code := output(t, text, "import", "-"); code != exitMistake || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("exit code %d: %s%s", code, stdout, stderr)
		}
	}
}

// A byte order mark, with which some editors begin a text, is no part of a file, whatever its kind.
func TestFilesMayBeginWithMark(t *testing.T) {
	for name, text := range map[string]string{
		"tab": "* * * * * true\n", "jobs.toml": "[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'true'\n",
	} {
		if _, stderr, code := output(t, "", "check", write(t, name, "\ufeff"+text)); code != exitOK || stderr != "" {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
	}
	timer := "\ufeff[Timer]\nOnCalendar=daily\n[Service]\nExecStart=/bin/true\n"
	if stdout, stderr, code := output(t, timer, "import", "-"); code != exitOK || !strings.Contains(stdout, "/bin/true") {
		t.Errorf("import: exit code %d: %s%s", code, stdout, stderr)
	}
}

// A file of another kind that is given as a job file is one mistake, which says what to do with it. A crontab with a
// mistake is none, whatever its name.
func TestCheckTellsFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, text, want string }{
		{"backup.timer", "# nightly\n[Timer]\nOnCalendar=daily\n", "executord import "},
		{"backup.service", "[Service]\nExecStart=/bin/x\n", "executord import "},
		{"compose.yml", "services:\n  a:\n    labels:\n      ofelia.job-exec.b.schedule: '@daily'\n", "executord import "},
		{"config.ini", "[job-local \"a\"]\nschedule = @daily\ncommand = x\n", "executord import "},
		{"cronjob.yaml", "apiVersion: batch/v1\nkind: CronJob\n", byHand},
		{"compose.yaml", "services: {a: {image: b}}\n", byHand},
		{"jobs.json", "[{\"name\": \"a\"}]\n", byHand},
		{"other.conf", "[main]\na = 1\n", byHand},
		{"jobs.conf", "\n[[job]]\nname = 'a'\n", "name it jobs.conf.toml, or set --format toml"},
		{"cron.yml", "# ours\n61 * * * * x\n", "must be 0 to 59"},
		{"cron.txt", "path: /bin\n61 * * * * x\n", "must be 0 to 59"},
	} {
		path := filepath.Join(dir, test.name)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr, code := output(t, "", "check", path)
		one := strings.HasSuffix(stderr, "executord: 1 mistake in "+path+"\n")
		if code != exitMistake || !strings.Contains(stderr, test.want) || !one && test.name != "cron.txt" {
			t.Errorf("%s: exit code %d: %s", test.name, code, stderr)
		}
	}
}
