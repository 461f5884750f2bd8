package executor_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// decorating makes a pool that decorates its tasks with copies of like, and collects them.
func decorating(t *testing.T, c executor.ScheduledConfig,
	like testkit.Decoration) (p *executor.ScheduledPool, all *[]*testkit.Decoration) {
	all = new([]*testkit.Decoration)
	c.Core = 1
	c.Decorate = func(inner executor.ScheduledTask) executor.ScheduledTask {
		w := like
		w.ScheduledTask = inner
		*all = append(*all, &w)
		return &w
	}
	return newScheduled(t, c), all
}

// Each task of Schedule, At, AtFixedRate, WithFixedDelay and On is decorated once, those of
// Execute, Go and Submit are not; the futures have the outcomes.
func TestDecorateEachTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		ctx := t.Context()
		fs := []executor.Awaitable{
			executor.Schedule(ctx, p, time.Second, func(context.Context) (int, error) { return 42, nil }),
			executor.At(ctx, p, time.Now().Add(time.Second), nopValue),
		}
		rate, _ := p.AtFixedRate(ctx, 0, time.Second, nop, executor.Times(3))
		delay, _ := p.WithFixedDelay(ctx, 0, time.Second, nop, executor.Times(3))
		on, _ := p.On(ctx, testkit.Hourly, nop, executor.Times(3))
		fs = append(fs, rate, delay, on)
		p.Go(ctx, nop)
		p.Execute(ctx, executor.Func(nop))
		executor.Submit(ctx, p, nopValue)
		expect(t, "decorated tasks", len(*all), 5)
		elapse(24 * time.Hour)
		for i, want := range []int{1, 1, 3, 3, 3} {
			expect(t, "decorated runs", (*all)[i].Runs, want)
			expect(t, "outcome", fs[i].Err(), nil)
		}
		v, _ := fs[0].(*executor.ScheduledFuture[int]).Result()
		expect(t, "value", v, 42)
	})
}

// A decoration stays with its task for all runs (JDK-6560953).
func TestDecorateAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		end := func(f **executor.Series) func(context.Context) error {
			return func(context.Context) error {
				if (*f).Runs() == 99 {
					return executor.Stop
				}
				return nil
			}
		}
		var rate, delay *executor.Series
		release := testkit.Occupy(t, p)
		rate, _ = p.AtFixedRate(t.Context(), 0, 1, end(&rate))
		delay, _ = p.WithFixedDelay(t.Context(), 0, 1, end(&delay))
		release()
		rate.Wait(t.Context())
		delay.Wait(t.Context())
		expect(t, "decorated runs at a fixed rate", (*all)[0].Runs, 100)
		expect(t, "decorated runs with a fixed delay", (*all)[1].Runs, 100)
	})
}

// A Decorate function that returns nil, or the task itself, leaves the task undecorated.
func TestDecorateNil(t *testing.T) {
	for _, decline := range []func(executor.ScheduledTask) executor.ScheduledTask{
		func(executor.ScheduledTask) executor.ScheduledTask { return nil },
		func(inner executor.ScheduledTask) executor.ScheduledTask { return inner },
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newScheduled(t, executor.ScheduledConfig{Core: 1, Decorate: decline}), newDiary()
			p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"), executor.Times(2))
			elapse(time.Minute)
			d.Check(t, "x@0s", "x@1s")
		})
	}
}

// Next of a decoration.

// Next of a decoration determines when the task runs, and in which order.
func TestDecorateNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{
			NextFunc: func(inner time.Time) time.Time {
				return inner.Add(250 * time.Millisecond).Truncate(time.Second / 2)
			},
		})
		d := newDiary()
		f := executor.Schedule(t.Context(), p, 400*time.Millisecond, d.Value("a"))
		executor.Schedule(t.Context(), p, 300*time.Millisecond, d.Value("b")) // at the same time now, but later submitted
		executor.At(t.Context(), p, time.Now().Add(800*time.Millisecond), d.Value("c"))
		p.AtFixedRate(t.Context(), 1600*time.Millisecond, 700*time.Millisecond, d.Func("d"), executor.Times(2))
		expect(t, "Next", f.Next().Sub(d.Begin), 500*time.Millisecond)
		elapse(time.Minute)
		d.Check(t, "a@500ms", "b@500ms", "c@1s", "d@1.5s", "d@2.5s")
	})
}

