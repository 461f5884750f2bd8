//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
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

// smallDisk takes so many bytes, until it has room again.
type smallDisk struct {
	strings.Builder
	room int
}

func (d *smallDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	d.Builder.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// A line that a full disk has cut does not spoil the next that is written.
func TestLogLineAfterFullDisk(t *testing.T) {
	disk := &smallDisk{room: 9}
	log := &logWriter{to: disk, lost: func(err error) { t.Errorf("the log counts as lost: %v", err) }}
	for _, line := range []string{"first\n", "second\n", "third\n"} {
		log.Write([]byte(line))
	}
	disk.room = 1 // for the end of the second line, and no more
	log.Write([]byte("fourth\n"))
	disk.room = 100
	log.Write([]byte("fifth\n"))
	log.Write([]byte("sixth\n"))
	if want := "first\nsec\nfifth\nsixth\n"; disk.String() != want {
		t.Errorf("on the disk is %q, want %q", disk, want)
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

// Durations have four digits in text, or are exact to the millisecond.
func TestLogShortensDurationsInText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1_234_567: "1.235ms", 9_999_999: "10ms", 12*time.Hour + 34*time.Minute + 56*time.Second: "12h34m56s",
		-1_234_567: "-1.235ms", math.MaxInt64: "2562047h47m16.854775807s",
	} {
		if got := shortInText(nil, slog.Duration("d", d)).Value.String(); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
