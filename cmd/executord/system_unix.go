//go:build unix

package main

import (
	"os"
	"syscall"
)

// reloading are the signals on which the files are read again: that of daemons, and that of supercronic.
var reloading = []os.Signal{syscall.SIGHUP, syscall.SIGUSR2}

// closeToOthers gives a socket that is not bound yet its mode, where the system takes it from there, as Linux does.
func closeToOthers(fd uintptr) { syscall.Fchmod(int(fd), socketMode) }

// refused is the error of a connection to which nobody listens.
const refused = syscall.ECONNREFUSED
