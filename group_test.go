package executor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit/check"
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

// What is added to a group whose context has ended is not passed on: an Executor need not run a task whose
// context has ended.
func TestGroupGoAfterEndOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	passed := 0
	g := executor.NewGroup(ctx, runs(func(context.Context, executor.Runnable) { passed++ }))
	cancel()
	g.Go(nop)
	expectIs(t, "Wait", g.Wait(), context.Canceled)
	expect(t, "passed on", passed, 0)
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
		"nil function": {func(g *executor.Group, _ func()) { g.Go(nil) }, func(err error) bool { return errors.Is(err, executor.ErrInvalid) }},
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
				pool, err := executor.New(executor.Config{Workers: 1, Queue: executor.Bounded(1)})
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

// What of a group waits has its name, and leaves the pool at once when the group has failed, even if a hook panics.
func TestGroupTaskLeavesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dropped atomic.Int32
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler), Hooks: executor.Hooks{
			Dropped: func(_ context.Context, info executor.TaskInfo, err error) {
				if info.Name != "mail" || !errors.Is(err, executor.ErrCanceled) {
					t.Errorf("dropped %q: %v", info.Name, err)
				}
				dropped.Add(1)
				panic("no")
			},
		}})
		release := make(chan struct{})
		pool.Go(t.Context(), func(context.Context) error { <-release; return nil })
		for name, parent := range map[string]context.Context{"background": context.Background(), "test": t.Context()} {
			g := executor.NewGroup(parent, pool)
			for range 100 {
				g.Go(func(context.Context) error { t.Error("it has run"); return nil }, executor.Named("mail"))
			}
			for r := range pool.Waiting() {
				if named, ok := r.(interface{ Name() string }); !ok || named.Name() != "mail" {
					t.Fatalf("%v waits, want a task with the name mail", r)
				}
			}
			g.Go(nil)
			synctest.Wait()
			if s := pool.Stats(); s.Queued != 0 || dropped.Swap(0) != 100 {
				t.Errorf("%s: %d wait", name, s.Queued)
			}
			if err := g.Wait(); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%s: error %v, want %v", name, err, executor.ErrInvalid)
			}
		}
		close(release)
	})
}

// A function with Retry that fails is called again, and fails the group with its last attempt.
func TestGroupRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for attempts, want := range map[int]error{2: errTask, 3: nil} {
			pool := executor.Single()
			g := executor.NewGroup(t.Context(), pool)
			calls, began := 0, time.Now()
			g.Go(func(context.Context) error {
				if calls++; calls < 3 {
					return errTask
				}
				return nil
			}, executor.Retry(attempts, seconds))
			if err := g.Wait(); err != want || calls != attempts {
				t.Errorf("%d attempts: %v after %d, want %v", attempts, err, calls, want)
			}
			expect(t, "Wait", time.Since(began), time.Duration(attempts*(attempts-1)/2)*time.Second)
			pool.Close()
		}
	})
}

// A failure of the group ends the wait for the next attempt, and Wait waits for one that runs.
func TestGroupRetriesFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(3)
		defer pool.Close()
		g := executor.NewGroup(t.Context(), pool)
		hour := executor.Retry(3, func(int) time.Duration { return time.Hour })
		waits, running := 0, false
		g.Go(func(context.Context) error { waits++; return errTask }, hour)
		g.Go(func(ctx context.Context) error {
			running = true
			<-ctx.Done()
			time.Sleep(time.Minute)
			running = false
			return ctx.Err()
		}, hour)
		failure := errors.New("no disk")
		g.Go(func(context.Context) error { time.Sleep(time.Second); return failure })
		began := time.Now()
		if err := g.Wait(); err != failure {
			t.Errorf("error %v, want %v", err, failure)
		}
		expect(t, "running", running, false)
		expect(t, "attempts", waits, 1)
		expect(t, "Wait", time.Since(began), time.Minute+time.Second)
	})
}

