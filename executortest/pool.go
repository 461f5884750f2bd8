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

// Pool is an executor with an end. [executor.Pool] is one.
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

// TestPool tests what a [Pool] promises: after Shutdown it takes no task and
// runs those that it has, ShutdownNow cancels what runs and gives back the rest,
// termination comes when the last body has returned, every future is done by
// then, and no task is lost or run twice on the way. The pool may be of any size
// and reject by any policy that ends futures. make is called once for each
// property; the suite shuts the pools down.
func TestPool(t *testing.T, make func(*testing.T) Pool) {
	t.Helper()
	runAll(t, poolChecks, make)
}

// ending makes a pool that is shut down at the end of the check, and must
// terminate then.
func ending[P Pool](t testing.TB, make func() P) P {
	p := make()
	t.Cleanup(func() {
		p.ShutdownNow()
		if err := p.AwaitTermination(patient(t)); err != nil {
			t.Errorf("the pool does not terminate: %v", err)
		}
	})
	return p
}

// flock is many tasks and what became of them.
type flock struct {
	fs        []*executor.Future[int]
	runs      []atomic.Int32
	undergone atomic.Bool // the pool has terminated
}

// send submits n tasks of a second each, from goroutines of their own since the
// pool may run them there, and waits until all is still.
func send(t testing.TB, p Pool, n int) *flock {
	fl := &flock{fs: make([]*executor.Future[int], n), runs: make([]atomic.Int32, n)}
	for i := range n {
		fl.fs[i] = executor.NewFuture(func(ctx context.Context) (int, error) {
			if fl.undergone.Load() {
				t.Errorf("task %d runs after the pool has terminated", i)
			}
			fl.runs[i].Add(1)
			return i, doze(ctx, time.Second)
		})
		go func() {
			if err := p.Execute(context.Background(), fl.fs[i]); err != nil {
				fl.fs[i].Fail(err)
			}
		}()
	}
	synctest.Wait()
	return fl
}

// begun counts the runs.
func (fl *flock) begun() (n int) {
	for i := range fl.runs {
		n += int(fl.runs[i].Load())
	}
	return n
}

