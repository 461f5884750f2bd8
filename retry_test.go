package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// seconds is a backoff of n seconds after the n-th attempt.
func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// A task that fails is called again after its backoff, and its future has the value of the
// attempt that succeeded; in between it waits as one task, and holds no worker.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		start := time.Now()
		var at []time.Duration
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
			at = append(at, time.Since(start))
			if len(at) < 4 {
				return 0, errTask
			}
			return len(at), nil
		}, executor.Retry(5, seconds), executor.Named("x"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		expect(t, "state in between", f.State(), executor.Pending)
		expect(t, "due in between", f.Next(), start.Add(3*time.Second))
		expect(t, "name", f.Name(), "x")
		s := checkStats(t, pool)
		expect(t, "active in between", s.Active, 0)
		expect(t, "queued in between", s.Queued, 1)
		if waiting := slices.Collect(pool.Waiting()); !slices.Equal(waiting, []any{f}) {
			t.Errorf("%v waits, want the future", waiting)
		}
		n, err := f.Get(t.Context())
		expect(t, "value", n, 4)
		expect(t, "error", err, nil)
		if want := []time.Duration{0, seconds(1), seconds(3), seconds(6)}; !slices.Equal(at, want) {
			t.Errorf("attempts at %v, want %v", at, want)
		}
		s = waitStats(t, pool)
		expect(t, "submitted", s.Submitted, 1)
		expect(t, "succeeded", s.Succeeded, 1)
		expect(t, "runs", s.Runs, 4)
	})
}

// The last attempt decides; a permanent error, a panic and a Goexit are final.
func TestRetryFinalFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail     func() error
		attempts int
		want     error
	}{
		"last":      {func() error { return errTask }, 3, errTask},
		"permanent": {func() error { return executor.Permanent(errTask) }, 1, errTask},
		"wrapped":   {func() error { return fmt.Errorf("no: %w", executor.Permanent(errTask)) }, 1, errTask},
		"panic":     {func() error { panic(errTask) }, 1, errTask},
		"Goexit":    {func() error { runtime.Goexit(); return nil }, 1, executor.ErrGoexit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1})
				n := 0
				f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
					n++
					return 0, c.fail()
				}, executor.Retry(3, seconds))
				_, err := f.Get(t.Context())
				expectIs(t, "error", err, c.want)
				expect(t, "attempts", n, c.attempts)
				expect(t, "state", f.State(), executor.Failed)
				if name == "permanent" && err != errTask {
					t.Errorf("error %v, want the marked one", err)
				}
			})
		})
	}
}

// The end of the context ends the wait at once, and the error matches its cause and the
// error of the last attempt.
func TestRetryContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		f := executor.Submit(ctx, pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, func(int) time.Duration { return time.Hour }))
		time.Sleep(time.Minute)
		start := time.Now()
		cancel(cause)
		_, err := f.Get(t.Context())
		expect(t, "after", time.Since(start), 0)
		for _, want := range []error{cause, context.Canceled, executor.ErrCanceled, errTask} {
			expectIs(t, "error", err, want)
		}
		expect(t, "state", f.State(), executor.Canceled)
		expect(t, "Join", f.Join(t.Context()), nil)
		time.Sleep(2 * time.Hour)
		expect(t, "attempts", waitStats(t, pool).Submitted, 1)
	})
}

// Cancel ends an attempt that runs, one that waits, and the time between two; Join waits
// for the body that is running, and for no other.
func TestRetryCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		waits := executor.Submit(t.Context(), pool, value(1), executor.Retry(3, seconds))
		expect(t, "queued", waitStats(t, pool).Queued, 1)
		expect(t, "Cancel", waits.Cancel(), true)
		expect(t, "queued after", waitStats(t, pool).Queued, 0)
		expect(t, "Join", waits.Join(t.Context()), nil)
		block.Release()

		var cause error
		runs := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Hour)
			return 0, ctx.Err()
		}, executor.Retry(3, seconds))
		synctest.Wait()
		start := time.Now()
		expect(t, "Cancel", runs.Cancel(), true)
		_, err := runs.Get(t.Context())
		expectIs(t, "error", err, executor.ErrCanceled)
		expect(t, "Get after", time.Since(start), 0)
		expect(t, "Join", runs.Join(t.Context()), nil)
		expect(t, "Join after", time.Since(start), time.Hour)
		expectIs(t, "cause", cause, executor.ErrCanceled)

		between := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, seconds))
		time.Sleep(time.Second / 2)
		expect(t, "Cancel", between.Cancel(), true)
		expect(t, "Join", between.Join(t.Context()), nil)
		time.Sleep(time.Hour)
		expect(t, "attempts", waitStats(t, pool).Submitted, 4)
	})
}