// A task of the pool that waits for a group runs the attempts that no worker has begun, and a
// Map does.
func TestGroupRetriesNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		retry := executor.Retry(2, func(int) time.Duration { return time.Second })
		once := func() func(context.Context, int) (int, error) {
			failed := map[int]bool{}
			return func(_ context.Context, i int) (int, error) {
				if !failed[i] {
					failed[i] = true
					return 0, errTask
				}
				return i, nil
			}
		}
		n, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (sum int, err error) {
			g := executor.NewGroup(ctx, pool)
			fn := once()
			for i := range 5 {
				g.Go(func(ctx context.Context) error {
					v, err := fn(ctx, i)
					sum += v
					return err
				}, retry)
			}
			if err := g.Wait(); err != nil {
				return 0, err
			}
			for v, err := range executor.Map(ctx, pool, 3, slices.Values([]int{10, 20, 30}), once(), retry) {
				if err != nil {
					return 0, err
				}
				sum += v
			}
			return sum, nil
		}).Get(t.Context())
		expect(t, "error", err, nil)
		expect(t, "sum", n, 70)
	})
}

// A policy may give a task of a group to another pool, and an executor of the user's may run it, or
// forget it: the group waits as long as it may run.
func TestGroupTaskElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := executor.Fixed(1)
		defer other.Close()
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1), Reject: executor.RejectFunc(
			func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error { return other.Execute(ctx, r) })})
		for name, c := range map[string]struct {
			ex   executor.Executor
			runs int32
			want error
		}{
			"policy":    {pool, 5, nil},
			"goroutine": {runs(func(ctx context.Context, r executor.Runnable) { go r.Run(ctx) }), 5, nil},
			"at once":   {runs(func(ctx context.Context, r executor.Runnable) { r.Run(ctx) }), 5, nil},
			"twice":     {runs(func(ctx context.Context, r executor.Runnable) { r.Run(ctx); go r.Run(ctx) }), 5, nil},
			"forgotten": {runs(func(context.Context, executor.Runnable) {}), 0, context.DeadlineExceeded},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			g := executor.NewGroup(ctx, c.ex)
			var ran atomic.Int32
			for range 5 {
				g.Go(func(context.Context) error { time.Sleep(time.Second); ran.Add(1); return nil })
			}
			if err := g.Wait(); !errors.Is(err, c.want) || ran.Load() != c.runs {
				t.Errorf("%s: %v, and %d have run; want %v, %d", name, err, ran.Load(), c.want, c.runs)
			}
			cancel()
		}
	})
}

// runs is an executor that accepts all tasks.
type runs func(context.Context, executor.Runnable)

func (f runs) Execute(ctx context.Context, r executor.Runnable) error { f(ctx, r); return nil }

// A group that is used for long retains no task that is over.
func TestGroupReleasesTasks(t *testing.T) {
	pool := executor.Fixed(1)
	defer pool.Close()
	g := executor.NewGroup(t.Context(), pool)
	var bodies []weak.Pointer[[1 << 10]byte]
	for range 10 {
		big := new([1 << 10]byte)
		bodies = append(bodies, weak.Make(big))
		done := make(chan struct{})
		g.Go(func(context.Context) error { defer close(done); big[0] = 1; return nil })
		<-done
	}
	for _, b := range bodies {
		check.Collected(t, "what a function refers to", b)
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// A function of a group takes one allocation, and a group a few.
func TestGroupAllocations(t *testing.T) {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()
	nop := func(context.Context) error { return nil }
	for _, n := range []int{1, 8} {
		if got := testing.AllocsPerRun(200, func() {
			g := executor.NewGroup(ctx, pool)
			for range n {
				g.Go(nop)
			}
			g.Wait()
		}); got > float64(5+n) {
			t.Errorf("%v allocations for a group of %d, want %d", got, n, 5+n)
		}
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
		fail := func(context.Context) (int, error) { return 1, failure }
		got, err = executor.All(t.Context(), pool, append(fns, fail)...)
		if got != nil || err != failure {
			t.Errorf("%v, %v; want nil, %v", got, err, failure)
		}
		if got, err = executor.All(t.Context(), pool, fns[0], nil); got != nil || !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%v, %v; want nil, %v", got, err, executor.ErrInvalid)
		}
		if got, err = executor.All[int](t.Context(), pool); len(got) != 0 || err != nil {
			t.Errorf("no functions: %v, %v", got, err)
		}
	})
}

// A task of the pool may wait, and run what waits, while other tasks add functions.
func TestGroupGoWhileWaiting(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 4})
	for range 50 {
		var ran atomic.Int64
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			g := executor.NewGroup(ctx, pool)
			for range 3 {
				g.Go(func(context.Context) error {
					for range 20 {
						g.Go(func(context.Context) error { ran.Add(1); return nil })
					}
					return nil
				})
			}
			return 0, g.Wait()
		})
		if _, err := f.Get(t.Context()); err != nil || ran.Load() != 60 {
			t.Fatalf("%d functions have run, and the group ends with %v", ran.Load(), err)
		}
	}
}

