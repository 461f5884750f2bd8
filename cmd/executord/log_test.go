//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// When the log has no reader any more, executord ends in order.
func TestLogLost(t *testing.T) {
	cmd := executord(t, "run", write(t, "tab", "@every 100ms trap 'exit 0' TERM; echo tick\n"), "--log", "text")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.Contains(first, `msg="executord started"`) {
		t.Errorf("first line %q, error %v", first, err)
	}
	stdout.Close()
	defer time.AfterFunc(patience, func() { cmd.Process.Kill() }).Stop()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitMistake || !strings.Contains(stderr.String(), "the log has no reader") {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
	if left := leftProcesses(t); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// unread is a log without a reader: a pipe that is full.
func unread(t *testing.T, cmd *exec.Cmd) (read *os.File) {
	t.Helper()
	read, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	full.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	for {
		if _, err := full.Write(make([]byte, 4<<10)); err != nil {
			break // it takes no more
		}
	}
	cmd.Stdout = full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		cmd.Process.Kill()
		cmd.Wait()
		read.Close()
	})
	return read
}

// A log that nobody reads stops no job, neither those that write nothing nor those that write more than there is room for.
// Nor does it keep executord from its end: the limits of the drain hold, and what is lost is said on standard error.
func TestLogUnread(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "written")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// 200,000 lines are some 10 MB of log, which has room for two.
	cmd := executord(t, "run", write(t, "tab", "OUT="+fifo+"\n@every 100ms head -c 200000 /dev/zero | tr '\\0' '\\n'; echo loud >$OUT\n"+
		"@every 100ms echo quiet >$OUT\n@reboot trap '' TERM; while :; do echo up; sleep 0.01; done\n"),
		"--drain-timeout", "100ms", "--kill-after", "100ms")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	unread(t, cmd)
	in, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	in.SetReadDeadline(time.Now().Add(patience))
	runs := map[string]int{}
	for lines := bufio.NewScanner(in); runs["loud"] < 3 || runs["quiet"] < 20; runs[lines.Text()]++ {
		if !lines.Scan() {
			t.Fatalf("%v; so far %v", lines.Err(), runs)
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !regexp.MustCompile(`the log was not read, .*: \d+ lines are lost\n$`).MatchString(stderr.String()) {
		t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, &stderr)
	}
	if left := leftProcesses(t); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// When the log is read again, a line says how many are missing.
func TestLogSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "written")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := executord(t, "run", write(t, "tab", "# name: loud\n@reboot seq 100000; echo >"+fifo+"\n"), "--log", "json")
	cmd.Stderr = os.Stderr
	read := unread(t, cmd)
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(read)
	in.Buffer(nil, 1<<20) // the first line is behind what fills the pipe
	written, missing := 0, 0
	for in.Scan() {
		var l line
		if json.Unmarshal(bytes.TrimLeft(in.Bytes(), "\x00"), &l) != nil {
			t.Fatalf("%q", in.Text())
		}
		if l.is("lines of the log dropped") {
			missing += int(l["count"].(float64))
			cmd.Process.Signal(syscall.SIGTERM)
		} else if l["stream"] != nil {
			written++
		}
	}
	if in.Err() != nil {
		t.Fatal(in.Err())
	}
	if cmd.Wait(); missing == 0 || written+missing != 100000 {
		t.Errorf("%d lines and %d missing ones, want 100000", written, missing)
	}
}