// Abandon ends the attempts in an Executor of another package, as in a pool: that which runs is the
// last, and none follows a wait.
func TestRetryAbandonElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, at := range map[string]time.Duration{
			"during an attempt": time.Second / 2, "between two": 3 * time.Second / 2,
		} {
			attempts, returned := 0, time.Time{}
			f := executor.Submit(t.Context(), runs(func(ctx context.Context, r executor.Runnable) {
				go func() {
					r.Run(ctx)
					returned = time.Now()
				}()
			}), func(context.Context) (int, error) {
				attempts++
				time.Sleep(time.Second)
				return 0, errTask
			}, executor.Retry(3, seconds))
			start := time.Now()
			time.Sleep(at)
			synctest.Wait()
			expect(t, name+": Abandon", f.Abandon(), true)
			time.Sleep(time.Hour)
			synctest.Wait()
			expect(t, name+": attempts", attempts, 1)
			expect(t, name+": Run returned after", returned.Sub(start), max(at, time.Second))
		}
	})
}

// A task with Retry that a policy has kept, and then runs by hand, makes one attempt, with which it ends.
func TestRetryOfKeptTaskByHand(t *testing.T) {
	retry := executor.Retry(3, seconds)
	for name, submit := range map[string]func(ctx context.Context, p *executor.Pool, body func(context.Context) error) error{
		"Submit": func(ctx context.Context, p *executor.Pool, body func(context.Context) error) error {
			return p.Submit(ctx, body, retry).Wait(ctx)
		},
		"Go": func(ctx context.Context, p *executor.Pool, body func(context.Context) error) error {
			expect(t, "Go", p.Go(ctx, body, retry), nil)
			time.Sleep(time.Hour)
			return errTask
		},
		"Group": func(ctx context.Context, p *executor.Pool, body func(context.Context) error) error {
			g := executor.NewGroup(ctx, p)
			g.Go(body, retry)
			return g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ran error
				p := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff(), Logger: slog.New(slog.DiscardHandler),
					Reject: executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
						go func() { ran = task.Run(context.Background()) }()
						return executor.ErrKept
					})})
				testkit.NewBlocker(t).Fill(t, p, 1)
				attempts := 0
				err := submit(t.Context(), p, func(context.Context) error { attempts++; return errTask })
				synctest.Wait()
				expect(t, "outcome", err, errTask)
				expect(t, "result of Run", ran, errTask)
				expect(t, "attempts", attempts, 1)
			})
		})
	}
}

// A shutdown ends the wait for the next attempt at once, with the error of the one before, and a
// task that comes too late is rejected.
func TestRetryShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, seconds))
		synctest.Wait()
		pool.Close()
		_, err := f.Get(t.Context())
		for _, want := range []error{executor.ErrShutdown, executor.ErrCanceled, errTask} {
			expectIs(t, "error", err, want)
		}
		f = executor.Submit(t.Context(), pool, value(1), executor.Retry(3, seconds))
		expectIs(t, "error", f.Err(), executor.ErrShutdown)
		err = pool.Go(t.Context(), nop, executor.Retry(3, seconds))
		expectIs(t, "Go", err, executor.ErrShutdown)
	})
}

// ShutdownNow ends the wait for the next attempt at once.
func TestRetryShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		keyed := newKeyed[int](t, pool, 1)
		start := time.Now()
		var fs []*executor.Future[int]
		sched := scheduled(t, 1)
		for _, ex := range []executor.Executor{pool, keyed.For(1), sched} {
			fs = append(fs, executor.Submit(t.Context(), ex, func(context.Context) (int, error) { return 0, errTask },
				executor.Retry(3, func(int) time.Duration { return time.Hour })))
		}
		synctest.Wait()
		pool.ShutdownNow()
		sched.ShutdownNow()
		for i, f := range fs {
			_, err := f.Get(t.Context())
			expect(t, fmt.Sprint("after ", i), time.Since(start), 0)
			expectIs(t, "error", err, executor.ErrShutdown)
			expectIs(t, "error", err, errTask)
		}
	})
}

