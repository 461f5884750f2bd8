package heap_test

import (
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// The cost of one element through a heap of ten thousand.
func BenchmarkPushPop(b *testing.B) {
	var h heap.Heap[int64, *item]
	key := int64(1)
	for range 10_000 {
		key = key * 6364136223846793005 >> 1
		h.Push(key, nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		key = key*6364136223846793005 + 1442695040888963407
		h.Push(key>>1, nil)
		h.Pop()
	}
}

// The cost of a timer that is canceled, as most are.
func BenchmarkPushRemove(b *testing.B) {
	h := newItems()
	for i := range 10_000 {
		h.Push(i, &item{})
	}
	it := new(item)
	b.ReportAllocs()
	for b.Loop() {
		h.Push(5000, it)
		h.Remove(it.index)
	}
}
