package java_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
	"github.com/executor-go/executor/java"
)

func TestMain(m *testing.M) { check.Main(m) }

var (
	errTask   = testkit.ErrTask
	expectIs  = check.Is
	futureIs  = testkit.FutureIs
	newPool   = testkit.NewPool
	scheduled = testkit.Scheduled
)

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	check.Equal(t, what, got, want)
}

func explode(context.Context) (int, error) { panic("boom") }

// statesOf returns the states of futures as one text.
func statesOf(fs []*executor.Future[int]) string {
	all := make([]executor.State, len(fs))
	for i, f := range fs {
		all[i] = f.State()
	}
	return fmt.Sprint(all)
}

// InvokeAll returns when each function has run once, with the futures in the order of the
// functions, whatever the outcomes are (testInvokeAll4, testInvokeAll5, InvokeTest.testInvokeAll1
// to 3, Invoke.testInvokeAll, JDK-6267833).
func TestInvokeAll(t *testing.T) {
	testkit.OverExecutors(t, func(t *testing.T, ex executor.Executor) {
		var runs atomic.Int32
		var fns []func(context.Context) (int, error)
		for i := range 20 {
			fns = append(fns, func(context.Context) (int, error) {
				runs.Add(1)
				time.Sleep(time.Duration(20-i) * time.Second)
				if i%5 == 4 {
					return 0, errTask
				}
				return i, nil
			})
		}
		fs := java.InvokeAll(t.Context(), ex, fns...)
		if len(fs) != 20 || runs.Load() != 20 {
			t.Fatalf("%d futures, %d runs", len(fs), runs.Load())
		}
		for i, f := range fs {
			if i%5 == 4 {
				futureIs(t, f, executor.Failed, 0, errTask)
			} else {
				futureIs(t, f, executor.Succeeded, i, nil)
			}
		}
	})
}

// On a scheduled pool too, InvokeAll returns all outcomes in the order of the functions.
func TestInvokeAllScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sour := scheduled(t, 2), errors.New("sour")
		fs := java.InvokeAll(t.Context(), p, testkit.After(time.Minute, 1), testkit.After(time.Second, 2),
			func(context.Context) (int, error) { return 0, sour })
		for i, want := range []int{1, 2, 0} {
			v, err := fs[i].Result()
			expect(t, "value", v, want)
			expect(t, "it failed", err == sour, i == 2)
		}
		expect(t, "futures for no function", len(java.InvokeAll[int](t.Context(), p)), 0)
	})
}

// On a scheduled pool too, InvokeAll with a nil function runs nothing.
func TestInvokeAllNilFunctionScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 2), testkit.NewDiary()
		fs := java.InvokeAll(t.Context(), p, d.Value("x"), nil)
		expectIs(t, "outcome of the first", fs[0].Err(), executor.ErrCanceled)
		expectIs(t, "outcome of the nil one", fs[1].Err(), executor.ErrInvalid)
		d.Check(t)
	})
}

// When the context of InvokeAll ends, tasks that are done keep their outcomes; the others are
// canceled, and their contexts end (InvokeTest.testInvokeAll4,
// testInvokeAllInterrupt1, 3, 4, 6).
func TestInvokeAllContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 2})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errTask) })
		var saw error
		start := time.Now()
		fs := java.InvokeAll(ctx, p,
			testkit.After(time.Second, 1),
			func(ctx context.Context) (int, error) { <-ctx.Done(); saw = ctx.Err(); return 1, nil },
			testkit.After(time.Hour, 3),
			testkit.After(time.Hour, 4))
		if d := time.Since(start); d != time.Minute {
			t.Errorf("it took %v", d)
		}
		futureIs(t, fs[0], executor.Succeeded, 1, nil)
		for i, f := range fs[1:] {
			// A task function that returned by itself when its context ended may be as quick.
			if !f.State().Done() {
				t.Errorf("future %d is %v", i+1, f.State())
			}
			f.Join(t.Context())
		}
		futureIs(t, fs[3], executor.Canceled, 0, executor.ErrCanceled)
		fs = append(fs, java.InvokeAll(ctx, p, testkit.After(time.Second, 1))...) // now it has ended before
		for i := range fs[3:] {
			for _, target := range []error{context.Canceled, errTask} {
				if err := fs[3+i].Err(); !errors.Is(err, target) {
					t.Errorf("future %d: error %v does not match %v", 3+i, err, target)
				}
			}
		}
		if saw != context.Canceled {
			t.Errorf("the task function saw %v", saw)
		}
	})
}

