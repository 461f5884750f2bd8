//go:build unix && !linux

package process

// ioClass is never called: there is no ionice.
func ioClass(int) int { return -1 }
