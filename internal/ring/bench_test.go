package ring_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/executor-go/executor/internal/ring"
)

// task is what a pool queues: an interface.
type task interface{ Len() int }

var one task = new(ring.Ring[int])

// BenchmarkPushPop measures one element through a short ring.
func BenchmarkPushPop(b *testing.B) {
	var r ring.Ring[task]
	for range 100 {
		r.Push(one)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Push(one)
		r.Pop()
	}
}

// BenchmarkPushRemove measures two elements, one of which is removed from the middle.
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

// BenchmarkBurst measures each element of a burst.
func BenchmarkBurst(b *testing.B) {
	for _, n := range []int{300, 10_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var r ring.Ring[task]
			b.ReportAllocs()
			for b.Loop() {
				for range n {
					r.Push(one)
				}
				for range n {
					r.Pop()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}

// BenchmarkRemoveAtRandom measures each removal from a long ring of which all but the
// oldest are removed in random order.
func BenchmarkRemoveAtRandom(b *testing.B) {
	const n = 1_000_000
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	places := make([]int, n)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		var r ring.Ring[task]
		r.Push(one)
		for i := range places {
			places[i] = r.Push(one)
		}
		b.StartTimer()
		for _, i := range order {
			r.Remove(places[i])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
}
