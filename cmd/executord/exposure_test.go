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
	"github.com/executor-go/executor/cmd/executord/internal/job"
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
		want := "note: " + exposure.What + ": all users may write to it\n    -rw-rw-rw- " + name + "\n    hint: " + job.QuoteArgs([]string{"chmod", "go-w", name}) + "\n"
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
	p.want(3, exposure.What, "file", tab, "hint", job.QuoteArgs([]string{"chmod", "go-w", tab}))
}

// The command of the hint is one that a shell takes for that file and no other.
func TestExposedHintQuotesFile(t *testing.T) {
	tab := write(t, "a b", "@daily true\n")
	if err := os.Chmod(tab, 0o666); err != nil {
		t.Fatal(err)
	}
	_, fail, _ := output(t, "", "check", tab)
	if want := "hint: chmod go-w '" + tab + "'\n"; !strings.Contains(fail, want) {
		t.Errorf("stderr %q, want %q in it", fail, want)
	}
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
	shown := job.QuoteArgs([]string{tab})
	for _, c := range []struct {
		uid, gid     int
		mode         os.FileMode
		reason, hint string
	}{
		{0, 4711, 0o644, "", ""},
		{0, 4711, 0o664, "group 4711 may write to it", "chmod g-w " + shown},
		{4711, 4711, 0o600, "it belongs to user 4711", "chown 0 " + shown},
		{4711, 4711, 0o666, "it belongs to user 4711, and all users may write to it", "chown 0 " + shown + " && chmod go-w " + shown},
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
			want = "note: " + exposure.What + ": " + c.reason + "\n    " + c.mode.String() + " " + tab + "\n    hint: " + c.hint + "\n"
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
		want := "all users may write to it\n    -rw-rw-rw- " + name + "\n    hint: " + job.QuoteArgs([]string{"chmod", "go-w", name}) + "\n"
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

// A directory in which others may replace the file, or put another one beside a store, is noted.
func TestExposedByDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tab, store := filepath.Join(dir, "tab"), filepath.Join(dir, "jobs.db")
	for _, name := range []string{tab, store} {
		if err := os.WriteFile(name, []byte("# name: a\n@daily true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for mode, want := range map[os.FileMode][2]bool{
		0o755: {false, false}, 0o777: {true, true}, 0o777 | os.ModeSticky: {false, true},
	} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, fail, code := output(t, "", "check", tab, "--store", store)
		for i, name := range []string{tab, store} {
			hint := "all users may write to the directory\n    " + (os.ModeDir | mode).String() + " " + dir +
				"\n    hint: keep " + name + " in a directory that only its user may write to\n"
			if code != exitOK || strings.Contains(fail, hint) != want[i] {
				t.Errorf("%v: %s: exit code %d, stderr %q", mode, name, code, fail)
			}
		}
	}
}
