package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/queue"
)

// A producer and a consumer that wait for each other.
func ExampleBlocking() {
	ctx, cancel := context.WithCancel(context.Background())
	q := queue.NewBounded[string](1)

	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			word, err := q.Take(ctx) // waits for the next
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(word)
			if word == "last" {
				cancel()
			}
		}
	})
	for _, word := range []string{"first", "next", "last"} {
		q.Put(ctx, word) // waits for room
	}
	wg.Wait()
	// Output:
	// first
	// next
	// last
	// context canceled
}

func ExampleNewBounded() {
	q := queue.NewBounded[int](2)
	fmt.Println(q.Offer(1), q.Offer(2), q.Offer(3))
	fmt.Println(q.Poll())
	fmt.Println(q.Len(), q.Cap(), q.Remaining())
	// Output:
	// true true false
	// 1 true
	// 1 2 1
}

func ExampleNewUnbounded() {
	q := queue.NewUnbounded[string]()
	for _, s := range []string{"a", "b", "c", "d"} {
		q.Offer(s)
	}
	fmt.Println(q.Drain(2))
	for s := range q.All() {
		fmt.Println(s)
	}
	// Output:
	// [a b]
	// c
	// d
}

func ExampleNewHandoff() {
	q := queue.NewHandoff[string]()
	fmt.Println(q.Offer("nobody is there to take this"))

	go q.Put(context.Background(), "over to you")
	fmt.Println(q.Take(context.Background()))
	// Output:
	// false
	// over to you <nil>
}

func ExampleNewPriority() {
	type ticket struct {
		severity int
		title    string
	}
	q := queue.NewPriority(func(t ticket) int { return -t.severity }) // the severest first
	q.Offer(ticket{1, "typo"})
	q.Offer(ticket{9, "fire"})
	q.Offer(ticket{5, "crash"})
	q.Offer(ticket{9, "flood"})
	for _, t := range q.Drain(math.MaxInt) {
		fmt.Println(t.title)
	}
	// Output:
	// fire
	// flood
	// crash
	// typo
}

func ExampleNewDelay() {
	type session struct {
		user    string
		expires time.Time
	}
	now := time.Now()
	q := queue.NewDelay(func(s session) time.Time { return s.expires })
	q.Offer(session{"ann", now.Add(20 * time.Millisecond)})
	q.Offer(session{"bob", now.Add(10 * time.Millisecond)})
	q.Offer(session{"eve", now.Add(1000 * time.Hour)})

	for range 2 {
		s, _ := q.Take(context.Background()) // waits until one is due
		fmt.Println(s.user, "has expired")
	}
	fmt.Println(q.Len(), "left")
	// Output:
	// bob has expired
	// ann has expired
	// 1 left
}

func ExampleBlocking_PollFor() {
	q := queue.NewUnbounded[int]()
	_, ok, err := q.PollFor(context.Background(), time.Millisecond)
	fmt.Println(ok, err)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, ok, err = q.PollFor(ctx, time.Millisecond)
	fmt.Println(ok, errors.Is(err, context.Canceled))
	// Output:
	// false <nil>
	// false true
}

func ExampleBlocking_RemoveFunc() {
	q := queue.NewUnbounded[int]()
	for i := range 6 {
		q.Offer(i)
	}
	fmt.Println(q.RemoveFunc(func(i int) bool { return i%2 == 0 }))
	fmt.Println(q.Drain(math.MaxInt))
	// Output:
	// 3
	// [1 3 5]
}

// A producer that comes to an end, and workers that end after the last element.
func ExampleBlocking_Close() {
	ctx := context.Background()
	q := queue.NewBounded[int](10)
	var sum atomic.Int64

	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for n, err := range q.TakeAll(ctx) {
				if err != nil {
					return // ctx has ended
				}
				sum.Add(int64(n))
			}
		})
	}
	for n := range 100 {
		q.Put(ctx, n)
	}
	q.Close()
	workers.Wait()
	fmt.Println(sum.Load())
	fmt.Println(q.Put(ctx, 100))
	// Output:
	// 4950
	// queue: closed
}
