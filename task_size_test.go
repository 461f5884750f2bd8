package executor

import (
	"strconv"
	"testing"
	"unsafe"
)

// The future of a task without a result, of which a million may wait, has 48
// bytes, which the allocator has a size for.
func TestSizeOfFuture(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("for pointers of 64 bits")
	}
	if n := unsafe.Sizeof(ScheduledFuture[struct{}]{}); n != 48 {
		t.Errorf("%d bytes", n)
	}
}
