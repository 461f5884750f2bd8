package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Wait returns once all functions have returned, also those that a function has added.
func TestGroupWaitsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(2)
		defer pool.Close()
		g := executor.NewGroup(t.Context(), pool)
		var ran atomic.Int32
		work := func(context.Context) error {
			time.Sleep(time.Second)
			ran.Add(1)
			return nil
		}
		for range 3 {
			g.Go(work)
		}
		g.Go(func(ctx context.Context) error {
			g.Go(work)
			return work(ctx)
		})
		if err := g.Wait(); err != nil || ran.Load() != 5 {
			t.Errorf("%d functions have returned, error %v; want 5, nil", ran.Load(), err)
		}
	})
}

// The first function that fails ends the context of the others, with its error as the
// cause, and is the error of the group; functions that wait never run.
func TestGroupFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(2)
		defer pool.Close()
		g := executor.NewGroup(t.Context(), pool)
		failure := errors.New("no disk")
		var cause error
		g.Go(func(ctx context.Context) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Minute) // its clean-up; Wait waits for it
			return ctx.Err()
		})
		g.Go(func(context.Context) error { time.Sleep(time.Second); return failure })
		g.Go(func(context.Context) error { t.Error("a function has begun after the failure"); return nil })
		began := time.Now()
		if err := g.Wait(); err != failure {
			t.Errorf("error %v, want %v", err, failure)
		}
		if took := time.Since(began); took != time.Minute+time.Second {
			t.Errorf("Wait took %v: it has not waited for the function that cleans up", took)
		}
		if !errors.Is(cause, failure) {
			t.Errorf("the context has ended because of %v, want %v", cause, failure)
		}
	})
}

// What is added to a group that has failed does not run, and does not change the error.
func TestGroupGoAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		defer pool.Close()
		g := executor.NewGroup(t.Context(), pool)
		failure := errors.New("no disk")
		g.Go(func(context.Context) error { return failure })
		synctest.Wait()
		g.Go(func(context.Context) error { t.Error("it has run"); return nil })
		if err := g.Wait(); err != failure {
			t.Errorf("error %v, want %v", err, failure)
		}
	})
}

// The end of the caller's context fails the group, and a panic does, a nil function, an
// option that is out of range, and a rejection.
func TestGroupFailures(t *testing.T) {
	for name, test := range map[string]struct {
		add  func(g *executor.Group, cancel func())
		want func(error) bool
	}{
		"context": {func(g *executor.Group, cancel func()) {
			g.Go(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			cancel()
		}, func(err error) bool { return errors.Is(err, context.Canceled) }},
		"panic": {func(g *executor.Group, _ func()) {
			g.Go(func(context.Context) error { panic("boom") })
		}, func(err error) bool { return errors.As(err, new(*executor.PanicError)) }},
		"nil function": {func(g *executor.Group, _ func()) { g.Go(nil) }, func(err error) bool { return errors.Is(err, executor.ErrNilTask) }},
		"option": {func(g *executor.Group, _ func()) {
			g.Go(func(context.Context) error { return nil }, executor.Timeout(-1))
		}, func(err error) bool { return errors.Is(err, executor.ErrInvalid) }},
		"rejection": {func(g *executor.Group, _ func()) {
			for range 3 {
				g.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
			}
		}, func(err error) bool { return errors.Is(err, executor.ErrSaturated) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool, err := executor.New(executor.Config{Core: 1, Queue: executor.Bounded(1)})
				if err != nil {
					t.Fatal(err)
				}
				defer pool.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				g := executor.NewGroup(ctx, pool)
				test.add(g, cancel)
				if err := g.Wait(); !test.want(err) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// A group ends though its pool is shut down and its tasks never run.
func TestGroupEndsWithPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		g := executor.NewGroup(t.Context(), pool)
		for range 5 {
			g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil })
		}
		synctest.Wait()
		pool.ShutdownNow()
		if err := g.Wait(); !errors.Is(err, executor.ErrShutdown) {
			t.Errorf("error %v", err)
		}
	})
}

// Groups in groups need no more workers than there are: a task that waits runs what no
// worker has begun.
func TestGroupNested(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(workers)
				defer pool.Close()
				var leaves, active, most atomic.Int32
				var tree func(ctx context.Context, depth int) error
				tree = func(ctx context.Context, depth int) error {
					if depth == 0 {
						for n := active.Add(1); n > most.Load(); {
							most.Store(n)
						}
						time.Sleep(time.Millisecond)
						active.Add(-1)
						leaves.Add(1)
						return nil
					}
					g := executor.NewGroup(ctx, pool)
					for range 3 {
						g.Go(func(ctx context.Context) error { return tree(ctx, depth-1) })
					}
					return g.Wait()
				}
				if err := tree(t.Context(), 4); err != nil || leaves.Load() != 81 {
					t.Errorf("%d leaves, error %v; want 81, nil", leaves.Load(), err)
				}
				if n := int(most.Load()); n > workers {
					t.Errorf("%d functions ran at once on %d workers", n, workers)
				}
			})
		})
	}
}

