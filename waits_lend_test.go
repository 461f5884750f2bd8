package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
)

// diary notes what happens, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, " ")
}

// task returns a body that notes its begin.
func (d *diary) task(name string) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { d.note(name); time.Sleep(time.Second); return 0, nil }
}

// apart returns a context with another end than ctx, so that a task which waits with it does not run what it waits for
// itself.
func apart(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// In the place of a task that waits only what it waits for runs, however many other tasks wait, and in what order.
func TestPlaceOfTaskThatWaitsIsForWhatIsWanted(t *testing.T) {
	type world struct {
		pool  *executor.Pool
		timed *executor.ScheduledPool
		share *executor.Pool
		keys  *executor.Keyed[int]
	}
	for name, c := range map[string]struct {
		wait func(ctx context.Context, w world, d *diary)
		want string
	}{
		"pool": {func(ctx context.Context, w world, d *diary) {
			executor.Submit(apart(ctx), w.pool, d.task("other"))
			executor.Submit(ctx, w.pool, d.task("wanted")).Get(apart(ctx))
		}, "wanted end other"},
		"the latest first": {func(ctx context.Context, w world, d *diary) {
			first, second := executor.Submit(apart(ctx), w.pool, d.task("first")), executor.Submit(apart(ctx), w.pool, d.task("second"))
			soon, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			begun := executor.Submit(ctx, w.pool, d.task("begun"))
			begun.Get(soon)
			first.Get(soon)
			second.Get(apart(ctx))
			first.Get(apart(ctx))
		}, "begun second first end"},
		"the first of a group first": {func(ctx context.Context, w world, d *diary) {
			executor.Submit(apart(ctx), w.pool, d.task("other"))
			g := executor.NewGroup(ctx, w.share)
			for _, name := range []string{"a", "b", "c"} {
				g.Go(func(ctx context.Context) error { _, err := d.task(name)(ctx); return err })
			}
			g.Wait()
		}, "a b c end other"},
		"a group that runs itself": {func(ctx context.Context, w world, d *diary) {
			executor.Submit(apart(ctx), w.pool, d.task("other"))
			g := executor.NewGroup(ctx, w.pool)
			for _, name := range []string{"a", "b", "c"} {
				g.Go(func(ctx context.Context) error { _, err := d.task(name)(ctx); return err })
			}
			g.Wait()
		}, "a b c end other"},
		"nothing is wanted": {func(ctx context.Context, w world, d *diary) {
			executor.Submit(apart(ctx), w.pool, d.task("other"))
			soon, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			executor.NewPromise[int]().Get(soon)
		}, "end other"},
		"share": {func(ctx context.Context, w world, d *diary) {
			executor.Submit(apart(ctx), w.pool, d.task("other"))
			executor.Submit(apart(ctx), w.share, d.task("of share"))
			executor.Submit(ctx, w.share, d.task("wanted")).Get(ctx)
		}, "wanted end other of share"},
		"key": {func(ctx context.Context, w world, d *diary) {
			executor.Submit(apart(ctx), w.keys.For(1), d.task("other key"))
			executor.Submit(apart(ctx), w.keys.For(2), d.task("before"))
			executor.Submit(apart(ctx), w.keys.For(3), d.task("another key"))
			executor.Submit(ctx, w.keys.For(2), d.task("wanted")).Get(ctx)
		}, "before wanted end other key another key"},
		"attempt before by key": {func(ctx context.Context, w world, d *diary) {
			failed := false
			body := func(context.Context) (int, error) {
				if d.note("before"); !failed {
					failed = true
					return 0, errTask
				}
				return 0, nil
			}
			before := executor.Submit(ctx, w.keys.For(2), body, executor.Retry(2, seconds))
			soon, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			before.Get(soon) // the first attempt
			executor.Submit(apart(ctx), w.keys.For(1), d.task("other key"))
			executor.Submit(ctx, w.keys.For(2), d.task("wanted")).Get(ctx)
		}, "before before wanted end other key"},
		"scheduled": {func(ctx context.Context, w world, d *diary) {
			wait := executor.Submit(ctx, w.timed, func(ctx context.Context) (int, error) {
				executor.Submit(apart(ctx), w.timed, func(ctx context.Context) (int, error) {
					time.Sleep(time.Millisecond)
					return d.task("other")(ctx)
				})
				executor.SubmitAfter(ctx, w.timed, time.Minute, d.task("wanted")).Get(ctx)
				d.note("waited")
				return 0, nil
			})
			wait.Get(context.Background())
		}, "wanted waited end other"},
		"room": {func(ctx context.Context, w world, d *diary) {
			full := must(w.pool.Share(executor.ShareConfig{
				Limit: 1, Queue: executor.Bounded(1), Reject: executor.Block,
			}))
			executor.Submit(apart(ctx), w.pool, d.task("other"))
			for _, name := range []string{"first", "second", "third"} {
				executor.Submit(apart(ctx), full, d.task(name))
			}
		}, "first end other second third"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := world{pool: newPool(t, executor.Config{Workers: 1}), timed: newScheduled(t, executor.ScheduledConfig{Workers: 1})}
				w.share, w.keys = newShare(t, w.pool, executor.ShareConfig{}), executor.NewKeyed[int](w.pool, 1)
				d := new(diary)
				f := executor.Submit(t.Context(), w.pool, func(ctx context.Context) (int, error) {
					c.wait(ctx, w, d)
					d.note("end")
					time.Sleep(time.Second)
					return 0, nil
				})
				expect(t, "outcome", f.Wait(t.Context()), nil)
				w.pool.Close()
				w.timed.Close()
				expect(t, "order", d.String(), c.want)
				checkStats(t, w.pool)
				checkStats(t, w.share)
			})
		})
	}
}

