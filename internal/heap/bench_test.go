package heap_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/executor-go/executor/internal/heap"
)

// task is what a scheduled pool queues: an interface, whose object notes its
// place.
type task interface{ at(place int) }

type timeout struct {
	place int
	_     [7]int
}

func (t *timeout) at(place int) { t.place = place }

type tasks = heap.Queue[int64, task]

func add(q *tasks, key int64, t *timeout) { t.place = q.Push(key, t) }

// far is a delay at random between one and two hours.
func far(r *rand.Rand) int64 { return 3600e9 + r.Int64N(3600e9) }

// waiting gives a queue with n tasks that wait for long.
func waiting(n int) (*tasks, []*timeout) {
	q := heap.New[int64](oneByOne(task.at))
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

// each reports the time for each of n elements.
func each(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
}

// A task like those that wait is scheduled and canceled.
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

// Tasks that are due at random come and go.
func BenchmarkRandom(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		q, ts := waiting(n)
		r := rand.New(rand.NewPCG(3, 4))
		for i := 0; b.Loop(); i++ {
			now, _, _ := q.Pop()
			add(q, now+far(r), ts[i%n])
		}
	})
}

// Tasks that are due one after the other come and go, while others wait that
// came in order, too.
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

// Tasks without a delay come and go, while others wait for long.
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

// Tasks that wait are canceled in random order.
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

// Tasks that wait come due.
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
