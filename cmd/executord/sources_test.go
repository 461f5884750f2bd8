package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/job"
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

// sourcesOf returns the files of a command line.
func sourcesOf(names ...string) sources {
	return sources{names: names, dirs: new([]string), format: &choice{value: "auto"}, kept: make(map[string]part)}
}

// wantMistakes reads files, and wants their mistakes to be these, each by the begin of what is said of it; none for a file
// without mistakes.
func wantMistakes(t *testing.T, s sources, stored bool, want ...string) {
	t.Helper()
	_, _, err := s.parse(stored, false)
	var told job.Mistakes
	errors.As(err, &told)
	right := len(told) == len(want) && (err == nil) == (len(want) == 0)
	for i := range min(len(told), len(want)) {
		right = right && strings.HasPrefix(told[i].String(), want[i])
	}
	if !right {
		t.Errorf("%v: %v, want %q", s.names, err, want)
	}
}

// A name that two files have is a mistake in the second, and so are the mistakes of all files.
func TestSourcesShareNoNames(t *testing.T) {
	names := files(t, "a", "@daily true\n61 * * * * x\n", "b", "# why\n@daily true\n@dayly x\n")
	wantMistakes(t, sourcesOf(names...), false, names[0]+`:2: minute "61": must be 0 to 59`, names[1]+":3: \"@dayly\": unknown word")
	names = files(t, "a", "@daily true\n", "b", "# why\n@daily true\n")
	wantMistakes(t, sourcesOf(names...), false, names[1]+`:2: the name "true" is already used in `+names[0]+":1\n    @daily true\n    hint: name one")
}

// With --watch, files are read again once they have changed, also by a link that is exchanged as those of a ConfigMap
// are, and those that come into a directory. A file that could not be read is read once it can be, though it shows no
// change.
func TestWatchReadsFilesAgain(t *testing.T) {
	t.Parallel()
	name, dir, coming := self(t), t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	version := func(name, text string) {
		t.Helper()
		must(os.Mkdir(filepath.Join(dir, name), 0o755))
		must(os.WriteFile(filepath.Join(dir, name, "tab"), []byte(text), 0o644))
		must(os.Symlink(name, filepath.Join(dir, "..new")))
		must(os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data")))
	}
	version("..1", "# name: one\n@daily true\n")
	tab, other := filepath.Join(dir, "tab"), write(t, "other", "# name: other\n@daily true\n")
	must(os.Symlink(filepath.Join("..data", "tab"), tab))
	must(os.WriteFile(filepath.Join(coming, "wrong"), []byte("61 * * * * "+name+" true\n"), 0o644))
	must(os.WriteFile(filepath.Join(coming, "dark"), nil, 0)) // stays unread
	p := startCommand(t, withoutPowers(t, executord(t, "run", tab, other, "--dir", coming, "--watch")))
	p.until("file not read", "file", filepath.Join(coming, "wrong"), "line", 1, "level", "ERROR")
	p.until("job scheduled", "job", "other")
	version("..2", "# name: two\n@daily true\n")
	must(os.WriteFile(filepath.Join(coming, "tab"), []byte("@daily "+name+" true\n"), 0o644))
	p.until("job scheduled", "job", "two", "change", "new")
	p.after(0, "job removed", "job", "one")
	p.after(0, "job scheduled", "job", "tab/true", "change", "new")
	unreadable := write(t, "new", "# name: last\n@daily true\n")
	must(os.Chmod(unreadable, 0))
	must(os.Rename(unreadable, other))
	p.until("file not read again", "reason", "open "+other+": permission denied")
	must(os.Chmod(other, 0o600))
	p.until("job scheduled", "job", "last", "change", "new")
}

// withoutPowers has a command of root obey the modes of files, as those of other users do.
func withoutPowers(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		if runtime.GOOS == "windows" {
			t.Skip("files have no mode")
		}
		return cmd
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("root reads all files:", err)
	}
	cmd.Path, cmd.Args = setpriv, append([]string{"setpriv", "--bounding-set=-dac_override,-dac_read_search",
		"--inh-caps=-dac_override,-dac_read_search", cmd.Path}, cmd.Args[1:]...)
	return cmd
}

