package process

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitNumbers are the limits by their names, which are those of prlimit.
var limitNumbers = map[string]int{
	"as": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE, "cpu": unix.RLIMIT_CPU, "data": unix.RLIMIT_DATA, "fsize": unix.RLIMIT_FSIZE,
	"memlock": unix.RLIMIT_MEMLOCK, "nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC, "stack": unix.RLIMIT_STACK,
}

// checkSystem returns what of a setup this system does not have.
func (s Setup) checkSystem() error { return nil }

// apply sets up the calling thread, which becomes the command, and its process.
func (s Setup) apply() error {
	if s.IO != 0 {
		const process = 1
		if _, _, code := unix.Syscall(unix.SYS_IOPRIO_SET, process, 0, uintptr(s.IO)); code != 0 {
			return fmt.Errorf("ionice cannot be set: %w", code)
		}
	}
	if s.Nice != nil {
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, *s.Nice); err != nil {
			return fmt.Errorf("nice cannot be set to %d: %w%s", *s.Nice, err, needsRoot())
		}
	}
	for _, l := range s.Limits {
		number, known := limitNumbers[l.Name]
		if !known {
			return fmt.Errorf("unknown limit %q", l.Name)
		}
		// Not that of package unix: package syscall would put back what it has changed of nofile.
		if err := syscall.Setrlimit(number, &syscall.Rlimit{Cur: l.Value, Max: l.Value}); err != nil {
			return fmt.Errorf("rlimit %s cannot be set: %w%s", l.Name, err, needsRoot())
		}
	}
	return nil
}

// needsRoot says what may be missing.
func needsRoot() string {
	if os.Getuid() == 0 {
		return ""
	}
	return "; more than executord itself has takes root"
}
