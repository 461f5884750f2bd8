package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// drops records the calls of Hooks.Dropped.
type drops struct {
	mu    sync.Mutex
	infos []executor.TaskInfo
	errs  []error
}

func (d *drops) hook(_ context.Context, info executor.TaskInfo, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.infos = append(d.infos, info)
	d.errs = append(d.errs, err)
}

// Each way in which an accepted task may be lost calls Dropped once, with the task's name, its age and
// the reason. What nobody else shows is logged too, with and without the hook.
func TestPoolDropped(t *testing.T) {
	type way struct {
		config executor.Config
		lose   func(p *executor.Pool, cancel context.CancelFunc)
		want   error
		logged bool // if there is no future
	}
	for name, way := range map[string]way{
		"context ends": {lose: func(_ *executor.Pool, cancel context.CancelFunc) { cancel() }, want: context.Canceled, logged: true},
		"ShutdownNow":  {lose: func(p *executor.Pool, _ context.CancelFunc) { p.ShutdownNow() }, want: executor.ErrShutdown},
		"DiscardOldest": {
			config: executor.Config{Queue: executor.Bounded(1), Reject: executor.DiscardOldest},
			lose:   func(p *executor.Pool, _ context.CancelFunc) { mustGo(t, p, nop) },
			want:   executor.ErrSaturated, logged: true,
		},
		"DropLowest": {
			config: executor.Config{Queue: executor.BoundedPrioritized(1), Reject: executor.DropLowest},
			lose:   func(p *executor.Pool, _ context.CancelFunc) { mustGo(t, p, nop, executor.Priority(-1)) },
			want:   executor.ErrSaturated, logged: true,
		},
	} {
		for _, hooked := range []bool{true, false} {
			for form, submit := range map[string]func(context.Context, *executor.Pool) error{
				"Go": func(ctx context.Context, p *executor.Pool) error { return p.Go(ctx, nop) },
				"Go with a name": func(ctx context.Context, p *executor.Pool) error {
					return p.Go(ctx, nop, executor.Named("x"))
				},
				"Submit": func(ctx context.Context, p *executor.Pool) error {
					executor.Submit(ctx, p, value(1), executor.Named("x"))
					return nil
				},
			} {
				t.Run(fmt.Sprint(name, "/", hooked, "/", form), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var d drops
						var out bytes.Buffer
						config := way.config
						config.Name, config.Core, config.Logger = "p", 1, slog.New(slog.NewTextHandler(&out, nil))
						if hooked {
							config.Hooks.Dropped = d.hook
						}
						pool := newPool(t, config)
						block := newBlocker(t)
						block.Fill(t, pool, 1)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						at := time.Now()
						expect(t, "submit", submit(ctx, pool), nil)
						time.Sleep(time.Minute)
						way.lose(pool, cancel)
						synctest.Wait()
						block.Release()
						waitStats(t, pool)
						named := ""
						if form != "Go" {
							named = "x"
						}
						logs := strings.Count(out.String(), "task dropped")
						if want := way.logged && form != "Submit"; want != (logs == 1) || logs > 1 ||
							want && !strings.Contains(out.String(), "reason=") {
							t.Errorf("logged %q", out.String())
						}
						if !hooked {
							return
						}
						if len(d.infos) != 1 {
							t.Fatalf("Dropped was called for %+v", d.infos)
						}
						expect(t, "Name", d.infos[0].Name, named)
						expect(t, "Executor", d.infos[0].Executor, "p")
						expect(t, "Submitted", d.infos[0].Submitted.Equal(at), true)
						expect(t, "Run", d.infos[0].Run, 0)
						expectIs(t, "error", d.errs[0], way.want)
					})
				})
			}
		}
	}
}

