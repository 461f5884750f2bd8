package main

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
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
	for _, want := range []string{names[0] + `:2: minute "61": must be 0 to 59`, names[1] + ":3: \"@dayly\": unknown word", "executord: 2 mistakes in " + names[0] + ", " + names[1] + "\n"} {
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

// With --watch, a file that could not be read is read once it can be, though it shows no change.
func TestWatchReadsFileOnceItIsReadable(t *testing.T) {
	t.Parallel()
	tab := write(t, "tab", "# name: one\n@daily true\n")
	p := startCommand(t, withoutPowers(t, executord(t, "run", tab, "--watch")))
	p.until("job scheduled", "job", "one")
	unreadable := write(t, "new", "# name: two\n@daily true\n")
	if err := os.Chmod(unreadable, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(unreadable, tab); err != nil {
		t.Fatal(err)
	}
	p.until("file not read again")
	if err := os.Chmod(tab, 0o600); err != nil {
		t.Fatal(err)
	}
	p.until("job scheduled", "job", "two")
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

// Of a directory, those files are read that cron would; their jobs have the names of the files before their own.
func TestDirIsReadAsCronDoes(t *testing.T) {
	dir := filepath.Dir(files(t, "a_1", "CRON_TZ=UTC\n# name: x\n0 4 * * * root true\n", "B", "CRON_TZ=UTC\n0 5 * * * root true\n0 6 * * * root true\n",
		"c.sh", "61 * * * * x\n", ".hidden", "x\n", "x.dpkg-old", "x\n")[0])
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := output(t, "", "next", "--dir", dir, "-n", "3", "--from", "2027-01-01")
	want := `
DUE                             ZONE  JOB          NOTE
Fri 2027-01-01 04:00:00 +00:00  UTC   a_1/x
Fri 2027-01-01 05:00:00 +00:00  UTC   B/true-01c4
Fri 2027-01-01 06:00:00 +00:00  UTC   B/true-ff60
`
	if got := "\n" + stdout; got != want || code != 0 {
		t.Errorf("exit code %d %s\ngot:%s\nwant:%s", code, stderr, got, want)
	}
	if _, stderr, _ = output(t, "", "check", "--dir", dir); strings.Count(stderr, "the file is not read because of its name, as in cron") != 1 {
		t.Errorf("notes %s", stderr)
	}
	if _, stderr, code = output(t, "", "check", "--dir", filepath.Join(dir, "none")); code != exitMistake || !strings.HasPrefix(stderr, "executord: the directory ") {
		t.Errorf("exit code %d %s", code, stderr)
	}
}

// A file of a directory that cannot be looked at is a mistake, and not one whose jobs are removed; a link to nothing is
// noted.
func TestDirMissesNoFile(t *testing.T) {
	dir := filepath.Dir(files(t, "a", "@daily root true\n")[0])
	link := func(from, to string) string {
		t.Helper()
		name := filepath.Join(dir, from)
		if err := os.Symlink(to, name); err != nil {
			t.Skip("no links:", err)
		}
		return name
	}
	nothing := link("b", "none")
	link(".hidden", "none")
	if _, stderr, code := output(t, "", "check", "--dir", dir); code != 0 || !strings.HasPrefix(stderr, nothing+":1: note: the file is a link to one that does not exist\n") ||
		strings.Count(stderr, "does not exist") != 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	loop := link("c", "c")
	if _, stderr, code := output(t, "", "check", "--dir", dir); code != exitMistake || !strings.Contains(stderr, loop+":1: the file cannot be read: too many levels of symbolic links") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A file of a directory that has a mistake, or cannot be looked at, stops itself alone: it is logged and counted, the others
// run, and once they did, its jobs stay as they were until it is right.
func TestDirRunsFilesBesideWrongOnes(t *testing.T) {
	t.Parallel()
	name := self(t)
	names := files(t, "good", "@daily "+name+" true\n", "wrong", "@daily "+name+" true\n61 * * * * "+name+" true\n")
	dir := filepath.Dir(names[0])
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skip("no links:", err)
	}
	p := startCommand(t, executord(t, "run", "--dir", dir, "--listen", "127.0.0.1:0"))
	at, _ := p.until("listening")["at"].(string)
	p.until("executord started", "jobs", 1)
	p.until("job scheduled", "job", "good/true")
	p.want(1, "file not read", "file", loop, "level", "ERROR")
	p.want(1, "file not read", "file", names[1], "line", 2, "level", "ERROR")
	upToDate := func(want string) {
		t.Helper()
		if _, text := get(t, at+"metrics"); !strings.Contains(text, "\nexecutord_file_up_to_date "+want+"\n") {
			t.Errorf("want executord_file_up_to_date %s in %s", want, text)
		}
	}
	upToDate("0")
	rewrite := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	rewrite(names[0], "61 * * * * "+name+" true\n")
	rewrite(names[1], "@hourly "+name+" true\n")
	p.signal(syscall.SIGHUP)
	p.until("file not read", "file", names[0], "line", 1, "level", "ERROR")
	p.until("file read again", "jobs", 2)
	p.until("job scheduled", "job", "good/true", "change", "unchanged", "schedule", "@daily")
	p.until("job scheduled", "job", "wrong/true", "change", "new")
	upToDate("0")
	rewrite(names[0], "@hourly "+name+" true\n")
	p.signal(syscall.SIGHUP)
	p.until("job scheduled", "job", "good/true", "change", "changed", "schedule", "@hourly")
	p.signal(syscall.SIGHUP)
	p.until("file read again", "jobs", 2) // what was read before is in use then
	upToDate("1")
}

// An empty directory is watched, and a file that comes into it is read.
func TestDirMayBeEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := executord(t, "run", "--dir", dir, "--watch")
	p := startCommand(t, cmd)
	p.until("executord started", "jobs", 0, "file", dir)
	name := self(t)
	if err := os.WriteFile(filepath.Join(dir, "tab"), []byte("@daily "+name+" true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.until("job scheduled", "job", "tab/true", "change", "new")
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

// A job of another user runs as that user, with none of the variables that executord has for itself.
func TestUserIsSwitchedByRoot(t *testing.T) {
	if os.Getuid() != 0 {
		_, stderr, code := output(t, "# user: nobody\n@daily true\n", "run", "-")
		if code != exitMistake || !strings.Contains(stderr, "stdin:2: job true runs as nobody, and only root runs commands as another user") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		return
	}
	if _, err := user.Lookup("nobody"); err != nil {
		t.Skip(err)
	}
	cmd := executord(t, "run", write(t, "tab", "A=b\n# user: nobody\n@reboot echo $(id -un) $LOGNAME $USER $A [$SECRET] $EXECUTORD_JOB $PWD\n"))
	cmd.Env = append(cmd.Env, "SECRET=yes")
	p := startCommand(t, cmd)
	home, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	dir := home.HomeDir
	if _, err := os.Stat(dir); err != nil {
		dir = "/"
	}
	p.until("nobody nobody nobody b [] echo "+dir, "stream", "stdout")
}

// A user that is not there is noted, and the run says so.
func TestUserIsMissing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("without root there is no other user")
	}
	p := start(t, "# name: a\n# user: no-such-user\n@reboot true\n")
	p.until("note on the file", "line", 3, "what", `a cannot run here and now: user "no-such-user" does not exist on this machine`)
	p.until("run not started", "job", "a", "reason", `user "no-such-user" does not exist on this machine`)
}
