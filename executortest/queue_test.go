package executortest

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

type blocking = *queue.Blocking[Item]

// The suite for queues passes for every queue of package queue. All items of the delay
// queue are due.
func TestQueuePassesForQueues(t *testing.T) {
	rank := func(v Item) int { return v.Rank }
	due := func(v Item) time.Time { return time.Now().Add(time.Duration(v.Rank) - time.Hour) }
	for name, c := range map[string]struct {
		order Order
		make  func() blocking
	}{
		"unbounded":    {ByArrival, queue.NewUnbounded[Item]},
		"bounded(1)":   {ByArrival, func() blocking { return queue.NewBounded[Item](1) }},
		"bounded(100)": {ByArrival, func() blocking { return queue.NewBounded[Item](100) }},
		"handoff":      {ByArrival, queue.NewHandoff[Item]},
		"priority":     {ByRank, func() blocking { return queue.NewPriority(rank) }},
		"delay":        {ByRank, func() blocking { return queue.NewDelay(due) }},
	} {
		t.Run(name, func(t *testing.T) {
			TestQueue(t, c.order, func(*testing.T) Queue { return c.make() })
		})
	}
}

// oneWay is a priority queue on a binary heap that only sifts down after a removal from
// the middle, the fault of JDK-8370887. It has no other fault if used by one goroutine.
type oneWay struct {
	*queue.Blocking[Item] // for the methods that the check does not need
	heap                  []Item
	siftUp                bool // without the fault
}

func (q *oneWay) less(i, j int) bool {
	a, b := q.heap[i], q.heap[j]
	return a.Rank < b.Rank || a.Rank == b.Rank && a.Seq < b.Seq
}

func (q *oneWay) up(i int) {
	for ; i > 0 && q.less(i, (i-1)/2); i = (i - 1) / 2 {
		q.heap[i], q.heap[(i-1)/2] = q.heap[(i-1)/2], q.heap[i]
	}
}

