package executor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A tree is a task that waits for its children. All of it is drawn before anything runs.
type tree struct {
	rank     int // of the place where it runs; see forest.place
	way      int // how it waits
	nap      time.Duration
	fails    int // attempts before the one that waits
	children []*tree
}

func (t *tree) String() string {
	return fmt.Sprintf("%d(way %d, nap %v, fails %d)%v", t.rank, t.way, t.nap, t.fails, t.children)
}

const (
	treeShares = 3 // their ranks are 0, 1, 2; the pool's is -1
	treeKeys   = 5 // their ranks follow
)

// How a share of a forest comes to its workers.
const (
	ofPool  = iota // it is a share of the pool
	ofShare        // it is one of the share before
	ofNone         // it is a pool of its own
)

// A forest is some trees, and the settings of the pool, the shares and the keys by which they run.
type forest struct {
	pool   executor.Config
	shares [treeShares]executor.ShareConfig
	lender [treeShares]int // ofPool, ofShare or ofNone
	perKey int
	trees  []*tree

	places []executor.Executor // of the ranks from -1
}

func (f *forest) String() string {
	return fmt.Sprintf("pool %+v, shares %+v, of %v, %d for each key, trees %v", f.pool, f.shares, f.lender, f.perKey, f.trees)
}

func drawForest(rng *rand.Rand, depth int) *forest {
	f := &forest{pool: executor.Config{Workers: 1 + rng.IntN(2)}, perKey: 1 + rng.IntN(2)}
	switch rng.IntN(4) {
	case 0:
		f.pool.Queue, f.pool.Reject = executor.Bounded(1), executor.CallerRuns
	case 1:
		f.pool.Queue, f.pool.Reject, f.pool.Max = executor.Bounded(2), executor.CallerRuns, f.pool.Workers+1
	}
	for i := range f.shares {
		f.shares[i].Limit, f.shares[i].Queue = 1+rng.IntN(2), executor.Unbounded()
		switch {
		case i > 0 && rng.IntN(3) == 0:
			f.lender[i] = ofShare
		case rng.IntN(4) == 0:
			f.lender[i] = ofNone
		}
		if rng.IntN(4) == 0 {
			f.shares[i].Rate = executor.Rate{PerSecond: 1000, Burst: 1}
		}
	}
	for range 1 + rng.IntN(3) {
		f.trees = append(f.trees, f.draw(rng, depth, treeShares-1))
	}
	return f
}

// draw returns a tree. It runs in the pool, in a share, or by a key of a higher rank than highest, that of all that wait for
// it: a task must not wait for one of its own key.
func (f *forest) draw(rng *rand.Rand, depth, highest int) *tree {
	rank := rng.IntN(1+treeShares+treeKeys) - 1
	if rank >= treeShares && rank <= highest {
		rank = -1
	}
	t := &tree{rank: rank, way: rng.IntN(8), nap: time.Duration(rng.IntN(3)) * time.Millisecond}
	if rng.IntN(5) == 0 {
		t.fails = 1
	}
	if depth > 0 {
		for range rng.IntN(4) {
			t.children = append(t.children, f.draw(rng, depth-1, max(highest, rank)))
		}
	}
	return t
}

// grow runs the trees.
func (f *forest) grow(ctx context.Context) error {
	pool, err := executor.New(f.pool)
	if err != nil {
		return err
	}
	f.places = []executor.Executor{pool}
	pools := []*executor.Pool{pool}
	share := pool
	for i, c := range f.shares {
		switch f.lender[i] {
		case ofPool:
			share, err = pool.Share(c)
		case ofShare:
			share, err = share.Share(c)
		case ofNone:
			share = executor.Fixed(c.Limit)
			pools = append(pools, share)
		}
		if err != nil {
			return err
		}
		f.places = append(f.places, share)
	}
	keyed := executor.NewKeyed[int](pool, f.perKey, func(c *executor.ShareConfig) { c.Queue = executor.Unbounded() })
	for key := range treeKeys {
		f.places = append(f.places, keyed.For(key))
	}
	var errs []error
	for _, future := range f.submit(ctx, f.trees) {
		errs = append(errs, future.Wait(ctx))
	}
	for _, p := range pools {
		p.Close()
	}
	return errors.Join(errs...)
}

func (f *forest) place(t *tree) executor.Executor { return f.places[t.rank+1] }

func (f *forest) submit(ctx context.Context, trees []*tree) (all []*executor.Future[int]) {
	for _, t := range trees {
		all = append(all, executor.Submit(ctx, f.place(t), f.body(t), t.options()...))
	}
	return all
}

