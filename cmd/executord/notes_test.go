//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// What a job needs and is not there is noted by check, which is no mistake, and by run.
func TestCheckNotesWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ job, want string }{
		{"shell = '/bin/nosuch'\ncommand = 'date'", "program /bin/nosuch does not exist"},
		{"dir = '/nosuch'\ncommand = 'date'", "the directory /nosuch does not exist"},
		{"dir = '" + plain + "'\ncommand = 'date'", plain + " is not a directory"},
		{"command = ['nosuch', 'x']", `program "nosuch" is not in PATH=`},
		{"command = ['/nosuch/x']", "program /nosuch/x does not exist"},
		{"command = ['" + plain + "']", plain + " may not be executed: it has no execute permission"},
		{"command = ['" + dir + "']", dir + " is a directory, not a program"},
		{"command = '/nosuch/x && date'", "program /nosuch/x does not exist"},
		{"command = 'nosuch | date'", `program "nosuch" is not in PATH=`},
		{"command = 'date'\nenv = { PATH = '/nosuch' }", `program "date" is not in PATH=/nosuch`},
		{"command = 'if date; then date; fi'", ""},
		{"command = 'A=b nosuch'", ""},
		{"command = '$NOSUCH x'", ""},
		{"command = 'cd bin && ./x'", ""},
		{"command = './x'", ""},
		{"command = '(nosuch)'", ""},
	} {
		file := fmt.Sprintf("[[job]]\nname = 'a'\nschedule = '@daily'\n%s\n", test.job)
		_, stderr, code := output(t, "", "check", write(t, "jobs.toml", file))
		want := "jobs.toml:1: note: a cannot run here and now: " + test.want
		if code != exitOK || test.want == "" && stderr != "" || test.want != "" && !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q", test.job, code, stderr)
		}
	}
	p := start(t, "@daily /nosuch/x\n")
	p.until("note on the file", "line", 1, "what", "x cannot run here and now: program /nosuch/x does not exist")
	p.end()
}

// A user who is not in passwd has no HOME, which is noted unless the file sets it.
func TestCheckNotesMissingHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	t.Parallel()
	for file, want := range map[string]string{
		"@daily true\n@hourly date\n":       "stdin:1: note: true has no HOME: executord has none, and user 54321 is not in passwd\n",
		"HOME=/tmp\n@daily true\n":          "",
		"@daily true\nHOME=\n@daily date\n": "stdin:1: note: true has no HOME",
		"HOME=\n@daily true\n":              "",
	} {
		for _, home := range []string{"", "/srv"} {
			cmd := executord(t, "check", "-")
			cmd.Path = "/proc/self/exe" // the directory of the tests is root's
			cmd.Env = append(cmd.Env, "HOME="+home)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
			var stderr strings.Builder
			cmd.Dir, cmd.Stdin, cmd.Stderr = "/", strings.NewReader(file), &stderr
			err := cmd.Run()
			if got := stderr.String(); err != nil || (want == "" || home != "") && got != "" ||
				home == "" && (!strings.Contains(got, want) || strings.Count(got, "HOME:") > 1) {
				t.Errorf("%q with HOME=%s: %v, %q", file, home, err, got)
			}
		}
	}
}

// A file without jobs is noted, and run: its jobs may come. A file that was read and has none any more changes nothing,
// as one that is being written.
func TestRunFileWithoutJobs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tab", "jobs.toml"} {
		_, stderr, code := output(t, "", "check", write(t, name, "# none\n"))
		if code != exitOK || !strings.Contains(stderr, name+":1: note: the file has no jobs") {
			t.Errorf("%s: exit code %d, %q", name, code, stderr)
		}
	}
	file := write(t, "tab", "# none\n")
	p := startFile(t, file)
	p.until("executord started", "jobs", 0)
	rewrite := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGHUP)
	}
	rewrite("@every 100ms echo up\n")
	p.until("up")
	rewrite("# none\n")
	p.until("file not read again", "reason", "the file has no jobs, and had some before")
	p.until("up")
	p.end()
}

