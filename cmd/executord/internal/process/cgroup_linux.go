package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An enclosure is a cgroup of the commands' own, with all that they start: nothing leaves it by a new group, session or
// parent, and the kernel kills all that is in it in one step, what is being forked and what belongs to other users
// included. It is used where the cgroup of this process was delegated to it, as by Delegate=yes of systemd, or in a
// container with a cgroup namespace of its own that it may write to. Elsewhere a part of the tree is not ours to make.
type enclosure struct {
	dir string
	at  *os.File
}

// enclose makes an enclosure below the cgroup of this process, or returns nil where there is none to be had.
func enclose() *enclosure {
	own, ok := ownCgroup("/proc/self/cgroup", "/proc/self/mountinfo")
	if !ok {
		return nil
	}
	return encloseIn(own.dir, own.root)
}

// encloseIn is enclose in a cgroup. root reports that it is the root of what this process can see.
func encloseIn(dir string, root bool) *enclosure {
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		return nil // the root of the machine, or a kernel before 5.14
	}
	if !root && !delegated(dir) {
		return nil
	}
	e := &enclosure{dir: filepath.Join(dir, fmt.Sprintf("executord-%d", os.Getpid()))}
	// In a container one of the same number may have been here before.
	if err := os.Mkdir(e.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil
	}
	var err error
	if e.at, err = os.Open(e.dir); err != nil {
		os.Remove(e.dir)
		return nil
	}
	// Whether a process can be started in it shows by one for which there is no program, the last of what can fail.
	attr := &os.ProcAttr{Sys: &syscall.SysProcAttr{}}
	e.put(attr.Sys)
	_, err = os.StartProcess(filepath.Join(e.dir, "no program"), []string{"probe"}, attr)
	if !errors.Is(err, fs.ErrNotExist) {
		e.remove()
		return nil
	}
	return e
}

// delegated reports whether the manager of the system has left a cgroup to its processes.
func delegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// place is where a cgroup is in the file system.
type place struct {
	dir  string
	root bool // of the namespace of this process
}

// ownCgroup returns the cgroup of version 2 in which this process is, by the files of /proc that name it and the
// mounts.
func ownCgroup(cgroups, mounts string) (place, bool) {
	text, err := os.ReadFile(cgroups)
	if err != nil {
		return place{}, false
	}
	path := ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			path = rest
		}
	}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/..") { // outside of the namespace
		return place{}, false
	}
	text, err = os.ReadFile(mounts)
	if err != nil {
		return place{}, false
	}
	for line := range strings.Lines(string(text)) {
		// ID PARENT DEVICE ROOT POINT OPTIONS ... - TYPE ...
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if kind, _, _ := strings.Cut(after, " "); kind != "cgroup2" || len(fields) < 5 || fields[3] != "/" {
			continue
		}
		return place{filepath.Join(fields[4], path), path == "/"}, true
	}
	return place{}, false
}

// put has a process be started in the enclosure.
func (e *enclosure) put(attr *syscall.SysProcAttr) {
	if e != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(e.at.Fd())
	}
}

// kill kills all that is in the enclosure.
func (e *enclosure) kill() {
	if e != nil {
		os.WriteFile(filepath.Join(e.dir, "cgroup.kill"), []byte("1"), 0)
	}
}

// remove removes the enclosure, if nothing is in it any more. What was killed a moment ago may still be.
func (e *enclosure) remove() {
	if e == nil {
		return
	}
	e.at.Close()
	for end := time.Now().Add(lastLook); os.Remove(e.dir) != nil && time.Now().Before(end); {
		time.Sleep(firstLook)
	}
}