// On a scheduled pool too, tasks that are not done when the context of InvokeAll ends are canceled,
// and the others keep their outcomes.
func TestInvokeAllContextEndsScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		ignores := func(context.Context) (int, error) { time.Sleep(time.Hour); return 3, nil }
		fs := java.InvokeAll(ctx, p, testkit.After(0, 1), testkit.After(time.Second, 2), ignores)
		expect(t, "duration", time.Since(begin), time.Minute)
		expect(t, "state", fs[0].State(), executor.Succeeded)
		expect(t, "state", fs[1].State(), executor.Succeeded)
		expect(t, "state", fs[2].State(), executor.Canceled)
		expectIs(t, "outcome", fs[2].Err(), executor.ErrCanceled)
	})
}

// On an executor that runs tasks in the caller, InvokeAll checks the context between two tasks, and
// starts none after its end (testTimedInvokeAll6).
func TestInvokeAllChecksContextBetweenTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started := false
		fs := java.InvokeAll(ctx, testkit.Inline{},
			testkit.Value(1),
			func(context.Context) (int, error) { time.Sleep(time.Hour); return 2, nil },
			func(context.Context) (int, error) { started = true; return 3, nil })
		futureIs(t, fs[0], executor.Succeeded, 1, nil)
		futureIs(t, fs[1], executor.Succeeded, 2, nil)
		futureIs(t, fs[2], executor.Canceled, 0, executor.ErrCanceled)
		if started {
			t.Error("the third was started")
		}
	})
}

// If a task is rejected InvokeAll cancels the others and leaves none pending
// (InvokeTest.testInvokeAllAfterShutdown1, 2).
func TestInvokeAllRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1)})
		fs := java.InvokeAll(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone,
			testkit.UntilDone)
		if got := statesOf(fs); got != "[canceled canceled failed canceled]" {
			t.Error(got)
		}
		if err := fs[2].Err(); !errors.Is(err, executor.ErrSaturated) || !errors.Is(err, executor.ErrRejected) {
			t.Errorf("the rejected one: %v", err)
		}
		p.Shutdown()
		fs = java.InvokeAll(t.Context(), p, testkit.Value(1), testkit.Value(2))
		if got := statesOf(fs); got != "[failed canceled]" || !errors.Is(fs[0].Err(), executor.ErrShutdown) {
			t.Errorf("%s, %v", got, fs[0].Err())
		}
	})
}

// If Execute panics or calls Goexit for one of the tasks, InvokeAll cancels those that were
// accepted.
func TestInvokeAllExecutorPanics(t *testing.T) {
	for end, leave := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1),
					Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error {
						leave()
						return nil
					})})
				ended := make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					java.InvokeAll(context.Background(), pool, testkit.UntilDone, testkit.UntilDone,
						testkit.UntilDone)
				}()
				if v := <-ended; v == nil != (end == "Goexit") {
					t.Errorf("recovered %v", v)
				}
				synctest.Wait()
				if s := pool.Stats(); s.Active != 0 || s.Queued != 0 || s.Canceled != 2 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// A goroutine that does not run a task of the pool runs none of it: Single keeps its order.
func TestInvokeAllByOtherGoroutine(t *testing.T) {
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
		java.InvokeAll(t.Context(), pool, fn, fn, fn)
	})
}

// CompletionService.

// Take returns a future that is done, the same that Submit returned (testTake, testTake2).
func TestCompletionServiceTake(t *testing.T) {
	testkit.OverExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := java.NewCompletionService[int](ex)
		f := s.Submit(t.Context(), testkit.Value(4))
		g, err := s.Take(t.Context())
		if g != f || err != nil {
			t.Fatalf("%p, %v, want %p", g, err, f)
		}
		futureIs(t, g, executor.Succeeded, 4, nil)
	})
}

// Take returns futures in the order in which they are done.
func TestCompletionServiceOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 8})
		s := java.NewCompletionService[int](p)
		for _, d := range []int{3, 1, 4, 2} {
			s.Submit(t.Context(), testkit.After(time.Duration(d)*time.Second, d))
		}
		var order []int
		for range 4 {
			f, _ := s.Take(t.Context())
			v, _ := f.Result()
			order = append(order, v)
		}
		if !slices.Equal(order, []int{1, 2, 3, 4}) {
			t.Errorf("order: %v", order)
		}
	})
}

