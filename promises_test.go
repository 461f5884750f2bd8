package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/queue"
)

// A pool without work takes a task, whoever has seen the outcome of the one before, and however:
// a worker whose outcome is known is free.
func TestPoolHandoffTakesTaskAfterOutcome(t *testing.T) {
	ctx := context.Background()
	one := func(context.Context) (int, error) { return 1, nil }
	for name, again := range map[string]func(ex executor.Executor) error{
		"Get": func(ex executor.Executor) error {
			_, err := executor.Submit(ctx, ex, one).Get(ctx)
			return err
		},
		"Join": func(ex executor.Executor) error {
			f := executor.Submit(ctx, ex, one)
			f.Join(ctx)
			return f.Err()
		},
		"All": func(ex executor.Executor) error {
			_, err := executor.All(ctx, ex, one)
			return err
		},
		"Group": func(ex executor.Executor) error {
			g := executor.NewGroup(ctx, ex)
			g.Go(nop)
			return g.Wait()
		},
		"Map": func(ex executor.Executor) error {
			for _, err := range executor.Map(ctx, ex, 1, slices.Values([]int{1, 2, 3}),
				func(context.Context, int) (int, error) { return 0, nil }) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff()})
		wide := newPool(t, executor.Config{Workers: 2})
		share := newShare(t, wide, executor.ShareConfig{Limit: 1, Queue: executor.Handoff()})
		for on, ex := range map[string]executor.Executor{"pool": pool, "share": share} {
			for n := range 2000 {
				if err := again(ex); err != nil {
					t.Errorf("%s after %s, try %d: %v", on, name, n, err)
					break
				}
			}
		}
	}
}

// Close finishes what is queued, with what that forks by its own context. What comes from
// outside is too late.
func TestPoolCloseFinishesForks(t *testing.T) {
	forks := map[string]func(ctx context.Context, p *executor.Pool) error{
		"Submit": func(ctx context.Context, p *executor.Pool) error {
			_, err := executor.Submit(ctx, p, value(1)).Get(ctx)
			return err
		},
		"Group": func(ctx context.Context, p *executor.Pool) error {
			g := executor.NewGroup(ctx, p)
			g.Go(nop)
			g.Go(nop)
			return g.Wait()
		},
		"All": func(ctx context.Context, p *executor.Pool) error {
			_, err := executor.All(ctx, p, value(1), value(2))
			return err
		},
		"Map": func(ctx context.Context, p *executor.Pool) error {
			for _, err := range executor.Map(ctx, p, 2, slices.Values([]int{1, 2, 3}),
				func(context.Context, int) (int, error) { return 0, nil }) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	for name, fork := range forks {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 1})
			var fs []*executor.Future[int]
			for range 3 {
				fs = append(fs, executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
					time.Sleep(time.Second)
					return 0, fork(ctx, pool)
				}))
			}
			synctest.Wait()
			pool.Shutdown()
			expectIs(t, "from outside", pool.Go(t.Context(), nop), executor.ErrShutdown)
			pool.Close()
			for _, f := range fs {
				expect(t, name, f.Err(), nil)
			}
		})
	}
}

// A group in a task of a full pool is run by its waiter, whatever the policy.
func TestGroupInTaskOfFullPool(t *testing.T) {
	for name, policy := range map[string]executor.RejectPolicy{"Abort": executor.Abort, "Block": executor.Block} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(2), Reject: policy})
			n := 0
			_, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
				g := executor.NewGroup(ctx, pool)
				for range 10 {
					g.Go(func(context.Context) error { n++; return nil })
				}
				return 0, g.Wait()
			}).Get(t.Context())
			expect(t, name+": error", err, nil)
			expect(t, name+": ran", n, 10)
			_, err = executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
				sum := 0
				for v, err := range executor.Map(ctx, pool, 8, slices.Values([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}),
					func(_ context.Context, i int) (int, error) { return i, nil }) {
					if err != nil {
						return 0, err
					}
					if sum += v; sum > 20 {
						break // with calls that were not made
					}
				}
				return sum, nil
			}).Get(t.Context())
			expect(t, name+": Map", err, nil)
		})
	}
}

