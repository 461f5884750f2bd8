package ctxgroup_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor/internal/ctxgroup"
)

type key struct{}

// recorder is a Set of integers, and those whose context has ended.
type recorder struct {
	ctxgroup.Set[int]
	mu    sync.Mutex
	ended []int
}

func newRecorder() *recorder {
	r := new(recorder)
	r.Ended = func(v int, ctx context.Context) {
		if ctx.Err() == nil {
			panic(fmt.Sprintf("the context of %d has not ended", v))
		}
		r.mu.Lock()
		r.ended = append(r.ended, v)
		r.mu.Unlock()
	}
	return r
}

func (r *recorder) add(v int, ctx context.Context) *ctxgroup.Member[int] {
	m := r.NewMember(v, ctx)
	r.Add(m, ctx.Done())
	return m
}

// take returns the values that have ended since the last call.
func (r *recorder) take() []int {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	ended := r.ended
	r.ended = nil
	return ended
}

// Members that share a Done channel end together, in the order in which they were
// added, and members of other contexts do not.
func TestSetEndsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		one, end := context.WithCancel(t.Context())
		two, end2 := context.WithCancel(t.Context())
		defer end2()
		for i := range 6 {
			ctx := one
			if i%3 == 2 {
				ctx = two
			}
			r.add(i, context.WithValue(ctx, key{}, i))
		}
		end()
		if got := r.take(); !slices.Equal(got, []int{0, 1, 3, 4}) {
			t.Errorf("%v have ended", got)
		}
	})
}

// A member that was removed does not end, and may be removed again.
func TestMemberRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		ctx, end := context.WithCancel(t.Context())
		first, second := r.add(1, ctx), r.add(2, ctx)
		r.add(3, ctx)
		second.Remove()
		second.Remove()
		first.Remove()
		end()
		if got := r.take(); !slices.Equal(got, []int{3}) {
			t.Errorf("%v have ended", got)
		}
	})
}

// A member whose context has ended before it was added ends as well.
func TestSetAddAfterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		ctx, end := context.WithCancel(t.Context())
		end()
		r.add(1, ctx)
		if got := r.take(); !slices.Equal(got, []int{1}) {
			t.Errorf("%v have ended", got)
		}
	})
}

// In a random course of additions, removals and ends each member ends exactly if its
// context ends while it is in the set.
func TestSetModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		type group struct {
			ctx     context.Context
			end     context.CancelFunc
			members map[int]*ctxgroup.Member[int]
		}
		open := func() *group {
			ctx, end := context.WithCancel(context.Background())
			return &group{ctx, end, map[int]*ctxgroup.Member[int]{}}
		}
		var groups []*group
		for range 2000 { // more than the map keeps room for
			groups = append(groups, open())
		}
		for i := range 20_000 {
			k := rand.IntN(len(groups))
			g := groups[k]
			switch rand.IntN(8) {
			default:
				g.members[i] = r.add(i, g.ctx)
			case 0, 1:
				for v, m := range g.members {
					m.Remove()
					delete(g.members, v)
					break
				}
			case 2:
				g.end()
				got := r.take()
				if len(got) != len(g.members) || !slices.IsSorted(got) {
					t.Fatalf("%d of %d members have ended: %v", len(got), len(g.members), got)
				}
				for _, v := range got {
					if g.members[v] == nil {
						t.Fatalf("%d has ended and is not in the group", v)
					}
				}
				groups[k] = open()
			}
		}
		for _, g := range groups {
			g.end()
		}
		r.take()
	})
}

// A context may end while members are added and removed by several goroutines. Each
// that is not removed ends.
func TestSetRace(t *testing.T) {
	for range 200 {
		var ended sync.WaitGroup
		var set ctxgroup.Set[int]
		set.Ended = func(v int, _ context.Context) {
			if v%2 == 1 {
				ended.Done()
			}
		}
		ctx, end := context.WithCancel(context.Background())
		ended.Add(4 * 10)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range 20 {
					m := set.NewMember(i, ctx)
					set.Add(m, ctx.Done())
					if i%2 == 0 {
						m.Remove()
					}
				}
			})
		}
		wg.Go(end)
		wg.Wait()
		ended.Wait()
	}
}

// AddOrEnd calls Ended at once for a context that has ended, but not before members of the same context.
func TestSetAddOrEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []int
		proceed := make(chan struct{})
		s := ctxgroup.Set[int]{Ended: func(i int, _ context.Context) {
			if i == 0 {
				<-proceed
			}
			order = append(order, i)
		}}
		ctx, cancel := context.WithCancel(t.Context())
		s.AddOrEnd(s.NewMember(0, ctx), ctx.Done())
		cancel()
		synctest.Wait()
		s.AddOrEnd(s.NewMember(1, ctx), ctx.Done())
		close(proceed)
		synctest.Wait()
		s.AddOrEnd(s.NewMember(2, ctx), ctx.Done())
		if want := []int{0, 1, 2}; !slices.Equal(order, want) {
			t.Errorf("Ended was called for %v, want %v", order, want)
		}
	})
}
