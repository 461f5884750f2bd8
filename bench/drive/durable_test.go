package drive

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

var twenty = workload.Params{Tasks: 20, Pending: 20, Workers: 1, Period: 10 * time.Millisecond, Delay: 300 * time.Millisecond, Length: time.Second}

// fakeJobs runs each job so much after it is due, and forgets some.
type fakeJobs struct {
	late      time.Duration
	forgotten int
	ran       int
}

func (f *fakeJobs) open(_ int, _ bool, task func(due time.Time)) Jobs {
	var added int
	return Jobs{
		Add: func(n int, _ time.Duration) { added += n },
		At: func(due time.Time) {
			time.AfterFunc(time.Until(due)+f.late, func() { task(due) })
		},
		Start: func() (stop func()) {
			for range added {
				f.ran++
				task(time.Now())
			}
			return func() {}
		},
		Waiting:    func(int) int { return added - f.forgotten },
		Done:       func(int) int { return f.ran - f.forgotten },
		Statements: func() int64 { return time.Now().Unix() * 3 },
		Close:      func() {},
	}
}

// do does a kind of work with fake jobs, in virtual time.
func do(t *testing.T, kind workload.Kind, f fakeJobs) (r workload.Result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { r = Durable(f.open)[kind](twenty) })
	return r
}

// The lateness of a job is from its time to its begin.
func TestDurableLateness(t *testing.T) {
	r := do(t, workload.DurableLateness, fakeJobs{late: 7 * time.Millisecond})
	if err := r.Check(); err != nil || r.Values["p50"] != 7 || r.Values["p99"] != 7 {
		t.Errorf("lateness is %v, %v, want 7 ms", r.Values, err)
	}
}

// A job that begins before its time makes the run unfit.
func TestDurableTooEarly(t *testing.T) {
	if err := do(t, workload.DurableLateness, fakeJobs{late: -time.Millisecond}).Check(); err == nil {
		t.Error("a job ran too early, and the run passed")
	}
}

// A job that is not done in the database, although it ran, makes the run fail.
func TestDurableThroughputCounts(t *testing.T) {
	if err := do(t, workload.DurableThroughput, fakeJobs{}).Check(); err != nil {
		t.Error(err)
	}
	if do(t, workload.DurableThroughput, fakeJobs{forgotten: 1}).Check() == nil {
		t.Error("a job was lost, and the run passed")
	}
}

// Statements are those of a second, however long the run.
func TestDurableIdle(t *testing.T) {
	r := do(t, workload.DurableIdle, fakeJobs{late: time.Hour})
	if r.Values["statements"] != 3 {
		t.Errorf("%v statements a second, want 3", r.Values["statements"])
	}
}
