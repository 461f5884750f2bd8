package executortest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Pool is an executor that can be shut down. [executor.Pool] implements it, and documents the methods.
type Pool interface {
	executor.Executor
	Shutdown()
	ShutdownNow() []executor.Dropped
	AwaitTermination(ctx context.Context) error
}

var (
	_ Pool      = (*executor.Pool)(nil)
	_ Scheduled = (*executor.ScheduledPool)(nil)
)

// TestPool tests what a [Pool] promises. After Shutdown the pool rejects new tasks and runs those that are queued.
// ShutdownNow ends the contexts of running tasks and returns the queued ones. The pool terminates when the last run has
// returned; by then every future is done. No task is lost or runs twice.
//
// The suite calls make for each subtest. make returns a new pool, which may have any size, and any rejection policy
// that completes futures. The suite shuts the pools down.
func TestPool(t *testing.T, make func(*testing.T) Pool) {
	t.Helper()
	runAll(t, poolChecks, make)
}

// newPool returns a pool that is shut down at the end of the check, and must terminate
// then.
func newPool[P Pool](t testing.TB, make func() P) P {
	p := make()
	t.Cleanup(func() {
		p.ShutdownNow()
		if err := p.AwaitTermination(waitContext(t)); err != nil {
			t.Errorf("the pool did not terminate: %v", err)
		}
	})
	return p
}

// A batch is a number of tasks.
type batch struct {
	fs         []*executor.Future[int]
	runs       []atomic.Int32
	terminated atomic.Bool // the pool has terminated
}

// submitBatch submits n tasks of a second each, in goroutines of their own because the
// pool may run them there, and waits until all goroutines are blocked.
func submitBatch(t testing.TB, p Pool, n int) *batch {
	b := &batch{fs: make([]*executor.Future[int], n), runs: make([]atomic.Int32, n)}
	for i := range n {
		task := executor.NewTask(func(ctx context.Context) (int, error) {
			if b.terminated.Load() {
				t.Errorf("task %d runs in a terminated pool", i)
			}
			b.runs[i].Add(1)
			return i, sleep(ctx, time.Second)
		})
		b.fs[i] = task.Future()
		go func() {
			if err := p.Execute(context.Background(), task); err != nil {
				task.Fail(err)
			}
		}()
	}
	synctest.Wait()
	return b
}

// started returns the number of runs.
func (b *batch) started() (n int) {
	for i := range b.runs {
		n += int(b.runs[i].Load())
	}
	return n
}

// count requires that the outcome of each task matches the number of its runs. It
// returns how many tasks ran to the end, how many a shutdown interrupted or removed, and
// how many were rejected.
func (b *batch) count(t testing.TB) (ran, stopped, rejected int) {
	t.Helper()
	for i, f := range b.fs {
		_, err := f.Get(waitContext(t))
		n := b.runs[i].Load()
		switch {
		case n > 1:
			t.Errorf("task %d ran %d times", i, n)
		case f.State() == executor.Succeeded && n == 1:
			ran++
		case errors.Is(err, executor.ErrRejected) && n == 0:
			rejected++
		case errors.Is(err, executor.ErrShutdown):
			stopped++
		default:
			t.Errorf("task %d ran %d times and is %v: %v", i, n, f.State(), err)
		}
	}
	return ran, stopped, rejected
}

// checkShutdownNow requires that ShutdownNow, called after before, returns the tasks
// that have not started.
func checkShutdownNow(t testing.TB, make func() Pool, before func(Pool)) {
	p := newPool(t, make)
	b := submitBatch(t, p, burst)
	before(p)
	dropped := p.ShutdownNow()
	for _, u := range dropped {
		f, ok := u.Task().(*executor.Future[int])
		if !ok {
			t.Fatalf("a dropped task is a %T, want the object that was submitted", u.Task())
		}
		if f.State() != executor.Canceled || !errors.Is(f.Err(), executor.ErrShutdown) {
			t.Errorf("a dropped task is %v: %v, want %v: %v",
				f.State(), f.Err(), executor.Canceled, executor.ErrShutdown)
		}
	}
	if err := p.AwaitTermination(waitContext(t)); err != nil {
		t.Fatalf("AwaitTermination: %v", err)
	}
	b.terminated.Store(true)
	synctest.Wait() // for submitters whose task was rejected
	started := b.started()
	for i, f := range b.fs {
		if f.State() == executor.Pending {
			t.Fatalf("task %d is %v in a terminated pool", i, f.State())
		}
	}
	ran, stopped, rejected := b.count(t)
	if started+len(dropped)+rejected != burst {
		t.Errorf("of %d tasks %d started (%d ran to the end, %d were stopped), %d were returned, %d rejected",
			burst, started, ran, stopped, len(dropped), rejected)
	}
	if again := p.ShutdownNow(); len(again) != 0 {
		t.Errorf("a second ShutdownNow returns %d tasks, want none", len(again))
	}
	// The caller may run them.
	b.terminated.Store(false)
	for _, u := range dropped {
		u.Run(context.Background())
	}
	if after := b.started(); after != started+len(dropped) {
		t.Errorf("Run of %d dropped tasks ran %d bodies", len(dropped), after-started)
	}
}