// count requires that each task has an outcome that fits its runs, and counts
// those that ran to their end, were stopped or never ran by a shutdown, and were
// rejected.
func (fl *flock) count(t testing.TB) (ran, stopped, rejected int) {
	t.Helper()
	for i, f := range fl.fs {
		_, err := f.Get(patient(t))
		n := fl.runs[i].Load()
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

// givesBack requires that ShutdownNow gives back what has not begun, also if
// something came before it.
func givesBack(t testing.TB, make func() Pool, before func(Pool)) {
	p := ending(t, make)
	fl := send(t, p, burst)
	before(p)
	unrun := p.ShutdownNow()
	for _, u := range unrun {
		f, ok := u.Task().(*executor.Future[int])
		if !ok {
			t.Fatalf("a task given back is %T, not the object submitted", u.Task())
		}
		if f.State() != executor.Canceled || !errors.Is(f.Err(), executor.ErrShutdown) {
			t.Errorf("a task given back is %v: %v", f.State(), f.Err())
		}
	}
	if err := p.AwaitTermination(patient(t)); err != nil {
		t.Fatalf("AwaitTermination: %v", err)
	}
	fl.undergone.Store(true)
	synctest.Wait() // for submitters that were turned away
	begun := fl.begun()
	for i, f := range fl.fs {
		if f.State() == executor.Pending {
			t.Fatalf("task %d is %v in a terminated pool", i, f.State())
		}
	}
	ran, stopped, rejected := fl.count(t)
	if begun+len(unrun)+rejected != burst {
		t.Errorf("of %d tasks %d have begun (%d to their end, %d stopped), %d were given back, %d rejected",
			burst, begun, ran, stopped, len(unrun), rejected)
	}
	if again := p.ShutdownNow(); len(again) != 0 {
		t.Errorf("a second ShutdownNow gives back %d tasks", len(again))
	}
	// They can be run all the same, by anybody.
	fl.undergone.Store(false)
	for _, u := range unrun {
		u.Run(context.Background())
	}
	if after := fl.begun(); after != begun+len(unrun) {
		t.Errorf("%d bodies ran of %d tasks given back", after-begun, len(unrun))
	}
}

var poolChecks = []check[Pool]{
	{"Works", func(t testing.TB, make func() Pool) {
		p := ending(t, make)
		fl := send(t, p, burst)
		time.Sleep(burst * time.Second)
		if ran, stopped, rejected := fl.count(t); ran == 0 || stopped != 0 {
			t.Errorf("%d ran, %d were stopped, %d rejected", ran, stopped, rejected)
		}
	}},

	{"ShutdownRunsWhatWaits", func(t testing.TB, make func() Pool) {
		p := ending(t, make)
		fl := send(t, p, burst)
		p.Shutdown()
		if err := p.AwaitTermination(patient(t)); err != nil {
			t.Fatalf("AwaitTermination: %v", err)
		}
		fl.undergone.Store(true)
		synctest.Wait() // for submitters that were turned away
		for i, f := range fl.fs {
			if f.State() == executor.Pending {
				t.Errorf("task %d is %v in a terminated pool", i, f.State())
			}
		}
		if ran, stopped, rejected := fl.count(t); ran == 0 || stopped != 0 {
			t.Errorf("%d ran, %d were stopped, %d rejected", ran, stopped, rejected)
		}
	}},

	{"ShutdownNowGivesBack", func(t testing.TB, make func() Pool) { givesBack(t, make, func(Pool) {}) }},

	{"ShutdownNowAfterShutdown", func(t testing.TB, make func() Pool) { givesBack(t, make, Pool.Shutdown) }},

	{"RejectsAfterShutdown", func(t testing.TB, make func() Pool) {
		for name, stop := range map[string]func(Pool){
			"Shutdown":    func(p Pool) { p.Shutdown() },
			"ShutdownNow": func(p Pool) { p.ShutdownNow() },
		} {
			p := ending(t, make)
			stop(p)
			fl := send(t, p, 3)
			if ran, stopped, rejected := fl.count(t); rejected != 3 {
				t.Errorf("after %s %d ran, %d were stopped, %d rejected", name, ran, stopped, rejected)
			}
			for range 2 { // nothing changes
				p.Shutdown()
				p.ShutdownNow()
			}
			if err := p.AwaitTermination(patient(t)); err != nil {
				t.Errorf("after %s: AwaitTermination: %v", name, err)
			}
		}
	}},

	{"AwaitTerminationInTime", func(t testing.TB, make func() Pool) {
		p := ending(t, make)
		f := submit(context.Background(), p, func(context.Context) (int, error) {
			time.Sleep(time.Hour) // whatever becomes of its context
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
		if err := p.AwaitTermination(patient(t)); err != nil || time.Since(start) != time.Hour {
			t.Errorf("AwaitTermination: %v, after %v, when the body returned after %v", err, time.Since(start), time.Hour)
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.AwaitTermination(ended); err != nil {
			t.Errorf("AwaitTermination of a terminated pool: %v", err)
		}
	}},

	{"ShutdownNowEndsContexts", func(t testing.TB, make func() Pool) {
		for _, before := range []func(Pool){func(Pool) {}, Pool.Shutdown} {
			p := ending(t, make)
			f := submit(context.Background(), p, sleeper(time.Hour, 1))
			start := time.Now()
			before(p)
			p.ShutdownNow()
			outcome(t, "a task that ran", f, executor.Failed, 0, executor.ErrShutdown)
			if d := time.Since(start); d != 0 {
				t.Errorf("its context ended %v later", d)
			}
		}
	}},

	{"SurvivesPanics", func(t testing.TB, make func() Pool) {
		p := ending(t, make)
		for range 3 {
			outcome(t, "a panic", submit(context.Background(), p, func(context.Context) (int, error) { panic(errBody) }), executor.Failed, 0, errBody)
			outcome(t, "the next task", submit(context.Background(), p, sleeper(time.Second, 2)), executor.Succeeded, 2, nil)
		}
	}},

	// Whenever a shutdown comes, a task is run, given back, or rejected.
	{"SubmitsRaceShutdown", func(t testing.TB, make func() Pool) {
		for i := range 50 {
			p := ending(t, make)
			var given atomic.Int32
			go func() {
				if i%2 == 0 {
					p.Shutdown()
				} else {
					given.Add(int32(len(p.ShutdownNow())))
				}
			}()
			fl := send(t, p, 8)
			if err := p.AwaitTermination(patient(t)); err != nil {
				t.Fatalf("AwaitTermination: %v", err)
			}
			if _, _, rejected := fl.count(t); fl.begun()+int(given.Load())+rejected != 8 {
				t.Fatalf("of 8 tasks %d have begun, %d were given back, %d rejected", fl.begun(), given.Load(), rejected)
			}
		}
	}},
}
