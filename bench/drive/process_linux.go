package drive

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage returns how often threads of this process blocked, and so were woken, and the CPU
// time of the process.
func usage() (wakeups int, cpu time.Duration, ok bool) {
	files, _ := filepath.Glob("/proc/self/task/*/status")
	for _, file := range files {
		if n, there := field(file, "voluntary_ctxt_switches:"); there {
			wakeups += int(n)
			ok = true
		}
	}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0, false
	}
	return wakeups, time.Duration(u.Utime.Nano() + u.Stime.Nano()), ok
}

// status returns a number of /proc/self/status.
func status(name string) (float64, bool) { return field("/proc/self/status", name) }

func field(file, name string) (float64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false // a thread that has ended
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == name {
			n, err := strconv.ParseFloat(words[1], 64)
			return n, err == nil
		}
	}
	return 0, false
}
