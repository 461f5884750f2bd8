//go:build unix

package alarm

import (
	"syscall"
	"time"
)

// InBubble reports whether the caller runs in a testing/synctest bubble.
//
// No function reports a bubble, but its clock stands still while one of its goroutines
// runs, and the kernel's clock does not. The time itself shows nothing, since a bubble
// may have slept until the present.
func InBubble() bool {
	begin := time.Now()
	var first syscall.Timeval
	if syscall.Gettimeofday(&first) != nil {
		return true
	}
	for now := first; now == first; {
		if time.Since(begin) != 0 {
			return false
		}
		if syscall.Gettimeofday(&now) != nil {
			return true
		}
	}
	return time.Since(begin) == 0
}