// Two pools of one worker go on though a task of each waits for one of the other.
func TestPoolsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := newPool(t, executor.Config{Workers: 1}), newPool(t, executor.Config{Workers: 1})
		v, err := inTurn(p, q, p, q)(t.Context())
		expect(t, "value", v, 4)
		expect(t, "error", err, nil)
	})
}

// Each goroutine of a task that waits with its context lends a place: a context does not say which task it is of.
func TestEachGoroutineThatWaitsLendsAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		var running, most atomic.Int32
		pool.Submit(t.Context(), func(ctx context.Context) error {
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					pool.Submit(ctx, func(context.Context) error {
						most.Store(max(most.Load(), running.Add(1)))
						time.Sleep(time.Second)
						running.Add(-1)
						return nil
					}).Wait(apart(ctx))
				})
			}
			all.Wait()
			return nil
		}).Wait(t.Context())
		expect(t, "most at once", most.Load(), 3)
	})
}

// A task of a share waits for one of the pool that waits for one of the share, whose limit is reached.
func TestShareWaitsForItselfThroughPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		s := newShare(t, p, executor.ShareConfig{Limit: 1})
		v, err := inTurn(s, p, s, p, s)(t.Context())
		expect(t, "value", v, 5)
		expect(t, "error", err, nil)
	})
}

// inTurn returns a function that submits a task to the first pool, which submits one to the next, and so on. Each waits
// for the next.
func inTurn(pools ...*executor.Pool) func(ctx context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if len(pools) == 0 {
			return 0, nil
		}
		v, err := executor.Submit(ctx, pools[0], inTurn(pools[1:]...)).Get(ctx)
		return v + 1, err
	}
}

// A wait ends at its limit, though what it waits for has begun in its place, and goes on. The task is counted, and the
// next one waits for its end.
func TestWaitEndsAtItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		begin := time.Now()
		outer := p.Submit(t.Context(), func(ctx context.Context) error {
			inner := p.Submit(ctx, func(context.Context) error { time.Sleep(time.Hour); return nil })
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			expectIs(t, "wait", inner.Wait(soon), context.DeadlineExceeded)
			return nil
		})
		next := p.Submit(t.Context(), func(context.Context) error {
			expect(t, "the next begins after", time.Since(begin), time.Hour)
			return nil
		})
		expect(t, "outcome", outer.Wait(t.Context()), nil)
		synctest.Wait()
		expect(t, "the task has waited", time.Since(begin), time.Second)
		s := checkStats(t, p)
		expect(t, "active", s.Active, 1)
		expect(t, "workers", s.Workers, 1)
		expect(t, "next", next.Wait(t.Context()), nil)
	})
}

// Trees of tasks that wait are run depth first: of tasks that nobody waited for when they began no more go on than the
// pool has places, and of the others no more than wait.
func TestTreesOfTasksRunDepthFirst(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, p *executor.Pool, fns ...func(context.Context) (int, error)) error{
		"All": func(ctx context.Context, p *executor.Pool, fns ...func(context.Context) (int, error)) error {
			_, err := executor.All(ctx, p, fns...)
			return err
		},
		"Get": func(ctx context.Context, p *executor.Pool, fns ...func(context.Context) (int, error)) error {
			var all []*executor.Future[int]
			for _, fn := range fns {
				all = append(all, executor.Submit(ctx, p, fn))
			}
			var errs []error
			for _, f := range all {
				errs = append(errs, f.Wait(apart(ctx)))
			}
			return errors.Join(errs...)
		},
	} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s on %d", name, workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPool(t, executor.Config{Workers: workers})
					var mu sync.Mutex
					begun, most, roots, mostRoots := 0, 0, 0, 0
					enter := func(n *int, most *int, by int) {
						mu.Lock()
						defer mu.Unlock()
						*n += by
						*most = max(*most, *n)
					}
					const depth = 4
					var tree func(level int) func(context.Context) (int, error)
					tree = func(level int) func(context.Context) (int, error) {
						return func(ctx context.Context) (int, error) {
							enter(&begun, &most, 1)
							defer enter(&begun, &most, -1)
							if level == 0 {
								enter(&roots, &mostRoots, 1)
								defer enter(&roots, &mostRoots, -1)
							}
							time.Sleep(time.Millisecond)
							if level == depth {
								return 0, nil
							}
							return 0, wait(ctx, p, tree(level+1), tree(level+1))
						}
					}
					var all []*executor.Future[int]
					for range 50 {
						all = append(all, executor.Submit(t.Context(), p, tree(0)))
					}
					for _, f := range all {
						expect(t, "outcome", f.Wait(t.Context()), nil)
					}
					p.Close()
					if mostRoots > workers || most > workers*(depth+1)*2 {
						t.Errorf("at most %d trees and %d tasks were begun and had not ended", mostRoots, most)
					}
					if s := checkStats(t, p); s.Largest > most {
						t.Errorf("there were %d workers for %d tasks", s.Largest, most)
					}
				})
			})
		}
	}
}

