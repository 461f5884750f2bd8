//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A job may have a name in a script whose vowels are marks, from its file to its
// log, its environment and the store.
func TestLoadNameWithMarks(t *testing.T) {
	t.Parallel()
	const name = "साप्ताहिक/สำรอง"
	store := t.TempDir() + "/jobs.db"
	p := start(t, "# name: "+name+"\n@every 1h echo \"[$EXECUTORD_JOB]\"\n", "--store", store, "--namespace", "दैनिक")
	p.until("job scheduled", "job", name)
	if _, fail, code := output(t, "", "run-now", name, "--store", store, "--namespace", "दैनिक"); code != exitOK {
		t.Fatalf("exit code %d, stderr %q", code, fail)
	}
	p.until("["+name+"]", "job", name)
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// A name is the same whether its accents are characters of their own or not: two jobs
// cannot have it, and commands find it.
func TestLoadNameInEachForm(t *testing.T) {
	const one, two = "\u00e9t\u00e9", "e\u0301te\u0301"
	both := "# name: " + one + "\n@hourly a\n# name: " + two + "\n@hourly b\n"
	if _, fail, code := output(t, both, "check", "-"); code != exitMistake || !strings.Contains(fail, "already used in line 1") {
		t.Errorf("crontab: exit code %d, stderr %q", code, fail)
	}
	both = "[[job]]\nname='" + one + "'\nschedule='@hourly'\ncommand='a'\n[[job]]\nname='" + two + "'\nschedule='@hourly'\ncommand='b'\n"
	if _, fail, code := output(t, both, "check", "-", "--format", "toml"); code != exitMistake || !strings.Contains(fail, "already used in line 2") {
		t.Errorf("TOML: exit code %d, stderr %q", code, fail)
	}

	store := t.TempDir() + "/jobs.db"
	p := startFile(t, write(t, two+".crontab", "@hourly "+two+"\n"), "--store", store)
	p.until("executord started", "namespace", one)
	p.until("job scheduled", "job", one)
	for _, args := range [][]string{{one}, {two}, {two, "--namespace", two}, {one + "/" + two}} {
		out, fail, code := output(t, "", append([]string{"jobs", "--store", store}, args...)...)
		if code != exitOK || !strings.Contains(out, one) {
			t.Errorf("%q: exit code %d, stderr %q, stdout %q", args, code, fail, out)
		}
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// A pipe that has taken the place of the file is not read again, and does not keep executord from its end.
func TestReadDeclinesPipe(t *testing.T) {
	t.Parallel()
	file := write(t, "tab", "@every 100ms true\n")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := read(file, true); err == nil || !strings.Contains(err.Error(), " is no longer a regular file") {
		t.Errorf("error %v", err)
	}
}

// A pipe that nobody writes to is an error, and not a wait without end.
func TestReadGivesUpPipe(t *testing.T) {
	file := t.TempDir() + "/tab"
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func(d time.Duration) { pipeWait = d }(pipeWait)
	pipeWait = 0
	if _, _, _, err := read(file, false); err == nil || !strings.HasPrefix(err.Error(), file+" is a pipe to which nobody writes; ") {
		t.Errorf("error %v", err)
	}
}

// A pipe whose writer comes later than its reader, and writes in pieces, is read to its end.
func TestReadAwaitsWriter(t *testing.T) {
	file := t.TempDir() + "/tab"
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0) // which waits for the reader
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for range 3 {
			f.WriteString("@hourly true\n")
		}
	}()
	if _, data, _, err := read(file, false); err != nil || string(data) != strings.Repeat("@hourly true\n", 3) {
		t.Errorf("%q, error %v", data, err)
	}
}

// A file of variables or a secret that is a pipe without a writer is said to be one, and keeps nothing from its work.
func TestCheckDoesNotWaitForVariables(t *testing.T) {
	pipe := t.TempDir() + "/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"env_file = '" + pipe + "'", "secret = { A = '" + pipe + "' }"} {
		tab := "[[job]]\nname = 'a'\nschedule = '@hourly'\ncommand = 'true'\n" + key + "\n"
		_, fail, code := output(t, tab, "check", "-", "--format", "toml")
		if code != exitOK || !strings.Contains(fail, pipe+" cannot be read: it is a pipe to which nobody writes") {
			t.Errorf("%s: exit code %d, %s", key, code, fail)
		}
	}
}