// Go retries as well, and logs the failure of the last attempt alone.
func TestRetryGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		keyed := newKeyed[string](t, pool, 1)
		var n, m int
		fail := func(n *int) func(context.Context) error {
			return func(context.Context) error { *n++; return fmt.Errorf("attempt %d", *n) }
		}
		expect(t, "Go", pool.Go(t.Context(), fail(&n), executor.Retry(3, seconds), executor.Named("x")), nil)
		expect(t, "Go", keyed.Go(t.Context(), "key", fail(&m), executor.Retry(2, seconds)), nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "attempts", n, 3)
		expect(t, "attempts of the key", m, 2)
		for text, want := range map[string]int{"attempt 3": 1, "task=x": 1, "attempt 2": 1, "attempt 1": 0} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("the log has %q %d times, want %d:\n%s", text, got, want, &log)
			}
		}
	})
}

// What waits for its first attempt at a ShutdownNow can be run elsewhere.
func TestRetryDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		newBlocker(t).Fill(t, pool, 1)
		ran := false
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { ran = true; return 1, nil },
			executor.Retry(3, seconds), executor.Named("x"))
		synctest.Wait()
		dropped := pool.ShutdownNow()
		expectIs(t, "error", f.Err(), executor.ErrShutdown)
		if len(dropped) != 1 {
			t.Fatalf("%d tasks were dropped, want 1", len(dropped))
		}
		expect(t, "name", dropped[0].Name(), "x")
		expect(t, "Run", dropped[0].Run(t.Context()), nil)
		expect(t, "it ran", ran, true)
	})
}

// A task with Retry costs seven allocations more than one without, and each failure seven: a
// context of its own for each attempt, and the errors.
func TestRetryAllocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		retry := executor.Retry(3, func(int) time.Duration { return time.Second })
		for failures, most := range map[int]float64{0: 10, 1: 17, 2: 24} {
			run := func() {
				for range 100 {
					n := 0
					executor.Submit(context.Background(), pool, func(context.Context) (int, error) {
						if n++; n > failures {
							return n, nil
						}
						return 0, errTask
					}, retry)
				}
				time.Sleep(time.Minute)
			}
			run() // the queue has its size
			if got := testing.AllocsPerRun(10, run) / 100; got > most+0.5 {
				t.Errorf("%d failures: %v allocations, want %v", failures, got, most)
			}
		}
	})
}

// A task that waits for one of its own pool gets its result, though its attempts find no
// other worker.
func TestRetryForkJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		attempts := 0
		outer := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			return executor.Submit(ctx, pool, func(context.Context) (int, error) {
				if attempts++; attempts < 3 {
					return 0, errTask
				}
				return attempts, nil
			}, executor.Retry(5, seconds)).Get(ctx)
		})
		n, err := outer.Get(t.Context())
		expect(t, "value", n, 3)
		expect(t, "error", err, nil)
	})
}

// Retry is checked, and is for what runs once.
func TestRetryInvalid(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	sched := scheduled(t, 1)
	_, periodic := sched.AtFixedRate(t.Context(), 0, time.Hour, nop, executor.Retry(2, seconds))
	for name, err := range map[string]error{
		"periodic": periodic,
		"attempts": pool.Go(t.Context(), nop, executor.Retry(0, seconds)),
		"backoff":  pool.Go(t.Context(), nop, executor.Retry(1, nil)),
		"NewTask":  executor.NewTask(value(1), executor.Retry(2, seconds)).Err(),
	} {
		expectIs(t, name, err, executor.ErrInvalid)
	}
	var none func(context.Context) (int, error)
	expectIs(t, "nil function", executor.Submit(t.Context(), pool, none, executor.Retry(2, seconds)).Err(),
		executor.ErrInvalid)
	expect(t, "Permanent(nil)", executor.Permanent(nil), nil)
}

