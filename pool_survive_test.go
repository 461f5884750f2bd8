package executor_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// sloppy is a context that panics when it is asked for a key that is no string.
type sloppy struct{ context.Context }

func (s sloppy) Value(key any) any { return s.Context.Value(key.(string)) }

// quitter is a context that ends the goroutine that asks it for a key that is no
// string or, once armed, whether it has ended: its test has failed.
type quitter struct {
	context.Context
	armed *bool
}

func (q quitter) Value(key any) any {
	if _, ok := key.(string); !ok {
		runtime.Goexit()
	}
	return q.Context.Value(key)
}

func (q quitter) Err() error {
	if *q.armed {
		runtime.Goexit()
	}
	return q.Context.Err()
}

// A context of the submitter's that ends the worker's goroutine fails the task
// that came with it, in whatever it is asked, and no task that has run.
func TestContextThatExits(t *testing.T) {
	for _, byErr := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			armed := false
			ctx := quitter{context.Background(), &armed}
			pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.DiscardHandler)})
			s := newScheduled(t, executor.ScheduledConfig{Core: 1, Logger: slog.New(slog.DiscardHandler)})
			begin := make(chan struct{})
			for _, p := range []*executor.Pool{pool, s.Pool} {
				p.Go(context.Background(), func(context.Context) error { <-begin; return nil })
			}
			f := executor.Submit(ctx, pool, value(1))
			g := executor.Submit(ctx, pool, value(1), executor.Timeout(time.Second))
			pool.Go(ctx, func(context.Context) error { return nil })
			pool.Go(ctx, func(context.Context) error { return nil }, executor.Named("x"))
			once := executor.Schedule(ctx, s, time.Second, value(1))
			beat, err := s.AtFixedRate(ctx, 0, time.Second, func(context.Context) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			armed = byErr
			close(begin)
			time.Sleep(5 * time.Second)
			waitStats(t, pool)
			waitStats(t, s.Pool)
			for i, f := range []executor.Awaitable{f, g, once, beat} {
				if !errors.Is(f.Err(), executor.ErrGoexit) {
					t.Errorf("by Err %v: future %d is %v: %v", byErr, i, f.State(), f.Err())
				}
			}
			for i, stats := range []executor.Stats{checkStats(t, pool), checkStats(t, s)} {
				if stats.Failed != []int64{4, 2}[i] || stats.Succeeded != 1 || stats.Active != 0 {
					t.Errorf("by Err %v: %+v", byErr, stats)
				}
			}
		})
	}
}

// What a task was, it stays, if what is called when it is done panics.
func TestOnDoneThatPanicsLeavesRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, executor.ScheduledConfig{Core: 1, Logger: slog.New(slog.DiscardHandler)})
		f := executor.Schedule(context.Background(), s, time.Second, value(1))
		f.OnDone(func() { panic("boom") })
		time.Sleep(2 * time.Second)
		waitStats(t, s.Pool)
		expect(t, "Runs", f.Runs(), 1)
	})
}

// A context of the submitter's that panics in a worker fails the task that came
// with it, and is made known. The worker lives on.
func TestContextThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		hooks := executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ }}
		ctx := sloppy{context.Background()}
		check := func(submitted int, pool interface{ Stats() executor.Stats }, futures ...executor.Awaitable) {
			t.Helper()
			for i, f := range futures {
				var perr *executor.PanicError
				if !errors.As(f.Err(), &perr) {
					t.Errorf("future %d: %v", i, f.Err())
				}
			}
			s := checkStats(t, pool)
			if s.Failed != int64(submitted) || s.Active != 0 || s.Panics != s.Failed || told != submitted {
				t.Errorf("%d told, %+v", told, s)
			}
		}

		pool := newPool(t, executor.Config{Core: 1, Hooks: hooks})
		f := executor.Submit(ctx, pool, value(1))
		g := executor.Submit(ctx, pool, value(1), executor.Timeout(time.Second))
		pool.Go(ctx, func(context.Context) error { return nil })
		pool.Go(ctx, func(context.Context) error { return nil }, executor.Named("x"))
		waitStats(t, pool)
		check(4, pool, f, g)

		told = 0
		s := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: hooks})
		once := executor.Schedule(ctx, s, time.Second, value(1))
		beat, err := s.AtFixedRate(ctx, 0, time.Second, func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		waitStats(t, s.Pool)
		check(2, s, once, beat)
	})
}