// A task of the pool that waits already runs what a function adds, if no worker has begun it: where there is no
// room for it, where the other worker goes on with a task that waits for the one that waits, and between
// two attempts of another function.
func TestGroupGoWhileTaskWaits(t *testing.T) {
	once := executor.Retry(2, func(int) time.Duration { return time.Hour })
	for name, c := range map[string]struct {
		queue  executor.Queue
		behind bool // there is a task before the function that is added
	}{
		"no room":       {queue: executor.Handoff()},
		"behind a task": {queue: executor.Unbounded(), behind: true},
	} {
		for _, retries := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", retries), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := newPool(t, executor.Config{Workers: 2, Queue: c.queue})
					f := pool.Submit(t.Context(), func(ctx context.Context) error {
						g := executor.NewGroup(ctx, pool)
						g.Go(func(context.Context) error {
							time.Sleep(time.Second)
							g.Go(nop)
							return nil
						})
						time.Sleep(time.Millisecond) // the other worker has that
						if failure := errTask; retries {
							g.Go(func(context.Context) (err error) { err, failure = failure, nil; return err }, once)
						}
						return g.Wait()
					})
					elapse(2 * time.Millisecond)
					if c.behind {
						other := pool.Submit(t.Context(), func(ctx context.Context) error { return f.Wait(ctx) })
						defer other.Cancel()
					}
					elapse(2 * time.Hour)
					expect(t, "outcome", f.Err(), nil)
				})
			})
		}
	}
}

// A task that waits does not begin what waits once the context has ended.
func TestGroupTaskThatWaitsHeedsContext(t *testing.T) {
	for name, opts := range map[string][]executor.Option{
		"once": nil, "with Retry": {executor.Retry(2, func(int) time.Duration { return 0 })},
	} {
		pool := newPool(t, executor.Config{Workers: 1})
		ran := 0
		f := pool.Submit(t.Context(), func(ctx context.Context) error {
			g := executor.NewGroup(ctx, pool)
			for range 5 {
				g.Go(func(context.Context) error { ran++; return executor.Permanent(errTask) }, opts...)
			}
			return g.Wait()
		})
		expectIs(t, name, f.Wait(t.Context()), errTask)
		expect(t, name+": functions that have run", ran, 1)
	}
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

// count yields 0 to n-1, and notes how many were asked for.
func count(n int, asked *int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			*asked++
			if !yield(i) {
				return
			}
		}
	}
}

// Map yields results in the order of the values, whatever time each takes.
func TestMapKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(4)
		defer pool.Close()
		var got []int
		var asked int
		body := func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(i*7%5) * time.Second)
			return i * 10, nil
		}
		for v, err := range executor.Map(t.Context(), pool, 8, count(50, &asked), body) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if len(got) != 50 || !slices.IsSorted(got) {
			t.Errorf("%v", got)
		}
	})
}

// MapUnordered yields results as they come.
func TestMapUnorderedYieldsSoonestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(3)
		defer pool.Close()
		var got []int
		body := func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(i) * time.Second)
			return i, nil
		}
		for v, err := range executor.MapUnordered(t.Context(), pool, 3, slices.Values([]int{5, 1, 3, 1}), body) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if want := []int{1, 1, 3, 5}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// mapping is the type of Map and MapUnordered.
type mapping = func(context.Context, executor.Executor, int, iter.Seq[int],
	func(context.Context, int) (int, error), ...executor.Option) iter.Seq2[int, error]

var bothMaps = map[string]mapping{
	"Map": executor.Map[int, int], "MapUnordered": executor.MapUnordered[int, int],
}

// No more values are asked for than may be in flight, beside those that were yielded.
func TestMapBoundsFlight(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(2)
				defer pool.Close()
				var asked, yielded int
				identity := func(_ context.Context, i int) (int, error) { return i, nil }
				for range apply(t.Context(), pool, 5, count(100, &asked), identity) {
					yielded++
					synctest.Wait()
					if asked > yielded+5 {
						t.Fatalf("%d values were asked for when %d were yielded", asked, yielded)
					}
				}
				if yielded != 100 {
					t.Errorf("%d were yielded", yielded)
				}
			})
		})
	}
}

