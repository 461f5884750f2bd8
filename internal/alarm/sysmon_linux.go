package alarm

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
)

// sysmon is the monitor of this process.
var sysmon monitor

// monitor is the thread of the runtime's monitor, sysmon, which takes the processor
// from goroutines that do not yield. No program can ask for it, but the kernel tells
// where each thread is, and the monitor is the one that sleeps in runtime.usleep:
// while any goroutine runs it does so for up to ten milliseconds at a time, where
// others do for some microseconds. If one of those is taken for it, nothing comes of
// that: it is a thread of the runtime's, too.
type monitor struct {
	thread    atomic.Int32 // 0 as long as it is not known
	candidate atomic.Int32 // whom a search found last
	searches  atomic.Int32 // how often it was looked for
}

const (
	maxSearches = 20 // after so many in vain this system does not tell
	maxThreads  = 64 // the monitor is among the first threads of a process
)

// search looks for the monitor with find, unless it is known. Whom it finds twice
// is taken for it, for nobody else sleeps there for long.
func (m *monitor) search(find func() int32) {
	if m.thread.Load() != 0 || m.searches.Load() >= maxSearches {
		return
	}
	m.searches.Add(1)
	if id := find(); id != 0 && m.candidate.Swap(id) == id {
		m.thread.Store(id)
	}
}

// findSysmon looks for the monitor's thread. It finds none while the process is
// idle, for then the monitor waits like any other.
func findSysmon() int32 {
	const tasks = "/proc/self/task"
	dir, err := os.Open(tasks)
	if err != nil {
		return 0
	}
	defer dir.Close()
	ids, _ := dir.Readdirnames(maxThreads) // oldest first
	for _, id := range ids {
		state, err := os.ReadFile(tasks + "/" + id + "/syscall")
		if err != nil || !sleeps(string(state)) {
			continue
		}
		if n, err := strconv.ParseInt(id, 10, 32); err == nil {
			return int32(n)
		}
	}
	return 0
}

// sleeps reports whether a thread is in runtime.usleep, by what the kernel says of
// it: "running", or the system call, its arguments, and where stack and program are.
func sleeps(state string) bool {
	_, pc, found := strings.Cut(strings.TrimSpace(state[strings.LastIndexByte(state, ' ')+1:]), "0x")
	if !found {
		return false
	}
	n, err := strconv.ParseUint(pc, 16, 64)
	if err != nil {
		return false
	}
	fn := runtime.FuncForPC(uintptr(n))
	return fn != nil && fn.Name() == "runtime.usleep"
}
