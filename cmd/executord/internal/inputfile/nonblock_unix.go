//go:build unix

package inputfile

import "syscall"

// nonblock has a pipe opened without a wait for its writer.
const nonblock = syscall.O_NONBLOCK
