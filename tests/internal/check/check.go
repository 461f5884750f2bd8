// Package check has assertions for tests in real time.
package check

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Equal reports an error if got is not want.
// The name what of the value begins the message.
func Equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// HeapInUse returns the number of bytes of live objects in the heap, after a garbage collection.
func HeapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Goroutines returns the number of goroutines whose stack contains text.
// It waits up to a second of real time until there are no more than want,
// since a goroutine that has nothing left to do still takes a moment to end.
func Goroutines(text string, want int) (n int) {
	buf := make([]byte, 1<<22)
	for range 1000 {
		n = 0
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, text) {
				n++
			}
		}
		if n <= want {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return n
}