// A task whose decoration returns the zero time or a time long ago runs at once; one in the distant
// future does not.
func TestDecorateNextExtremes(t *testing.T) {
	for _, c := range []struct {
		next time.Time
		runs int
	}{
		{time.Time{}, 2},
		{time.Unix(0, 0), 2},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := decorating(t, executor.ScheduledConfig{},
				testkit.Decoration{NextFunc: func(time.Time) time.Time { return c.next }})
			d := newDiary()
			executor.Schedule(t.Context(), p, time.Hour, d.Value("x"))
			executor.At(t.Context(), p, time.Now().Add(time.Hour), d.Value("x"))
			elapse(time.Minute)
			expect(t, "runs", len(d.Names()), c.runs)
		})
	}
}

// A panic of Next when the task is queued again ends the schedule as a failure, and is reported.
func TestDecorateNextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports, calls := 0, 0
		p, _ := decorating(t, executor.ScheduledConfig{Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { reports++ },
		}}, testkit.Decoration{NextFunc: func(next time.Time) time.Time {
			if calls++; calls > 1 {
				panic("bad")
			}
			return next
		}})
		f, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop)
		elapse(time.Minute)
		expect(t, "state", f.State(), executor.Failed)
		expect(t, "calls of OnPanic", reports, 1)
	})
}

// Run of a decoration.

// Run of a decoration gets the error of the task function, and what it returns instead does not
// change the future.
func TestDecorateRunError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, outer := errors.New("inner"), errors.New("outer")
		var seen error
		p, _ := decorating(t, executor.ScheduledConfig{},
			testkit.Decoration{RunFunc: func(ctx context.Context, inner executor.ScheduledTask) error {
				seen = inner.Run(ctx)
				return outer
			}})
		f := executor.Schedule(t.Context(), p, 0, func(context.Context) (int, error) { return 0, inner })
		_, err := f.Get(t.Context())
		synctest.Wait()
		expect(t, "the outcome", err, inner)
		expect(t, "what the decoration saw", seen, inner)
	})
}

// A decoration that does not call Run of its task fails a one-shot; for periodic work it is an
// error, and the schedule continues.
func TestDecorateRunMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.ScheduledConfig{},
			testkit.Decoration{RunFunc: func(context.Context, executor.ScheduledTask) error { return nil }})
		d := newDiary()
		f := executor.Schedule(t.Context(), p, time.Second, d.Value("x"))
		g, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x"), executor.Times(3))
		elapse(time.Minute)
		d.Check(t)
		expect(t, "state of the one-shot", f.State(), executor.Failed)
		expect(t, "state of the periodic task", g.State(), executor.Succeeded)
		expect(t, "the error is recorded", g.LastError() != nil, true)
	})
}

// A panic of a decoration before the task function fails the task and is reported; one after it is
// reported and does not change the outcome.
func TestDecorateRunPanics(t *testing.T) {
	for _, c := range []struct {
		what           string
		run            func(context.Context, executor.ScheduledTask) error
		once, periodic executor.State
		runs           int64
	}{
		{"before", func(context.Context, executor.ScheduledTask) error { panic("bad") }, executor.Failed, executor.Failed, 1},
		{"after", func(ctx context.Context, inner executor.ScheduledTask) error {
			inner.Run(ctx)
			panic("bad")
		}, executor.Succeeded, executor.Succeeded, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			reports := int64(0)
			p, _ := decorating(t, executor.ScheduledConfig{Hooks: executor.Hooks{
				OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
					reports++
					expect(t, "value", err.Value, any("bad"))
				},
			}}, testkit.Decoration{RunFunc: c.run})
			f := executor.Schedule(t.Context(), p, time.Second, nopValue)
			g, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop, executor.Times(3))
			elapse(time.Minute)
			expect(t, c.what+": state of the one-shot", f.State(), c.once)
			expect(t, c.what+": state of the periodic task", g.State(), c.periodic)
			expect(t, c.what+": runs of the periodic task", g.Runs(), c.runs)
			expect(t, c.what+": calls of OnPanic", reports, 1+c.runs)
			expect(t, c.what+": panics counted", p.Stats().Panics, 1+c.runs)
			expect(t, c.what+": workers", p.Stats().Workers, 1)
		})
	}
}