// All returns the results in the order of the functions, or the first error.
func TestAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(4)
		defer pool.Close()
		var fns []func(context.Context) (int, error)
		for i := range 10 {
			fns = append(fns, func(context.Context) (int, error) {
				time.Sleep(time.Duration(10-i) * time.Second)
				return i * i, nil
			})
		}
		got, err := executor.All(t.Context(), pool, fns...)
		if want := []int{0, 1, 4, 9, 16, 25, 36, 49, 64, 81}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
		failure := errors.New("no disk")
		got, err = executor.All(t.Context(), pool, append(fns, func(context.Context) (int, error) { return 1, failure })...)
		if got != nil || err != failure {
			t.Errorf("%v, %v; want nil, %v", got, err, failure)
		}
		if got, err = executor.All(t.Context(), pool, fns[0], nil); got != nil || err != executor.ErrNilTask {
			t.Errorf("%v, %v; want nil, %v", got, err, executor.ErrNilTask)
		}
		if got, err = executor.All[int](t.Context(), pool); len(got) != 0 || err != nil {
			t.Errorf("no functions: %v, %v", got, err)
		}
	})
}

// However the ends of tasks and that of their context meet, Wait returns when the last
// body has returned, and no sooner.
func TestGroupStress(t *testing.T) {
	pool := executor.Fixed(4)
	defer pool.Close()
	failure := errors.New("one of them")
	for round := range 500 {
		ctx, cancel := context.WithCancel(t.Context())
		g := executor.NewGroup(ctx, pool)
		var inside atomic.Int32
		for i := range 20 {
			g.Go(func(context.Context) error {
				inside.Add(1)
				defer inside.Add(-1)
				if i == round%40 {
					return failure
				}
				return nil
			})
			if i == round%29 {
				go cancel()
			}
		}
		g.Wait()
		if n := inside.Load(); n != 0 {
			t.Fatalf("round %d: %d bodies have not returned", round, n)
		}
		cancel()
	}
}

// A task may wait for tasks of its own pool by InvokeAll, InvokeAny and Completed, even
// on the only worker, and in a tree: it runs what no worker has begun.
func TestInvokeInOwnPool(t *testing.T) {
	add := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { time.Sleep(time.Second); return n, nil }
	}
	for name, call := range map[string]func(ctx context.Context, ex executor.Executor) (int, error){
		"InvokeAll": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for _, f := range executor.InvokeAll(ctx, ex, add(1), add(2), add(3)) {
				v, e := f.Get(ctx)
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
		"InvokeAny": func(ctx context.Context, ex executor.Executor) (int, error) {
			failure := func(context.Context) (int, error) { return 0, errors.New("no") }
			return executor.InvokeAny(ctx, ex, failure, failure, add(6))
		},
		"Completed": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for f := range executor.Completed(executor.SubmitAll(ctx, ex, add(1), add(2), add(3))...) {
				v, e := f.Result()
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
	} {
		for where, ex := range map[string]func() (executor.Executor, func()){
			"Single":          func() (executor.Executor, func()) { p := executor.Single(); return p, p.Close },
			"Fixed(3)":        func() (executor.Executor, func()) { p := executor.Fixed(3); return p, p.Close },
			"SingleScheduled": func() (executor.Executor, func()) { p := executor.SingleScheduled(); return p, p.Close },
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ex, end := ex()
					defer end()
					nested := func(ctx context.Context) (int, error) {
						outer := executor.InvokeAll(ctx, ex, func(ctx context.Context) (int, error) { return call(ctx, ex) })
						return outer[0].Get(ctx)
					}
					if sum, err := executor.Submit(t.Context(), ex, nested).Get(t.Context()); sum != 6 || err != nil {
						t.Errorf("%d, %v; want 6", sum, err)
					}
				})
			})
		}
	}
}

// A goroutine that is no task of the pool runs nothing of it: Single stays in order.
func TestInvokeAllOutsideRunsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		inside := 0
		fn := func(context.Context) (int, error) {
			inside++
			if inside > 1 {
				t.Error("two tasks of a pool with one worker run at once")
			}
			time.Sleep(time.Second)
			inside--
			return 0, nil
		}
		executor.InvokeAll(t.Context(), pool, fn, fn, fn)
	})
}

// Completed does not run what is not due yet.
func TestCompletedKeepsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := executor.Scheduled(2)
		defer sched.Close()
		began := time.Now()
		_, err := executor.Submit(t.Context(), sched, func(ctx context.Context) (int, error) {
			f := executor.Schedule(ctx, sched, time.Hour, func(context.Context) (int, error) { return 0, nil })
			for range executor.Completed(&f.Future) {
			}
			return 0, nil
		}).Get(t.Context())
		if took := time.Since(began); err != nil || took < time.Hour {
			t.Errorf("it ran after %v, error %v", took, err)
		}
	})
}
