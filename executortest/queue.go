package executortest

import (
	"context"
	"iter"
	"math"
	"testing"
	"time"

	"github.com/executor-go/executor/queue"
)

// Item is an element of a [Queue] under test.
type Item struct {
	Rank int // 0 to 9, so that many items have equal ranks
	Seq  int // different for each item of a queue
}

// Order is the order in which a [Queue] returns its items.
type Order int

const (
	ByArrival Order = iota // first in, first out
	ByRank                 // the least Item.Rank first; items of equal rank by arrival
)

// Queue is a queue on which goroutines can wait. [queue.Blocking] implements it, and documents the methods.
type Queue interface {
	Put(context.Context, Item) error
	Offer(Item) bool
	OfferFor(context.Context, Item, time.Duration) (bool, error)
	Take(context.Context) (Item, error)
	Poll() (Item, bool)
	PollFor(context.Context, time.Duration) (Item, bool, error)
	Peek() (Item, bool)
	Len() int
	Cap() int // math.MaxInt without a limit, 0 for a queue that only hands over
	Remaining() int
	Drain(limit int) []Item
	Clear()
	RemoveFunc(func(Item) bool) int
	All() iter.Seq[Item]
	Close()
	TakeAll(context.Context) iter.Seq2[Item, error]
}

var _ Queue = (*queue.Blocking[Item])(nil)

// TestQueue tests that a [Queue] returns each item once, in the given order; that it wakes waiting goroutines at once,
// in the order in which they began to wait; that a wait that ends without success has no effect; and that takers empty
// a closed queue.
//
// The suite calls make for each subtest. make returns a new, empty queue.
func TestQueue(t *testing.T, order Order, make func(*testing.T) Queue) {
	t.Helper()
	runAll(t, queueChecks(order), make)
}

// queueChecks returns the checks for a queue of this order.
func queueChecks(order Order) []check[Queue] {
	o := orderChecks{order}
	return []check[Queue]{
		{"EmptyInitially", func(t testing.TB, make func() Queue) { expectEmpty(t, make()) }},
		{"ReturnsInOrder", o.returnsInOrder},
		{"RemovalKeepsOrder", o.removalKeepsOrder},
		{"Remaining", o.remaining},
		{"DrainsInOrder", o.drainsInOrder},
		{"AllYieldsItems", o.allYieldsItems},
		{"Clear", o.clear},
		{"PanicInRemoveFunc", o.panicInRemoveFunc},
		{"TakersInOrder", o.takersInOrder},
		{"PuttersInOrder", o.puttersInOrder},
		{"RemovalWakesPutters", o.removalWakesPutters},
		{"EndedContext", o.endedContext},
		{"CanceledWait", o.canceledWait},
		{"CancelRacesWakeUp", o.cancelRacesWakeUp},
		{"WaitsForDuration", o.waitsForDuration},
		{"LosesNoItem", o.losesNoItem},
		{"Close", o.close},
	}
}

// testSize returns the number of items that the checks put into q: enough for a heap of
// several levels, unless the capacity is less.
func testSize(q Queue) int { return min(q.Cap(), 100) }

// expectEmpty requires that all methods report q as empty.
func expectEmpty(t testing.TB, q Queue) {
	t.Helper()
	if n := q.Len(); n != 0 {
		t.Errorf("Len of an empty queue is %d", n)
	}
	if v, ok := q.Peek(); ok {
		t.Errorf("Peek of an empty queue is %v", v)
	}
	if v, ok := q.Poll(); ok {
		t.Errorf("Poll of an empty queue is %v", v)
	}
	if v, ok, err := q.PollFor(context.Background(), math.MinInt64); ok || err != nil {
		t.Errorf("PollFor of an empty queue is %v, %v", v, err)
	}
	if all := q.Drain(math.MaxInt); len(all) != 0 {
		t.Errorf("Drain of an empty queue is %v", all)
	}
	for v := range q.All() {
		t.Errorf("All of an empty queue yields %v", v)
	}
	if n := q.RemoveFunc(func(Item) bool { return true }); n != 0 {
		t.Errorf("RemoveFunc of an empty queue is %d", n)
	}
	if q.Remaining() != q.Cap() {
		t.Errorf("Remaining of an empty queue is %d, want its capacity %d", q.Remaining(), q.Cap())
	}
}