// Goexit of a decoration fails the task, and the worker is replaced.
func TestDecorateRunGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := decorating(t, executor.ScheduledConfig{},
			testkit.Decoration{RunFunc: func(context.Context, executor.ScheduledTask) error {
				runtime.Goexit()
				return nil
			}})
		f := executor.Schedule(t.Context(), p, time.Second, nopValue)
		g, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop)
		elapse(time.Minute)
		expectIs(t, "outcome", f.Err(), executor.ErrGoexit)
		expectIs(t, "outcome", g.Err(), executor.ErrGoexit)
		expect(t, "workers", waitStats(t, p).Workers, 1)
	})
}

// returningEarly makes a pool whose decorations run the task in another goroutine, and call leave
// as soon as the task has begun.
func returningEarly(t *testing.T, hooks executor.Hooks,
	leave func()) (p *executor.ScheduledPool, begun chan<- struct{}) {
	c := make(chan struct{})
	p, _ = decorating(t, executor.ScheduledConfig{Hooks: hooks}, testkit.Decoration{
		RunFunc: func(ctx context.Context, inner executor.ScheduledTask) error {
			go inner.Run(ctx)
			<-c
			leave()
			return nil
		},
	})
	return p, c
}

// A run is over when the task function has returned, even if the decoration has returned before:
// the next run does not begin, the pool counts the task as active, and work continues.
func TestDecorateRunReturnsEarly(t *testing.T) {
	for name, leave := range map[string]func(){
		"returns": func() {},
		"panics":  func() { panic("boom") },
		"Goexit":  runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, begun := returningEarly(t, executor.Hooks{}, leave)
				d := newDiary()
				periodic, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
					d.Note("begin")
					begun <- struct{}{}
					time.Sleep(3 * time.Second)
					d.Note("end")
					return nil
				}, executor.Times(2))
				once := executor.Schedule(t.Context(), p, time.Hour, func(context.Context) (int, error) {
					begun <- struct{}{}
					time.Sleep(time.Second)
					return 42, nil
				})
				elapse(time.Second)
				expect(t, "active during the first run", checkStats(t, p).Active, 1)
				elapse(2 * time.Hour)
				d.Check(t, "begin@0s", "end@3s", "begin@3s", "end@6s")
				testkit.StateIs(t, "the periodic task", periodic, executor.Succeeded)
				v, err := once.Result()
				expect(t, "value", v, 42)
				expect(t, "error", err, nil)
				expect(t, "succeeded", checkStats(t, p).Succeeded, 2)
			})
		})
	}
}

// The end of such a task function is reported like any other, even if it does not return.
func TestDecorateRunReturnsEarlyFailure(t *testing.T) {
	for want, end := range map[error]func() error{
		errTask:            func() error { panic(errTask) },
		executor.ErrGoexit: func() error { runtime.Goexit(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			var reports error
			p, begun := returningEarly(t, executor.Hooks{
				AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { reports = err },
			}, func() {})
			periodic, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
				begun <- struct{}{}
				time.Sleep(time.Second)
				return end()
			})
			elapse(time.Minute)
			expectIs(t, "outcome", periodic.Err(), want)
			expectIs(t, "AfterTask", reports, want)
		})
	}
}

// Removal and cancellation.

