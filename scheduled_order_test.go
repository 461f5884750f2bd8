package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Tasks run in the order of their times, in whatever order they came.
func TestScheduledOrderOfTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		for _, s := range []int{3, 1, 2} {
			executor.Schedule(t.Context(), p, time.Duration(s)*time.Second, d.Value(fmt.Sprint(s)))
		}
		elapse(time.Minute)
		d.Check(t, "1@1s", "2@2s", "3@3s")
	})
}

// Tasks with the same time run in the order in which they were submitted, by
// whatever way they came.
func TestScheduledOrderOfEqualTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		ctx := t.Context()
		var want []string
		for i := range 24 {
			name := fmt.Sprint(i)
			switch i % 6 {
			case 0:
				p.Execute(ctx, executor.Func(d.Func(name)))
			case 1:
				executor.Schedule(ctx, p, 0, d.Value(name))
			case 2:
				p.Go(ctx, d.Func(name))
			case 3:
				executor.Submit(ctx, p, d.Value(name))
			case 4:
				p.AtFixedRate(ctx, 0, time.Hour, d.Func(name), executor.Times(1))
			case 5:
				p.WithFixedDelay(ctx, -time.Second, time.Hour, d.Func(name), executor.Times(1))
			}
			want = append(want, name+"@0s")
		}
		release()
		d.Check(t, want...)
	})
}

// Tasks with the same time in the future run in the order of submission, too,
// though they were submitted at different times.
func TestScheduledOrderOfEqualTimesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var want []string
		for i := range 50 {
			name := fmt.Sprint(i)
			executor.Schedule(t.Context(), p, time.Second-time.Duration(i), d.Value(name))
			want = append(want, name+"@1s")
			elapse(1)
		}
		elapse(time.Minute)
		d.Check(t, want...)
	})
}

// A time of day and a delay that end at the same instant are times on two
// clocks: only those on the same one run in the order of submission.
func TestScheduledOrderOfBothClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		at := time.Now().Add(time.Second)
		executor.At(t.Context(), p, at, d.Value("a"))
		executor.Schedule(t.Context(), p, time.Second, d.Value("b"))
		executor.At(t.Context(), p, at, d.Value("c"))
		executor.Schedule(t.Context(), p, time.Second, d.Value("d"))
		elapse(time.Minute)
		d.Check(t, "b@1s", "d@1s", "a@1s", "c@1s")
	})
}

// A worker that comes late to several tasks takes them in the order of their
// times, those of the wall clock among the others.
func TestScheduledOrderOfOverdueTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		now := time.Now()
		ctx := t.Context()
		executor.At(ctx, p, now.Add(40*time.Millisecond), d.Value("wall40"))
		executor.Schedule(ctx, p, 30*time.Millisecond, d.Value("mono30"))
		executor.Schedule(ctx, p, 10*time.Millisecond, d.Value("mono10"))
		executor.At(ctx, p, now.Add(20*time.Millisecond), d.Value("wall20"))
		elapse(time.Second)
		p.Go(ctx, d.Func("now"))
		release()
		d.Check(t, "mono10@1s", "wall20@1s", "mono30@1s", "wall40@1s", "now@1s")
	})
}

// Any number of tasks with any delays run in the order (time, submission), each
// at its time.
func TestScheduledOrderOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		type due struct {
			at   time.Duration
			name string
		}
		var all []due
		for i := range 2000 {
			at := time.Duration(rand.IntN(300)) * time.Millisecond
			all = append(all, due{at, fmt.Sprint(i)})
			executor.Schedule(t.Context(), p, at, d.Value(fmt.Sprint(i)))
			synctest.Wait() // a task without delay runs before the next is there
		}
		slices.SortStableFunc(all, func(a, b due) int { return int(a.at - b.at) })
		var want []string
		for _, x := range all {
			want = append(want, fmt.Sprint(x.name, "@", x.at))
		}
		elapse(time.Second)
		d.Check(t, want...)
	})
}

// With many workers tasks start at their times, each worker being woken for as
// many tasks as are due.
func TestScheduledManyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 5)
		start := time.Now()
		for i := range 20 {
			due := time.Duration(1+i/5) * time.Second
			executor.Schedule(t.Context(), p, due, func(context.Context) (int, error) {
				if late := time.Since(start) - due; late != 0 {
					t.Errorf("a task due at %v is late by %v", due, late)
				}
				time.Sleep(time.Second)
				return 0, nil
			})
		}
		elapse(time.Minute)
		if s := p.Stats(); s.Succeeded != 20 {
			t.Errorf("%d of 20 tasks ran", s.Succeeded)
		}
	})
}
