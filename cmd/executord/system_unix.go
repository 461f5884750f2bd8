//go:build unix

package main

import (
	"os"
	"syscall"
)

// reloading are the signals on which the files are read again: that of daemons, and that of supercronic.
var reloading = []os.Signal{syscall.SIGHUP, syscall.SIGUSR2}
