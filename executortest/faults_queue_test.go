package executortest

import (
	"context"
	"iter"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/queue"
)

// oneWay is a priority queue on a binary heap that closes a gap in the middle by
// sifting down only, the fault of JDK-8370887. It is sound otherwise, and for
// one goroutine.
type oneWay struct {
	*queue.Blocking[Item] // for the methods that the check does not need
	heap                  []Item
	sound                 bool // sifts both ways
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
		if q.sound {
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

func TestFaultSiftsOneWay(t *testing.T) {
	unwaiting := only(queueChecks(ByRank), "EmptyAtFirst", "GivesInOrder", "RemovalKeepsOrder", "HasRoom", "DrainsInOrder", "ShowsAll", "ClearsAll")
	for sound, want := range map[bool][]string{false: {"RemovalKeepsOrder"}, true: nil} {
		finds(t, unwaiting, func(*testing.T) Queue {
			return &oneWay{Blocking: queue.NewUnbounded[Item](), sound: sound}
		}, want...)
	}
}

// A queue in order of arrival is none in order of rank, and the other way round.
func TestFaultOrder(t *testing.T) {
	byRank := func(*testing.T) Queue { return queue.NewPriority(func(v Item) int { return v.Rank }) }
	byArrival := func(*testing.T) Queue { return queue.NewUnbounded[Item]() }
	for _, found := range [][]string{findings(t, queueChecks(ByArrival), byRank), findings(t, queueChecks(ByRank), byArrival)} {
		if !slices.Contains(found, "GivesInOrder") || !slices.Contains(found, "RemovalKeepsOrder") {
			t.Errorf("only %q found the fault", found)
		}
	}
}

// A queue that breaks ties of rank the wrong way round is found.
func TestFaultQueueBreaksTies(t *testing.T) {
	found := findings(t, queueChecks(ByRank), func(*testing.T) Queue {
		return queue.NewPriority(func(v Item) int { return v.Rank*100_000 - v.Seq })
	})
	if !slices.Contains(found, "GivesInOrder") {
		t.Errorf("only %q found the fault", found)
	}
}

// leaky is a queue that keeps the item of one who has given up waiting for room.
type leaky struct{ *queue.Blocking[Item] }

func (q leaky) Put(ctx context.Context, v Item) error {
	err := q.Blocking.Put(ctx, v)
	if err != nil {
		go q.Blocking.Put(context.Background(), v)
	}
	return err
}

func TestFaultQueueKeepsWithdrawn(t *testing.T) {
	found := findings(t, queueChecks(ByArrival), func(t *testing.T) Queue {
		q := queue.NewBounded[Item](3)
		t.Cleanup(func() { // lets go whom the fault has left
			for synctest.Wait(); q.Len() > 0; synctest.Wait() {
				q.Clear()
			}
		})
		return leaky{q}
	})
	if !slices.Contains(found, "GivesUp") {
		t.Errorf("only %q found the fault", found)
	}
}

// reluctant is a queue that lets in one after the other who waits for room, a
// second apart.
type reluctant struct {
	*queue.Blocking[Item]
	turn chan struct{}
}

func (q reluctant) OfferFor(ctx context.Context, v Item, d time.Duration) (bool, error) {
	if d > 0 {
		q.turn <- struct{}{}
		defer time.AfterFunc(time.Second, func() { <-q.turn })
	}
	return q.Blocking.OfferFor(ctx, v, d)
}

func TestFaultQueueWakesOne(t *testing.T) {
	finds(t, only(queueChecks(ByArrival), "GivesInOrder", "RemovalWakesPutters"), func(*testing.T) Queue {
		return reluctant{queue.NewBounded[Item](3), make(chan struct{}, 1)}
	}, "RemovalWakesPutters")
}

// careless is a queue that loses the item of one whose context has ended by the
// time that he gets it.
type careless struct{ *queue.Blocking[Item] }

func (q careless) Take(ctx context.Context) (Item, error) {
	v, err := q.Blocking.Take(ctx)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return v, err
}

func TestFaultQueueLosesWakeUp(t *testing.T) {
	found := findings(t, queueChecks(ByArrival), func(*testing.T) Queue { return careless{queue.NewBounded[Item](3)} })
	if !slices.Contains(found, "GivesUpInTheSameMoment") {
		t.Errorf("only %q found the fault", found)
	}
}
