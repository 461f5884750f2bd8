package drive

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// A fakeStore has calls that take one, two, three, four and five milliseconds. Filling takes an hour.
type fakeStore struct {
	lost    int // how many of each group of outcomes are not committed
	unsure  int // how many claims of each group are not confirmed
	due     int // how many jobs a look finds
	waiting int // of those that were inserted
	held    int
	filled  []byte
}

func (f *fakeStore) open() Calls {
	return Calls{
		Fill: func(waiting, over int) {
			time.Sleep(time.Hour)
			f.filled = make([]byte, 1000*waiting+10*over)
		},
		Insert: func(n int, _ time.Duration) { time.Sleep(time.Millisecond); f.waiting += n },
		Claim: func(n int) int {
			time.Sleep(2 * time.Millisecond)
			f.held = min(n, f.waiting)
			f.waiting -= f.held
			return f.held
		},
		Settle:  func() int { time.Sleep(3 * time.Millisecond); return f.held - f.lost },
		Look:    func() (none bool) { time.Sleep(4 * time.Millisecond); return f.due == 0 },
		Confirm: func() int { time.Sleep(5 * time.Millisecond); return f.held - f.unsure },
		Close:   func() {},
	}
}

// calls runs a kind of work with a fake store, in virtual time.
func calls(t *testing.T, kind workload.Kind, f *fakeStore, p workload.Params) (r workload.Result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { r = DurableCalls(f.open)[kind](p) })
	return r
}

// The values are the times of the calls for each job, and of a look, without the time in which the database is filled.
func TestDurableGrowth(t *testing.T) {
	r := calls(t, workload.DurableGrowth, &fakeStore{}, workload.Params{Tasks: 2 * groupSize, Pending: 1})
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
}

// The values are the times of the calls for one job, and what a job that waits adds to the heap.
func TestDurableSteps(t *testing.T) {
	f := &fakeStore{}
	r := calls(t, workload.DurableSteps, f, workload.Params{Tasks: 10, Pending: 10_000})
	for key, v := range map[string]float64{"claim": 2000, "confirm": 5000, "settle": 3000, "all": 10_000} {
		if r.Values[key] != v {
			t.Errorf("%s is %v, want %v", key, r.Values[key], v)
		}
	}
	if bytes := r.Values["bytes"]; bytes < 900 || bytes > 1100 || len(f.filled) != 10_000_000 {
		t.Errorf("a job takes %v bytes, want about 1000", bytes)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// A job that is not confirmed or not settled, or one that is found before it is due, makes the run an error.
func TestDurableCallsCount(t *testing.T) {
	for _, c := range []struct {
		what string
		kind workload.Kind
		fakeStore
	}{
		{"lost", workload.DurableGrowth, fakeStore{lost: 1}},
		{"due", workload.DurableGrowth, fakeStore{due: 1}},
		{"lost", workload.DurableSteps, fakeStore{lost: 1}},
		{"not confirmed", workload.DurableSteps, fakeStore{unsure: 1}},
	} {
		if calls(t, c.kind, &c.fakeStore, workload.Params{Tasks: groupSize, Pending: 1}).Check() == nil {
			t.Errorf("%s, %s: no error", c.kind, c.what)
		}
	}
}