// A wait for a child with a limit of its own gets the child's value in a full pool, and ends at
// its limit if the child takes longer, which goes on.
func TestFutureGetByTaskWithLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		var child *executor.Future[int]
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if v, err := executor.Submit(ctx, pool, value(42)).Get(short); v != 42 || err != nil {
				t.Errorf("a quick child: %d, %v", v, err)
			}
			child = executor.Submit(ctx, pool, func(context.Context) (int, error) {
				time.Sleep(time.Minute)
				return 1, nil
			})
			start := time.Now()
			_, err := child.Get(short)
			expectIs(t, "a slow child", err, context.DeadlineExceeded)
			expect(t, "wait", time.Since(start), time.Second)
			return 0, nil
		})
		expect(t, "error", f.Join(t.Context()), nil)
		pool.Close() // waits for the child
		expect(t, "the child's state", child.State(), executor.Succeeded)
	})
}

// Functions of a group that wait for tasks by key on the same pool get them, though they hold
// all its workers.
func TestGroupWaitsForKeyedOfItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{1, 2} {
			pool := newPool(t, executor.Config{Workers: workers})
			keyed := newKeyed[int](t, pool, 1)
			g := executor.NewGroup(t.Context(), pool)
			var mu sync.Mutex
			sum := 0
			for i := range 20 {
				g.Go(func(ctx context.Context) error {
					v, err := executor.Submit(ctx, keyed.For(i%3), func(context.Context) (int, error) {
						time.Sleep(time.Millisecond)
						return i, nil
					}).Get(ctx)
					mu.Lock()
					sum += v
					mu.Unlock()
					return err
				})
			}
			expect(t, "error", g.Wait(), nil)
			expect(t, "sum", sum, 190)
		}
	})
}

// A task that waits for its next attempt keeps its place: in a pool of a single worker, and
// among those of its key. Elsewhere others go on.
func TestRetryKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		single := executor.Single()
		defer single.Close()
		keyed := newKeyed[string](t, pool, 1)
		for name, c := range map[string]struct {
			ex   executor.Executor
			want []string
		}{
			"Single": {single, []string{"first", "first", "second"}},
			"Keyed":  {keyed.For("k"), []string{"first", "first", "second"}},
			"Fixed":  {pool, []string{"first", "second", "first"}},
		} {
			var ran []string
			first := executor.Submit(t.Context(), c.ex, func(context.Context) (int, error) {
				if ran = append(ran, "first"); len(ran) < 2 {
					return 0, errTask
				}
				return 1, nil
			}, executor.Retry(5, func(int) time.Duration { return time.Minute }))
			second := executor.Submit(t.Context(), c.ex, func(context.Context) (int, error) {
				ran = append(ran, "second")
				return 2, nil
			})
			first.Join(t.Context())
			second.Join(t.Context())
			if !slices.Equal(ran, c.want) {
				t.Errorf("%s: ran %v, want %v", name, ran, c.want)
			}
		}
	})
}

// The limit of a key holds while its tasks wait for other attempts.
func TestRetryKeepsLimitOfKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, rand.Uint64()))
		keyed := newKeyed[int](t, newPool(t, executor.Config{Workers: 4}), 2)
		var running [3]atomic.Int32
		var fs []*executor.Future[int]
		for range 300 {
			key, takes, fails := rnd.IntN(3), time.Duration(rnd.IntN(5))*time.Second, rnd.IntN(3)
			f := executor.Submit(t.Context(), keyed.For(key), func(context.Context) (int, error) {
				defer running[key].Add(-1)
				if n := running[key].Add(1); n > 2 {
					t.Errorf("%d of key %d run at once", n, key)
				}
				time.Sleep(takes)
				if fails--; fails >= 0 {
					return 0, errTask
				}
				return 1, nil
			}, executor.Retry(3, func(int) time.Duration { return takes }))
			switch rnd.IntN(10) {
			case 0:
				f.Cancel()
			case 1:
				time.AfterFunc(time.Duration(rnd.IntN(20))*time.Second, func() { f.Cancel() })
			}
			fs = append(fs, f)
			time.Sleep(time.Duration(rnd.IntN(2)) * time.Second)
		}
		for _, f := range fs {
			f.Join(t.Context())
		}
		checkStats(t, keyed.Pool())
	})
}

