package repo

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/tests/internal/check"
	"github.com/executor-go/executor/tests/internal/testkit"
)

// The group of docs/migrating.md waits for tasks that submit more tasks. The
// first error, or panic, ends the rest, and the bodies have returned by then.
func TestMigratingGroup(t *testing.T) {
	boom := errors.New("boom")
	for name, fail := range map[string]func() error{
		"none": func() error { return nil }, "error": func() error { return boom }, "panic": func() error { panic(boom) },
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := testkit.Closing(t, executor.Fixed(3))
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var wg sync.WaitGroup
			submit := func(fn func(context.Context) error) {
				wg.Add(1)
				f := executor.Submit(ctx, pool, executor.Func(fn).Call)
				f.OnDone(func() {
					if err := f.Err(); err != nil {
						cancel(err)
					}
					wg.Done()
				})
			}
			var begun, inside atomic.Int64
			var visit func(depth int) func(context.Context) error
			visit = func(depth int) func(context.Context) error {
				return func(ctx context.Context) error {
					begun.Add(1)
					inside.Add(1)
					defer inside.Add(-1)
					if depth == 0 {
						time.Sleep(time.Minute) // ignores its context
						return nil
					}
					for range 3 {
						submit(visit(depth - 1))
					}
					if depth == 1 {
						return fail()
					}
					return nil
				}
			}
			submit(visit(4))
			wg.Wait()
			check.Equal(t, name+": inside", inside.Load(), 0)
			if err := context.Cause(ctx); name == "none" {
				check.Equal(t, "cause", err, nil)
				check.Equal(t, "begun", begun.Load(), 1+3+9+27+81)
			} else {
				check.Equal(t, "is boom", errors.Is(err, boom), true)
				if begun.Load() >= 1+3+9+27+81 {
					t.Error("all have run, whatever failed")
				}
			}
		})
	}
}

// The last of a burst of calls runs, and a run that has begun goes on, as
// docs/migrating.md says.
func TestMigratingBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := testkit.Closing(t, executor.Scheduled(2))
		start := time.Now()
		var ends []time.Duration
		var future *executor.Future[struct{}]
		for i := range 8 {
			if i > 0 {
				sched.Remove(future)
			}
			call := func(ctx context.Context) error {
				time.Sleep(time.Second)
				ends = append(ends, time.Since(start))
				return ctx.Err()
			}
			future = executor.SubmitAfter(t.Context(), sched, 2*time.Second, executor.Func(call).Call)
			time.Sleep(time.Second)
			synctest.Wait()
			if i == 3 { // the burst is over, and the next begins while the body runs
				time.Sleep(time.Second + time.Millisecond)
				synctest.Wait()
			}
		}
		_, err := future.Get(t.Context())
		check.Equal(t, "error", err, nil)
		check.Equal(t, "runs", len(ends), 2)
		check.Equal(t, "Failed", sched.Stats().Failed, 0)
	})
}

// Attempts at a fixed delay end with the first that succeeds, as docs/migrating.md
// says, and after so many in any case.
func TestMigratingAttempts(t *testing.T) {
	for succeeds, want := range map[int]int{3: 3, 9: 5} {
		synctest.Test(t, func(t *testing.T) {
			sched := testkit.Closing(t, executor.Scheduled(1))
			attempts := 0
			future, err := sched.WithFixedDelay(t.Context(), 0, time.Minute, func(context.Context) error {
				attempts++
				if attempts < succeeds {
					return errors.New("not yet")
				}
				return executor.ErrStop
			}, executor.Times(5))
			check.Equal(t, "error", err, nil)
			<-future.Done()
			check.Equal(t, "attempts", attempts, want)
		})
	}
}
