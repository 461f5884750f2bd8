package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On a full disk the store says so, and what to do, to commands, to probes and in the log; the daemon goes on by itself
// when there is room again.
func TestRunOnFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("full", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("this test may mount no disk: %v", err)
	}
	defer syscall.Unmount(disk, 0)
	store := filepath.Join(disk, "jobs.db")
	p, at := listening(t, "# name: tick\n@every 1s true\n# name: yearly\n0 0 1 1 * true\n", "--store", store, "--lease", "3s")
	p.until("run ended", "job", "tick")
	rest := filepath.Join(disk, "rest")
	f, err := os.Create(rest)
	for err == nil {
		_, err = f.Write(make([]byte, 4<<10))
	}
	f.Close()
	l := p.until("durable: the store takes no changes; retrying")
	if text, _ := l["error"].(string); !strings.Contains(text, "the store is full: make room on its disk") {
		t.Errorf("the log has %v", l)
	}
	if out, stderr, code := output(t, "", "pause", "--store", store, "yearly"); code != exitMistake || out != "" || !strings.HasSuffix(stderr, "its disk is full: make room there\n") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("pause: exit code %d, %q, %q", code, out, stderr)
	}
	ready := func(want int, text string) {
		t.Helper()
		var status int
		var said string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if status, said = get(t, at+"/readyz"); status == want && strings.Contains(said, text) {
				return
			}
		}
		t.Errorf("/readyz: %d %s, want %d %s", status, said, want, text)
	}
	ready(503, "the store is full: make room on its disk")
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	ready(200, "ready")
	runs := p.count("run ended", "job", "tick")
	p.after(runs, "run ended", "job", "tick")
	if out, stderr, code := output(t, "", "pause", "--store", store, "yearly"); code != exitOK || out != "yearly: paused\n" {
		t.Errorf("pause: exit code %d, %q, %q", code, out, stderr)
	}
	p.end()
}