// A pool knows a task that waits for its next attempt: it is never rejected, is found by Remove,
// returned by ShutdownNow and Drain, and ends at once at a shutdown.
func TestRetryBelongsToItsPool(t *testing.T) {
	wait := func(t *testing.T, c executor.Config) (*executor.Pool, *executor.Future[int]) {
		pool := newPool(t, c)
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, func(int) time.Duration { return time.Hour }), executor.Named("x"))
		synctest.Wait()
		return pool, f
	}
	synctest.Test(t, func(t *testing.T) {
		pool, f := wait(t, executor.Config{Workers: 1})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		dropped := pool.ShutdownNow()
		if len(dropped) != 1 || dropped[0].Task() != any(f) || dropped[0].Name() != "x" {
			t.Errorf("ShutdownNow returned %v", dropped)
		}
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
		expectIs(t, "outcome", f.Err(), errTask)
		pool.Drain(ctx)

		start := time.Now()
		pool, f = wait(t, executor.Config{Workers: 1})
		pool.Close()
		expect(t, "Close took", time.Since(start), 0)
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
		expectIs(t, "outcome", f.Err(), errTask)

		pool, f = wait(t, executor.Config{Workers: 1})
		expect(t, "Remove", pool.Remove(f), true)
		expectIs(t, "outcome", f.Err(), executor.ErrCanceled)

		pool, f = wait(t, executor.Config{Workers: 1, Queue: executor.Handoff()})
		b := newBlocker(t)
		b.Fill(t, pool, 1)
		time.Sleep(90 * time.Minute) // the attempt is due, and the pool is full
		expect(t, "state", f.State(), executor.Pending)
		b.Release()
		time.Sleep(3 * time.Hour)
		if err := f.Err(); !errors.Is(err, errTask) || errors.Is(err, executor.ErrRejected) {
			t.Errorf("the last attempt ends with %v", err)
		}

		g := executor.NewGroup(t.Context(), newPool(t, executor.Config{Workers: 1}))
		for i := range 2 {
			g.Go(func(context.Context) error { return errors.New(strconv.Itoa(i)) },
				executor.Retry(2, func(int) time.Duration { return time.Hour }))
		}
		expect(t, "a group fails", g.Wait() != nil, true)
	})
}

// Drain names the runs that it cuts short: they are in no future, and in none of what it returns.
func TestPoolDrainNamesWhatItCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		pool := newPool(t, executor.Config{Workers: 3, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		for name, p := range map[string]*executor.Pool{"backup": pool, "mail": share} {
			if err := p.Go(t.Context(), wait, executor.Named(name)); err != nil {
				t.Fatal(err)
			}
		}
		mustGo(t, pool, func(ctx context.Context) error { <-ctx.Done(); return nil }, executor.Named("heeds"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		pool.Drain(ctx)
		for _, name := range []string{"backup", "mail"} {
			if !strings.Contains(out.String(), `msg="executor: run cut short" task=`+name) {
				t.Errorf("%s is not named in %q", name, out.String())
			}
		}
		expect(t, "lines", strings.Count(out.String(), "\n"), 2)
	})
}

// A series that ends since its submitter's context has is logged, once, waiting or running; one that
// the pool did not take is not: its submitter has the error.
func TestSeriesLogsEndOfContext(t *testing.T) {
	for name, initial := range map[string]time.Duration{"before its first run": time.Hour, "between two": 0} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			pool := newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
			ctx, cancel := context.WithCancel(t.Context())
			if _, err := pool.AtFixedRate(ctx, initial, time.Minute, nop, executor.Named("tidy")); err != nil {
				t.Fatal(err)
			}
			elapse(time.Second)
			cancel()
			synctest.Wait()
			if _, err := pool.AtFixedRate(ctx, 0, time.Minute, nop); err == nil {
				t.Error("a pool took a series of a context that had ended")
			}
			if n := strings.Count(out.String(), `msg="executor: schedule ended" task=tidy reason=`); n != 1 ||
				strings.Count(out.String(), "\n") != 1 {
				t.Errorf("%s: logged %q", name, out.String())
			}
		})
	}
}

