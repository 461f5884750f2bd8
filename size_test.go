package executor

import (
	"math"
	"strconv"
	"testing"
	"unsafe"
)

// The future of a task without a result, of which a million may wait, is as large
// as a size that the allocator has, of which a line of the cache holds a whole number.
func TestSizeOfFuture(t *testing.T) {
	want := map[int]uintptr{64: 32, 32: 24}[strconv.IntSize]
	if n := unsafe.Sizeof(ScheduledFuture[struct{}]{}); n != want {
		t.Errorf("%d bytes, want %d", n, want)
	}
}

// What everybody reads of a pool shares no line of the cache with what its submitters
// write.
func TestLinesOfPool(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("laid out for 64 bits")
	}
	const line = unsafe.Sizeof(cacheLine{})
	if at := unsafe.Offsetof(Pool{}.mu); at%line != 0 {
		t.Errorf("mu is %d bytes after the beginning of a line", at%line)
	}
}

// However high its limit, a queue takes no more tasks than there are places for.
func TestLimitOfPlaces(t *testing.T) {
	b, err := Bounded(math.MaxInt).backlog()
	if err != nil {
		t.Fatal(err)
	}
	if limit := b.(*fifo).limit; limit > most {
		t.Errorf("room for %d, places for %d", limit, most)
	}
}