// A future that its holder ends while it waits, and what Remove takes out, call Dropped and are not
// logged.
func TestPoolDroppedByHand(t *testing.T) {
	for name, end := range map[string]func(*executor.Pool, *executor.Future[int]){
		"Cancel":   func(_ *executor.Pool, f *executor.Future[int]) { f.Cancel() },
		"Abandon":  func(_ *executor.Pool, f *executor.Future[int]) { f.Abandon() },
		"Complete": func(_ *executor.Pool, f *executor.Future[int]) { f.Complete(2) },
		"Fail":     func(_ *executor.Pool, f *executor.Future[int]) { f.Fail(errTask) },
		"Remove":   func(p *executor.Pool, f *executor.Future[int]) { p.Remove(f) },
	} {
		for _, q := range []executor.Queue{
			executor.Unbounded(), executor.Bounded(9), executor.Prioritized(), executor.BoundedPrioritized(9), nil,
		} {
			t.Run(fmt.Sprintf("%s/%T", name, q), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var d drops
					var out bytes.Buffer
					log := slog.New(slog.NewTextHandler(&out, nil))
					hooks := executor.Hooks{Dropped: d.hook}
					var pool *executor.Pool
					var f *executor.Future[int]
					if q != nil {
						pool = newPool(t, executor.Config{Core: 1, Queue: q, Hooks: hooks, Logger: log})
						block := newBlocker(t)
						defer block.Release()
						block.Fill(t, pool, 1)
						f = executor.Submit(t.Context(), pool, value(1))
					} else {
						s := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: hooks, Logger: log})
						pool = s.Pool
						f = &executor.Schedule(t.Context(), s, time.Hour, value(1)).Future
					}
					end(pool, f)
					end(pool, f)
					if len(d.infos) != 1 {
						t.Fatalf("Dropped was called for %+v", d.infos)
					}
					expect(t, "error", d.errs[0], f.Err())
					expect(t, "log", out.String(), "")
				})
			})
		}
	}
}

// Tasks of a scheduled pool that a shutdown drops call Dropped, unless they have run.
func TestPoolDroppedAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drops
		var out bytes.Buffer
		pool := newScheduled(t, executor.ScheduledConfig{
			Core: 1, Delayed: executor.DropAtShutdown, Hooks: executor.Hooks{Dropped: d.hook},
			Logger: slog.New(slog.NewTextHandler(&out, nil)),
		})
		pool.AtFixedRate(t.Context(), 0, time.Hour, nop, executor.Named("has run"))
		pool.AtFixedRate(t.Context(), time.Hour, time.Hour, nop, executor.Named("periodic"))
		executor.Schedule(t.Context(), pool, time.Hour, value(1), executor.Named("once"))
		pool.After(t.Context(), time.Hour, nop, executor.Named("after"))
		synctest.Wait()
		pool.Close()
		names := map[string]bool{}
		for i, info := range d.infos {
			names[info.Name] = true
			expectIs(t, info.Name, d.errs[i], executor.ErrShutdown)
		}
		expect(t, "names", fmt.Sprint(names), "map[after:true once:true periodic:true]")
		expect(t, "calls", len(d.infos), 3)
		if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "task=after") {
			t.Errorf("logged %q", out.String())
		}
	})
}

// A Dropped that panics, or calls Goexit, changes nothing: the future is canceled, and others follow.
func TestPoolDroppedPanics(t *testing.T) {
	for _, exit := range testkit.Exits {
		t.Run(exit.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.DiscardHandler),
					Hooks: executor.Hooks{Dropped: func(context.Context, executor.TaskInfo, error) {
						calls.Add(1)
						exit.Leave()
					}},
				})
				block := newBlocker(t)
				block.Fill(t, pool, 1)
				ctx, cancel := context.WithCancel(t.Context())
				fs := executor.SubmitAll(ctx, pool, value(1), value(2), value(3))
				cancel()
				for _, f := range fs {
					_, err := f.Get(t.Context())
					expectIs(t, "Get", err, context.Canceled)
				}
				synctest.Wait()
				expect(t, "calls", calls.Load(), 3)
			})
		})
	}
}

