//go:build !unix

package main

import (
	"os"
	"syscall"
)

// reloading are the signals on which the files are read again.
var reloading = []os.Signal{syscall.SIGHUP}