// A task that another one waits for, and runs itself, is as any other to hooks, counters and the profiler's labels.
func TestTaskThatIsWaitedForIsAsAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(diary)
		taskLabel := func() string { // of the goroutine that calls it
			all := strings.Join(labels(t, "TestTaskThatIsWaitedForIsAsAnyOther"), " ")
			_, after, _ := strings.Cut(all, `"task":"`)
			name, _, _ := strings.Cut(after, `"`)
			return name
		}
		p := newPool(t, executor.Config{Name: "p", Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, i executor.TaskInfo) context.Context {
				d.note("before " + i.Name)
				return ctx
			},
			AfterTask: func(_ context.Context, i executor.TaskInfo, _ error) { d.note("after " + i.Name) },
		}})
		outer := executor.Submit(t.Context(), p, func(ctx context.Context) (string, error) {
			inner := executor.Submit(ctx, p, func(ctx context.Context) (string, error) {
				s := p.Stats()
				expect(t, "active", s.Active, 2)
				expect(t, "workers", s.Workers, 2)
				return taskLabel(), nil
			}, executor.Named("inner"))
			within, err := inner.Get(ctx)
			return within + " in " + taskLabel(), err
		}, executor.Named("outer"))
		v, err := outer.Get(t.Context())
		expect(t, "error", err, nil)
		p.Close()
		expect(t, "hooks", d.String(), "before outer before inner after inner after outer")
		expect(t, "labels", v, "inner in outer")
		s := checkStats(t, p)
		expect(t, "succeeded", s.Succeeded, 2)
		expect(t, "largest", s.Largest, 2)
	})
}

// A pool in which tasks wait can be resized, and shut down at once or after its tasks, and its workers leave.
func TestPoolChangesWhileTasksWait(t *testing.T) {
	for name, change := range map[string]func(p *executor.Pool){
		"Resize up":   func(p *executor.Pool) { p.Resize(4) },
		"Resize down": func(p *executor.Pool) { p.Resize(1) },
		"Shutdown":    func(p *executor.Pool) { p.Shutdown() },
		"ShutdownNow": func(p *executor.Pool) { p.ShutdownNow() },
	} {
		for where, of := range map[string]func(p *executor.Pool) executor.Executor{
			"pool":  func(p *executor.Pool) executor.Executor { return p },
			"share": func(p *executor.Pool) executor.Executor { return must(p.Share(executor.ShareConfig{Limit: 1})) },
			"key":   func(p *executor.Pool) executor.Executor { return executor.NewKeyed[int](p, 1).For(1) },
		} {
			t.Run(name+", "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPool(t, executor.Config{Workers: 2})
					ex := of(p)
					var all []*executor.Future[int]
					for range 5 {
						all = append(all, executor.Submit(t.Context(), p, func(ctx context.Context) (int, error) {
							var inner []*executor.Future[int]
							for range 3 {
								inner = append(inner, executor.Submit(ctx, ex, func(ctx context.Context) (int, error) {
									select {
									case <-time.After(time.Second):
									case <-ctx.Done():
									}
									return 1, ctx.Err()
								}))
							}
							for _, f := range inner {
								f.Get(apart(ctx))
							}
							return 1, ctx.Err()
						}))
					}
					time.Sleep(1500 * time.Millisecond)
					change(p)
					for _, f := range all {
						<-f.Done()
					}
					synctest.Wait()
					if s := checkStats(t, p); s.Workers > p.Settings().Max {
						t.Errorf("%d workers are left, of %d", s.Workers, p.Settings().Max)
					}
					p.Close()
					s := checkStats(t, p)
					expect(t, "workers", s.Workers, 0)
					if name != "ShutdownNow" && slices.ContainsFunc(all, func(f *executor.Future[int]) bool { return f.Err() != nil }) {
						t.Error("a task has failed")
					}
				})
			})
		}
	}
}
