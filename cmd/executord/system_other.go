//go:build !unix

package main

import (
	"os"
	"syscall"
)

// reloading are the signals on which the files are read again.
var reloading = []os.Signal{syscall.SIGHUP}

// closeToOthers does nothing: a socket has the mode of its directory.
func closeToOthers(uintptr) {}

// refused is the error of a connection to which nobody listens, as Windows has it.
const refused = syscall.Errno(10061)
