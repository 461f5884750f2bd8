package drive

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

var twenty = workload.Params{
	Tasks: 20, Pending: 20, Workers: 1,
	Period: 10 * time.Millisecond, Delay: 300 * time.Millisecond, Length: time.Second,
}

// fakeJobs runs each job with a fixed lateness, and loses some in its database. The addition of one takes 2 ms.
type fakeJobs struct {
	late   time.Duration
	lost   int
	ran    int
	noStat bool // statements are not counted
}

func (f *fakeJobs) open(_ int, _ bool, task func(due time.Time)) Jobs {
	var added int
	jobs := Jobs{
		Add: func(n int, _ time.Duration) { added += n },
		At: func(due time.Time) {
			time.Sleep(2 * time.Millisecond)
			added++
			time.AfterFunc(time.Until(due)+f.late, func() { task(due) })
		},
		Start: func() (stop func()) {
			for range added {
				f.ran++
				task(time.Now())
			}
			return func() {}
		},
		Waiting:    func(int) int { return added - f.lost },
		Done:       func(int) int { return f.ran - f.lost },
		Statements: func() int64 { return time.Now().Unix() * 3 },
		Close:      func() {},
	}
	if f.noStat {
		jobs.Statements = nil
	}
	return jobs
}

// do runs a kind of work with fake jobs, in virtual time.
func do(t *testing.T, kind workload.Kind, f fakeJobs) (r workload.Result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { r = Durable(f.open)[kind](twenty) })
	return r
}

// The lateness of a job is the time from its due time to its start.
func TestDurableLateness(t *testing.T) {
	r := do(t, workload.DurableLateness, fakeJobs{late: 7 * time.Millisecond})
	if err := r.Check(); err != nil || r.Values["p50"] != 7 || r.Values["p99"] != 7 {
		t.Errorf("lateness is %v, %v, want 7 ms", r.Values, err)
	}
}

// A job that starts before its due time makes the run unfit.
func TestDurableLatenessTooEarly(t *testing.T) {
	if err := do(t, workload.DurableLateness, fakeJobs{late: -time.Millisecond}).Check(); err == nil {
		t.Error("a job ran too early: no error")
	}
}

// A job that is not done in the database, although it ran, is an error.
func TestDurableThroughputCounts(t *testing.T) {
	if err := do(t, workload.DurableThroughput, fakeJobs{}).Check(); err != nil {
		t.Error(err)
	}
	if do(t, workload.DurableThroughput, fakeJobs{lost: 1}).Check() == nil {
		t.Error("a job was lost: no error")
	}
}

// The number of statements is that of a second, however long the run.
func TestDurableIdlePerSecond(t *testing.T) {
	r := do(t, workload.DurableIdle, fakeJobs{late: time.Hour})
	if r.Values["statements"] != 3 {
		t.Errorf("%v statements a second, want 3", r.Values["statements"])
	}
}

// A program whose statements are not counted has no number of them, but a memory.
func TestDurableIdleWithoutStatements(t *testing.T) {
	r := do(t, workload.DurableIdle, fakeJobs{noStat: true})
	_, counted := r.Values["statements"]
	_, measured := r.Values["rss"]
	if _, _, ok := usage(); counted || measured != ok {
		t.Errorf("the values are %v", r.Values)
	}
}

// The time to add a job is that of its call. A job that is not in the database is an error.
func TestDurableAdd(t *testing.T) {
	r := do(t, workload.DurableAdd, fakeJobs{})
	if err := r.Check(); err != nil || r.Values["p50"] != 2000 || r.Values["p99"] != 2000 {
		t.Errorf("the times are %v, %v, want 2000 µs", r.Values, err)
	}
	if do(t, workload.DurableAdd, fakeJobs{lost: 1}).Check() == nil {
		t.Error("a job was lost: no error")
	}
}
