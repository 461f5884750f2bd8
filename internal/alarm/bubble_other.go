//go:build !unix

package alarm

import "time"

// InBubble reports whether the caller runs in a testing/synctest bubble. No function does, but
// the clock of a bubble stands still while one of its goroutines runs.
func InBubble() bool {
	begin := time.Now()
	for range 1 << 20 { // milliseconds, where a clock has a tick
		if time.Since(begin) != 0 {
			return false
		}
	}
	return true
}
