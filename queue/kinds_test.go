package queue_test

import (
	"context"
	"math"
	"slices"
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
	holds bool // elements while no goroutine waits
	make  func() *queue.Blocking[int]
}

const size = 20

var kinds = []kind{
	{"Bounded", size, true, func() *queue.Blocking[int] { return rotated(queue.NewBounded[int](size)) }},
	{"Unbounded", math.MaxInt, true, func() *queue.Blocking[int] { return rotated(queue.NewUnbounded[int]()) }},
	{"Handoff", 0, false, queue.NewHandoff[int]},
	{"Priority", math.MaxInt, true, func() *queue.Blocking[int] {
		return queue.NewPriority(func(i int) int { return i })
	}},
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

// mustBeEmpty checks by every method that a queue is empty.
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
		t.Errorf("All = %v", v)
	}
	if n := q.RemoveFunc(func(T) bool { return true }); n != 0 {
		t.Errorf("RemoveFunc = %d", n)
	}
}

// waits starts do in a goroutine and returns when that waits. The function result returns
// the error of do, and fails the test if do still waits.
func waits(t *testing.T, do func() error) (result func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	synctest.Wait()
	select {
	case err := <-ended:
		t.Fatalf("did not wait, and returned %v", err)
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

type job struct {
	rank int
	name string
}

// NewBounded panics if the capacity is less than 1.
func TestBoundedCapacity(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewBounded(%d) did not panic", n)
				}
			}()
			queue.NewBounded[int](n)
		}()
	}
	if q := queue.NewBounded[int](math.MaxInt); q.Remaining() != math.MaxInt {
		t.Errorf("Remaining = %d", q.Remaining())
	}
}

// A bounded queue accepts as many elements as its capacity, and one more when one has
// left.
func TestBoundedIsFull(t *testing.T) {
	for capacity := 1; capacity < 70; capacity++ {
		q := queue.NewBounded[int](capacity)
		fill(t, q, capacity)
		if q.Offer(99) || q.Remaining() != 0 || q.Len() != capacity {
			t.Errorf("one more than %d was accepted", capacity)
		}
		q.Poll()
		if !q.Offer(99) || q.Offer(99) {
			t.Error("not room for one")
		}
	}
}

// A nil element is an element.
func TestUnboundedNilElement(t *testing.T) {
	q := queue.NewUnbounded[*int]()
	q.Offer(nil)
	if v, ok := q.Poll(); v != nil || !ok {
		t.Errorf("Poll = %v, %v", v, ok)
	}
}

// The least element of a priority queue leaves first and, among equals, the oldest, also
// after a removal.
func TestPriorityOrder(t *testing.T) {
	q := queue.NewPriority(func(j job) int { return j.rank })
	for _, j := range []job{{2, "a"}, {1, "b"}, {2, "c"}, {0, "d"}, {1, "e"}, {1, "x"}, {2, "f"}} {
		q.Offer(j)
	}
	q.RemoveFunc(func(j job) bool { return j.name == "x" })
	want := []job{{0, "d"}, {1, "b"}, {1, "e"}, {2, "a"}, {2, "c"}, {2, "f"}}
	if got := q.Drain(9); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An element that changes after it was put keeps its rank.
func TestPriorityKeyIsReadOnce(t *testing.T) {
	calls := 0
	q := queue.NewPriority(func(j *job) int { calls++; return j.rank })
	var jobs []*job
	for i := range 100 {
		jobs = append(jobs, &job{rank: i * 37 % 100})
		q.Offer(jobs[i])
	}
	want := slices.SortedFunc(slices.Values(jobs), func(a, b *job) int { return a.rank - b.rank })
	for _, j := range jobs {
		j.rank = -j.rank
	}
	if got := q.Drain(100); !slices.Equal(got, want) {
		t.Error("the order has changed")
	}
	if calls != 100 {
		t.Errorf("%d calls for the keys of a hundred", calls)
	}
}

// The function for the key may use the queue, and if it panics nothing has been put.
func TestPriorityKeyMayUseQueue(t *testing.T) {
	var q *queue.Blocking[int]
	q = queue.NewPriority(func(i int) int {
		if i == 13 {
			panic("boom")
		}
		return i + q.Len()
	})
	q.Offer(1)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Offer did not panic")
			}
		}()
		q.Offer(13)
	}()
	if q.Len() != 1 {
		t.Errorf("Len = %d", q.Len())
	}
}

// NewPriority and NewDelay panic if their function is nil.
func TestPriorityNilKey(t *testing.T) {
	for name, make := range map[string]func(){
		"NewPriority: the function for the key is nil":   func() { queue.NewPriority[int, int](nil) },
		"NewDelay: the function for the due time is nil": func() { queue.NewDelay[int](nil) },
	} {
		func() {
			defer func() {
				if r := recover(); r != "queue: "+name {
					t.Errorf("recovered %v", r)
				}
			}()
			make()
		}()
	}
}