// Remove finds a decorated task by its decoration and by its future; Waiting returns the future.
func TestDecorateRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		fs := testkit.FarTasks(t, p, 4)
		expect(t, "Remove by decoration", p.Remove((*all)[2]), true)
		expect(t, "Remove again", p.Remove((*all)[2]), false)
		expect(t, "Remove by future", p.Remove(fs[1]), true)
		expect(t, "Remove by its decoration", p.Remove((*all)[1]), false)
		expect(t, "states", fs[2].State(), executor.Canceled)
		waiting := slices.Collect(p.Waiting())
		expect(t, "waiting", len(waiting), 2)
		expect(t, "a future waits", slices.Contains(waiting, executor.Runnable(fs[0])), true)
		for _, u := range p.ShutdownNow() {
			expect(t, "a future is returned", u.Task() == fs[0] || u.Task() == fs[3], true)
		}
	})
}

// A decorated task is canceled through its future, and leaves the queue.
func TestDecorateCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := decorating(t, executor.ScheduledConfig{}, testkit.Decoration{})
		fs := testkit.FarTasks(t, p, 3)
		fs[1].Cancel()
		expect(t, "queued", p.Stats().Queued, 2)
		elapse(24 * time.Hour)
		expect(t, "runs of the canceled task", (*all)[1].Runs, 0)
	})
}

// Decorate while the task is submitted.

// If Decorate, or Next of the decoration, panics during the submission, the submitter gets the
// panic, and the task is rejected and has failed with it.
func TestDecoratePanics(t *testing.T) {
	bad := map[string]func(){"panic": func() { panic("bad") }, "Goexit": runtime.Goexit}
	for _, in := range []string{"Decorate", "Next"} {
		for how, leave := range bad {
			t.Run(in+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var shown *executor.ScheduledFuture[struct{}]
					p := newScheduled(t, executor.ScheduledConfig{Core: 1,
						Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
							shown = task.(*executor.ScheduledFuture[struct{}])
							if in == "Decorate" {
								leave()
							}
							return &testkit.Decoration{ScheduledTask: task,
								NextFunc: func(time.Time) time.Time { leave(); return time.Time{} }}
						}})
					got := make(chan any)
					go func() {
						defer func() { got <- recover() }()
						executor.Schedule(t.Context(), p, time.Second, nopValue)
					}()
					v := <-got
					var perr *executor.PanicError
					if how == "Goexit" {
						expect(t, "recovered", v, nil)
						expectIs(t, "outcome", shown.Err(), executor.ErrGoexit)
					} else if expect(t, "recovered", v, any("bad")); !errors.As(shown.Err(), &perr) || perr.Value != v {
						t.Errorf("outcome %v", shown.Err())
					}
					expect(t, "Rejected", checkStats(t, p.Pool).Rejected, 1)
				})
			})
		}
	}
}

// Next of a task may be called from when Decorate was called, as by a page that lists what is
// scheduled.
func TestDecorateNextDuringSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due := time.Now().Add(time.Hour)
		listed := make(chan struct{})
		p := newScheduled(t,
			executor.ScheduledConfig{Core: 1, Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
				go func() { // while slowNext sleeps
					defer close(listed)
					task.Next()
				}()
				return &slowNext{task, due}
			}})
		f := executor.Schedule(context.Background(), p, time.Second, nopValue)
		<-listed
		expect(t, "Next", f.Next(), due)
	})
}

// slowNext is a decoration whose Next takes some time.
type slowNext struct {
	executor.ScheduledTask
	due time.Time
}

func (d *slowNext) Next() time.Time {
	time.Sleep(time.Millisecond)
	return d.due
}

// A task may be canceled from when Decorate was called, even while its pool rejects it.
func TestDecorateCancelDuringSubmit(t *testing.T) {
	var canceling sync.WaitGroup
	p := newScheduled(t, executor.ScheduledConfig{Core: 1,
		Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
			begun := make(chan struct{})
			canceling.Go(func() {
				close(begun)
				task.(*executor.ScheduledFuture[struct{}]).Cancel()
			})
			<-begun
			return nil
		},
		Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return nil })})
	p.Shutdown()
	for range 5000 {
		f := executor.Schedule(context.Background(), p, time.Hour, nopValue)
		canceling.Wait()
		if !errors.Is(f.Err(), executor.ErrCanceled) {
			t.Fatalf("outcome: %v", f.Err())
		}
	}
}
