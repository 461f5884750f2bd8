package list_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/executor-go/executor/internal/list"
)

// A list has the elements of a slice that is changed in the same way, in both
// directions.
func TestListModel(t *testing.T) {
	var l list.List[int]
	var want []*list.Node[int]
	for i := range 10_000 {
		switch k := rand.IntN(5); {
		case k == 0:
			want = append(want, &list.Node[int]{Value: i})
			l.PushBack(want[len(want)-1])
		case k < 3:
			n, at := &list.Node[int]{Value: i}, rand.IntN(len(want)+1)
			if at == 0 {
				l.InsertAfter(n, nil)
			} else {
				l.InsertAfter(n, want[at-1])
			}
			want = slices.Insert(want, at, n)
		case len(want) > 0:
			at := rand.IntN(len(want))
			l.Remove(want[at])
			if n := want[at]; n.Next() != nil || n.Prev() != nil {
				t.Fatal("a removed node leads to others")
			}
			want = slices.Delete(want, at, at+1)
		}
		var forth, back []*list.Node[int]
		for n := l.First(); n != nil; n = n.Next() {
			forth = append(forth, n)
		}
		for n := l.Last(); n != nil; n = n.Prev() {
			back = append(back, n)
		}
		slices.Reverse(back)
		if !slices.Equal(forth, want) || !slices.Equal(back, want) {
			t.Fatalf("step %d: forth %v, back %v, want %v", i, forth, back, want)
		}
		if len(want) > 20 {
			want = nil
			l = list.List[int]{}
		}
	}
}