// Of many jobs that cannot run the first hundred are noted, and that there are more.
func TestCheckNotesFewMissing(t *testing.T) {
	t.Parallel()
	_, stderr, code := output(t, "", "check", write(t, "tab", strings.Repeat("0 0 * * * /nosuch/program\n", 1000)))
	if n := strings.Count(stderr, "program /nosuch/program does not exist"); n != 100 || code != 0 ||
		strings.Count(stderr, "tab:101: note: this job cannot run either") != 1 {
		t.Errorf("%d are noted, exit code %d: %s", n, code, stderr)
	}
}

// A first word that looks like a user is noted as such, and not once more as a program that is not there.
func TestCheckNotesUserOnce(t *testing.T) {
	t.Parallel()
	_, stderr, code := output(t, "@daily root /nosuch/x\n@daily /nosuch/y\n", "check", "-")
	if code != exitOK || !strings.Contains(stderr, `"root" looks like the user field`) || strings.Contains(stderr, "root cannot run") ||
		!strings.Contains(stderr, "y cannot run here and now") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// A job that is never due again, by its schedule or by its season, is noted, with the reason. One that is due at the start,
// or after other jobs, is not.
func TestCheckNotesJobsThatAreOver(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"schedule = '0 0 12 1 1 ? 2020'\ncron = 'quartz'":           "its schedule has no time after now",
		"schedule = '0 0 1 1 *'\nuntil = '2020-12-15'":              "does not count, nor does a later one: it is after 2020-12-15",
		"schedule = '0 0 * * mon'\nexcept = ['mon', '2027-03-28']":  "does not count, nor does a later one: except mon",
		"schedule = '@every 5m'\nuntil = '2020-12-15 14:00'":        "it is after 2020-12-15 14:00",
		"schedule = '0 0 * * *'\nexcept = ['mon']":                  "",
		"schedule = '0 0 * * *'\nfrom = '2099-01-01'":               "",
		"schedule = '@reboot'":                                      "",
		"schedule = '@after'\nafter = 'b'\nafter_on = 'failure'":    "",
		"schedule = '0 0 12 1 1 ? 2020,2098-2099'\ncron = 'quartz'": "",
	} {
		_, stderr, code := output(t, "[[job]]\nname = 'a'\ncommand = 'true'\n"+keys+"\n[[job]]\nname = 'b'\nschedule = '@daily'\ncommand = 'true'\n",
			"check", "-", "--format", "toml", "-n", "1")
		if code != exitOK || want == "" && stderr != "" || want != "" && (strings.Count(stderr, "note:") != 1 ||
			!strings.HasPrefix(stderr, "stdin:1: note: a is never due again: ") || !strings.Contains(stderr, want+"\n")) {
			t.Errorf("%s: exit code %d, %q", keys, code, stderr)
		}
	}
}

// A command that is left in the background is noted in each kind of file, and by run.
func TestCheckNotesBackground(t *testing.T) {
	t.Parallel()
	for format, file := range map[string]string{
		"crontab": "# name: a\n@daily sleep 30 &\n",
		"system":  "# name: a\n@daily root sleep 30 & # as atop has it\n",
		"toml":    "[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'sleep 30 &'\n",
	} {
		_, stderr, code := output(t, file, "check", "-", "--format", format)
		if code != exitOK || !strings.Contains(stderr, ": note: a starts a command in the background with &: ") {
			t.Errorf("%s: exit code %d, %q", format, code, stderr)
		}
	}
	p := start(t, "@daily sleep 30 &\n")
	p.until("note on the file", "line", 1, "what",
		"sleep starts a command in the background with &: a second after the others have ended, it is ended")
	p.end()
}

// A program for messages that writes without end takes no memory for that.
func TestNotifyTestKeepsBeginOfOutput(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := runHere(t.Context(), []string{"/bin/sh", "-c", "head -c 67108864 /dev/zero | tr '\\0' x"}, nil, "")
	runtime.ReadMemStats(&after)
	if err != nil || got != strings.Repeat("x", mostBeginning) {
		t.Errorf("%.20q, %d bytes, %v", got, len(got), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("it took %d MiB", took>>20)
	}
}