func (t *tree) options() []executor.Option {
	if t.fails == 0 {
		return nil
	}
	return []executor.Option{executor.Retry(3, func(int) time.Duration { return time.Millisecond })}
}

func (f *forest) body(t *tree) func(context.Context) (int, error) {
	left := t.fails
	return func(ctx context.Context) (int, error) {
		time.Sleep(t.nap)
		if left > 0 {
			left--
			return 0, errTask
		}
		return 1, f.wait(ctx, t)
	}
}

// wait waits for the children in one of eight ways.
func (f *forest) wait(ctx context.Context, t *tree) error {
	switch t.way {
	case 0, 1, 2, 3:
		all := f.submit(ctx, t.children)
		if t.way == 3 {
			for future := range executor.Completed(ctx, all...) {
				if err := future.Err(); err != nil {
					return err
				}
			}
			return ctx.Err()
		}
		for _, future := range all {
			var err error
			switch t.way {
			case 0:
				err = future.Wait(ctx)
			case 1:
				bound, cancel := context.WithTimeout(ctx, time.Hour)
				err = future.Wait(bound)
				cancel()
			case 2:
				err = errors.Join(future.Join(ctx), future.Err())
			}
			if err != nil {
				return err
			}
		}
	case 4:
		var groups []*executor.Group
		for _, child := range t.children {
			g, body := executor.NewGroup(ctx, f.place(child)), f.body(child)
			g.Go(func(ctx context.Context) error { _, err := body(ctx); return err }, child.options()...)
			groups = append(groups, g)
		}
		var errs []error
		for _, g := range groups {
			errs = append(errs, g.Wait())
		}
		return errors.Join(errs...)
	case 5, 6:
		for _, child := range t.children {
			var results iter.Seq2[int, error]
			body := f.body(child)
			call := func(ctx context.Context, _ int) (int, error) { return body(ctx) }
			if one := slices.Values([]int{1}); t.way == 5 {
				results = executor.Map(ctx, f.place(child), 2, one, call, child.options()...)
			} else {
				results = executor.MapUnordered(ctx, f.place(child), 2, one, call, child.options()...)
			}
			for _, err := range results {
				if err != nil {
					return err
				}
			}
		}
	case 7:
		for _, child := range t.children {
			body := f.body(child)
			if _, err := executor.Any(ctx, f.place(child), func(ctx context.Context) (n int, err error) {
				for range 1 + child.fails {
					n, err = body(ctx)
				}
				return n, err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Tasks that wait for tasks that wait for others, in pools, shares and by key, all end, however few workers there are,
// however they wait, though some fail and run again, and though they wait for each other's pools and shares in a circle.
func TestWaitsForTasksThatWaitEnd(t *testing.T) {
	for seed := range uint64(1000) {
		f := drawForest(rand.New(rand.NewPCG(seed, 1)), 1+int(seed%4))
		func() {
			defer func() {
				if v := recover(); v != nil { // all goroutines wait
					t.Fatalf("seed %d: %v\n%v", seed, v, f)
				}
			}()
			synctest.Test(t, func(t *testing.T) {
				if err := f.grow(t.Context()); err != nil {
					t.Errorf("seed %d: %v\n%v", seed, err, f)
				}
			})
		}()
	}
}

// A task that waits for one of a share offers its worker, whatever the other was submitted with.
func TestTaskOffersItsWorkerToPlainTask(t *testing.T) {
	for _, opts := range [][]executor.Option{nil, {executor.Named("x")}} {
		for name, wait := range map[string]func(*executor.Future[int], context.Context) error{
			"Get": (*executor.Future[int]).Wait, "Join": (*executor.Future[int]).Join,
		} {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1})
				share := must(pool.Share(executor.ShareConfig{Limit: 1}))
				waited := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
					f := executor.Submit(context.Background(), share, func(context.Context) (int, error) { return 1, nil }, opts...)
					return 0, wait(f, ctx)
				})
				select {
				case <-waited.Done():
					expect(t, name, waited.Err(), nil)
				case <-time.After(time.Minute):
					t.Errorf("%s waits for ever, with %d options", name, len(opts))
					waited.Cancel()
				}
			})
		}
	}
}

