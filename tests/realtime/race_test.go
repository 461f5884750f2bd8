package realtime

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/tests/internal/check"
	"github.com/executor-go/executor/tests/internal/testkit"
)

// onProcs runs test with several numbers of processors.
func onProcs(t *testing.T, test func(t *testing.T)) {
	for _, n := range []int{1, 2, 8} {
		t.Run(fmt.Sprint("procs=", n), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			test(t)
		})
	}
}

// Many pairs of Schedule and Cancel from several goroutines, in a pool whose only worker starts and
// ends with them, leave no goroutine of a worker or of an alarm.
func TestScheduledPoolAlarmsAreClosed(t *testing.T) {
	onProcs(t, func(t *testing.T) {
		const alarms = "internal/alarm.(*waker).run"
		before := check.Goroutines(alarms, 0)
		p, err := executor.NewScheduled(executor.ScheduledConfig{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range testkit.Scale(5000) {
					f := executor.SubmitAfter(context.Background(), p, time.Hour, testkit.NopValue)
					if i%2 == 0 {
						runtime.Gosched()
					}
					if !f.Cancel() {
						t.Error("a task that waits could not be canceled")
					}
				}
			})
		}
		wg.Wait()
		check.Equal(t, "goroutines of alarms in an idle pool", check.Goroutines(alarms, before), before)
		p.Close()
		check.Equal(t, "workers", p.Stats().Workers, 0)
		testkit.CheckStats(t, p)
	})
}

// While goroutines schedule, cancel and change Workers, each task that was not canceled runs exactly
// once and not before its time, and the pool terminates.
func TestScheduledPoolLosesNoWakeup(t *testing.T) {
	onProcs(t, func(t *testing.T) {
		for _, core := range []int{0, 1, 3} {
			p := testkit.NewScheduled(t, executor.ScheduledConfig{Workers: core})
			var runs, expected atomic.Int64
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for g := range 4 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(g), uint64(core)))
					for range testkit.Scale(1500) {
						ran := new(atomic.Int64)
						monotonic := r.IntN(4) > 0 // the wall clock may be set meanwhile
						due := time.Now().Add(time.Duration(r.IntN(300)) * time.Microsecond)
						body := func(ctx context.Context) (int, error) {
							if monotonic && (time.Now().Before(due) || time.Until(executor.Due(ctx)) > 0) {
								t.Error("a task ran before its time")
							}
							if ran.Add(1) != 1 {
								t.Error("a task ran twice")
							}
							runs.Add(1)
							return 0, nil
						}
						var f *executor.Future[int]
						if monotonic {
							f = executor.SubmitAfter(context.Background(), p, time.Until(due), body)
						} else {
							f = executor.SubmitAt(context.Background(), p, due, body)
						}
						switch {
						case r.IntN(2) > 0:
							if _, err := f.Get(context.Background()); err != nil {
								t.Errorf("outcome %v", err)
							}
							expected.Add(1)
						case f.Cancel():
						default:
							expected.Add(1) // it has begun, and succeeds
							if err := f.Join(context.Background()); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			var tuner sync.WaitGroup
			tuner.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					case <-time.After(100 * time.Microsecond):
						if err := p.Reconfigure(func(s *executor.Settings) { s.Workers = i % 5 }); err != nil {
							t.Error(err)
						}
					}
				}
			})
			wg.Wait()
			close(stop)
			tuner.Wait()
			p.Close()
			if s := testkit.CheckStats(t, p); s.Succeeded != expected.Load() || runs.Load() < s.Succeeded {
				t.Errorf("%d tasks were to run, %d succeeded, %d functions ran", expected.Load(), s.Succeeded, runs.Load())
			}
		}
	})
}

// Periodic tasks that are canceled at any time while the pool is shut down end, their runs do not
// overlap, and the pool terminates.
func TestScheduledPoolPeriodicTasksEnd(t *testing.T) {
	onProcs(t, func(t *testing.T) {
		for round := range testkit.Scale(60) {
			p := testkit.NewScheduled(t, executor.ScheduledConfig{
				Workers:      round % 3,
				KeepPeriodic: round%2 == 0,
			})
			var wg sync.WaitGroup
			var fs [8]*executor.Series
			for i := range fs {
				var overlap atomic.Int32
				body := func(context.Context) error {
					if overlap.Add(1) != 1 {
						t.Error("two runs overlap")
					}
					runtime.Gosched()
					overlap.Add(-1)
					return nil
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				submit := p.AtFixedRate
				if i%2 == 0 {
					submit = p.WithFixedDelay
				}
				f, err := submit(ctx, 0, 20*time.Microsecond, body)
				if err != nil {
					t.Fatal(err)
				}
				fs[i] = f
				wg.Go(func() {
					time.Sleep(rand.N(time.Millisecond))
					switch i % 4 {
					case 0:
						f.Cancel()
					case 1:
						cancel()
					case 2:
						f.Abandon()
					case 3:
						if !p.Remove(f) { // it was running each time
							f.Cancel()
						}
					}
				})
			}
			time.Sleep(rand.N(time.Millisecond))
			p.Shutdown()
			wg.Wait()
			p.Close()
			for i, f := range fs {
				if s := f.State(); s != executor.Canceled {
					t.Errorf("task %d of a terminated pool is %v", i, s)
				}
			}
			testkit.CheckStats(t, p)
		}
	})
}

// A task that is scheduled while the pool is shut down is done in the end, and one that was
// rejected never runs (JDK-8358601, JDK-6523756).
func TestScheduledPoolScheduleDuringShutdown(t *testing.T) {
	onProcs(t, func(t *testing.T) {
		for round := range testkit.Scale(200) {
			p := testkit.NewScheduled(t, executor.ScheduledConfig{Workers: round % 3})
			var wg sync.WaitGroup
			for g := range 3 {
				wg.Go(func() {
					for i := range 20 {
						var ran atomic.Bool
						f := executor.SubmitAfter(context.Background(), p, time.Duration(g*i)*time.Microsecond,
							func(context.Context) (int, error) { ran.Store(true); return 0, nil })
						_, err := f.Get(context.Background())
						if ran.Load() != (err == nil) {
							t.Errorf("outcome %v, the task ran: %t", err, ran.Load())
						}
					}
				})
			}
			wg.Go(func() {
				time.Sleep(rand.N(100 * time.Microsecond))
				if round%2 == 0 {
					p.Shutdown()
				} else {
					p.ShutdownNow()
				}
			})
			wg.Wait()
			p.Close()
			testkit.CheckStats(t, p)
		}
	})
}

// Each new first task wakes a waiting worker, however quickly one follows another, even if the
// first is canceled in the same moment.
func TestScheduledPoolHeadChangesQuickly(t *testing.T) {
	onProcs(t, func(t *testing.T) {
		p := testkit.NewScheduled(t, executor.ScheduledConfig{Workers: 1})
		for i := range testkit.Scale(2000) {
			later := executor.SubmitAfter(context.Background(), p, time.Hour, testkit.NopValue)
			head := executor.SubmitAfter(context.Background(), p, 30*time.Microsecond, testkit.NopValue)
			done := executor.SubmitAfter(context.Background(), p, 50*time.Microsecond, testkit.NopValue)
			if i%2 == 0 {
				head.Cancel()
			}
			if _, err := done.Get(context.Background()); err != nil {
				t.Fatal(err)
			}
			later.Cancel()
		}
	})
}
