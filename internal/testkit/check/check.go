// Package check has assertions for tests of every package here.
// It imports no other package of the module, so that the tests of any of them may use it.
package check

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"weak"
)

// Equal reports an error if got is not want.
// The name what of the value begins the message.
func Equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Is reports an error if err does not match target, as [errors.Is] defines it.
func Is(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: got error %v, want one that is %v", what, err, target)
	}
}

// Collected reports an error if the value of w is still reachable after a garbage collection.
// The value may need several: one that a finalizer or a pool holds survives the first.
func Collected[T any](t testing.TB, what string, w weak.Pointer[T]) {
	t.Helper()
	for range 3 {
		if w.Value() == nil {
			return
		}
		runtime.GC()
	}
	if w.Value() != nil {
		t.Errorf("%s is still reachable", what)
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

// WithoutGC switches the garbage collector off until the end of the test.
// A test that calls [runtime.NumGoroutine] needs that: while the collector marks,
// the number includes goroutines of earlier tests that have ended.
func WithoutGC(t testing.TB) {
	t.Helper()
	runtime.GC()
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

// Main runs the tests of m and exits. It fails if a goroutine with code of this module is left after them.
// A bubble of testing/synctest finds those of its own test; Main finds those of tests in real time.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := leftGoroutines(); left != "" {
			fmt.Fprintf(os.Stderr, "goroutines are left after the tests:\n\n%s\n", left)
			code = 1
		}
	}
	os.Exit(code)
}

// leftGoroutines returns the stacks of all goroutines but the caller's with code of this module.
// It waits up to two seconds for goroutines that are about to end.
func leftGoroutines() string {
	buf := make([]byte, 1<<22)
	var left []string
	for range 2000 {
		left = nil
		all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		for _, g := range all[1:] { // the first is the caller's
			if strings.Contains(g, "github.com/executor-go/executor") {
				left = append(left, g)
			}
		}
		if left == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return strings.Join(left, "\n\n")
}