// So does a panic in what OnDone was given: the outcome stands.
func TestOnDonePanicsInWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ },
		}})
		f := executor.NewFuture(value(1))
		f.OnDone(func() { panic("boom") })
		pool.Execute(t.Context(), f)
		waitStats(t, pool)
		if v, err := f.Result(); v != 1 || err != nil || told != 1 {
			t.Errorf("%d, %v, told %d times", v, err, told)
		}
		if s := pool.Stats(); s.Succeeded != 1 || s.Runs != 1 || s.Workers != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// What is called because of the panic may panic itself, or not return: the worker
// lives on all the same.
func TestSurvivesWhatAPanicEntails(t *testing.T) {
	boom := func() { panic("boom") }
	for name, test := range map[string]struct {
		ctx     context.Context
		onDone  func()
		onPanic func()
		told    int
	}{
		"OnPanic does not return":                 {context.Background(), boom, runtime.Goexit, 1},
		"OnDone panics after the context":         {sloppy{context.Background()}, boom, func() {}, 2},
		"OnDone panics, and OnPanic":              {sloppy{context.Background()}, boom, boom, 2},
		"OnDone does not return":                  {sloppy{context.Background()}, runtime.Goexit, func() {}, 1},
		"neither OnDone nor OnPanic does, either": {sloppy{context.Background()}, runtime.Goexit, runtime.Goexit, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := 0
				pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
					OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++; test.onPanic() },
				}})
				f := executor.NewFuture(value(1))
				f.OnDone(test.onDone)
				pool.Execute(test.ctx, f)
				g := executor.Submit(t.Context(), pool, value(1))
				waitStats(t, pool)
				if !f.State().Done() || g.State() != executor.Succeeded || told != test.told {
					t.Errorf("%v, then %v; told %d times", f.State(), g.State(), told)
				}
				if s := checkStats(t, pool); s.Ended() != 2 || s.Workers != 1 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// So does a worker that ends a periodic task since its pool was shut down during
// the run.
func TestOnDonePanicsInWorkerAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		s := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ },
		}})
		f, err := s.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error { s.Shutdown(); return nil })
		if err != nil {
			t.Fatal(err)
		}
		f.OnDone(func() { panic("boom") })
		time.Sleep(time.Second)
		synctest.Wait()
		if f.State() != executor.Canceled || told != 1 || s.Stage() != executor.StageTerminated {
			t.Errorf("%v, told %d times, %v", f.State(), told, s.Stage())
		}
	})
}

// Who runs a task himself gets the panic of his context, and those who wait for
// the task do not wait for ever.
func TestContextThatPanicsInCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns})
		release := make(chan struct{})
		mustGo(t, pool, func(context.Context) error { <-release; return nil })
		ctx := sloppy{context.Background()}
		for name, run := range map[string]func(f *executor.Future[int]){
			"CallerRuns":  func(f *executor.Future[int]) { pool.Execute(ctx, f) },
			"Run":         func(f *executor.Future[int]) { f.Run(ctx) },
			"RunAndReset": func(f *executor.Future[int]) { f.RunAndReset(ctx) },
		} {
			f := executor.NewFuture(value(1), executor.Timeout(time.Second))
			func() {
				defer func() {
					var perr *executor.PanicError
					if v := recover(); v == nil || !errors.As(f.Err(), &perr) || perr.Value != v {
						t.Errorf("%s: recovered %v; the future gives %v", name, v, f.Err())
					}
				}()
				run(f)
			}()
		}
		close(release)
		checkStats(t, pool)
	})
}