// Poll does not wait, and returns nothing before a task is done
// (testPollReturnsNullBeforeCompletion).
func TestCompletionServicePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		s := java.NewCompletionService[int](p)
		f := s.Submit(t.Context(), testkit.After(time.Minute, 1))
		for range 3 {
			if g, ok := s.Poll(); ok || s.Len() != 0 {
				t.Errorf("Poll: %v", g)
			}
		}
		time.Sleep(time.Hour)
		if s.Len() != 1 {
			t.Errorf("Len: %d", s.Len())
		}
		if g, ok := s.Poll(); !ok || g != f {
			t.Errorf("Poll: %v", g)
		}
		if _, ok := s.Poll(); ok || s.Len() != 0 {
			t.Error("Poll returned the future twice")
		}
	})
}

// Take waits until its context ends, and no longer (testPoll2).
func TestCompletionServiceTakeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		s := java.NewCompletionService[int](p)
		f := s.Submit(t.Context(), testkit.After(time.Hour, 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := s.Take(ctx); err != context.DeadlineExceeded || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if g, err := s.Take(t.Context()); g != f || err != nil {
			t.Errorf("%v, %v", g, err)
		}
	})
}

// Take returns tasks that failed, panicked, were canceled or were rejected too, each once
// (testTaskAssortment, testSubmitNullCallable).
func TestCompletionServiceTakesAllOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(3)})
		s := java.NewCompletionService[int](p)
		b := testkit.NewBlocker(t)
		b.Fill(t, p, 1)
		fs := []*executor.Future[int]{
			s.Submit(t.Context(), testkit.Value(1)),
			s.Submit(t.Context(), testkit.Fail(errTask)),
			s.Submit(t.Context(), explode),
			s.Submit(t.Context(), testkit.Value(2)), // finds no room
			s.Submit(t.Context(), nil),
			s.Submit(t.Context(), testkit.Value(3), executor.Timeout(-1)),
		}
		fs[1].Cancel()
		b.Release()
		var got []*executor.Future[int]
		for range fs {
			f, err := s.Take(t.Context())
			if err != nil || !f.State().Done() || slices.Contains(got, f) {
				t.Fatalf("%v, %v", f.State(), err)
			}
			got = append(got, f)
		}
		if _, ok := s.Poll(); ok {
			t.Error("one too many")
		}
		if all := statesOf(fs); all != "[succeeded canceled failed failed failed failed]" {
			t.Error(all)
		}
	})
}

// After ShutdownNow of the pool no call of Take waits for tasks that will not run.
func TestCompletionServiceShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		s := java.NewCompletionService[int](p)
		for range 3 {
			s.Submit(t.Context(), testkit.UntilDone)
		}
		time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
		for range 3 {
			if f, err := s.Take(t.Context()); err != nil || !errors.Is(f.Err(), executor.ErrShutdown) {
				t.Errorf("%v", err)
			}
		}
	})
}

// Of thousands of tasks each is taken exactly once, by any number of goroutines
// (ExecutorCompletionServiceLoops).
func TestCompletionServiceTakeByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4000
		p := newPool(t, executor.Config{Workers: 10})
		s := java.NewCompletionService[int](p)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		taken := make(chan int, n)
		for range 4 {
			go func() {
				for {
					f, err := s.Take(ctx)
					if err != nil {
						return
					}
					v, _ := f.Result()
					taken <- v
				}
			}()
		}
		for i := range n {
			s.Submit(t.Context(), testkit.Value(i))
		}
		seen := make([]int, n)
		for range n {
			seen[<-taken]++
		}
		synctest.Wait()
		if len(taken) != 0 || slices.Max(seen) != 1 {
			t.Errorf("%d too many, or one taken %d times", len(taken), slices.Max(seen))
		}
	})
}

// solvers are functions of which some find nothing and some fail (ExecutorCompletionService9Test).
func solvers() []func(context.Context) (*int, error) {
	found := func(v int) func(context.Context) (*int, error) {
		return func(context.Context) (*int, error) { return &v, nil }
	}
	nothing := func(context.Context) (*int, error) { return nil, nil }
	return []func(context.Context) (*int, error){nothing, found(1), nothing, found(2), found(3)}
}