// A mark matches every other, and nothing else does.
func TestPermanentIsFoundByAnother(t *testing.T) {
	mark := executor.Permanent(io.EOF)
	for _, err := range []error{executor.Permanent(errTask), fmt.Errorf("no: %w", executor.Permanent(errTask))} {
		expectIs(t, "marked", err, mark)
		expectIs(t, "marked", err, errTask)
		expect(t, "the error in the mark", errors.Is(err, io.EOF), false)
	}
	expect(t, "unmarked", errors.Is(errTask, mark), false)
}

// A backoff that panics fails the task.
func TestRetryBackoffPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(2, func(int) time.Duration { panic("oh") }))
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || !errors.Is(err, errTask) {
			t.Errorf("error %v", err)
		}
	})
}

// A backoff that overflows fails the task, with its last error: it does not make attempts without a pause.
func TestRetryBackoffOverflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		for name, ex := range map[string]executor.Executor{
			"a pool": pool, "a foreign one": runs(func(ctx context.Context, r executor.Runnable) { go r.Run(ctx) }),
		} {
			attempts := 0
			f := executor.Submit(t.Context(), ex, func(context.Context) (int, error) { attempts++; return 0, errTask },
				executor.Retry(100, func(n int) time.Duration { return time.Hour << (20 * n) }))
			_, err := f.Get(t.Context())
			expectIs(t, name, err, executor.ErrInvalid)
			expectIs(t, name, err, errTask)
			expect(t, name+": attempts", attempts, 2)
		}
	})
}

// Backoff doubles up to its most, shortened by up to a half.
func TestBackoff(t *testing.T) {
	b := executor.Backoff(time.Second, 10*time.Second)
	for n, want := range []time.Duration{0, 1, 2, 4, 8, 10, 10} {
		for range 100 {
			if d := b(n); n > 0 && (d < want*time.Second/2 || d > want*time.Second) {
				t.Errorf("after attempt %d: %v, want up to %v", n, d, want*time.Second)
			}
		}
	}
	if d := executor.Backoff(1<<62, 1<<63-1)(1_000_000_000); d < 1<<61 {
		t.Errorf("after very many attempts: %v", d)
	}
}

// However attempts, cancellations and the end of contexts race, the future resolves, no two
// attempts overlap, and there are no more than asked for.
func TestRetryHistory(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 4})
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var running, n atomic.Int32
			f := executor.Submit(ctx, pool, func(context.Context) (int, error) {
				if running.Add(1) > 1 {
					t.Error("two attempts overlap")
				}
				defer running.Add(-1)
				runtime.Gosched()
				if n.Add(1) > 4 {
					t.Error("too many attempts")
				}
				return 0, errTask
			}, executor.Retry(4, func(int) time.Duration { return time.Duration(rand.IntN(100)) * time.Microsecond }))
			for range rand.IntN(100) {
				runtime.Gosched()
			}
			switch rand.IntN(3) {
			case 0:
				f.Cancel()
			case 1:
				cancel()
			}
			f.Get(context.Background())
			f.Join(context.Background())
			if running.Load() > 0 {
				t.Error("a body runs after Join")
			}
		})
	}
	all.Wait()
}

