// Package filelock has locks of the kernel on files, by which processes know of each other. A lock is of an open file, and
// ends when that is closed, or its process ends, however it does. It keeps nobody from reading or writing the file, and
// needs no right but to read it, also where the file system is read-only.
package filelock

import "errors"

// ErrTaken is the error if another process has a lock.
var ErrTaken = errors.New("another process has a lock on the file")