// Of a directory, those files are read that cron would; their jobs have the names of the files before their own. Others
// are noted, and so is a link to nothing.
func TestDirIsReadAsCronDoes(t *testing.T) {
	dir := filepath.Dir(files(t, "a_1", "CRON_TZ=UTC\n# name: x\n0 4 * * * root true\n", "B", "CRON_TZ=UTC\n0 5 * * * root true\n0 6 * * * root true\n",
		"c.sh", "61 * * * * x\n", ".hidden", "x\n", "x.dpkg-old", "x\n")[0])
	if err := errors.Join(os.Mkdir(dir+"/d", 0o755), os.Symlink("none", dir+"/link"), os.Symlink("none", dir+"/.link")); err != nil {
		t.Skip("no links:", err)
	}
	stdout, err := here("next", "--dir", dir, "-n", "3", "--from", "2027-01-01T00:00:00Z")
	want := `
DUE                             ZONE  JOB          NOTE
Fri 2027-01-01 04:00:00 +00:00  UTC   a_1/x
Fri 2027-01-01 05:00:00 +00:00  UTC   B/true-01c4
Fri 2027-01-01 06:00:00 +00:00  UTC   B/true-ff60
`
	if got := "\n" + stdout; got != want || err != nil {
		t.Errorf("%v\ngot:%s\nwant:%s", err, got, want)
	}
	file, _, err := dirOf(dir).parse(false, false)
	if err != nil || len(file.Notes) != 2 || file.Notes[0].What != "the file is not read because of its name, as in cron" ||
		file.Notes[1].File != dir+"/link" || file.Notes[1].What != "the file is a link to one that does not exist" {
		t.Errorf("%v, notes %v", err, file.Notes)
	}
}

// dirOf returns the files of --dir.
func dirOf(dir string) sources {
	s := sourcesOf()
	*s.dirs = []string{dir}
	return s
}

// A file of a directory that has a mistake, or cannot be looked at, stops itself alone: it is logged, and counts as not
// read. The jobs of the others are used, and once it was, its own stay as they were until it is right.
func TestDirUsesFilesBesideWrongOnes(t *testing.T) {
	names := files(t, "good", "@daily root true\n", "wrong", "@daily root true\n61 * * * * root true\n")
	loop := names[0] + "_loop"
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip("no links:", err)
	}
	o := newRunOptions(new(cobra.Command))
	o.files = dirOf(filepath.Dir(names[0]))
	defer o.inUse.end()
	want := func(upToDate bool, jobs string, refused ...string) {
		t.Helper()
		var log bytes.Buffer
		file, _, _ := o.readAgain(slog.New(slog.NewTextHandler(&log, nil)))
		o.reading.succeed() // as the daemon says when it has scheduled them
		got := ""
		for _, j := range file.Jobs {
			got += j.Name + " " + j.Schedule.Text + ";"
		}
		right := got == jobs && strings.Count(log.String(), `level=ERROR msg="file not read"`) == len(refused)
		for _, name := range refused {
			right = right && strings.Contains(log.String(), "file="+name+" line=")
		}
		if ok, _ := o.reading.get(); ok != upToDate || !right {
			t.Errorf("up to date %v, jobs %s, log %s", ok, got, &log)
		}
	}
	rewrite := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want(false, "good/true @daily;", loop, names[1])
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	rewrite(names[0], "61 * * * * root true\n")
	rewrite(names[1], "@hourly root true\n")
	want(false, "good/true @daily;wrong/true @hourly;", names[0])
	rewrite(names[0], "@hourly root true\n")
	want(true, "good/true @hourly;wrong/true @hourly;")
}

// self returns the name of the user who runs the test.
func self(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	return u.Username
}