// To its submitter each attempt is the whole task: hooks, the queue, Remove and the list of
// ShutdownNow know it by the future, or by the function of Go.
func TestRetryIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown []any
		show := func(info executor.TaskInfo) { shown = append(shown, info.Task) }
		pool := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context { show(info); return ctx },
			AfterTask:  func(_ context.Context, info executor.TaskInfo, _ error) { show(info) },
			Dropped:    func(_ context.Context, info executor.TaskInfo, _ error) { show(info) },
		}})
		sched := testkit.Scheduled(t, 1)
		retry := executor.Retry(3, seconds)
		shows := func(what string, want ...any) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(shown, want) {
				t.Errorf("%s: the hooks see %v, want %v", what, shown, want)
			}
			shown = nil
		}
		waits := func(what string, p *executor.Pool, want ...any) {
			t.Helper()
			if got := slices.Collect(p.Waiting()); !slices.Equal(got, want) {
				t.Errorf("%s: %v waits, want %v", what, got, want)
			}
		}

		failing := executor.Submit(t.Context(), pool, testkit.Fail(errTask), retry)
		elapse(time.Minute)
		shows("attempts", failing, failing, failing, failing, failing, failing)
		expect(t, "Remove of what is done", pool.Remove(failing), false)

		block := newBlocker(t)
		block.Fill(t, pool, 1)
		shown = nil
		first := executor.Submit(t.Context(), pool, value(1), retry)
		second := executor.Submit(t.Context(), pool, value(2), retry)
		later := executor.SubmitAfter(t.Context(), sched, time.Hour, value(3), retry)
		waits("Submit", pool, first, second)
		waits("Schedule", sched.Pool, later)
		expect(t, "Remove of the other pool's", pool.Remove(later), false)
		expect(t, "Remove", pool.Remove(first), true)
		expect(t, "Remove again", pool.Remove(first), false)
		expectIs(t, "what was removed", first.Err(), executor.ErrCanceled)
		expect(t, "Remove of Schedule", sched.Remove(later), true)
		shows("Remove", first)
		waits("Remove", pool, second)

		dropped := pool.ShutdownNow()
		if len(dropped) != 1 || dropped[0].Task() != any(second) {
			t.Errorf("ShutdownNow returns %v, want the second future", dropped)
		}
		shown = shown[:min(1, len(shown))] // without the end of the blocker
		shows("ShutdownNow", second)
	})
}

// The task of Go with Retry is its function, as without.
func TestRetryIdentityOfGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		newBlocker(t).Fill(t, pool, 1)
		pool.Go(t.Context(), nop, executor.Retry(3, seconds))
		pool.Go(t.Context(), nop)
		for what := range pool.Waiting() {
			if _, ok := what.(executor.Func); !ok {
				t.Errorf("%T waits, want a Func", what)
			}
		}
		for _, d := range pool.ShutdownNow() {
			if _, ok := d.Task().(executor.Func); !ok {
				t.Errorf("%T was dropped, want a Func", d.Task())
			}
		}
	})
}

// A group that has failed does not wait for the next attempt of another function, whoever waits for it.
func TestGroupFailedDoesNotWaitForAttempt(t *testing.T) {
	hour := func(int) time.Duration { return time.Hour }
	wait := func(ctx context.Context, pool *executor.Pool) (time.Duration, error) {
		start := time.Now()
		g := executor.NewGroup(ctx, pool)
		g.Go(func(context.Context) error { return io.EOF }, executor.Retry(2, hour))
		time.AfterFunc(time.Second, func() { g.Go(nil) })
		err := g.Wait()
		return time.Since(start), err
	}
	for name, from := range map[string]func(context.Context, *executor.Pool) (time.Duration, error){
		"a goroutine": wait,
		"a task of the pool": func(ctx context.Context, pool *executor.Pool) (time.Duration, error) {
			return executor.Submit(ctx, pool, func(ctx context.Context) (time.Duration, error) {
				return wait(ctx, pool)
			}).Get(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took, err := from(t.Context(), newPool(t, executor.Config{Workers: 1}))
				expect(t, "time of Wait", took, time.Second)
				expectIs(t, "error of Wait", err, executor.ErrInvalid)
			})
		})
	}
}

// afterAnHour is a backoff of an hour.
func afterAnHour(int) time.Duration { return time.Hour }

// failingFirst returns a function that fails in its first call.
func failingFirst() func(context.Context) (int, error) {
	calls := 0
	return func(context.Context) (int, error) {
		if calls++; calls == 1 {
			return 0, errTask
		}
		return calls, nil
	}
}

// A task that ends while it waits for its next attempt lets the others of its key run at once.
func TestRetryThatEndsReleasesKey(t *testing.T) {
	for how, end := range map[string]func(p *executor.Pool, f *executor.Future[int], cancel func()){
		"Cancel":  func(_ *executor.Pool, f *executor.Future[int], _ func()) { f.Cancel() },
		"Remove":  func(p *executor.Pool, f *executor.Future[int], _ func()) { p.Remove(f) },
		"context": func(_ *executor.Pool, _ *executor.Future[int], cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			keyed := executor.NewKeyed[string](newPool(t, executor.Config{Workers: 1}), 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := executor.Submit(ctx, keyed.For("a"), failingFirst(), executor.Retry(2, afterAnHour))
			synctest.Wait()
			second := executor.Submit(t.Context(), keyed.For("a"), failingFirst())
			synctest.Wait()
			expect(t, "second, while the first waits", second.State(), executor.Pending)
			end(keyed.Pool(), first, cancel)
			synctest.Wait()
			if second.State() == executor.Pending {
				t.Errorf("%s: the second waits still", how)
			}
		})
	}
}

