package heap_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// task is what a scheduled pool queues: an interface, whose object has its place.
type task interface{ at(place int) }

type timeout struct {
	place int
	_     [7]int
}

func (t *timeout) at(place int) { t.place = place }

type tasks = heap.Heap[int64, task]

func add(q *tasks, key int64, t *timeout) { t.place = q.Push(heap.Rank[int64]{key, seq()}, t) }

// far is a delay at random between one and two hours.
func far(r *rand.Rand) int64 { return 3600e9 + r.Int64N(3600e9) }

// waiting returns a queue of n tasks that are due in an hour or more.
func waiting(n int) (*tasks, []*timeout) {
	q := heap.New[int64](task.at)
	r := rand.New(rand.NewPCG(1, 2))
	ts := make([]*timeout, n)
	for i := range ts {
		ts[i] = new(timeout)
		add(q, far(r), ts[i])
	}
	return q, ts
}

// sizes runs f with queues of different lengths.
func sizes(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			f(b, n)
		})
	}
}

// each reports the time of each of n elements.
func each(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
}

// BenchmarkScheduleCancel measures a task that is added to others like it and removed.
func BenchmarkScheduleCancel(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		q, _ := waiting(n)
		r := rand.New(rand.NewPCG(3, 4))
		t := new(timeout)
		for b.Loop() {
			add(q, far(r), t)
			q.Remove(t.place)
		}
	})
}

// BenchmarkRandom measures tasks with random keys that come and go.
func BenchmarkRandom(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		q, ts := waiting(n)
		r := rand.New(rand.NewPCG(3, 4))
		for i := 0; b.Loop(); i++ {
			first, _ := q.First()
			now := first.Key
			q.Pop()
			add(q, now+far(r), ts[i%n])
		}
	})
}

// BenchmarkOrdered measures tasks that come in order and go.
func BenchmarkOrdered(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		q, ts := waiting(0)
		for i := range n {
			ts = append(ts, new(timeout))
			add(q, int64(i), ts[i])
		}
		for i := 0; b.Loop(); i++ {
			q.Pop()
			add(q, int64(n+i), ts[i%n])
		}
	})
}

// BenchmarkZeroDelay measures tasks that are the least of all when they come, and go.
func BenchmarkZeroDelay(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		q, _ := waiting(n)
		t := new(timeout)
		for i := 0; b.Loop(); i++ {
			add(q, int64(i), t)
			q.Pop()
		}
	})
}

// BenchmarkCancelRandom measures each removal of all tasks in random order.
func BenchmarkCancelRandom(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		for b.Loop() {
			b.StopTimer()
			q, ts := waiting(n)
			rand.New(rand.NewPCG(3, 4)).Shuffle(n, func(i, j int) { ts[i], ts[j] = ts[j], ts[i] })
			b.StartTimer()
			for _, t := range ts {
				q.Remove(t.place)
			}
		}
		each(b, n)
	})
}

// BenchmarkFire measures each Pop of all tasks.
func BenchmarkFire(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		for b.Loop() {
			b.StopTimer()
			q, _ := waiting(n)
			b.StartTimer()
			for range n {
				q.Pop()
			}
		}
		each(b, n)
	})
}

var arrivals uint64

func seq() uint64 { arrivals++; return arrivals }
