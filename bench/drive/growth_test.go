package drive

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// fakeCalls returns calls that take one, two, three and four milliseconds, of which those that settle lose some of the
// jobs. Filling takes an hour.
func fakeCalls(lost, due int) func(int) Calls {
	return func(int) Calls {
		time.Sleep(time.Hour)
		var waiting, held int
		return Calls{
			Insert: func(n int) { time.Sleep(time.Millisecond); waiting += n },
			Claim: func(n int) int {
				time.Sleep(2 * time.Millisecond)
				held = min(n, waiting)
				waiting -= held
				return held
			},
			Settle: func() int { time.Sleep(3 * time.Millisecond); return held - lost },
			Look:   func() (none bool) { time.Sleep(4 * time.Millisecond); return due == 0 },
			Close:  func() {},
		}
	}
}

// The values are the times of the calls for each job, and of a look, without the time in which the database is filled.
func TestDurableGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := DurableGrowth(fakeCalls(0, 0))[workload.DurableGrowth](workload.Params{Tasks: 2 * groupSize, Pending: 1})
		want := map[string]float64{
			"insert": 1000. / groupSize, "claim": 2000. / groupSize, "settle": 3000. / groupSize, "look": 4000,
		}
		for key, v := range want {
			if r.Values[key] != v {
				t.Errorf("%s is %v, want %v", key, r.Values[key], v)
			}
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	})
}

// A job that is not settled, or one that is found before it is due, makes the run an error.
func TestDurableGrowthCounts(t *testing.T) {
	for what, open := range map[string]func(int) Calls{"lost": fakeCalls(1, 0), "due": fakeCalls(0, 1)} {
		synctest.Test(t, func(t *testing.T) {
			p := workload.Params{Tasks: groupSize, Pending: 1}
			if DurableGrowth(open)[workload.DurableGrowth](p).Check() == nil {
				t.Errorf("%s: no error", what)
			}
		})
	}
}