// A key stays taken by one task at a time, whoever runs a task by hand in between.
func TestRetryByHandKeepsOrderOfKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keyed := executor.NewKeyed[string](newPool(t, executor.Config{Workers: 4}), 1)
		group := executor.NewGroup(t.Context(), keyed.For("a"))
		group.Go(func(context.Context) error { return errTask }, executor.Retry(3, seconds))
		synctest.Wait()
		for waits := range keyed.Pool().Waiting() {
			waits.(executor.Runnable).Run(t.Context())
		}
		expectIs(t, "group", group.Wait(), errTask)
		now, most := 0, 0
		for range 4 {
			keyed.Go(t.Context(), "a", func(context.Context) error {
				now++
				most = max(most, now)
				time.Sleep(time.Second)
				now--
				return nil
			})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "at once", most, 1)
	})
}

// An attempt that is due while all workers are busy gets a worker where a new task would.
func TestRetryGrowsElasticPool(t *testing.T) {
	for name, pool := range map[string]func() *executor.Pool{
		"PerTask": func() *executor.Pool { return executor.PerTask() },
		"Cached":  func() *executor.Pool { return executor.Cached() },
		"GrowWhenBusy": func() *executor.Pool {
			return must(executor.New(executor.Config{Workers: 1, Max: 2, GrowWhenBusy: true}))
		},
		"full queue": func() *executor.Pool {
			p := must(executor.New(executor.Config{Workers: 1, Max: 3, Queue: executor.Bounded(1)}))
			return p
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := pool()
			defer p.Close()
			free := make(chan struct{})
			busy := func(context.Context) error { <-free; return nil }
			f := executor.Submit(t.Context(), p, failingFirst(), executor.Retry(2, seconds))
			synctest.Wait()
			p.Go(t.Context(), busy)
			if name == "full queue" {
				p.Go(t.Context(), busy)
			}
			synctest.Wait()
			time.Sleep(time.Second)
			synctest.Wait()
			expect(t, name, f.State(), executor.Succeeded)
			close(free)
		})
	}
}

// The end of the context ends a task with Retry whenever it comes: also while backoff decides, and
// after an attempt by hand.
func TestRetryEndsWithContextAtAnyTime(t *testing.T) {
	for _, attempt := range []int{1, 2} {
		for _, grouped := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				start := time.Now()
				backoff := executor.Retry(3, func(n int) time.Duration {
					if n < attempt {
						return 0
					}
					cancel()
					time.Sleep(time.Millisecond)
					return time.Hour
				})
				if grouped {
					group := executor.NewGroup(ctx, pool)
					group.Go(func(context.Context) error { return errTask }, backoff)
					group.Wait()
				} else {
					f := executor.Submit(ctx, pool, func(context.Context) (int, error) { return 0, errTask }, backoff)
					_, err := f.Get(t.Context())
					expectIs(t, "error", err, executor.ErrCanceled)
				}
				expect(t, fmt.Sprintf("took, grouped %t, attempt %d", grouped, attempt), time.Since(start), time.Millisecond)
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		var f *executor.Future[int]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		pool.Go(ctx, func(own context.Context) error {
			f = executor.Submit(context.WithoutCancel(own), pool, func(context.Context) (int, error) {
				time.Sleep(time.Second)
				return 0, errTask
			}, executor.Retry(3, afterAnHour))
			bounded, stop := context.WithTimeout(own, time.Minute)
			defer stop()
			f.Get(bounded)
			return nil
		})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		expect(t, "after an attempt by hand", f.State(), executor.Pending)
		f.Cancel()
		synctest.Wait()
		expect(t, "canceled", f.State(), executor.Canceled)
	})
}

