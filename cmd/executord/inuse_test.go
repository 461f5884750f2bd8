//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// usedTwice is what a daemon without a store logs if another one runs the jobs of its file.
const usedTwice = "another daemon runs the jobs of this file"

// A daemon without a store notices that another one runs the jobs of a directory, at its start and when it reads that
// again, until the other one begins no more runs.
func TestRunNoticesSecondDaemon(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cron.d")
	save := func() {
		t.Helper()
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "@reboot " + self(t) + " trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done\n"
		if err := os.WriteFile(filepath.Join(dir, "jobs"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(args ...string) *process {
		t.Helper()
		p := startCommand(t, executord(t, append([]string{"run", "--dir", dir}, args...)...))
		p.until("up")
		return p
	}
	save()
	first := begin()
	first.signal(syscall.SIGTERM)
	first.until("draining")
	second := begin() // the first has a run in progress
	second.want(0, usedTwice)
	third := begin()
	third.want(1, usedTwice, "file", dir, "level", "WARN")
	stored := begin("--store", newStoreFile(t), "--namespace", "x")
	stored.want(0, usedTwice)

	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	save()
	for _, p := range []*process{third, second} {
		p.signal(syscall.SIGHUP)
		p.until("file read again")
	}
	third.want(1, usedTwice) // the new directory was not in use
	second.want(1, usedTwice)
	for _, p := range []*process{second, third, stored} {
		p.signal(syscall.SIGTERM)
		p.until("draining")
	}
	for _, p := range []*process{first, second, third, stored} {
		p.signal(syscall.SIGTERM)
		p.wait()
	}
}

// A file that was replaced is another one. Daemons that share jobs in a store notice nobody, and are noticed.
func TestInUseNoticesOthers(t *testing.T) {
	file := write(t, "tab", "@daily true\n")
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	var first, second, third, alone inUse
	shared, other := inUse{shared: true}, inUse{shared: true}
	look := func(what string, u *inUse, want bool) {
		t.Helper()
		t.Cleanup(u.end)
		said.Reset()
		if u.look(log, []string{file}); strings.Contains(said.String(), usedTwice) != want {
			t.Errorf("%s: %s", what, said.String())
		}
	}
	look("the first", &first, false)
	look("the second", &second, true)
	look("one with a store", &shared, false)
	look("the second again", &second, false)
	if err := os.WriteFile(file+".new", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	look("one of the new file", &third, false)
	look("the first, which sees the new file", &first, true)
	first.end()
	third.end()
	look("one with a store, which sees the new file", &shared, false)
	look("another one with a store", &other, false)
	look("one without", &alone, true)
}

// A daemon that has ended its use of its files does not lock them again, as when they are read again while it drains.
func TestInUseEndsForGood(t *testing.T) {
	file := write(t, "tab", "@daily true\n")
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	var first, second inUse
	first.look(log, []string{file})
	first.end()
	first.look(log, []string{file})
	second.look(log, []string{file})
	if said.Len() > 0 {
		t.Errorf("after its end it is noticed: %s", said.String())
	}
	defer second.end()
	var third inUse
	defer third.end()
	if third.look(log, []string{file}); strings.Count(said.String(), usedTwice) != 1 {
		t.Errorf("one that uses the file is not noticed: %s", said.String())
	}
}
