package executor_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// These tests are about what comes while all workers are at work: it does not
// meet them, and is put in its place when one of them looks for its next task.

// delays are ways in which the times of tasks follow each other.
var delays = map[string]func(r *rand.Rand, i int) time.Duration{
	"none":           func(*rand.Rand, int) time.Duration { return 0 },
	"equal":          func(*rand.Rand, int) time.Duration { return time.Second },
	"growing":        func(_ *rand.Rand, i int) time.Duration { return time.Duration(i) },
	"shrinking":      func(_ *rand.Rand, i int) time.Duration { return time.Hour - time.Duration(i) },
	"random":         func(r *rand.Rand, _ int) time.Duration { return time.Duration(r.IntN(500)) },
	"random or none": func(r *rand.Rand, _ int) time.Duration { return time.Duration(max(0, r.IntN(1000)-500)) },
}

// booking is a task that was scheduled while the workers were busy.
type booking struct {
	due time.Time
	seq int
	*executor.ScheduledFuture[struct{}]
}

// bookings schedules n tasks with one way of delays, some at one instant and some
// later; each notes its run.
func bookings(t *testing.T, p *executor.ScheduledPool, n int, delay func(*rand.Rand, int) time.Duration) (all []booking, ran func() []int) {
	var mu sync.Mutex
	var order []int
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		if r.IntN(20) == 0 {
			time.Sleep(10 * time.Nanosecond)
		}
		d := delay(r, i)
		f := executor.Schedule(t.Context(), p, d, func(context.Context) (struct{}, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, i)
			return struct{}{}, nil
		})
		all = append(all, booking{time.Now().Add(d), i, f})
	}
	return all, func() []int { mu.Lock(); defer mu.Unlock(); return slices.Clone(order) }
}

// What comes while the workers are busy runs in the order of the times, equal
// ones in the order in which they came, whether it is due when a worker is free
// or later.
func TestBusyWorkersKeepTheOrder(t *testing.T) {
	for name, delay := range delays {
		for _, late := range []time.Duration{0, 250 * time.Nanosecond, 2 * time.Hour} {
			t.Run(name+"/"+late.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := scheduled(t, 1)
					free := testkit.Occupy(t, p)
					all, ran := bookings(t, p, 3000, delay)
					time.Sleep(late)
					free()
					for _, b := range all {
						if _, err := b.Get(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					slices.SortFunc(all, func(a, b booking) int {
						return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.seq, b.seq))
					})
					for i, seq := range ran() {
						if all[i].seq != seq {
							t.Fatalf("task %d ran as number %d, and task %d belongs there", seq, i, all[i].seq)
						}
					}
				})
			})
		}
	}
}

// What comes while the workers are busy is counted and can be canceled at once.
func TestBusyWorkersDoNotHideTasks(t *testing.T) {
	for name, delay := range delays {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 2500
				p := scheduled(t, 1)
				free := testkit.Occupy(t, p)
				all, ran := bookings(t, p, n, delay)
				if s := p.Stats(); s.Queued != n || s.Submitted != n+1 {
					t.Errorf("%d queued and %d submitted, want %d and one more", s.Queued, s.Submitted, n)
				}
				left := n
				for i := 0; i < n; i += 3 {
					all[i].Cancel()
					left--
				}
				if s := p.Stats(); s.Queued != left || s.Canceled != int64(n-left) {
					t.Errorf("%d queued and %d canceled, want %d and %d", s.Queued, s.Canceled, left, n-left)
				}
				free()
				p.Close()
				for _, i := range ran() {
					if i%3 == 0 {
						t.Errorf("task %d was canceled, and ran", i)
					}
				}
				if len(ran()) != left {
					t.Errorf("%d tasks ran, want %d", len(ran()), left)
				}
			})
		})
	}
}

// What comes while the workers are busy is given back by ShutdownNow.
func TestBusyWorkersTasksAreGivenBack(t *testing.T) {
	for name, delay := range delays {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 1500
				p := scheduled(t, 1)
				free := testkit.Occupy(t, p)
				_, ran := bookings(t, p, n, delay)
				if unrun := p.ShutdownNow(); len(unrun) != n {
					t.Errorf("%d tasks were given back, want %d", len(unrun), n)
				}
				free()
				p.Close()
				if len(ran()) > 0 {
					t.Errorf("%d tasks ran", len(ran()))
				}
			})
		})
	}
}

// A task that waits for the wall clock runs in its turn among those that came
// while the workers were busy.
func TestBusyWorkersAndTheTimeOfDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		free := testkit.Occupy(t, p)
		var order []string
		note := func(s string) func(context.Context) (struct{}, error) {
			return func(context.Context) (struct{}, error) { order = append(order, s); return struct{}{}, nil }
		}
		ctx := t.Context()
		executor.Schedule(ctx, p, 3*time.Second, note("third"))
		executor.At(ctx, p, time.Now().Add(2*time.Second), note("second"))
		executor.Schedule(ctx, p, time.Second, note("first"))
		executor.At(ctx, p, time.Now().Add(time.Minute), note("last"))
		executor.Schedule(ctx, p, 30*time.Second, note("fourth"))
		time.Sleep(10 * time.Second)
		free()
		p.Close()
		if want := []string{"first", "second", "third", "fourth", "last"}; !slices.Equal(order, want) {
			t.Errorf("they ran in the order %v, want %v", order, want)
		}
	})
}