// In a pool of Single no task runs before one that has failed and runs again, also if no worker is
// left.
func TestRetryKeepsOrderWithoutWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single(func(c *executor.Config) { c.KeepNone, c.KeepAlive = true, time.Millisecond })
		defer pool.Close()
		var order []string
		waited := make(chan struct{})
		pool.Go(t.Context(), func(own context.Context) error {
			defer close(waited)
			n := 0
			f := executor.Submit(context.WithoutCancel(own), pool, func(context.Context) (int, error) {
				if n++; n == 1 {
					time.Sleep(time.Second)
					return 0, errTask
				}
				order = append(order, "again")
				return 0, nil
			}, executor.Retry(2, afterAnHour))
			bounded, stop := context.WithTimeout(own, time.Millisecond)
			defer stop()
			f.Get(bounded)
			return nil
		})
		<-waited
		time.Sleep(time.Minute)
		synctest.Wait()
		pool.Go(t.Context(), func(context.Context) error { order = append(order, "later"); return nil })
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if !slices.Equal(order, []string{"again", "later"}) {
			t.Errorf("ran in the order %q", order)
		}
	})
}

// A task that is due for another attempt waits in line, behind those that waited already and before those that came
// since: also for the rate of a share, which its first attempt had to wait for, too.
func TestRetryWaitsInLine(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *executor.Pool{
		"one worker": func(t *testing.T) *executor.Pool { return newPool(t, executor.Config{Workers: 1}) },
		"bounded": func(t *testing.T) *executor.Pool {
			return newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(3)})
		},
		"limit of a share": func(t *testing.T) *executor.Pool {
			return newShare(t, newPool(t, executor.Config{Workers: 4}), executor.ShareConfig{Limit: 1})
		},
		"rate of a share": func(t *testing.T) *executor.Pool {
			return newShare(t, newPool(t, executor.Config{Workers: 4}), executor.ShareConfig{Rate: executor.Rate{PerSecond: 0.1}})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := make(t)
			var order []string
			submit := func(name string, fails int) {
				mustGo(t, pool, func(context.Context) error {
					order = append(order, name)
					time.Sleep(9 * time.Second)
					if fails--; fails >= 0 {
						return errTask
					}
					return nil
				}, executor.Retry(2, seconds))
			}
			submit("again", 1)
			submit("first", 0)
			time.Sleep(9500 * time.Millisecond) // the one has failed, and waits for half a second more; the other runs, or is next
			submit("second", 0)
			time.Sleep(time.Second)
			submit("last", 0)
			time.Sleep(time.Minute)
			synctest.Wait()
			if want := []string{"again", "first", "second", "again", "last"}; !slices.Equal(order, want) {
				t.Errorf("%s: order %v, want %v", name, order, want)
			}
		})
	}
}

// Attempts of a task that fails do not keep others from their first.
func TestRetrySharesRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		share := newShare(t, newPool(t, executor.Config{Workers: 4}), executor.ShareConfig{Rate: executor.Rate{PerSecond: 1}})
		start := time.Now()
		var first []time.Duration
		for range 3 {
			begun := false
			mustGo(t, share, func(context.Context) error {
				if !begun {
					first = append(first, time.Since(start))
				}
				begun = true
				return errTask
			}, executor.Retry(5, func(int) time.Duration { return 100 * time.Millisecond }))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(first, want) {
			t.Errorf("first attempts at %v, want %v", first, want)
		}
		expect(t, "attempts", share.Stats().Runs, 15)
	})
}

// A shutdown ends the wait for another attempt, also of a task that is due and waits in line.
func TestRetryInLineEndsWithShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, pool := range map[string]*executor.Pool{
			"pool": executor.Fixed(1), "scheduled": executor.Scheduled(1).Pool,
			"share": newShare(t, newPool(t, executor.Config{Workers: 1}), executor.ShareConfig{}),
		} {
			f := executor.Submit(t.Context(), pool, failingFirst(), executor.Retry(2, seconds))
			synctest.Wait()
			mustGo(t, pool, func(context.Context) error { time.Sleep(time.Minute); return nil })
			time.Sleep(10 * time.Second)
			next := executor.Submit(t.Context(), pool, value(1))
			pool.Shutdown()
			expectIs(t, name, f.Err(), executor.ErrShutdown)
			expectIs(t, name, f.Err(), errTask)
			<-pool.Terminated()
			expect(t, name+": one that was submitted then", next.State(), executor.Succeeded)
		}
	})
}
