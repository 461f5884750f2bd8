package drive

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

var hundred = workload.Params{Tasks: 100, Workers: 1, Period: 10 * time.Millisecond, Length: time.Second}

// late100 measures a hundred tasks in virtual time.
func late100(t *testing.T, run func(*Periodic, func() bool)) (r workload.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r = late(hundred, func(_ int, tasks []*Periodic) func() {
			over := make(chan struct{})
			ended := func() bool {
				select {
				case <-over:
					return true
				default:
					return false
				}
			}
			var wg sync.WaitGroup
			for _, b := range tasks {
				wg.Go(func() { run(b, ended) })
			}
			return func() {
				close(over)
				wg.Wait()
			}
		}, time.Second)
	})
	return r
}

// Runs that start when they are due have no lateness.
func TestLatenessOfPunctualRuns(t *testing.T) {
	r := late100(t, func(b *Periodic, ended func() bool) {
		for !ended() {
			time.Sleep(time.Until(b.Next()))
			b.Run()
		}
	})
	if r.Check() != nil || r.Values["p50"] != 0 || r.Values["p99"] != 0 {
		t.Errorf("lateness is %v", r)
	}
}

// The lateness of a run is measured from its due time, also if the previous run was late.
func TestLatenessOfLateRuns(t *testing.T) {
	r := late100(t, func(b *Periodic, ended func() bool) {
		for n := 0; !ended(); n++ {
			time.Sleep(time.Until(b.Next()) + 3*time.Millisecond)
			b.Run()
		}
	})
	if r.Values["p50"] != 3000 || r.Values["p99"] != 3000 {
		t.Errorf("lateness is %v, want 3 ms", r.Values)
	}
}

// Runs that have not started at the end count with their lateness at that time, so that a
// subject that runs nothing does not look punctual.
func TestLatenessOfMissingRuns(t *testing.T) {
	r := late100(t, func(b *Periodic, _ func() bool) {
		time.Sleep(time.Until(b.Next()))
		b.Run() // once only
	})
	if p50 := r.Values["p50"]; p50 < 450_000 || p50 > 550_000 {
		t.Errorf("median lateness is %v µs, want about half a second", p50)
	}
}

// A task that the subject loses makes the result an error.
func TestScheduleFindsLostTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		p := workload.Params{Tasks: 10, Workers: 1, Period: time.Second}
		r := schedule(p, func(_ int, task func()) Timers[*time.Timer] {
			return Timers[*time.Timer]{
				After: func(d time.Duration) *time.Timer {
					if n++; n == 5 {
						return nil
					}
					return time.AfterFunc(d, task)
				},
				Close: func() {},
			}
		}, near)
		if r.Ran != 9 || r.Want != 10 || r.Check() == nil {
			t.Errorf("result %+v with a lost task: no error", r)
		}
	})
}
