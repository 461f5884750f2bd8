package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// capacity returns how much a pipe holds at most.
func capacity(f *os.File) int {
	size := 0
	if c, err := f.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) { size, _ = unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) })
	}
	return max(size, pipeSize)
}