// Leaving the loop ends the context of what is in flight, and waits for it.
func TestMapEndsEarly(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(3)
				defer pool.Close()
				var asked int
				var inside atomic.Int32
				body := func(ctx context.Context, i int) (int, error) {
					inside.Add(1)
					defer inside.Add(-1)
					if i > 0 {
						<-ctx.Done()
						time.Sleep(time.Second)
					}
					return i, nil
				}
				for range apply(t.Context(), pool, 10, count(1000, &asked), body) {
					break
				}
				if n := inside.Load(); n != 0 || asked > 11 {
					t.Errorf("%d calls have not returned; %d values were asked for", n, asked)
				}
			})
		})
	}
}

// An error is that of its value, and the loop goes on.
func TestMapYieldsErrors(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(1)
				defer pool.Close()
				var asked int
				var got []string
				body := func(_ context.Context, i int) (int, error) {
					if i == 1 {
						return 0, errors.New("odd")
					}
					return i, nil
				}
				for v, err := range apply(t.Context(), pool, 2, count(3, &asked), body) {
					got = append(got, fmt.Sprint(v, err))
				}
				if s := strings.Join(got, ", "); s != "0 <nil>, 0 odd, 2 <nil>" {
					t.Error(s)
				}
			})
		})
	}
}

// The end of the context ends the loop, with its error as the last.
func TestMapEndsWithContext(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(2)
				defer pool.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var asked int
				var last error
				body := func(ctx context.Context, i int) (int, error) {
					time.Sleep(3 * time.Second)
					return i, nil
				}
				for _, err := range apply(ctx, pool, 2, count(1000, &asked), body) {
					last = err
				}
				if !errors.Is(last, context.DeadlineExceeded) || asked > 12 {
					t.Errorf("last error %v, %d asked", last, asked)
				}
			})
		})
	}
}

// When the context ends, calls that wait leave the queue at once, whatever the loop is doing.
func TestMapCallsLeaveQueueWithContext(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(1)
				defer pool.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var asked int
				var got []string
				body := func(_ context.Context, i int) (int, error) {
					if i > 0 {
						time.Sleep(time.Second)
					}
					return i, nil
				}
				for v, err := range apply(ctx, pool, 4, count(4, &asked), body) {
					got = append(got, fmt.Sprint(v, " ", errors.Is(err, context.Canceled)))
					if len(got) > 1 {
						continue
					}
					synctest.Wait()
					before := pool.Stats().Queued
					cancel()
					synctest.Wait()
					if after := pool.Stats().Queued; before != 2 || after != 0 {
						t.Errorf("%d calls wait before, and %d after the end of the context", before, after)
					}
				}
				slices.Sort(got)
				if s := strings.Join(got, ", "); s != "0 false, 0 true, 0 true, 1 false" {
					t.Error(s)
				}
			})
		})
	}
}

// A call that ShutdownNow has returned can be run, and the loop yields that it was canceled.
func TestMapCallReturnedByShutdownNow(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(1)
				var asked int
				var called atomic.Int32
				body := func(_ context.Context, i int) (int, error) {
					called.Add(1)
					time.Sleep(time.Second)
					return i + 1, nil
				}
				go func() {
					time.Sleep(time.Millisecond)
					for _, d := range pool.ShutdownNow() {
						d.Run(t.Context())
					}
				}()
				var got []string
				for v, err := range apply(t.Context(), pool, 2, count(2, &asked), body) {
					got = append(got, fmt.Sprint(v, " ", errors.Is(err, executor.ErrShutdown)))
				}
				time.Sleep(time.Minute)
				slices.Sort(got)
				if s := strings.Join(got, ", "); s != "0 true, 1 false" || called.Load() != 2 {
					t.Errorf("%s; %d calls", s, called.Load())
				}
			})
		})
	}
}

// No value is asked for once the context has ended: there may be none for long.
func TestMapAsksForNothingAfterEnd(t *testing.T) {
	for name, apply := range bothMaps {
		for _, ended := range []time.Duration{0, 10 * time.Second} {
			t.Run(fmt.Sprint(name, " ended at ", ended), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := executor.Fixed(2)
					defer pool.Close()
					ctx, cancel := context.WithTimeout(t.Context(), ended)
					defer cancel()
					asks := func(yield func(int) bool) {
						for ctx.Err() == nil {
							if !yield(0) {
								return
							}
						}
						t.Error("a value was asked for")
					}
					body := func(ctx context.Context, i int) (int, error) {
						<-ctx.Done()
						return i, nil
					}
					var last error
					for _, err := range apply(ctx, pool, 2, asks, body) {
						last = err
					}
					if !errors.Is(last, context.DeadlineExceeded) {
						t.Errorf("the last error is %v", last)
					}
				})
			})
		}
	}
}

