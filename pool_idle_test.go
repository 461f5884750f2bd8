package executor_test

import (
	"os"
	"testing"
	"time"
)

// openFiles counts the descriptors of the process, where the system shows them.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not show the descriptors of a process")
	}
	return len(files)
}

// openFilesUntil counts them until there are as many as wanted, in vain for a
// few seconds at most.
func openFilesUntil(t *testing.T, good func(n int) bool) (n int) {
	t.Helper()
	for range 2000 {
		if n = openFiles(t); good(n) {
			break
		}
		<-time.After(time.Millisecond)
	}
	return n
}
