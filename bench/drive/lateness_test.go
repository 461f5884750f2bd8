package drive

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

var hundred = workload.Params{Tasks: 100, Workers: 1, Period: 10 * time.Millisecond, Length: time.Second}

// late100 measures a subject in virtual time.
func late100(t *testing.T, run func(*Beat, func() bool)) (r workload.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r = late(hundred, func(_ int, beats []*Beat) func() {
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
			for _, b := range beats {
				wg.Go(func() { run(b, ended) })
			}
			return func() {
				close(over)
				wg.Wait()
			}
		})
	})
	return r
}

// Runs that begin when they are due have no lateness.
func TestLatenessInTime(t *testing.T) {
	r := late100(t, func(b *Beat, ended func() bool) {
		for !ended() {
			time.Sleep(time.Until(b.Next()))
			b.Run()
		}
	})
	if r.Check() != nil || r.Values["p50"] != 0 || r.Values["p99"] != 0 {
		t.Errorf("lateness is %v", r)
	}
}

// A run that begins late is measured from when it was due, also if the one
// before was late.
func TestLatenessAccumulates(t *testing.T) {
	r := late100(t, func(b *Beat, ended func() bool) {
		for n := 0; !ended(); n++ {
			time.Sleep(time.Until(b.Next()) + 3*time.Millisecond)
			b.Run()
		}
	})
	if r.Values["p50"] != 3000 || r.Values["p99"] != 3000 {
		t.Errorf("lateness is %v, want 3 ms", r.Values)
	}
}

// Runs that have not begun at the end count with their lateness by then, so that
// a subject that stands still does not look punctual.
func TestLatenessOfMissingRuns(t *testing.T) {
	r := late100(t, func(b *Beat, _ func() bool) {
		time.Sleep(time.Until(b.Next()))
		b.Run() // and never again
	})
	if p50 := r.Values["p50"]; p50 < 450_000 || p50 > 550_000 {
		t.Errorf("median lateness is %v µs, want about half a second", p50)
	}
}

// A task is counted as often as it ran, and a subject that loses one is found
// out.
func TestLostTaskIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := schedule(workload.Params{Tasks: 10, Workers: 1, Period: time.Second}, func(_ int, task func()) Timers[*time.Timer] {
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
			t.Errorf("result is %+v, although one task was lost", r)
		}
	})
}