// The documented way to find all solutions: nil results are results, which the caller ignores
// (testSolveAll).
func TestCompletionServiceSolveAll(t *testing.T) {
	testkit.OverExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := java.NewCompletionService[*int](ex)
		go func() { // an executor may run them here
			for _, solve := range solvers() {
				s.Submit(t.Context(), solve)
			}
		}()
		var all []int
		for range solvers() {
			f, _ := s.Take(t.Context())
			if v, err := f.Result(); err == nil && v != nil {
				all = append(all, *v)
			}
		}
		slices.Sort(all)
		if !slices.Equal(all, []int{1, 2, 3}) {
			t.Errorf("solutions: %v", all)
		}
	})
}

// The documented way to find one solution: failures are ignored, and the other tasks are canceled
// (testSolveAny).
func TestCompletionServiceSolveAny(t *testing.T) {
	testkit.OverExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := java.NewCompletionService[*int](ex)
		var fs []*executor.Future[*int]
		for _, solve := range append(solvers(), func(context.Context) (*int, error) { return nil, errTask }) {
			fs = append(fs, s.Submit(t.Context(), solve))
		}
		var solution *int
		for range fs {
			f, _ := s.Take(t.Context())
			if v, err := f.Result(); err == nil && v != nil {
				solution = v
				break
			}
		}
		for _, f := range fs {
			f.Cancel()
		}
		if solution == nil || *solution < 1 || *solution > 3 {
			t.Errorf("solution: %v", solution)
		}
	})
}

// The error of a Take that its context ended matches the cause of that.
func TestCompletionServiceTakeMatchesCause(t *testing.T) {
	pool := executor.Fixed(1)
	defer pool.Close()
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := java.NewCompletionService[int](pool).Take(ctx)
	if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("Take: %v", err)
	}
}

// A CompletionService returns the future of all attempts.
func TestCompletionServiceRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := java.NewCompletionService[int](newPool(t, executor.Config{Workers: 1}))
		n := 0
		f := s.Submit(t.Context(), func(context.Context) (int, error) {
			if n++; n < 3 {
				return 0, errTask
			}
			return n, nil
		}, executor.Retry(5, executor.Backoff(time.Second, time.Minute)))
		got, err := s.Take(t.Context())
		expect(t, "error of Take", err, nil)
		expect(t, "future", got, f)
		n, err = got.Result()
		expect(t, "value", n, 3)
		expect(t, "error", err, nil)
	})
}

// The zero CompletionService, a nil context and a nil executor panic with one clear sentence.
func TestMisusePanics(t *testing.T) {
	pool := executor.Fixed(1)
	defer pool.Close()
	var none context.Context
	var service java.CompletionService[int]
	const zero = "java: this CompletionService was not made by NewCompletionService; the zero value is not usable"
	for _, c := range []struct {
		call func()
		want string
	}{
		{func() { service.Submit(t.Context(), testkit.Value(1)) }, zero},
		{func() { service.Take(t.Context()) }, zero},
		{func() { service.Poll() }, zero},
		{func() { service.Len() }, zero},
		{func() { java.InvokeAll(none, pool, testkit.Value(1)) }, "java: InvokeAll: nil Context"},
		{func() { java.InvokeAll[int](t.Context(), nil) }, "java: InvokeAll: nil Executor"},
		{func() { java.NewCompletionService[int](nil) }, "java: NewCompletionService: nil Executor"},
		{func() { java.NewCompletionService[int](pool).Submit(none, testkit.Value(1)) }, "executor: nil Context"},
	} {
		func() {
			defer func() { expect(t, "panic", recover(), any(c.want)) }()
			c.call()
		}()
	}
	expect(t, "submitted", pool.Stats().Submitted, 0)
}

// A context that ends InvokeAll is the reason of what it cancels: the tasks that run, those that wait,
// and those that were not submitted.
func TestInvokeAllKeepsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the page was closed")
		ctx, cancel := context.WithCancelCause(t.Context())
		pool := testkit.Closing(t, executor.Fixed(1, func(c *executor.Config) {
			c.Queue, c.Reject = executor.Bounded(1), executor.Block
		}))
		slow := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // InvokeAll does not wait for that
			return 0, nil
		}
		time.AfterFunc(time.Second, func() { cancel(why) })
		for i, f := range java.InvokeAll(ctx, pool, slow, slow, slow, slow) {
			if !errors.Is(f.Err(), why) {
				t.Errorf("task %d: %v", i, f.Err())
			}
		}
	})
}