// As many values as there are may be in flight.
func TestMapWithoutLimit(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(2)
				defer pool.Close()
				var asked, yielded int
				identity := func(_ context.Context, i int) (int, error) { return i, nil }
				for range apply(t.Context(), pool, math.MaxInt, count(100, &asked), identity) {
					yielded++
				}
				if yielded != 100 {
					t.Errorf("%d were yielded", yielded)
				}
			})
		})
	}
}

// A task may range over a Map on its own pool, however few workers there are.
func TestMapNested(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Single()
				defer pool.Close()
				sum, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (sum int, err error) {
					var asked int
					identity := func(_ context.Context, i int) (int, error) { return i, nil }
					for v, err := range apply(ctx, pool, 4, count(20, &asked), identity) {
						if err != nil {
							return 0, err
						}
						sum += v
					}
					return sum, nil
				}).Get(t.Context())
				if sum != 190 || err != nil {
					t.Errorf("%d, %v; want 190", sum, err)
				}
			})
		})
	}
}

// Misuse panics, at the call and not in the loop.
func TestMapPanics(t *testing.T) {
	pool := executor.Fixed(1)
	defer pool.Close()
	var asked int
	seq, fn := count(1, &asked), func(_ context.Context, i int) (int, error) { return i, nil }
	for name, apply := range bothMaps {
		for want, call := range map[string]func(){
			"executor: nil Context":                                 func() { apply(nil, pool, 1, seq, fn) },
			"executor: " + name + ": nil Executor":                  func() { apply(t.Context(), nil, 1, seq, fn) },
			"executor: " + name + ": n is 0; it must be at least 1": func() { apply(t.Context(), pool, 0, seq, fn) },
			"executor: " + name + ": nil function":                  func() { apply(t.Context(), pool, 1, seq, nil) },
		} {
			func() {
				defer func() {
					if v := recover(); v != want {
						t.Errorf("panic %v, want %s", v, want)
					}
				}()
				call()
			}()
		}
	}
}

// MapUnordered in a task of its own pool yields what is done while another call waits for its
// next attempt.
func TestMapUnorderedRetryInTask(t *testing.T) {
	for range 50 { // in one of some hundreds an attempt ran before its time, or a result was yielded late
		synctest.Test(t, mapUnorderedRetryInTask)
	}
}

func mapUnorderedRetryInTask(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 2})
	begin := time.Now()
	calls := 0
	fn := func(_ context.Context, d time.Duration) (time.Duration, error) {
		if d > 0 {
			time.Sleep(d)
		} else if calls++; calls < 3 {
			return 0, errTask
		}
		return d, nil
	}
	var yielded []string
	_, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
		seq := slices.Values([]time.Duration{0, time.Second, time.Second})
		backoff := func(int) time.Duration { return time.Minute }
		for d := range executor.MapUnordered(ctx, pool, 3, seq, fn, executor.Retry(3, backoff)) {
			yielded = append(yielded, fmt.Sprint(d, " at ", time.Since(begin)))
		}
		return 0, nil
	}).Get(t.Context())
	expect(t, "error", err, nil)
	expect(t, "yielded", fmt.Sprint(yielded), "[1s at 1s 1s at 1s 0s at 2m0s]")
}

// While a function of a group that a task of the pool waits for waits for its next attempt, others run.
func TestGroupRetryInterleaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		defer pool.Close()
		begin := time.Now()
		_, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			g := executor.NewGroup(ctx, pool)
			for range 5 {
				n := 0
				g.Go(func(context.Context) error {
					if n++; n < 3 {
						return errTask
					}
					return nil
				}, executor.Retry(3, func(int) time.Duration { return time.Minute }))
			}
			return 0, g.Wait()
		}).Get(t.Context())
		expect(t, "error", err, nil)
		expect(t, "took", time.Since(begin), 2*time.Minute)
	})
}

// Go panics once Wait has returned: no one would learn what becomes of the function.
func TestGroupGoAfterWaitPanics(t *testing.T) {
	g := executor.NewGroup(t.Context(), newPool(t, executor.Config{Workers: 1}))
	expect(t, "Wait", g.Wait(), nil)
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "executor: Group.Go after Wait") {
			t.Errorf("panic %q", text)
		}
	}()
	g.Go(nop)
}
