//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
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
	lines := [][]string{{"check", dir}, {"run", dir + "/none"}, {"jobs", "--store", dir + "/none"}, {"check", "--a\x1b[2J", "x"}, {"a\x1b[2J"}}
	for name, text := range map[string]string{
		"tab":      "61 * * * * x\nMAILTO=me\n",
		"key.toml": "[\"a\\u001b[2J\"]\n[[\"a\\u001b[2J\"]]\n[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'x'\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, []string{"check", name})
	}
	stdout, answers := inTurn(t, executord(t), lines)
	for i, a := range answers {
		if a.code == exitOK || !strings.Contains(a.said, `a\x1b[2J`) {
			t.Errorf("%q: exit code %d, %q", lines[i], a.code, a.said)
		}
		harmless(t, strings.Join(lines[i], " "), stdout+a.said)
	}
}

// A store may be another user's: the names of the jobs in it do not disturb the
// terminal that shows it, and forge no lines. A run that waits takes no place among those that are listed.
func TestMainNamesInStoreArePrintable(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := start(t, "# name: job\n@every 100ms exit 1\n", "--store", store)
	p.until("run ended", "job", "job")
	p.end()
	wantAnswer(t, store, exitOK, "job: due now\n", "run-now", "job")
	const name = "a\x1b[2J\nb"
	if _, err := rows(t, store).Exec("update executor_job set key = replace(key, '/job', ?)", "/"+name); err != nil {
		t.Fatal(err)
	}
	lines := [][]string{{"jobs"}, {"runs", "-n", "1", "--verbose"}, {"pause", name}, {"resume", name}, {"jobs", name + "c"}}
	for i, line := range lines {
		lines[i] = append(line, "--store", store)
	}
	stdout, answers := inTurn(t, executord(t), lines)
	harmless(t, "what they print", stdout)
	harmless(t, "the mistake", answers[4].said)
	if n := strings.Count(stdout, `a\x1b[2J\nb`); n != 4 || !strings.Contains(answers[4].said, `a\x1b[2J\nbc`) || !regexp.MustCompile(`nb  \d+ .*failed`).MatchString(stdout) {
		t.Errorf("%d names in %s; %v", n, stdout, answers)
	}
}

// Who writes the URL of a store where something else is expected does not find its
// password in the answer, which may go to a log that others read.
func TestMainHidesMisplacedPassword(t *testing.T) {
	t.Parallel()
	tab := write(t, "tab", "@daily x\n")
	var lines [][]string
	for _, url := range []string{
		"postgres://me:se:cret@host/db", "postgres://me:se/cret@host/db?sslmode=require", "postgres://me:cret@host/db?password=cret&sslpassword=cret",
	} {
		lines = append(lines, []string{url}, []string{"check", url}, []string{"run", url}, []string{"jobs", "--" + url},
			[]string{"run", tab, "--lease", url}, []string{"jobs", "--namespace", url})
	}
	_, answers := inTurn(t, executord(t), lines)
	for i, a := range answers {
		if a.code == exitOK || strings.Contains(a.said, "cret") || !strings.Contains(a.said, "host/db") {
			t.Errorf("%q: exit code %d, %q", lines[i], a.code, a.said)
		}
	}
}