func (q *oneWay) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q.heap); child++ {
			if q.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

func (q *oneWay) remove(i int) {
	last := len(q.heap) - 1
	q.heap[i] = q.heap[last]
	q.heap = q.heap[:last]
	if i < last {
		q.down(i)
		if q.siftUp {
			q.up(i)
		}
	}
}

func (q *oneWay) Offer(v Item) bool {
	q.heap = append(q.heap, v)
	q.up(len(q.heap) - 1)
	return true
}

func (q *oneWay) Poll() (Item, bool) {
	v, ok := q.Peek()
	if ok {
		q.remove(0)
	}
	return v, ok
}

func (q *oneWay) Peek() (Item, bool) {
	if len(q.heap) == 0 {
		return Item{}, false
	}
	return q.heap[0], true
}

func (q *oneWay) Take(context.Context) (Item, error) { v, _ := q.Poll(); return v, nil }

func (q *oneWay) PollFor(context.Context, time.Duration) (Item, bool, error) {
	v, ok := q.Poll()
	return v, ok, nil
}

func (q *oneWay) Len() int            { return len(q.heap) }
func (q *oneWay) Cap() int            { return math.MaxInt }
func (q *oneWay) Remaining() int      { return math.MaxInt }
func (q *oneWay) All() iter.Seq[Item] { return slices.Values(q.heap) }
func (q *oneWay) Clear()              { q.heap = nil }

func (q *oneWay) Drain(limit int) (all []Item) {
	for len(all) < limit && len(q.heap) > 0 {
		v, _ := q.Poll()
		all = append(all, v)
	}
	return all
}

func (q *oneWay) RemoveFunc(match func(Item) bool) (n int) {
	for _, v := range slices.Clone(q.heap) {
		if match(v) {
			q.remove(slices.Index(q.heap, v))
			n++
		}
	}
	return n
}

// A heap that only sifts down after a removal is found.
func TestQueueFindsHeapThatSiftsOneWay(t *testing.T) {
	sequential := only(queueChecks(ByRank),
		"EmptyInitially", "ReturnsInOrder", "RemovalKeepsOrder", "Remaining", "DrainsInOrder", "AllYieldsItems",
		"Clear")
	for siftUp, want := range map[bool][]string{false: {"RemovalKeepsOrder"}, true: nil} {
		findExactly(t, sequential, func(*testing.T) Queue {
			return &oneWay{Blocking: queue.NewUnbounded[Item](), siftUp: siftUp}
		}, want...)
	}
}

// A queue in order of arrival fails as one in order of rank, and the reverse.
func TestQueueFindsWrongOrder(t *testing.T) {
	byRank := func(*testing.T) Queue { return queue.NewPriority(func(v Item) int { return v.Rank }) }
	byArrival := func(*testing.T) Queue { return queue.NewUnbounded[Item]() }
	findAtLeast(t, queueChecks(ByArrival), byRank, "ReturnsInOrder", "RemovalKeepsOrder")
	findAtLeast(t, queueChecks(ByRank), byArrival, "ReturnsInOrder", "RemovalKeepsOrder")
}

// A queue that returns the latest of equal ranks first is found.
func TestQueueFindsWrongOrderOfEqualRanks(t *testing.T) {
	findAtLeast(t, queueChecks(ByRank), func(*testing.T) Queue {
		return queue.NewPriority(func(v Item) int { return v.Rank*100_000 - v.Seq })
	}, "ReturnsInOrder")
}

// wordy is a queue that says more about the end of a context.
type wordy struct{ blocking }

func more(err error) error {
	if err == nil || err == queue.ErrClosed {
		return err
	}
	return fmt.Errorf("while waiting: %w", err)
}

func (q wordy) Put(ctx context.Context, v Item) error { return more(q.blocking.Put(ctx, v)) }

func (q wordy) OfferFor(ctx context.Context, v Item, d time.Duration) (bool, error) {
	ok, err := q.blocking.OfferFor(ctx, v, d)
	return ok, more(err)
}

func (q wordy) Take(ctx context.Context) (Item, error) {
	v, err := q.blocking.Take(ctx)
	return v, more(err)
}

func (q wordy) PollFor(ctx context.Context, d time.Duration) (Item, bool, error) {
	v, ok, err := q.blocking.PollFor(ctx, d)
	return v, ok, more(err)
}

// The suite passes for a queue whose errors match that of the context and its cause, and say more.
func TestQueuePassesForErrorsThatMatch(t *testing.T) {
	TestQueue(t, ByArrival, func(*testing.T) Queue { return wordy{queue.NewBounded[Item](3)} })
}

// causeless is a queue whose Take does not say why the context has ended.
type causeless struct{ blocking }

func (q causeless) Take(ctx context.Context) (Item, error) {
	v, err := q.blocking.Take(ctx)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return v, err
}

// A queue whose errors lack the cause of the end of a context is found.
func TestQueueFindsLostCause(t *testing.T) {
	findExactly(t, queueChecks(ByArrival), func(*testing.T) Queue {
		return causeless{queue.NewBounded[Item](3)}
	}, "EndedContext")
}

// leaky is a queue that puts the item of a canceled Put after all.
type leaky struct{ blocking }

func (q leaky) Put(ctx context.Context, v Item) error {
	err := q.blocking.Put(ctx, v)
	if err != nil {
		go q.blocking.Put(context.Background(), v)
	}
	return err
}

// A queue that keeps the item of a canceled Put is found.
func TestQueueFindsItemOfCanceledPut(t *testing.T) {
	findAtLeast(t, queueChecks(ByArrival), func(t *testing.T) Queue {
		q := queue.NewBounded[Item](3)
		t.Cleanup(func() { // until the goroutines of leaky have returned
			for synctest.Wait(); q.Len() > 0; synctest.Wait() {
				q.Clear()
			}
		})
		return leaky{q}
	}, "CanceledWait")
}

// reluctant is a queue in which only one OfferFor a second waits for room.
type reluctant struct {
	blocking
	waiting chan struct{}
}

func (q reluctant) OfferFor(ctx context.Context, v Item, d time.Duration) (bool, error) {
	if d > 0 {
		q.waiting <- struct{}{}
		defer time.AfterFunc(time.Second, func() { <-q.waiting })
	}
	return q.blocking.OfferFor(ctx, v, d)
}

// A queue that wakes only one of several waiting goroutines is found.
func TestQueueFindsSingleWakeUp(t *testing.T) {
	findExactly(t, only(queueChecks(ByArrival), "ReturnsInOrder", "RemovalWakesPutters"), func(*testing.T) Queue {
		return reluctant{queue.NewBounded[Item](3), make(chan struct{}, 1)}
	}, "RemovalWakesPutters")
}

// careless is a queue that loses an item if the context of Take ends at the same time.
type careless struct{ blocking }

func (q careless) Take(ctx context.Context) (Item, error) {
	v, err := q.blocking.Take(ctx)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return v, err
}

// A queue that loses an item to a canceled Take is found.
func TestQueueFindsLostItem(t *testing.T) {
	findAtLeast(t, queueChecks(ByArrival), func(*testing.T) Queue {
		return careless{queue.NewBounded[Item](3)}
	}, "CancelRacesWakeUp")
}

// abrupt is a queue that drops its items when it is closed.
type abrupt struct{ blocking }

func (q abrupt) Close() {
	q.Clear()
	q.blocking.Close()
}

// A queue that drops what it has when it is closed is found.
func TestQueueFindsItemsLostByClose(t *testing.T) {
	findExactly(t, queueChecks(ByArrival), func(*testing.T) Queue {
		return abrupt{queue.NewBounded[Item](3)}
	}, "Close")
}
