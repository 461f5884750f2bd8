package ctxgroup

import (
	"context"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// Call is called for all values, those of a goroutine in order, and by one goroutine at a time.
func TestSoonCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5_000
		got := make([][]int, 2)
		s := Soon[[2]int]{Call: func(v [2]int) { got[v[0]] = append(got[v[0]], v[1]) }}
		var wg sync.WaitGroup
		for by := range got {
			wg.Go(func() {
				for i := range n {
					s.Add([2]int{by, i})
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		for by, is := range got {
			if len(is) != n || !slices.IsSorted(is) {
				t.Errorf("%d calls for goroutine %d, in order: %v", len(is), by, slices.IsSorted(is))
			}
		}
	})
}

// A value that is added when there is no goroutine any more, or by Call, is not forgotten.
func TestSoonCallsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		var s Soon[int]
		s.Call = func(i int) {
			if got = append(got, i); i%2 == 1 {
				s.Add(i + 1)
			}
		}
		for i := 1; i < 10; i += 2 {
			s.Add(i)
			synctest.Wait()
		}
		if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(got, want) {
			t.Errorf("calls for %v, want %v", got, want)
		}
	})
}

// Nothing is retained of values once Call was called for all, and little room.
func TestSoonRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Soon[*int]{Call: func(*int) {}}
		for range 3 {
			for range 2 * keptValues {
				s.Add(new(int))
			}
			synctest.Wait()
		}
		if kept := cap(s.added) + cap(s.values); kept > 4*keptValues {
			t.Errorf("room is kept for %d values", kept)
		}
		for _, v := range s.added[:cap(s.added)] {
			if v != nil {
				t.Fatal("a value is retained")
			}
		}
	})
}

// The goroutine that makes the calls has no labels of the one that added the first value: it serves others, too.
func TestSoonHasNoLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var profile strings.Builder
		s := Soon[int]{Call: func(int) {
			if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
				t.Error(err)
			}
		}}
		pprof.Do(t.Context(), pprof.Labels("request", "of the first"), func(context.Context) { s.Add(1) })
		synctest.Wait()
		if strings.Contains(profile.String(), "of the first") {
			t.Errorf("the goroutine has the labels of the one that added a value:\n%s", profile.String())
		}
	})
}
