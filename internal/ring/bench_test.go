package ring_test

import (
	"testing"

	"github.com/executor-go/executor/internal/ring"
)

// task is about as large as what a pool queues. Five words take more than twice
// as long as six: the compiler copies an odd number of words with moves that
// overlap, and the processor stalls on those.
type task [6]uintptr

// The cost of one element through a ring.
func BenchmarkPushPop(b *testing.B) {
	var r ring.Ring[task]
	for range 100 {
		r.Push(task{})
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Push(task{1})
		r.Pop()
	}
}

// The cost of an element taken out of the middle.
func BenchmarkPushRemove(b *testing.B) {
	r := newItems()
	for range 100 {
		r.Push(&item{})
	}
	middle, last := new(item), new(item)
	b.ReportAllocs()
	for b.Loop() {
		r.Push(middle)
		r.Push(last)
		r.Remove(middle.place)
		r.Remove(last.place)
	}
}

// A burst of three hundred and its end.
func BenchmarkBurst(b *testing.B) {
	var r ring.Ring[task]
	b.ReportAllocs()
	for b.Loop() {
		for range 300 {
			r.Push(task{})
		}
		for range 300 {
			r.Pop()
		}
	}
}
