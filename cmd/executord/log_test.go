//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	return unreadBy(t, cmd, func(*os.File) { cmd.Stderr = os.Stderr })
}

// unreadBy is unread with a function that is called with the pipe before the start.
func unreadBy(t *testing.T, cmd *exec.Cmd, also func(full *os.File)) (read *os.File) {
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
	also(full)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		read.Close()
	})
	return read
}

// A log without a reader stops no job: neither those that write nothing, nor those that
// write more than there is room for.
func TestLogUnreadStopsNoJob(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "written")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// 200,000 lines are some 10 MB of log, which has room for two.
	cmd := executord(t, "run", write(t, "tab", "OUT="+fifo+"\n@every 100ms head -c 200000 /dev/zero | tr '\\0' '\\n'; echo loud >$OUT\n"+
		"@every 100ms echo quiet >$OUT\n"))
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
}

// The limits of the drain hold, whether the log is read or not: two signals end what ignores SIGTERM.
func TestLogUnreadDrainLimits(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "up")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := executord(t, "run", write(t, "tab", "UP="+fifo+"\n@reboot trap '' TERM; echo up >$UP; yes\n"),
		"--drain-timeout", "100ms", "--kill-after", "100ms")
	unread(t, cmd)
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	began := time.Now()
	cmd.Wait()
	// The log is waited for once it has nothing more to say, and no longer than documented.
	if took := time.Since(began); cmd.ProcessState.ExitCode() != exitInterrupted || took > 10*time.Second {
		t.Errorf("exit code %d after %v, want %d", cmd.ProcessState.ExitCode(), took, exitInterrupted)
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

// A reader who has stopped reading the log keeps executord from saying good-bye,
// but not from ending what runs, nor from ending.
func TestLogStuckReader(t *testing.T) {
	t.Parallel()
	cmd := executord(t, "run", write(t, "tab", "@reboot "+stubborn+"\n@reboot yes\n"), "--kill-after", "1h")
	stdout, err := cmd.StdoutPipe() // it is not read on, once the jobs run
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReaderSize(stdout, 1); ; {
		text, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, `"msg":"up"`) {
			break
		}
	}
	for range 3 {
		cmd.Process.Signal(syscall.SIGTERM)
	}
	// Signals that come at once can be taken for one, so there may be more to
	// send, until it has ended.
	done := make(chan struct{})
	go func() { cmd.Process.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		case <-time.After(100 * time.Millisecond):
			cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if left := leftProcesses(t); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// A reader of the log who turns away while a run ends, and comes back, misses
// nothing of what that has written.
func TestLogPausedReader(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "written")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// Too much for executord's pipe, as lines of the log, but not for the job's.
	const lines = 5000
	cmd := executord(t, "run", write(t, "tab", fmt.Sprintf("@reboot seq %d; echo >'%s'\n", lines, fifo)))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // there is no event for executord waiting for the reader alone
	next := 1
	for in := bufio.NewScanner(stdout); in.Scan(); {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l["msg"] == strconv.Itoa(next) {
			next++
		}
		if l.is("run ended") {
			cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	cmd.Wait()
	if next != lines+1 {
		t.Errorf("the log has %d of %d lines", next-1, lines)
	}
}

// The short log has colours on a terminal alone: in a file they would be in the way.
func TestLogShortIsPlainInFile(t *testing.T) {
	t.Parallel()
	cmd := executord(t, "run", write(t, "tab", "@reboot echo up; exit 3\n@reboot sleep 1000\n"), "--log", "short")
	cmd.Env = append(cmd.Env, "LANG=C.UTF-8", "TERM=xterm")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for in := bufio.NewScanner(out); in.Scan(); {
		if fmt.Fprintln(&text, in.Text()); strings.Contains(in.Text(), "exit 3") {
			cmd.Process.Signal(syscall.SIGTERM)
		}
		if strings.Contains(in.Text(), "drain") {
			cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	cmd.Wait()
	if strings.Contains(text.String(), "\x1b") || !strings.Contains(text.String(), "exit 3") {
		t.Errorf("%q", text.String())
	}
}
