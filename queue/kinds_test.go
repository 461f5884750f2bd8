package queue_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

// kind is a kind of queue of integers, of which the least leaves first when
// they are put in ascending order.
type kind struct {
	name  string
	cap   int
	holds bool // elements without anybody waiting
	make  func() *queue.Blocking[int]
}

const size = 20

var kinds = []kind{
	{"Bounded", size, true, func() *queue.Blocking[int] { return rotated(queue.NewBounded[int](size)) }},
	{"Unbounded", math.MaxInt, true, func() *queue.Blocking[int] { return rotated(queue.NewUnbounded[int]()) }},
	{"Handoff", 0, false, queue.NewHandoff[int]},
	{"Priority", math.MaxInt, true, func() *queue.Blocking[int] { return queue.NewPriority(func(i int) int { return i }) }},
	{"Delay", math.MaxInt, true, func() *queue.Blocking[int] {
		return queue.NewDelay(func(i int) time.Time { return time.Unix(0, int64(i)) }) // long ago
	}},
}

// rotated returns q after some elements have passed through it, so that its
// array will wrap around (ArrayBlockingQueueTest).
func rotated(q *queue.Blocking[int]) *queue.Blocking[int] {
	for range 11 {
		q.Offer(0)
		q.Poll()
	}
	return q
}

// forAll runs test in a bubble, on each kind of queue.
func forAll(t *testing.T, test func(*testing.T, kind, *queue.Blocking[int])) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := k.make()
				test(t, k, q)
				checkQueue(t, q)
			})
		})
	}
}

// forHolding runs test on the kinds that hold elements.
func forHolding(t *testing.T, test func(*testing.T, kind, *queue.Blocking[int])) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		if k.holds {
			test(t, k, q)
		}
	})
}

// forFull runs test on queues that are full.
func forFull(t *testing.T, test func(*testing.T, kind, *queue.Blocking[int])) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		if k.cap < math.MaxInt {
			fill(t, q, k.cap)
			test(t, k, q)
		}
	})
}

func checkQueue[T any](t *testing.T, q *queue.Blocking[T]) {
	t.Helper()
	if err := q.Check(); err != nil {
		t.Error(err)
	}
}

// fill puts 0 to n-1.
func fill(t *testing.T, q *queue.Blocking[int], n int) {
	t.Helper()
	for i := range n {
		if !q.Offer(i) {
			t.Fatalf("no room for the %d. of %d", i+1, n)
		}
	}
}

// mustBeEmpty asks a queue in every way whether it is empty.
func mustBeEmpty[T any](t *testing.T, q *queue.Blocking[T]) {
	t.Helper()
	if n := q.Len(); n != 0 {
		t.Errorf("Len = %d", n)
	}
	if n := q.Remaining(); n != q.Cap() {
		t.Errorf("Remaining = %d of %d", n, q.Cap())
	}
	if v, ok := q.Peek(); ok {
		t.Errorf("Peek = %v", v)
	}
	if v, ok := q.Poll(); ok {
		t.Errorf("Poll = %v", v)
	}
	for _, d := range []time.Duration{math.MinInt64, -1, 0} {
		if v, ok, err := q.PollFor(t.Context(), d); ok || err != nil {
			t.Errorf("PollFor(%v) = %v, %v, %v", d, v, ok, err)
		}
	}
	if all := q.Drain(math.MaxInt); all != nil {
		t.Errorf("Drain = %v", all)
	}
	for v := range q.All() {
		t.Errorf("All gives %v", v)
	}
	if n := q.RemoveFunc(func(T) bool { return true }); n != 0 {
		t.Errorf("RemoveFunc = %d", n)
	}
}

// waits starts do in a goroutine, and returns when that waits. The func that
// it returns fails the test if do waits still, and gives its error.
func waits(t *testing.T, do func() error) (result func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	synctest.Wait()
	select {
	case err := <-ended:
		t.Fatalf("did not wait, and gave %v", err)
	default:
	}
	return func() error {
		t.Helper()
		synctest.Wait()
		select {
		case err := <-ended:
			return err
		default:
			t.Fatal("still waits")
			return nil
		}
	}
}

// canceled returns a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A queue tells how much it holds, and of how much.
func TestText(t *testing.T) {
	forAll(t, func(t *testing.T, k kind, q *queue.Blocking[int]) {
		q.Offer(1)
		want := map[string]string{"Bounded": "queue: length 1, capacity 20", "Handoff": "queue: length 0, capacity 0"}[k.name]
		if want == "" {
			want = "queue: length 1"
		}
		if got := fmt.Sprint(q); got != want {
			t.Errorf("text is %q, want %q", got, want)
		}
	})
}