// A producer sees that its group has failed.
func TestGroupContextEndsAtFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		g := executor.NewGroup(t.Context(), pool)
		expect(t, "Err", g.Context().Err(), nil)
		g.Go(func(context.Context) error { return errTask })
		<-g.Context().Done()
		expect(t, "cause", context.Cause(g.Context()), errTask)
		expect(t, "Wait", g.Wait(), errTask)
	})
}

// The loop of Completed ends with its context, is not changed through the slice that it was given,
// and refers to nothing that it has yielded.
func TestCompletedContextCopyAndRelease(t *testing.T) {
	type big struct{ _ [1 << 20]byte }
	done := func() *executor.Future[*big] {
		p := executor.NewPromise[*big]()
		p.Complete(new(big))
		return p.Future()
	}
	pending := executor.NewPromise[*big]()
	fs := []*executor.Future[*big]{done(), done(), pending.Future()}
	first := weak.Make(fs[0])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := executor.Completed(ctx, fs...)
	clear(fs)
	n := 0
	for f := range all {
		if n++; n == 2 {
			runtime.GC()
			if first.Value() != nil {
				t.Error("the first future is kept")
			}
			cancel()
		}
		if f == nil {
			t.Error("yielded nil")
		}
	}
	expect(t, "yielded", n, 2)
	expect(t, "cancels the futures", pending.Future().State(), executor.Pending)
}

// pprof.Do in a body adds to the labels of the goroutine, and leaves it with those that it had.
func TestPoolLabelsAfterDo(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Workers: 1})
		for opt, opts := range map[string][]executor.Option{"": nil, `"task":"mail", `: {executor.Named("mail")}} {
			block := newBlocker(t)
			mustGo(t, pool, func(ctx context.Context) error {
				pprof.Do(ctx, pprof.Labels("inside", "do"), func(ctx context.Context) { block.Run(ctx) })
				return block.Run(ctx)
			}, opts...)
			expectLabels(t, "in Do", atWork, `{"executor":"p", "inside":"do", `+opt+`"worker":"1"}`)
			block.ReleaseOne()
			expectLabels(t, "after Do", atWork, `{"executor":"p", `+opt+`"worker":"1"}`)
			block.Release()
			waitStats(t, pool)
		}
	})
}

// What is nil, or was not made, panics with a sentence that says so.
func TestNilPanicsWithSentence(t *testing.T) {
	ctx := t.Context()
	pool := newPool(t, executor.Config{Workers: 1})
	var (
		nilTask      *executor.Task[int]
		nilPool      *executor.Pool
		nilScheduled *executor.ScheduledPool
		series       executor.Series
		blocking     queue.Blocking[int]
	)
	for name, call := range map[string]func(){
		"Submit":             func() { executor.Submit(ctx, nil, value(1)) },
		"Submit, nil *Pool":  func() { executor.Submit(ctx, nilPool, value(1)) },
		"Submit, nil *SPool": func() { executor.Submit(ctx, nilScheduled, value(1)) },
		"Any":                func() { executor.Any(ctx, nil, value(1)) },
		"All":                func() { executor.All(ctx, nil, value(1)) },
		"NewGroup":           func() { executor.NewGroup(ctx, nil) },
		"Schedule":           func() { executor.SubmitAfter(ctx, nil, 0, value(1)) },
		"At":                 func() { executor.SubmitAt(ctx, nil, time.Now(), value(1)) },
		"After":              func() { nilScheduled.GoAfter(ctx, 0, nop) },
		"AtFixedRate":        func() { nilScheduled.AtFixedRate(ctx, 0, 1, nop) },
		"On":                 func() { nilScheduled.On(ctx, executor.FixedRate(1), nop) },
		"Task.Run":           func() { nilTask.Run(ctx) },
		"Task.Future":        func() { nilTask.Future() },
		"Completed":          func() { executor.Completed[int](ctx, nil) },
		"Fixed":              func() { executor.Fixed(1, nil) },
		"Scheduled":          func() { executor.Scheduled(1, nil) },
		"Series.Pause":       func() { series.Pause() },
		"Series.Err":         func() { series.Err() },
		"Series.Info":        func() { series.Info() },
		"Series.RunNow":      func() { series.RunNow() },
		"Series.Reschedule":  func() { series.Reschedule(executor.FixedRate(1)) },
		"Blocking.Put":       func() { blocking.Put(ctx, 1) },
		"Blocking.Len":       func() { blocking.Len() },
		"Blocking.Poll":      func() { blocking.Poll() },
		"nil Group":          func() { (*executor.Group)(nil).Go(nop) },
	} {
		func() {
			defer func() {
				text, _ := recover().(string)
				if !strings.HasPrefix(text, "executor: ") && !strings.HasPrefix(text, "queue: ") {
					t.Errorf("%s: panicked with %q", name, text)
				}
			}()
			call()
		}()
	}
	expectIs(t, "Execute of a nil *Task", pool.Execute(ctx, nilTask), executor.ErrInvalid)
}