// touchy is a context of which one method panics once it is touched.
type touchy struct {
	context.Context
	touched string
	closed  chan struct{}
}

func (c *touchy) Done() <-chan struct{} { c.touch("Done"); return c.closed }
func (c *touchy) Err() error            { c.touch("Err"); return nil }

func (c *touchy) touch(method string) {
	if c.touched == method {
		panic(method)
	}
}

// A submitter whose context panics while he blocks gets the panic, and that is
// all: his task does not run, and who waits for it does not wait for ever.
func TestContextThatPanicsInBlock(t *testing.T) {
	for _, method := range []string{"Done", "Err", "neither"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1), Reject: executor.Block})
				block := newBlocker(t)
				block.Fill(t, pool, 1)
				mustGo(t, pool, func(context.Context) error { return nil })

				ctx, ran := &touchy{Context: context.Background(), closed: make(chan struct{})}, false
				if method == "Done" {
					ctx.touched = method
				}
				f := executor.NewFuture(func(context.Context) (int, error) { ran = true; return 1, nil })
				var err error
				left := make(chan any)
				go func() {
					defer func() { left <- recover() }()
					err = pool.Execute(ctx, f)
				}()
				synctest.Wait()
				ctx.touched = method
				close(ctx.closed)
				v := <-left
				block.Release()
				synctest.Wait()

				var perr *executor.PanicError
				switch {
				case method == "neither":
					if !errors.Is(err, executor.ErrRejected) {
						t.Errorf("err = %v", err)
					}
				case v != method || !errors.As(f.Err(), &perr) || perr.Value != v:
					t.Errorf("recovered %v; the future gives %v", v, f.Err())
				}
				s := checkStats(t, pool)
				if ran || f.State() != executor.Failed || s.Blocked != 0 || s.Rejected != 1 {
					t.Errorf("ran %t, %v, %+v", ran, f.State(), s)
				}
			})
		})
	}
}

// So does a submitter whose context panics before the pool has taken his task, or
// ends his goroutine.
func TestContextThatPanicsAtTheDoor(t *testing.T) {
	for _, exits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Core: 1})
			s := newScheduled(t, executor.ScheduledConfig{Core: 1})
			var ctx context.Context = &touchy{Context: context.Background(), touched: "Err"}
			if exits {
				ctx = quitter{context.Background(), &exits}
			}
			for _, p := range []*executor.Pool{pool, s.Pool} {
				f := executor.NewFuture(value(1))
				left := make(chan any)
				go func() {
					defer func() { left <- recover() }()
					p.Execute(ctx, f)
				}()
				v := <-left
				var perr *executor.PanicError
				switch {
				case exits && (v != nil || f.Err() != executor.ErrGoexit),
					!exits && (v != "Err" || !errors.As(f.Err(), &perr) || perr.Value != v):
					t.Errorf("recovered %v; the future gives %v", v, f.Err())
				}
				if s := checkStats(t, p); s.Rejected != 1 {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

// picky is a context that package context cannot ask for its canceler.
type picky struct{ context.Context }

func (p picky) Value(key any) any {
	if _, ok := key.(*int); ok {
		panic("canceler")
	}
	return p.Context.Value(key)
}

// A submitter whose context panics when his task is in the queue gets the panic, and
// the task leaves the queue.
func TestContextThatPanicsInQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		ran := false
		f := executor.NewFuture(func(context.Context) (int, error) { ran = true; return 1, nil })
		func() {
			defer func() {
				var perr *executor.PanicError
				if v := recover(); v != "canceler" || f.State() != executor.Canceled || !errors.As(f.Err(), &perr) || perr.Value != v {
					t.Errorf("recovered %v; the future gives %v", v, f.Err())
				}
			}()
			pool.Execute(picky{parent}, f)
		}()
		expect(t, "Queued", pool.Stats().Queued, 0)
		block.Release()
		waitStats(t, pool)
		if s := checkStats(t, pool); ran || s.Canceled != 1 {
			t.Errorf("ran %t, %+v", ran, s)
		}
	})
}