// A task that waits ends with what it runs itself meanwhile, if that calls Goexit. Both futures resolve, and the pool
// goes on.
func TestTaskThatWaitsEndsByGoexit(t *testing.T) {
	exit := func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }
	for name, wait := range map[string]func(ctx context.Context, p *executor.Pool){
		"Get": func(ctx context.Context, p *executor.Pool) { executor.Submit(ctx, p, exit).Get(ctx) },
		"Group": func(ctx context.Context, p *executor.Pool) {
			g := executor.NewGroup(ctx, p)
			g.Go(func(ctx context.Context) error { _, err := exit(ctx); return err })
			g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 1})
				outer := executor.Submit(t.Context(), p, func(ctx context.Context) (int, error) {
					wait(ctx, p)
					t.Error("the task has gone on")
					return 0, nil
				})
				if _, err := outer.Get(t.Context()); !errors.Is(err, executor.ErrGoexit) {
					t.Errorf("error is %v, want ErrGoexit", err)
				}
				after := executor.Submit(t.Context(), p, func(context.Context) (int, error) { return 1, nil })
				if v, err := after.Get(t.Context()); v != 1 || err != nil {
					t.Errorf("the next task has %d, %v", v, err)
				}
				synctest.Wait() // a worker counts its task after the future has resolved
				if s := p.Stats(); s.Submitted != 3 || s.Failed != 2 || s.Succeeded != 1 {
					t.Errorf("counters are %+v", s)
				}
			})
		})
	}
}

// A Wait that is deferred ends, though a function that the first Wait ran has ended that, and took the task with it.
func TestGroupWaitEndsAfterGoexit(t *testing.T) {
	for name, exits := range map[string]int{"first": 0, "last": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Workers: 1})
				outer := p.Submit(t.Context(), func(ctx context.Context) error {
					g := executor.NewGroup(ctx, p)
					defer g.Wait()
					for i := range 2 {
						if i == exits {
							g.Go(func(context.Context) error { runtime.Goexit(); return nil })
						} else {
							g.Go(nop, executor.Retry(2, seconds))
						}
					}
					return g.Wait()
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				expectIs(t, "outcome", outer.Wait(ctx), executor.ErrGoexit)
				p.ShutdownNow()
				outer.Cancel()
			})
		})
	}
}

// Close waits also for a body that runs beside a task which waited for it no longer.
func TestPoolCloseWaitsForBodyBesideWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		returned := false
		p.Submit(t.Context(), func(ctx context.Context) error {
			beside := p.Submit(ctx, func(context.Context) error {
				time.Sleep(time.Hour)
				returned = true
				return nil
			})
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			expectIs(t, "wait", beside.Wait(soon), context.DeadlineExceeded)
			beside.Cancel()
			return nil
		})
		p.Close()
		expect(t, "the body has returned", returned, true)
	})
}

// countingContext calls tooOften if it is asked for its Done channel a thousand times.
type countingContext struct {
	context.Context
	asked    atomic.Int64
	tooOften func()
}

func (c *countingContext) Done() <-chan struct{} {
	if c.asked.Add(1) == 1000 {
		c.tooOften()
	}
	return c.Context.Done()
}

// Completed ends with its context at once, also while a task of the pool is not due, or an attempt of one with Retry
// goes on that ignores its context.
func TestCompletedEndsWithContextInTask(t *testing.T) {
	type submit = func(ctx context.Context, p *executor.ScheduledPool, release <-chan struct{}) *executor.Future[int]
	for name, submit := range map[string]submit{
		"not due": func(ctx context.Context, p *executor.ScheduledPool, _ <-chan struct{}) *executor.Future[int] {
			return executor.SubmitAfter(ctx, p, time.Hour, testkit.Value(1))
		},
		"attempt": func(ctx context.Context, p *executor.ScheduledPool, release <-chan struct{}) *executor.Future[int] {
			return executor.Submit(ctx, p, func(context.Context) (int, error) { <-release; return 0, nil },
				executor.Retry(2, seconds))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newScheduled(t, executor.ScheduledConfig{Workers: 2})
				p.Go(t.Context(), func(ctx context.Context) error {
					release := make(chan struct{})
					f := submit(ctx, p, release)
					time.Sleep(time.Second) // a worker begins the attempt
					soon, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					end := sync.OnceFunc(func() { close(release); f.Cancel() })
					counting := &countingContext{Context: soon, tooOften: end}
					for range executor.Completed(counting, f) {
					}
					if asked := counting.asked.Load(); asked >= 1000 {
						t.Errorf("Completed has asked its context %d times", asked)
					}
					end()
					return nil
				})
				p.Close()
			})
		})
	}
}
