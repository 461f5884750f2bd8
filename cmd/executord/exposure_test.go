//go:build unix

package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/exposure"
)

// A job file or a store that others may write to is used, and check and run say
// which users may, with a hint.
func TestExposedToAllUsers(t *testing.T) {
	tab := write(t, "tab", "# name: a\n@daily true\n")
	store := filepath.Join(t.TempDir(), "jobs.db")
	p := startFile(t, tab, "--store", store)
	p.until("job scheduled")
	p.signal(syscall.SIGTERM)
	p.wait()
	p.want(0, exposure.What)

	for _, name := range []string{tab, store} {
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, fail, code := output(t, "", "check", tab, "--store", store)
	for _, name := range []string{tab, store} {
		want := name + ": note: " + exposure.What + ": all users may write to it\n    -rw-rw-rw-\n    hint: " + exposure.Hint + "\n"
		if code != exitOK || !strings.Contains(fail, want) {
			t.Errorf("check: exit code %d, stderr %q, want %q in it", code, fail, want)
		}
	}

	p = startFile(t, tab, "--store", store)
	p.until("job scheduled")
	for range 2 {
		p.signal(syscall.SIGHUP)
		p.until("file read again")
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	p.want(1, exposure.What, "file", store, "mode", "-rw-rw-rw-")
	p.want(3, exposure.What, "file", tab, "hint", exposure.Hint)
}

// There is no note on a file whose owner and group are root's or the user's own.
func TestExposedNotToOwnGroup(t *testing.T) {
	tab := write(t, "tab", "@daily true\n")
	if err := os.Chown(tab, -1, os.Getegid()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tab, 0o664); err != nil {
		t.Fatal(err)
	}
	if _, fail, code := output(t, "", "check", tab); code != exitOK || fail != "" {
		t.Errorf("exit code %d, stderr %q", code, fail)
	}
}

// There is a note on a file of another user, and on one that another group may write
// to.
func TestExposedToOwnerAndGroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	tab := write(t, "tab", "@daily true\n")
	for _, c := range []struct {
		uid, gid int
		mode     os.FileMode
		reason   string
	}{
		{0, 4711, 0o644, ""},
		{0, 4711, 0o664, "group 4711 may write to it"},
		{4711, 4711, 0o600, "it belongs to user 4711"},
		{4711, 4711, 0o666, "it belongs to user 4711, and all users may write to it"},
	} {
		if err := os.Chown(tab, c.uid, c.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(tab, c.mode); err != nil {
			t.Fatal(err)
		}
		_, fail, code := output(t, "", "check", tab)
		want := ""
		if c.reason != "" {
			want = tab + ": note: " + exposure.What + ": " + c.reason + "\n    " + c.mode.String() + "\n    hint: " + exposure.Hint + "\n"
		}
		if code != exitOK || fail != want {
			t.Errorf("exit code %d, got %q, want %q", code, fail, want)
		}
	}
}

// A file with the variables of a job to which others may write is noted, as they choose its PATH; its user is none of the
// others.
func TestExposedVariables(t *testing.T) {
	names := files(t, "env", "A=b\n", "secret", "value\n")
	tab := write(t, "jobs.toml", fmt.Sprintf("[[job]]\nname = \"a\"\nschedule = \"@daily\"\ncommand = \"true\"\nenv_file = %q\nsecret.S = %q\n", names[0], names[1]))
	for _, name := range names {
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, fail, code := output(t, "", "check", tab)
	for _, name := range names {
		want := name + ": note: " + exposure.What + ": all users may write to it\n    -rw-rw-rw-\n    hint: " + exposure.Hint + "\n"
		if code != exitOK || !strings.Contains(fail, want) {
			t.Errorf("exit code %d, stderr %q, want %q in it", code, fail, want)
		}
	}
}

// A file with variables may belong to the user as whom the job runs, and to no other.
func TestExposedVariablesNotToUserOfJob(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	env := write(t, "env", "A=b\n")
	tab := write(t, "tab", "# env_file: "+env+"\n# user: nobody\n@daily true\n")
	for owner, want := range map[int]bool{uid: false, 4711: true} {
		if err := os.Chown(env, owner, 0); err != nil {
			t.Fatal(err)
		}
		_, fail, code := output(t, "", "check", tab)
		if got := strings.Contains(fail, exposure.What); code != exitOK || got != want {
			t.Errorf("of user %d: exit code %d, noted %v, want %v; stderr %q", owner, code, got, want, fail)
		}
	}
}

// Of a directory, root uses no file that others may write to, nor one that such a user has linked, as cron does not. The
// other files run.
func TestDirOfRootRefusesFilesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away, and has to refuse them")
	}
	t.Parallel()
	names := files(t, "mine", "@daily root true\n", "theirs", "@daily root true\n", "open", "@daily root true\n", "target", "@daily root true\n")
	dir := filepath.Dir(names[0])
	target := filepath.Join(t.TempDir(), "target")
	link := filepath.Join(dir, "link")
	for _, err := range []error{
		os.Chown(names[1], 4711, 0), os.Chmod(names[2], 0o666), os.Rename(names[3], target), os.Symlink(target, link), os.Lchown(link, 4711, 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{names[1]: "it belongs to user 4711", names[2]: "all users may write to it", link: "it is a link that belongs to user 4711"}
	_, fail, code := output(t, "", "check", "--dir", dir)
	for name, reason := range want {
		text := name + ":1: root does not run the jobs of this file, as cron does not: " + reason + "\n    hint: " + exposure.Hint + "\n"
		if code != exitMistake || !strings.Contains(fail, text) {
			t.Errorf("exit code %d, stderr %q, want %q in it", code, fail, text)
		}
	}
	p := startCommand(t, executord(t, "run", "--dir", dir))
	p.until("executord started", "jobs", 1)
	p.until("job scheduled", "job", "mine/true")
	for name := range want {
		p.want(1, "file not read", "file", name, "level", "ERROR")
	}
	if _, fail, code := output(t, "", "run", "--format", "system", names[1]); code != exitMistake || !strings.Contains(fail, "it belongs to user 4711") {
		t.Errorf("exit code %d: %s", code, fail)
	}
}