var poolChecks = []check[Pool]{
	{"RunsTasks", func(t testing.TB, make func() Pool) {
		p := newPool(t, make)
		b := submitBatch(t, p, burst)
		time.Sleep(burst * time.Second)
		if ran, stopped, rejected := b.count(t); ran == 0 || stopped != 0 {
			t.Errorf("%d ran, %d were stopped, %d rejected", ran, stopped, rejected)
		}
	}},

	{"ShutdownRunsQueued", func(t testing.TB, make func() Pool) {
		p := newPool(t, make)
		b := submitBatch(t, p, burst)
		p.Shutdown()
		if err := p.AwaitTermination(waitContext(t)); err != nil {
			t.Fatalf("AwaitTermination: %v", err)
		}
		b.terminated.Store(true)
		synctest.Wait() // for submitters whose task was rejected
		for i, f := range b.fs {
			if f.State() == executor.Pending {
				t.Errorf("task %d is %v in a terminated pool", i, f.State())
			}
		}
		if ran, stopped, rejected := b.count(t); ran == 0 || stopped != 0 {
			t.Errorf("%d ran, %d were stopped, %d rejected", ran, stopped, rejected)
		}
	}},

	{"ShutdownNowReturnsDropped", func(t testing.TB, make func() Pool) {
		checkShutdownNow(t, make, func(Pool) {})
	}},

	{"ShutdownNowAfterShutdown", func(t testing.TB, make func() Pool) {
		checkShutdownNow(t, make, Pool.Shutdown)
	}},

	{"RejectsAfterShutdown", func(t testing.TB, make func() Pool) {
		for name, stop := range map[string]func(Pool){
			"Shutdown":    func(p Pool) { p.Shutdown() },
			"ShutdownNow": func(p Pool) { p.ShutdownNow() },
		} {
			p := newPool(t, make)
			stop(p)
			b := submitBatch(t, p, 3)
			if ran, stopped, rejected := b.count(t); rejected != 3 {
				t.Errorf("after %s %d ran, %d were stopped, %d rejected", name, ran, stopped, rejected)
			}
			for range 2 { // has no effect
				p.Shutdown()
				p.ShutdownNow()
			}
			if err := p.AwaitTermination(waitContext(t)); err != nil {
				t.Errorf("after %s: AwaitTermination: %v", name, err)
			}
		}
	}},

	{"AwaitTerminationTimesOut", func(t testing.TB, make func() Pool) {
		p := newPool(t, make)
		f := submit(context.Background(), p, func(context.Context) (int, error) {
			time.Sleep(time.Hour) // also if its context ends
			return 1, nil
		})
		start := time.Now()
		await := func(d time.Duration) error {
			ctx, cancel := context.WithTimeout(context.Background(), d)
			defer cancel()
			return p.AwaitTermination(ctx)
		}
		for _, stop := range []func(){func() {}, p.Shutdown, func() { p.ShutdownNow() }, func() { f.Cancel() }} {
			stop()
			if err := await(time.Minute); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("AwaitTermination while a body runs: %v", err)
			}
		}
		if err := p.AwaitTermination(waitContext(t)); err != nil || time.Since(start) != time.Hour {
			t.Errorf("AwaitTermination: %v after %v, want nil after %v, when the body returns",
				err, time.Since(start), time.Hour)
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.AwaitTermination(ended); err != nil {
			t.Errorf("AwaitTermination of a terminated pool: %v", err)
		}
	}},

	{"ShutdownNowEndsContexts", func(t testing.TB, make func() Pool) {
		for _, before := range []func(Pool){func(Pool) {}, Pool.Shutdown} {
			p := newPool(t, make)
			f := submit(context.Background(), p, delayed(time.Hour, 1))
			start := time.Now()
			before(p)
			p.ShutdownNow()
			f.Join(waitContext(t)) // canceled if the pool says that it ended the body, else failed
			if err := f.Err(); f.State() == executor.Succeeded || !errors.Is(err, executor.ErrShutdown) {
				t.Errorf("a running task: %v with %v; want an error that matches ErrShutdown", f.State(), err)
			}
			if d := time.Since(start); d != 0 {
				t.Errorf("the context of a running task ended %v after ShutdownNow, want at once", d)
			}
		}
	}},

	{"RunsAfterPanics", func(t testing.TB, make func() Pool) {
		p := newPool(t, make)
		for range 3 {
			f := submit(context.Background(), p, panics)
			expectOutcome(t, "a panic", f, executor.Failed, 0, errBody)
			f = submit(context.Background(), p, delayed(time.Second, 2))
			expectOutcome(t, "the next task", f, executor.Succeeded, 2, nil)
		}
	}},

	// At whatever time a shutdown comes, each task runs, is returned or is rejected.
	{"SubmitsRaceShutdown", func(t testing.TB, make func() Pool) {
		for i := range 50 {
			p := newPool(t, make)
			var dropped atomic.Int32
			go func() {
				if i%2 == 0 {
					p.Shutdown()
				} else {
					dropped.Add(int32(len(p.ShutdownNow())))
				}
			}()
			b := submitBatch(t, p, 8)
			if err := p.AwaitTermination(waitContext(t)); err != nil {
				t.Fatalf("AwaitTermination: %v", err)
			}
			if _, _, rejected := b.count(t); b.started()+int(dropped.Load())+rejected != 8 {
				t.Fatalf("of 8 tasks %d started, %d were returned, %d rejected", b.started(), dropped.Load(), rejected)
			}
		}
	}},
}
