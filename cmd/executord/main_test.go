//go:build unix

package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// harmless fails the test if a text has in it what could disturb a terminal.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Errorf("%s: %q", what, text)
	}
}

// Whatever a file is called, and whatever is in it, no message about it disturbs
// a terminal.
func TestMainMessagesArePrintable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a\x1b[2Jb")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("the system has no such names:", err)
	}
	for name, text := range map[string]string{
		"tab":      "61 * * * * x\nMAILTO=me\n",
		"key.toml": "[\"a\\u001b[2J\"]\n[[\"a\\u001b[2J\"]]\n[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'x'\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := output(t, "", "check", name)
		if code != exitMistake || !strings.Contains(stderr, `a\x1b[2Jb`) {
			t.Errorf("%q: exit code %d, %q", name, code, stderr)
		}
		harmless(t, name, stdout+stderr)
	}
	for _, args := range [][]string{
		{"check", dir}, {"run", dir + "/none"}, {"jobs", "--store", dir + "/none"},
		{"check", "--a\x1b[2J", "x"}, {"a\x1b[2J"},
	} {
		stdout, stderr, code := output(t, "", args...)
		if code == exitOK || !strings.Contains(stderr, `a\x1b[2J`) {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
		harmless(t, strings.Join(args, " "), stdout+stderr)
	}
}

// A flag with an empty value is a mistake, as of a script whose variable is not set: without it a command would do
// something else. A reason may be empty.
func TestMainRefusesEmptyFlags(t *testing.T) {
	t.Parallel()
	file := write(t, "tab", "@yearly true\n")
	for _, args := range [][]string{
		{"run", file, "--listen", ""}, {"run", file, "--listen", "127.0.0.1:0", "--token-file", ""}, {"run", file, "--name", ""},
		{"jobs", "--at", ""}, {"check", file, "--from", ""},
	} {
		_, stderr, code := output(t, "", args...)
		want := "executord: " + args[len(args)-2] + " is empty: give it a value, or leave it out\n"
		if code != exitUsage || !strings.HasPrefix(stderr, want) {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
	if _, stderr, code := output(t, "", "pause", "--reason", "", "--store", newStoreFile(t), "a"); code != exitMistake {
		t.Errorf("without a reason: exit code %d, %q", code, stderr)
	}
}

// The table of check has a line for each time, also if a schedule is written with
// the end of a line in it.
func TestCheckTableShowsScheduleOnOneLine(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := output(t, "[[job]]\nname = 'a'\nschedule = \"@reboot\\n\\u0085\"\ncommand = 'x'\n", "check", "-", "--format", "toml")
	if code != exitOK || !strings.Contains(stdout, `@reboot\n\u0085`) {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	harmless(t, "check", stdout)
}

// A store may be another user's: the names of the jobs in it do not disturb the
// terminal that shows it, and forge no lines.
func TestMainNamesInStoreArePrintable(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := start(t, "# name: job\n@every 100ms exit 1\n", "--store", store)
	p.until("run ended", "job", "job")
	p.end()
	db, err := sql.Open("sqlite", store)
	if err != nil {
		t.Fatal(err)
	}
	const name = "a\x1b[2J\nb"
	_, err = db.Exec("update executor_job set key = replace(key, '/job', ?)", "/"+name)
	db.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"jobs"}, {"runs", "-n", "1", "--verbose"}, {"pause", name}, {"resume", name}, {"jobs", name + "c"},
	} {
		stdout, stderr, _ := output(t, "", append(args, "--store", store)...)
		if !strings.Contains(stdout+stderr, `a\x1b[2J\nb`) {
			t.Errorf("%q: %q, %q", args, stdout, stderr)
		}
		harmless(t, strings.Join(args, " "), stdout+stderr)
	}
}

// A run that waits takes no place among those that are listed.
func TestRunsListsLatestThatHaveBegun(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := start(t, "# name: job\n@every 1h true\n", "--store", store)
	p.until("job scheduled", "job", "job")
	if _, stderr, code := output(t, "", "run-now", "job", "--store", store); code != exitOK {
		t.Fatal(stderr)
	}
	p.until("run ended", "job", "job")
	p.end()
	if _, stderr, code := output(t, "", "run-now", "job", "--store", store); code != exitOK {
		t.Fatal(stderr)
	}
	if stdout, stderr, code := output(t, "", "runs", "-n", "1", "--store", store); code != exitOK || !strings.Contains(stdout, "job  1    ") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// Who writes the URL of a store where something else is expected does not find its
// password in the answer, which may go to a log that others read.
func TestMainHidesMisplacedPassword(t *testing.T) {
	t.Parallel()
	tab := write(t, "tab", "@daily x\n")
	for _, url := range []string{
		"postgres://me:se:cret@host/db", "postgres://me:se/cret@host/db?sslmode=require", "postgres://me:cret@host/db?password=cret&sslpassword=cret",
	} {
		for _, args := range [][]string{{url}, {"check", url}, {"run", url}, {"jobs", "--" + url}, {"run", tab, "--lease", url}, {"jobs", "--namespace", url}} {
			_, stderr, code := output(t, "", args...)
			if code == exitOK || strings.Contains(stderr, "cret") || !strings.Contains(stderr, "host/db") {
				t.Errorf("%q: exit code %d, %q", args, code, stderr)
			}
		}
	}
}
