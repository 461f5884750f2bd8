package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Take gives a future that is done, the very one that Submit gave (testTake,
// testTake2).
func TestCompletionTake(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := executor.NewCompletionService[int](ex)
		f := s.Submit(t.Context(), value(4))
		g, err := s.Take(t.Context())
		if g != f || err != nil {
			t.Fatalf("%p, %v, want %p", g, err, f)
		}
		futureIs(t, g, executor.Succeeded, 4, nil)
	})
}

// Futures come in the order in which they are done.
func TestCompletionOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 8})
		s := executor.NewCompletionService[int](p)
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

// Poll does not wait, and gives nothing before a task is done
// (testPollReturnsNullBeforeCompletion).
func TestCompletionPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		s := executor.NewCompletionService[int](p)
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
			t.Error("given twice")
		}
	})
}

// Take waits for as long as its context lasts, and no longer (testPoll2).
func TestCompletionTakeTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		s := executor.NewCompletionService[int](p)
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

// Tasks that fail, panic, are canceled or are rejected are given as well, and
// each once (testTaskAssortment, testSubmitNullCallable).
func TestCompletionGivesAllOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(3)})
		s := executor.NewCompletionService[int](p)
		b := newBlocker(t)
		b.Fill(t, p, 1)
		fs := []*executor.Future[int]{
			s.Submit(t.Context(), value(1)),
			s.Submit(t.Context(), testkit.Fail(errTask)),
			s.Submit(t.Context(), explode),
			s.Submit(t.Context(), value(2)), // finds no room
			s.Submit(t.Context(), nil),
			s.Submit(t.Context(), value(3), executor.Timeout(-1)),
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

// A service needs an executor (testConstructorNPE).
func TestCompletionNilExecutor(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	executor.NewCompletionService[int](nil)
}

// ShutdownNow beneath it leaves no taker waiting for tasks that will not run.
func TestCompletionShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		s := executor.NewCompletionService[int](p)
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

// Of thousands of tasks each is taken exactly once, by any number of takers
// (ExecutorCompletionServiceLoops).
func TestCompletionLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4000
		p := newPool(t, executor.Config{Core: 10})
		s := executor.NewCompletionService[int](p)
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
			s.Submit(t.Context(), value(i))
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

// solvers are functions of which some find nothing and some fail
// (ExecutorCompletionService9Test).
func solvers() []func(context.Context) (*int, error) {
	found := func(v int) func(context.Context) (*int, error) {
		return func(context.Context) (*int, error) { return &v, nil }
	}
	nothing := func(context.Context) (*int, error) { return nil, nil }
	return []func(context.Context) (*int, error){nothing, found(1), nothing, found(2), found(3)}
}

// The documented use for all solutions: nil results are results, and are
// ignored by the caller (testSolveAll).
func TestCompletionSolveAll(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := executor.NewCompletionService[*int](ex)
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

// The documented use for the first solution: failures are ignored, and the
// others are canceled (testSolveAny).
func TestCompletionSolveAny(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := executor.NewCompletionService[*int](ex)
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

// afterwards is an executor that runs each task in the caller, and then does one
// thing more before Execute returns.
type afterwards struct{ then func() }

func (a *afterwards) Execute(ctx context.Context, r executor.Runnable) error {
	r.Run(ctx)
	then := a.then
	a.then = func() {}
	then()
	return nil
}

// A future is given in the order of its end even if that comes before Submit has
// returned.
func TestCompletionDoneBeforeSubmitReturns(t *testing.T) {
	ex := new(afterwards)
	s := executor.NewCompletionService[int](ex)
	give := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n, nil }
	}
	ex.then = func() {
		if n := s.Len(); n != 1 {
			t.Errorf("%d futures are to be taken once the first is done", n)
		}
		s.Submit(t.Context(), give(2))
	}
	s.Submit(t.Context(), give(1))
	for want := 1; want <= 2; want++ {
		f, ok := s.Poll()
		if !ok {
			t.Fatalf("no future, want that of %d", want)
		}
		if got, _ := f.Result(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}
