package process

import "golang.org/x/sys/unix"

// ioClass returns what ionice has of a process.
func ioClass(pid int) int {
	const process = 1
	class, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, process, uintptr(pid), 0)
	return int(class)
}