// CancelCause says why: the outcome has the cause, and so has the context of a body.
func TestFutureCancelCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		var seen error
		runs := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			seen = context.Cause(ctx)
			return 0, nil
		})
		waits := executor.Submit(t.Context(), pool, value(1))
		synctest.Wait()
		expect(t, "cancels", waits.CancelCause(errTask) && runs.CancelCause(errTask), true) // before there is a worker for it
		expect(t, "again", waits.CancelCause(errTask), false)
		runs.Join(t.Context())
		expect(t, "cause of the context", seen, errTask)
		for _, f := range []*executor.Future[int]{runs, waits} {
			expectIs(t, "outcome", f.Err(), errTask)
			expectIs(t, "outcome", f.Err(), executor.ErrCanceled)
		}
	})
}

// A rate that is too low is blamed, not the burst.
func TestShareRateTooLow(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	_, err := pool.Share(executor.ShareConfig{Rate: executor.Rate{PerSecond: 5e-324}})
	expectIs(t, "error", err, executor.ErrInvalid)
	if text := fmt.Sprint(err); !strings.Contains(text, "PerSecond") || strings.Contains(text, "Burst") {
		t.Errorf("error: %s", text)
	}
}

// Submit and At of a pool are the functions of those names for what has no result, and Wait is Get
// without one.
func TestPoolSubmitsWithoutResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newScheduled(t, executor.ScheduledConfig{Workers: 1})
		begin := time.Now()
		fails := func(context.Context) error { return errTask }
		at, err := pool.GoAt(t.Context(), begin.Add(time.Hour), fails, executor.Named("later"))
		expect(t, "error of At", err, nil)
		for want, f := range map[time.Duration]executor.Awaitable{
			0: pool.Submit(t.Context(), fails, executor.Named("now")), time.Hour: at,
		} {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if want > 0 {
				expectIs(t, "Wait with a context that has ended", f.Wait(ended), context.Canceled)
			}
			expect(t, f.Name(), f.Wait(t.Context()), errTask)
		}
		expect(t, "took", time.Since(begin), time.Hour)
		expectIs(t, "nil for Submit", pool.Submit(t.Context(), nil).Err(), executor.ErrInvalid)
		_, err = pool.GoAt(t.Context(), begin, nil)
		expectIs(t, "nil for At", err, executor.ErrInvalid)
	})
}

