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

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// notesOn returns what there is to note here and now on a file.
func notesOn(t *testing.T, name, text string) job.Notes {
	t.Helper()
	file, _, err := sourcesOf(write(t, name, text)).parse(false, false)
	if err != nil {
		t.Fatal(err)
	}
	noteHereAndNow(&file, job.Machine{})
	return file.Notes
}

// What a job needs and is not there is noted by check, which is no mistake.
func TestCheckNotesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	plain, pipe := filepath.Join(dir, "plain"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
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
		{"command = 'date'\nuser = 'no-such-user'", `user "no-such-user" does not exist on this machine`},
		{"command = 'date'\nenv_file = '" + pipe + "'", pipe + " cannot be read: it is a pipe to which nobody writes"},
		{"command = 'date'\nsecret.A = '" + pipe + "'", pipe + " cannot be read: it is a pipe to which nobody writes"},
		{"command = 'if date; then date; fi'", ""},
		{"command = 'A=b nosuch'", ""},
		{"command = '$NOSUCH x'", ""},
		{"command = 'cd bin && ./x'", ""},
		{"command = './x'", ""},
		{"command = '(nosuch)'", ""},
	} {
		got := fmt.Sprint(notesOn(t, "jobs.toml", "[[job]]\nname = 'a'\nschedule = '@daily'\n"+test.job+"\n"))
		if want := "jobs.toml:1: a cannot run here and now: "; test.want == "" && got != "[]" || test.want != "" && (!strings.Contains(got, want) || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %s", test.job, got)
		}
	}
}

// A user who is not in passwd has no HOME, which is noted unless the file sets it.
func TestCheckNotesMissingHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	t.Parallel()
	texts := []string{"@daily true\n@hourly date\n", "@daily true\nHOME=\n@daily date\n", "HOME=/tmp\n@daily true\n", "HOME=\n@daily true\n"}
	names := files(t, "a", texts[0], "b", texts[1], "c", texts[2], "d", texts[3])
	if err := os.Chmod(filepath.Dir(filepath.Dir(names[0])), 0o755); err != nil { // it is root's
		t.Fatal(err)
	}
	var lines [][]string
	for _, name := range names {
		lines = append(lines, []string{"check", name})
	}
	for _, home := range []string{"", "/srv"} {
		cmd := executord(t)
		cmd.Path = "/proc/self/exe" // the directory of the tests is root's
		cmd.Env = append(cmd.Env, "HOME="+home)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		cmd.Dir = "/"
		_, answers := inTurn(t, cmd, lines)
		for i, a := range answers {
			noted := strings.Contains(a.said, ":1: note: true has no HOME: executord has none, and user 54321 is not in passwd\n")
			if want := home == "" && i < 2; a.code != exitOK || noted != want || strings.Count(a.said, "HOME:") > 1 || !want && a.said != "" {
				t.Errorf("%q with HOME=%s: %+v", texts[i], home, a)
			}
		}
	}
}

// A file without jobs is run: its jobs may come. A file that was read and has none any more changes nothing,
// as one that is being written. What is to be noted on a file is in the log.
func TestRunFileWithoutJobs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tab", "jobs.toml"} {
		if notes := notesOn(t, name, "# none\n"); len(notes) != 1 || !strings.HasPrefix(notes[0].What, "the file has no jobs") || notes[0].Line != 1 {
			t.Errorf("%s: %v", name, notes)
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
	rewrite("@every 100ms echo up\n@daily /nosuch/x\n")
	p.until("note on the file", "line", 2, "what", "x cannot run here and now: program /nosuch/x does not exist")
	p.after(0, "up")
	rewrite("# none\n")
	p.until("file not read again", "reason", "the file has no jobs, and had some before")
	p.until("up")
	p.end()
}

// Of many jobs that cannot run the first hundred are noted, and that there are more.
func TestCheckNotesFewMissing(t *testing.T) {
	notes := notesOn(t, "tab", strings.Repeat("0 0 * * * /nosuch/program\n", 1000))
	var missing []job.Mistake
	for _, n := range notes {
		if strings.Contains(n.What, "program /nosuch/program does not exist") || n.What == "this job cannot run either, and those after it are not looked at" {
			missing = append(missing, n)
		}
	}
	if len(missing) != 101 || missing[100].Line != 101 || !strings.HasPrefix(missing[100].What, "this job cannot run either") {
		t.Errorf("%d are noted: %v", len(missing), notes)
	}
}

// A first word that looks like a user is noted as such, and not once more as a program that is not there.
func TestCheckNotesUserOnce(t *testing.T) {
	got := fmt.Sprint(notesOn(t, "tab", "@daily root /nosuch/x\n@daily /nosuch/y\n"))
	if !strings.Contains(got, `"root" looks like the user field`) || strings.Contains(got, "root cannot run") || !strings.Contains(got, "y cannot run here and now") {
		t.Error(got)
	}
}

// A job that is never due again, by its schedule or by its season, is noted, with the reason, and so are one that leaves a
// command in the background, and exceptions that cannot be read. One that is due at the start, or after other jobs, is not.
func TestCheckNotesJobsThatAreOver(t *testing.T) {
	const over = "a is never due again: "
	for keys, want := range map[string][2]string{
		"schedule = '0 0 12 1 1 ? 2020'\ncron = 'quartz'":           {over, "its schedule has no time after now"},
		"schedule = '0 0 1 1 *'\nuntil = '2020-12-15'":              {over, "does not count, nor does a later one: it is after 2020-12-15"},
		"schedule = '0 0 * * mon'\nexcept = ['mon', '2027-03-28']":  {over, "does not count, nor does a later one: except mon"},
		"schedule = '@every 5m'\nuntil = '2020-12-15 14:00'":        {over, "it is after 2020-12-15 14:00"},
		"schedule = '@daily'\ncommand = 'sleep 30 &'":               {"a starts a command in the background with &: ", "it is ended"},
		"schedule = '@daily'\nexcept = ['/no/such/holidays']":       {"not all exceptions of a can be read: ", "open /no/such/holidays: "},
		"schedule = '0 0 * * *'\nexcept = ['mon']":                  {},
		"schedule = '0 0 * * *'\nfrom = '2099-01-01'":               {},
		"schedule = '@reboot'":                                      {},
		"schedule = '@after'\nafter = 'b'\nafter_on = 'failure'":    {},
		"schedule = '0 0 12 1 1 ? 2020,2098-2099'\ncron = 'quartz'": {},
	} {
		if !strings.Contains(keys, "command") {
			keys += "\ncommand = 'true'"
		}
		notes := notesOn(t, "jobs.toml", "[[job]]\nname = 'a'\n"+keys+"\n[[job]]\nname = 'b'\nschedule = '@daily'\ncommand = 'true'\n")
		if want[0] == "" && len(notes) > 0 || want[0] != "" && (len(notes) != 1 || notes[0].Line != 1 ||
			!strings.HasPrefix(notes[0].What, want[0]) || !strings.Contains(notes[0].What, want[1])) {
			t.Errorf("%s: %v", keys, notes)
		}
	}
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
