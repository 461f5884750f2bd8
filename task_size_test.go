package executor

import (
	"strconv"
	"testing"
	"unsafe"
)

// The future of a task without a result, of which a million may wait, is as large
// as a size that the allocator has.
func TestSizeOfFuture(t *testing.T) {
	want := map[int]uintptr{64: 48, 32: 32}[strconv.IntSize]
	if n := unsafe.Sizeof(ScheduledFuture[struct{}]{}); n != want {
		t.Errorf("%d bytes, want %d", n, want)
	}
}