// A task that waits for tasks of a share of its pool, or by key, needs no other worker, however it
// waits, and whatever runs at the same time: it offers its own.
func TestTaskOffersItsWorker(t *testing.T) {
	type body = func(context.Context) (int, error)
	bounded := func(ctx context.Context, wait func(context.Context)) {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		wait(ctx)
	}
	ways := map[string]func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (int, error){
		"Get": func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (int, error) {
			return executor.Submit(ctx, ex, fn, opts...).Get(ctx)
		},
		"GetBounded": func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (n int, err error) {
			bounded(ctx, func(bound context.Context) { n, err = executor.Submit(ctx, ex, fn, opts...).Get(bound) })
			return n, err
		},
		"Join": func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (int, error) {
			f := executor.Submit(ctx, ex, fn, opts...)
			f.Join(ctx)
			return f.Result()
		},
		"Group": func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (n int, err error) {
			g := executor.NewGroup(ctx, ex)
			g.Go(func(ctx context.Context) (err error) { n, err = fn(ctx); return err }, opts...)
			return n, g.Wait()
		},
		"Map": func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (n int, err error) {
			for n, err = range executor.Map(ctx, ex, 2, slices.Values([]int{1}), func(ctx context.Context, _ int) (int, error) { return fn(ctx) }, opts...) {
			}
			return n, err
		},
		"MapUnordered": func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (n int, err error) {
			for n, err = range executor.MapUnordered(ctx, ex, 2, slices.Values([]int{1}), func(ctx context.Context, _ int) (int, error) { return fn(ctx) }, opts...) {
			}
			return n, err
		},
		"Any": func(ctx context.Context, ex executor.Executor, fn body, _ []executor.Option) (int, error) {
			return executor.Any(ctx, ex, func(ctx context.Context) (n int, err error) {
				for range 2 { // without Retry
					n, err = fn(ctx)
				}
				return n, err
			})
		},
		"Completed": func(ctx context.Context, ex executor.Executor, fn body, opts []executor.Option) (int, error) {
			for f := range executor.Completed(ctx, executor.Submit(ctx, ex, fn, opts...)) {
				return f.Result()
			}
			return 0, errors.New("the loop has ended")
		},
	}
	executors := map[string]func(t *testing.T, pool *executor.Pool) executor.Executor{
		"Pool": func(t *testing.T, pool *executor.Pool) executor.Executor { return pool },
		"Share": func(t *testing.T, pool *executor.Pool) executor.Executor {
			return newShare(t, pool, executor.ShareConfig{Limit: 1})
		},
		"ShareOfShare": func(t *testing.T, pool *executor.Pool) executor.Executor {
			return newShare(t, newShare(t, pool, executor.ShareConfig{Limit: 1}), executor.ShareConfig{})
		},
		"Rate": func(t *testing.T, pool *executor.Pool) executor.Executor {
			return newShare(t, pool, executor.ShareConfig{Rate: executor.Rate{PerSecond: 1, Burst: 1}})
		},
		"Keyed": func(t *testing.T, pool *executor.Pool) executor.Executor {
			return newKeyed[string](t, pool, 1).For("k")
		},
		"KeyedOfShare": func(t *testing.T, pool *executor.Pool) executor.Executor {
			return newKeyed[string](t, newShare(t, pool, executor.ShareConfig{}), 1).For("k")
		},
	}
	callers := map[string]func(t *testing.T, pool *executor.Pool) executor.Executor{
		"Pool": func(t *testing.T, pool *executor.Pool) executor.Executor { return pool },
		"Share": func(t *testing.T, pool *executor.Pool) executor.Executor {
			return newShare(t, pool, executor.ShareConfig{})
		},
		"Keyed": func(t *testing.T, pool *executor.Pool) executor.Executor {
			return newKeyed[string](t, pool, 1).For("caller")
		},
	}
	for caller, of := range callers {
		for name, borrows := range executors {
			for way, wait := range ways {
				t.Run(fmt.Sprintf("%s/%s/%s", caller, name, way), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						pool := newPool(t, executor.Config{Workers: 1})
						from, to := of(t, pool), borrows(t, pool)
						var fs []*executor.Future[int]
						for i := range 5 {
							fs = append(fs, executor.Submit(t.Context(), from, func(ctx context.Context) (int, error) {
								fails := true
								return wait(ctx, to, func(context.Context) (int, error) {
									time.Sleep(time.Millisecond)
									if fails = !fails; !fails {
										return 0, errTask
									}
									return i, nil
								}, []executor.Option{executor.Retry(2, seconds)})
							}))
						}
						for i, f := range fs {
							n, err := f.Get(t.Context())
							expect(t, "value", n, i)
							expect(t, "error", err, nil)
						}
					})
				})
			}
		}
	}
}
