package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files makes files in a directory and returns their names.
func files(t *testing.T, texts ...string) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(texts); i += 2 {
		name := filepath.Join(dir, texts[i])
		if err := os.WriteFile(name, []byte(texts[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// The jobs of several files, of either format, are one set, and each is shown with its file.
func TestSourcesAreOneSet(t *testing.T) {
	names := files(t, "a.cron", "CRON_TZ=UTC\n0 4 * * * true\n", "b.toml", "[[job]]\nname='b'\nschedule='@daily'\ncommand='true'\ntimezone='UTC'\n", "empty", "")
	stdout, stderr, code := output(t, "", append([]string{"check", "-n", "1", "--from", "2027-01-01"}, names...)...)
	want := "JOB   LINE      SCHEDULE   ZONE  NEXT\n" +
		"true  a.cron:2  0 4 * * *  UTC   Fri 2027-01-01 04:00:00 +00:00\n" +
		"b     b.toml:1  @daily     UTC   Fri 2027-01-01 00:00:00 +00:00\n"
	if stdout != want || code != 0 || !strings.HasPrefix(stderr, names[2]+":1: note: the file has no jobs") {
		t.Errorf("exit code %d\n%s\nwant\n%s\nstderr %s", code, stdout, want, stderr)
	}
	p := startFile(t, names[0], names[1], "--log", "json")
	p.until("executord started", "file", names[0]+", "+names[1], "jobs", 2)
}

// A name that two files have is a mistake in the second, and so are the mistakes of all files.
func TestSourcesShareNoNames(t *testing.T) {
	names := files(t, "a", "@daily true\n61 * * * * x\n", "b", "# why\n@daily true\n@dayly x\n")
	_, stderr, code := output(t, "", "check", names[0], names[1])
	for _, want := range []string{names[0] + `:2: minute "61": not allowed here`, names[1] + ":3: \"@dayly\": unknown word", "executord: 2 mistakes in " + names[0] + ", " + names[1] + "\n"} {
		if !strings.Contains(stderr, want) || code != exitMistake {
			t.Errorf("exit code %d: %s\nwant %s", code, stderr, want)
		}
	}
	names = files(t, "a", "@daily true\n", "b", "# why\n@daily true\n")
	_, stderr, code = output(t, "", "check", names[0], names[1])
	if want := names[1] + `:2: the name "true" is already used in ` + names[0] + ":1\n    @daily true\n    hint: name one"; code != exitMistake || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit code %d: %s\nwant %s", code, stderr, want)
	}
}

// With --watch, files are read again once they have changed, also by a link that is exchanged as those of a ConfigMap
// are; with a mistake in one all stays as it is.
func TestWatchReadsFilesAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := func(name, text string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "tab"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(name, filepath.Join(dir, "..new")); err != nil {
			t.Skip("no links:", err)
		}
		if err := os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	version("..1", "# name: one\n@daily true\n")
	tab := filepath.Join(dir, "tab")
	if err := os.Symlink(filepath.Join("..data", "tab"), tab); err != nil {
		t.Fatal(err)
	}
	other := write(t, "other", "# name: other\n@daily true\n")
	p := startFile(t, tab, other, "--watch")
	p.until("job scheduled", "job", "other")
	version("..2", "# name: two\n@daily true\n")
	p.until("file read again", "jobs", 2)
	p.until("job scheduled", "job", "two", "change", "new")
	p.until("job removed", "job", "one")
	if err := os.WriteFile(other, []byte("61 * * * * true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.until("file not read again", "file", other, "line", 1)
	if err := os.WriteFile(other, []byte("# name: last\n@daily true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.until("job scheduled", "job", "last", "change", "new")
}
