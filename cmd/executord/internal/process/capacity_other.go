//go:build !linux

package process

import "os"

// capacity returns how much a pipe holds at most.
func capacity(*os.File) int { return pipeSize }
