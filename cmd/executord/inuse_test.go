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

// A daemon without a store notices that another one runs the jobs of its file, also if the file was replaced, until that one
// begins no more runs. Daemons that share the jobs in a store do not.
func TestRunNoticesSecondDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, store := filepath.Join(dir, "tab"), filepath.Join(dir, "jobs.db")
	save := func() {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte("# name: long\n@reboot trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done\n@daily true\n"), 0o444); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(args ...string) *process {
		t.Helper()
		p := startFile(t, file, args...)
		p.until("up")
		return p
	}
	save()
	first := begin()
	second := begin()
	second.want(1, usedTwice, "file", file, "level", "WARN")
	first.want(0, usedTwice)

	save()
	third := begin()
	third.want(0, usedTwice) // until the others read the file again
	for _, p := range []*process{first, third} {
		p.signal(syscall.SIGHUP)
		p.until("file read again")
	}
	first.want(1, usedTwice)
	third.want(0, usedTwice)

	drain := func(p *process) {
		p.signal(syscall.SIGTERM)
		p.until("draining")
	}
	for _, p := range []*process{first, second, third} {
		drain(p)
	}
	fourth := begin() // they have runs in progress
	fourth.want(0, usedTwice)
	stored := begin("--store", store)
	stored.want(0, usedTwice)
	drain(fourth)
	other := begin("--store", store)
	other.want(0, usedTwice)
	alone := begin()
	alone.want(1, usedTwice)
	for _, p := range []*process{stored, other, alone} {
		drain(p)
	}
	for _, p := range []*process{first, second, third, fourth, stored, other, alone} {
		p.signal(syscall.SIGTERM)
		p.wait()
	}
}

// A directory of job files is one of them.
func TestRunNoticesSecondDaemonOfDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "jobs"), []byte("@daily root true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	first := startCommand(t, executord(t, "run", "--dir", dir))
	first.until("job scheduled")
	second := startCommand(t, executord(t, "run", "--dir", dir))
	second.until(usedTwice, "file", dir)
	second.end()
	first.end()
	first.want(0, usedTwice)
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
