package executortest

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// orderChecks are the checks of a queue with the given order.
type orderChecks struct{ order Order }

// items returns n items with pseudorandom ranks, the same for every call.
func items(n int) []Item {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	all := make([]Item, n)
	for i := range all {
		all[i] = Item{random.IntN(10), i}
	}
	return all
}

// sorted returns items, which are in order of arrival, in the order of the queue.
func (o orderChecks) sorted(all []Item) []Item {
	all = slices.Clone(all)
	if o.order == ByRank {
		slices.SortStableFunc(all, func(a, b Item) int { return cmp.Compare(a.Rank, b.Rank) })
	}
	return all
}

// fill puts testSize items into an empty queue, and returns them in order of arrival.
func fill(t testing.TB, q Queue) []Item {
	t.Helper()
	all := items(testSize(q))
	for i, v := range all {
		if !q.Offer(v) {
			t.Fatalf("Offer to a queue of capacity %d with %d items: false", q.Cap(), i)
		}
	}
	return all
}

// expectItems requires that q returns exactly these items, in this order, and then is
// empty.
func expectItems(t testing.TB, q Queue, want []Item) {
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
			v, err = q.Take(waitContext(t))
			ok = err == nil
		}
		if !ok || err != nil || v != w {
			t.Fatalf("item %d is %v, %v, %v, want %v", i, v, ok, err, w)
		}
	}
	expectEmpty(t, q)
}

func (o orderChecks) returnsInOrder(t testing.TB, make func() Queue) {
	q := make()
	for range 2 {
		expectItems(t, q, o.sorted(fill(t, q)))
	}
}

// removalKeepsOrder removes items from the middle. A heap that only sifts down after a
// removal passes most of these rounds, so there are many (JDK-8370887).
func (o orderChecks) removalKeepsOrder(t testing.TB, make func() Queue) {
	random := rand.New(rand.NewPCG(2, 3))
	q := make()
	for range 100 {
		all := fill(t, q)
		for range 3 {
			chance := random.IntN(40) + 1
			match := map[Item]bool{}
			for _, v := range all {
				match[v] = random.IntN(chance) == 0
			}
			rest := slices.DeleteFunc(slices.Clone(all), func(v Item) bool { return match[v] })
			if n := q.RemoveFunc(func(v Item) bool { return match[v] }); n != len(all)-len(rest) {
				t.Fatalf("RemoveFunc removed %d items, want %d", n, len(all)-len(rest))
			}
			all = rest
		}
		expectItems(t, q, o.sorted(all))
	}
}

func (o orderChecks) remaining(t testing.TB, make func() Queue) {
	q := make()
	n := len(fill(t, q))
	if q.Cap() == n {
		if q.Remaining() != 0 || q.Offer(Item{0, n}) {
			t.Errorf("a full queue of capacity %d accepts another item", n)
		}
		if ok, err := q.OfferFor(context.Background(), Item{0, n}, -1); ok || err != nil {
			t.Errorf("OfferFor on a full queue: %v, %v", ok, err)
		}
		return
	}
	if r := q.Remaining(); r != math.MaxInt && r != q.Cap()-n {
		t.Errorf("Remaining of a queue of capacity %d with %d items is %d", q.Cap(), n, r)
	}
}

func (o orderChecks) drainsInOrder(t testing.TB, make func() Queue) {
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
	expectEmpty(t, q)
}

func (o orderChecks) allYieldsItems(t testing.TB, make func() Queue) {
	q := make()
	want := o.sorted(fill(t, q))
	got := slices.Collect(q.All())
	if len(want) > 0 && (len(got) == 0 || got[0] != want[0]) {
		t.Errorf("All yields %v, want %v first", got, want[0])
	}
	for range q.All() { // the loop may end at any time
		break
	}
	byArrival := func(a, b Item) int { return cmp.Compare(a.Seq, b.Seq) }
	slices.SortFunc(got, byArrival)
	if !slices.Equal(got, slices.SortedFunc(slices.Values(want), byArrival)) {
		t.Errorf("All yields %v, want the items %v in any order", got, want)
	}
	expectItems(t, q, want)
}

func (o orderChecks) clear(t testing.TB, make func() Queue) {
	q := make()
	fill(t, q)
	q.Clear()
	expectEmpty(t, q)
	expectItems(t, q, o.sorted(fill(t, q)))
}

func (o orderChecks) panicInRemoveFunc(t testing.TB, make func() Queue) {
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
	// Some items may have been removed, but the rest must be in order.
	rest := slices.Collect(q.All())
	slices.SortFunc(rest, func(a, b Item) int { return cmp.Compare(a.Seq, b.Seq) })
	expectItems(t, q, o.sorted(rest))
}
