package executortest

import (
	"context"
	"iter"
	"math"
	"testing"
	"time"

	"github.com/executor-go/executor/queue"
)

// Item is what [TestQueue] puts into queues. A queue of the order ByRank gives
// the item of the least Rank first.
type Item struct {
	Rank int // from 0 to 9, so that many are equal
	Seq  int // different for all items of one queue
}

// Order is the order in which the items leave a queue.
type Order int

const (
	ByArrival Order = iota // the oldest first
	ByRank                 // the least Item.Rank first, the oldest among equals
)

// Queue is a queue of Items on which goroutines can wait. A
// [queue.Blocking] of Item is one; the methods are described there.
type Queue interface {
	Put(context.Context, Item) error
	Offer(Item) bool
	OfferFor(context.Context, Item, time.Duration) (bool, error)
	Take(context.Context) (Item, error)
	Poll() (Item, bool)
	PollFor(context.Context, time.Duration) (Item, bool, error)
	Peek() (Item, bool)
	Len() int
	Cap() int // math.MaxInt without a limit, 0 for a queue that holds nothing
	Remaining() int
	Drain(limit int) []Item
	Clear()
	RemoveFunc(func(Item) bool) int
	All() iter.Seq[Item]
}

var _ Queue = (*queue.Blocking[Item])(nil)

// TestQueue tests that a [Queue] gives its items in order, each once, that it
// wakes those who wait as soon as it can and in the order in which they came,
// and that who gives up leaves nothing behind. make is called once for each
// property and gives an empty queue.
func TestQueue(t *testing.T, order Order, make func(*testing.T) Queue) {
	t.Helper()
	runAll(t, queueChecks(order), make)
}

// queueChecks gives the checks for the order.
func queueChecks(order Order) []check[Queue] {
	o := orderly{order}
	return []check[Queue]{
		{"EmptyAtFirst", func(t testing.TB, make func() Queue) { empty(t, make()) }},
		{"GivesInOrder", o.givesInOrder},
		{"RemovalKeepsOrder", o.removalKeepsOrder},
		{"HasRoom", o.hasRoom},
		{"DrainsInOrder", o.drainsInOrder},
		{"ShowsAll", o.showsAll},
		{"ClearsAll", o.clearsAll},
		{"PanicRemovesNothing", o.panicRemovesNothing},
		{"TakersInOrder", o.takersInOrder},
		{"PuttersInOrder", o.puttersInOrder},
		{"RemovalWakesPutters", o.removalWakesPutters},
		{"EndedContext", o.endedContext},
		{"GivesUp", o.givesUp},
		{"GivesUpInTheSameMoment", o.givesUpInTheSameMoment},
		{"WaitsAsLongAsAsked", o.waitsAsLongAsAsked},
		{"LosesNothing", o.losesNothing},
	}
}

// holds is how many items the checks put into q: enough for a heap to have
// several levels, if it takes that many.
func holds(q Queue) int { return min(q.Cap(), 100) }

// empty requires that q is empty, whoever asks.
func empty(t testing.TB, q Queue) {
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
		t.Errorf("All of an empty queue gives %v", v)
	}
	if n := q.RemoveFunc(func(Item) bool { return true }); n != 0 {
		t.Errorf("RemoveFunc of an empty queue is %d", n)
	}
	if q.Remaining() != q.Cap() {
		t.Errorf("an empty queue has room for %d, its capacity is %d", q.Remaining(), q.Cap())
	}
}
