package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A function given to OnDone that does not return keeps none of the others from
// being called, in their order, whoever completes the task.
func TestOnDoneGoesOn(t *testing.T) {
	for way, complete := range map[string]func(f *executor.Future[int]){
		"Run":      func(f *executor.Future[int]) { f.Run(context.Background()) },
		"Cancel":   func(f *executor.Future[int]) { f.Cancel() },
		"Complete": func(f *executor.Future[int]) { f.Complete(1) },
	} {
		for end, leave := range map[string]func(){"panics": func() { panic("boom") }, "Goexit": runtime.Goexit} {
			t.Run(fmt.Sprint(way, " ", end), func(t *testing.T) {
				f := executor.NewFuture(value(1))
				var called []int
				for i := range 5 {
					f.OnDone(func() {
						called = append(called, i)
						if i%2 == 0 {
							leave()
						}
					})
				}
				ended := make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					complete(f)
				}()
				if v := <-ended; v == nil != (end == "Goexit") {
					t.Errorf("recovered %v", v)
				}
				if !slices.Equal(called, []int{0, 1, 2, 3, 4}) {
					t.Errorf("called: %v", called)
				}
			})
		}
	}
}

// So those who wait by such a function do not wait for ever.
func TestCompletedSurvivesOnDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		f := executor.NewFuture(value(1))
		f.OnDone(runtime.Goexit)
		p.Execute(t.Context(), executor.Func(func(context.Context) error {
			synctest.Wait() // until Completed waits
			return nil
		}))
		p.Execute(t.Context(), f)
		n := 0
		for range executor.Completed(f) {
			n++
		}
		if n != 1 {
			t.Errorf("%d futures", n)
		}
	})
}

// A shutdown completes all tasks that wait, also if what waits for one of them
// does not return.
func TestShutdownSurvivesOnDone(t *testing.T) {
	for name, shutdown := range map[string]func(p *executor.ScheduledPool){
		"ShutdownNow": func(p *executor.ScheduledPool) { p.ShutdownNow() },
		"Shutdown":    func(p *executor.ScheduledPool) { p.Shutdown() },
		"SetDelayed": func(p *executor.ScheduledPool) {
			p.SetDelayed(executor.KeepAfterShutdown)
			p.Shutdown()
			p.SetDelayed(executor.DropAtShutdown)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newScheduled(t, executor.ScheduledConfig{Core: 1, Delayed: executor.DropAtShutdown})
				var fs []*executor.ScheduledFuture[int]
				for range 3 {
					f := executor.Schedule(t.Context(), p, time.Hour, value(1))
					f.OnDone(runtime.Goexit)
					fs = append(fs, f)
				}
				go shutdown(p)
				synctest.Wait()
				for i, f := range fs {
					if f.State() != executor.Canceled {
						t.Errorf("task %d is %v", i, f.State())
					}
				}
			})
		})
	}
}

// A submitter whose task takes the place of another, and who is ended by what that
// one's OnDone was given, leaves a task that is looked after: it goes with its
// context.
func TestOnDoneOfDiscardedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1), Reject: executor.DiscardOldest})
		release := make(chan struct{})
		mustGo(t, p, func(context.Context) error { <-release; return nil })
		oldest := executor.Submit(t.Context(), p, value(1))
		oldest.OnDone(runtime.Goexit)
		ctx, cancel := context.WithCancel(t.Context())
		f := executor.NewFuture(value(2))
		go p.Execute(ctx, f)
		synctest.Wait()
		cancel()
		synctest.Wait()
		if s := f.State(); s != executor.Canceled {
			t.Errorf("it is %v", s)
		}
		close(release)
	})
}

// A nil function is declined by OnDone itself, where the mistake is, and not by
// the goroutine that completes the task.
func TestOnDoneNil(t *testing.T) {
	f := executor.NewPromise[int]()
	func() {
		defer func() {
			if v := recover(); v != "executor: Future.OnDone: nil function" {
				t.Errorf("OnDone(nil) panics with %v", v)
			}
		}()
		f.OnDone(nil)
	}()
	if !f.Complete(1) {
		t.Error("the promise is not completed")
	}
}

// A pool has terminated when what its workers were told to call has returned.
func TestCloseWaitsForOnDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		f := executor.Submit(t.Context(), p, testkit.After(time.Second, 1))
		returned := false
		f.OnDone(func() {
			time.Sleep(time.Minute)
			returned = true
		})
		p.Close()
		if !returned {
			t.Error("Close has returned before")
		}
	})
}