// Whatever happens to the tasks of a pool, each that was accepted runs or calls Dropped, and none does
// both, or twice.
func TestPoolDroppedOrRun(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 3))
			var mu sync.Mutex
			ends := map[string]int{}
			note := func(name string) {
				mu.Lock()
				defer mu.Unlock()
				ends[name]++
			}
			config := executor.Config{Core: 2, Logger: slog.New(slog.DiscardHandler)}
			config.Hooks.Dropped = func(_ context.Context, info executor.TaskInfo, _ error) { note(info.Name) }
			switch draw.IntN(4) {
			case 0:
				config.Queue, config.Reject = executor.Bounded(5), executor.DiscardOldest
			case 1:
				config.Queue, config.Reject = executor.Bounded(5), executor.Discard
			case 2:
				config.Queue = executor.Prioritized()
			}
			pool := newPool(t, config)
			accepted := map[string]bool{}
			var futures []*executor.Future[int]
			for i := range 200 {
				name := fmt.Sprint(i)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+draw.IntN(50))*time.Millisecond)
				defer cancel()
				body := func(context.Context) error { note(name); time.Sleep(time.Millisecond); return nil }
				if draw.IntN(2) == 0 {
					accepted[name] = pool.Go(ctx, body, executor.Named(name)) == nil
				} else {
					f := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) { return 1, body(ctx) },
						executor.Named(name))
					futures = append(futures, f)
					accepted[name] = true
				}
				switch draw.IntN(20) {
				case 0:
					time.Sleep(time.Duration(draw.IntN(20)) * time.Millisecond)
				case 1, 2:
					if len(futures) > 0 {
						futures[draw.IntN(len(futures))].Cancel()
					}
				case 3:
					if len(futures) > 0 {
						go futures[draw.IntN(len(futures))].Run(t.Context())
					}
				}
			}
			if draw.IntN(2) == 0 {
				pool.ShutdownNow()
			}
			pool.Close()
			synctest.Wait()
			for name, taken := range accepted {
				if want := map[bool]int{true: 1}[taken]; ends[name] != want {
					t.Errorf("seed %d: task %s ended %d times, want %d", seed, name, ends[name], want)
				}
			}
		})
	}
}

// JoinHooks calls all hooks: BeforeTask in order with the context of the one before, AfterTask in the
// inverse order, the others in order, also if one panics.
func TestJoinHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var diary testkit.Trace
		var panics bool
		hooks := func(name string) executor.Hooks {
			return executor.Hooks{
				BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
					seen, _ := ctx.Value(contextKey{}).(string)
					diary.Add("before %s with %s", name, seen)
					return context.WithValue(ctx, contextKey{}, seen+name)
				},
				AfterTask: func(ctx context.Context, _ executor.TaskInfo, err error) {
					diary.Add("after %s with %v %v", name, ctx.Value(contextKey{}), err)
					if panics {
						panic(name)
					}
				},
				Terminated: func() { diary.Add("terminated %s", name) },
				Dropped:    func(_ context.Context, _ executor.TaskInfo, err error) { diary.Add("dropped %s", name) },
				OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
					diary.Add("panic %s %v", name, err.Value)
				},
			}
		}
		only := executor.Hooks{BeforeTask: func(context.Context, executor.TaskInfo) context.Context { return nil }}
		pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.DiscardHandler),
			Hooks: executor.JoinHooks(hooks("a"), executor.Hooks{}, only, hooks("b"))})
		mustGo(t, pool, func(context.Context) error { return errors.New("x") })
		synctest.Wait()
		diary.Check(t, "before a with ", "before b with a", "after b with ab x", "after a with ab x")
		panics = true
		mustGo(t, pool, nop)
		synctest.Wait()
		diary.Check(t, "before a with ", "before b with a", "after b with ab <nil>", "after a with ab <nil>",
			"panic a a", "panic b a")
		panics = false
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		executor.Submit(t.Context(), pool, value(1)).Cancel()
		block.Release()
		pool.Close()
		diary.Check(t, "before a with ", "before b with a", "dropped a", "dropped b",
			"after b with ab <nil>", "after a with ab <nil>", "terminated a", "terminated b")
		empty := executor.JoinHooks()
		expect(t, "no hooks", empty.BeforeTask == nil && empty.AfterTask == nil && empty.Dropped == nil, true)
	})
}
