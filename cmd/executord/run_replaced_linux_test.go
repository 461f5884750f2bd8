package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A daemon that starts on the file of one that was killed does not wait for the lease of that: what it held is lost and
// begun again at once, and what was due next runs.
func TestRunReplacesKilledSelf(t *testing.T) {
	dir := t.TempDir()
	store, flag := filepath.Join(dir, "jobs.db"), filepath.Join(dir, "second")
	file := write(t, "tab", "# name: long\n@every 500ms test -e '"+flag+"' || { echo up; exec sleep 1000; }\n# name: tick\n@every 200ms true\n")
	lease := []string{"--store", store, "--lease", (10 * time.Minute).String()} // longer than the test may take
	p := startFile(t, file, lease...)
	run := p.until("run started", "job", "long")
	p.until("up")
	p.until("run ended", "job", "tick")
	p.until("run started", "job", "tick") // what has begun before the end of the run before is stored by now
	if err := os.WriteFile(flag, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGKILL)
	<-p.exited
	p.killLeft() // nothing else does

	q := startFile(t, file, lease...)
	q.until("took over from a daemon that was killed")
	again := q.until("run started", "job", "long", "due", run["due"])
	if again["attempt"] != 2.0 {
		t.Errorf("begun again: %v", again)
	}
	q.until("run ended", "job", "tick")
	q.end()
}
