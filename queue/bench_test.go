package queue_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/queue"
)

// BenchmarkOfferPoll measures one goroutine that offers and polls.
func BenchmarkOfferPoll(b *testing.B) {
	for _, k := range kinds {
		if !k.holds {
			continue
		}
		b.Run(k.name, func(b *testing.B) {
			q := k.make()
			b.ReportAllocs()
			for b.Loop() {
				q.Offer(1)
				q.Poll()
			}
		})
	}
	b.Run("Channel", func(b *testing.B) {
		c := make(chan int, size)
		b.ReportAllocs()
		for b.Loop() {
			c <- 1
			<-c
		}
	})
}

// BenchmarkPutTake measures one producer and one consumer, and more of them than
// processors, that wait for each other (JDK-8267502).
func BenchmarkPutTake(b *testing.B) {
	pairs := []int{1, 8 * runtime.NumCPU()}
	for _, n := range pairs {
		for _, k := range kinds {
			b.Run(k.name+"/pairs="+strconv.Itoa(n), func(b *testing.B) {
				q := k.make()
				ctx := context.Background()
				both(b, n, func() { q.Put(ctx, 1) }, func() { q.Take(ctx) })
			})
		}
		b.Run("Channel/pairs="+strconv.Itoa(n), func(b *testing.B) {
			c := make(chan int, size)
			both(b, n, func() { c <- 1 }, func() { <-c })
		})
	}
}

func both(b *testing.B, pairs int, put, take func()) {
	b.ReportAllocs()
	var wg sync.WaitGroup
	for p := range pairs {
		n := b.N / pairs
		if p == 0 {
			n += b.N % pairs
		}
		for _, do := range []func(){put, take} {
			wg.Go(func() {
				for range n {
					do()
				}
			})
		}
	}
	wg.Wait()
}

// BenchmarkDelay measures many goroutines that wait for elements ten microseconds apart
// (DelayQueue/Stress).
func BenchmarkDelay(b *testing.B) {
	q := queue.NewDelay(func(t time.Time) time.Time { return t })
	ctx, cancel := context.WithCancel(context.Background())
	var wg, left sync.WaitGroup
	for range 300 {
		wg.Go(func() {
			for {
				if _, err := q.Take(ctx); err != nil {
					return
				}
				left.Done()
			}
		})
	}
	left.Add(b.N)
	start := time.Now()
	for i := range b.N {
		q.Offer(start.Add(time.Duration(i) * 10 * time.Microsecond))
	}
	left.Wait()
	cancel()
	wg.Wait()
}
