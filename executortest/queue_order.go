package executortest

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// orderly are the checks of a queue that gives its items in an order.
type orderly struct{ order Order }

// items gives n items of random ranks, always the same.
func items(n int) []Item {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	all := make([]Item, n)
	for i := range all {
		all[i] = Item{random.IntN(10), i}
	}
	return all
}

// sorted gives the items, which are in order of arrival, as they have to leave.
func (o orderly) sorted(all []Item) []Item {
	all = slices.Clone(all)
	if o.order == ByRank {
		slices.SortStableFunc(all, func(a, b Item) int { return cmp.Compare(a.Rank, b.Rank) })
	}
	return all
}

// fill puts items into an empty queue, as many as it holds for our purposes.
func fill(t testing.TB, q Queue) []Item {
	t.Helper()
	all := items(holds(q))
	for i, v := range all {
		if !q.Offer(v) {
			t.Fatalf("Offer: false, with %d items in a queue of %d", i, q.Cap())
		}
	}
	return all
}

// gives requires that q gives exactly these items, in this order, and is empty
// then.
func gives(t testing.TB, q Queue, want []Item) {
	t.Helper()
	for i, w := range want {
		if v, ok := q.Peek(); !ok || v != w {
			t.Fatalf("Peek is %v, %v, want %v, item %d of %d", v, ok, w, i, len(want))
		}
		if q.Len() != len(want)-i {
			t.Fatalf("Len is %d, want %d", q.Len(), len(want)-i)
		}
		var v Item
		var ok bool
		var err error
		switch i % 3 {
		case 0:
			v, ok = q.Poll()
		case 1:
			v, ok, err = q.PollFor(context.Background(), 0)
		case 2:
			v, err = q.Take(patient(t))
			ok = err == nil
		}
		if !ok || err != nil || v != w {
			t.Fatalf("item %d is %v, %v, %v, want %v", i, v, ok, err, w)
		}
	}
	empty(t, q)
}

func (o orderly) givesInOrder(t testing.TB, make func() Queue) {
	q := make()
	for range 2 {
		gives(t, q, o.sorted(fill(t, q)))
	}
}

// removalKeepsOrder takes items out of the middle. A heap that closes the gap by
// sifting down only passes most such tests, hence so many (JDK-8370887).
func (o orderly) removalKeepsOrder(t testing.TB, make func() Queue) {
	random := rand.New(rand.NewPCG(2, 3))
	q := make()
	for range 100 {
		all := fill(t, q)
		for range 3 {
			chance := random.IntN(40) + 1
			gone := map[Item]bool{}
			for _, v := range all {
				gone[v] = random.IntN(chance) == 0
			}
			left := slices.DeleteFunc(slices.Clone(all), func(v Item) bool { return gone[v] })
			if n := q.RemoveFunc(func(v Item) bool { return gone[v] }); n != len(all)-len(left) {
				t.Fatalf("RemoveFunc removed %d items, want %d", n, len(all)-len(left))
			}
			all = left
		}
		gives(t, q, o.sorted(all))
	}
}

func (o orderly) hasRoom(t testing.TB, make func() Queue) {
	q := make()
	n := len(fill(t, q))
	if q.Cap() == n {
		if q.Remaining() != 0 || q.Offer(Item{0, n}) {
			t.Errorf("a full queue of %d takes another", n)
		}
		if ok, err := q.OfferFor(context.Background(), Item{0, n}, -1); ok || err != nil {
			t.Errorf("OfferFor on a full queue: %v, %v", ok, err)
		}
		return
	}
	if r := q.Remaining(); r != math.MaxInt && r != q.Cap()-n {
		t.Errorf("room for %d with %d items in a queue of %d", r, n, q.Cap())
	}
}

func (o orderly) drainsInOrder(t testing.TB, make func() Queue) {
	q := make()
	want := o.sorted(fill(t, q))
	for _, limit := range []int{0, -1, math.MinInt} {
		if got := q.Drain(limit); len(got) != 0 {
			t.Errorf("Drain(%d) is %v", limit, got)
		}
	}
	for _, limit := range []int{1, 3, math.MaxInt} {
		k := min(limit, len(want))
		if got := q.Drain(limit); !slices.Equal(got, want[:k]) {
			t.Errorf("Drain(%d) is %v, want %v", limit, got, want[:k])
		}
		want = want[k:]
	}
	empty(t, q)
}

func (o orderly) showsAll(t testing.TB, make func() Queue) {
	q := make()
	want := o.sorted(fill(t, q))
	got := slices.Collect(q.All())
	if len(want) > 0 && (len(got) == 0 || got[0] != want[0]) {
		t.Errorf("All does not begin with %v: %v", want[0], got)
	}
	for range q.All() { // may be left at any time
		break
	}
	byArrival := func(a, b Item) int { return cmp.Compare(a.Seq, b.Seq) }
	if !slices.Equal(slices.SortedFunc(slices.Values(got), byArrival), slices.SortedFunc(slices.Values(want), byArrival)) {
		t.Errorf("All gives %v, want %v", got, want)
	}
	gives(t, q, want)
}

func (o orderly) clearsAll(t testing.TB, make func() Queue) {
	q := make()
	fill(t, q)
	q.Clear()
	empty(t, q)
	gives(t, q, o.sorted(fill(t, q)))
}

func (o orderly) panicRemovesNothing(t testing.TB, make func() Queue) {
	q := make()
	all := fill(t, q)
	func() {
		defer func() { recover() }()
		n := 0
		q.RemoveFunc(func(Item) bool {
			if n++; n > len(all)/2 {
				panic("match")
			}
			return true
		})
	}()
	// Some may have been removed by now, but what is left must be whole.
	left := slices.Collect(q.All())
	slices.SortFunc(left, func(a, b Item) int { return cmp.Compare(a.Seq, b.Seq) })
	gives(t, q, o.sorted(left))
}
