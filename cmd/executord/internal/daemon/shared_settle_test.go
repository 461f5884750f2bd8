package daemon

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// stale is a store whose next calls fail, some of those that read and some of
// those that change a job.
type stale struct {
	durable.Store
	gets, changes int
}

var errStale = errors.New("the connection is lost")

func (s *stale) Get(ctx context.Context, id durable.ID) (durable.Job, error) {
	if s.gets--; s.gets >= 0 {
		return durable.Job{}, errStale
	}
	return s.Store.Get(ctx, id)
}

func (s *stale) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	if s.changes--; s.changes >= 0 {
		return 0, errStale
	}
	return s.Store.Change(ctx, id, c)
}

// settled ends a run of a job for each minute after a time, on a store whose calls
// fail so often. It gives what was skipped, when the job is due next, and the log.
func settled(t *testing.T, took time.Duration, o outcome, gets, changes int) (skipped int, next time.Duration, log string) {
	store := &stale{Store: memory.New()}
	var buf bytes.Buffer
	n := newWatching(t, store, "# name: a\n* * * * * true\n", &buf)
	r := overrun(t, n, took)
	buf.Reset()
	store.gets, store.changes = gets, changes
	skipped = r.settle(t.Context(), o)
	row, err := store.Store.Get(t.Context(), r.row.ID)
	if err != nil {
		t.Fatal(err)
	}
	return skipped, row.Due.Sub(r.row.Occurrence), buf.String()
}

// overrun gives a run of the job a that began in time and has taken so long.
func overrun(t *testing.T, n *node, took time.Duration) *sharedRun {
	row, err := n.catalog.Store.Find(t.Context(), catalog.Key("n", "a"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(row.Due))
	r := &sharedRun{part: n, row: row, base: row.Due, began: time.Now()}
	r.run = run{entry: n.entry("a"), number: 1}
	r.log = r.entry.log
	time.Sleep(took)
	return r
}

// The times that passed during a run are left out although the store fails a few
// times at its end, as each connection does that was open when it began anew.
func TestTimesAreSkippedOnAStoreThatIsBack(t *testing.T) {
	for _, fail := range []struct{ gets, changes int }{{5, 0}, {0, 5}, {3, 3}} {
		synctest.Test(t, func(t *testing.T) {
			skipped, next, log := settled(t, 150*time.Second, ok, fail.gets, fail.changes)
			if skipped != 2 || next != 3*time.Minute || strings.Contains(log, "did not answer") {
				t.Errorf("after %+v failures: %d skipped, next in %v: %s", fail, skipped, next, log)
			}
		})
	}
}

// What is yet to come at the end of a run, since the store's clock was put back during
// it, is not skipped: no run goes on when it comes.
func TestTimesThatAreYetToComeAreNotSkipped(t *testing.T) {
	for _, test := range []struct {
		back    time.Duration
		skipped int
		next    time.Duration // 0 if it was left to the store
	}{
		{0, 2, 3 * time.Minute},
		{time.Minute, 1, 2 * time.Minute},
		{10 * time.Minute, 0, 0},
		{25 * time.Hour, 0, 0},
		{-25 * time.Hour, 2, 3 * time.Minute}, // others were missed, not skipped
	} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			n := newWatching(t, store, "# name: a\n* * * * * true\n", new(bytes.Buffer))
			r := overrun(t, n, 150*time.Second)
			store.Shift(-test.back)
			skipped := r.settle(t.Context(), ok)
			row, err := store.Get(t.Context(), r.row.ID)
			if err != nil {
				t.Fatal(err)
			}
			if next := row.Due.Sub(r.row.Occurrence); skipped != test.skipped || next != test.next {
				t.Errorf("put back by %v: %d skipped, next in %v, want %d and %v", test.back, skipped, next, test.skipped, test.next)
			}
		})
	}
}

// A store that fails for long is told of where it matters: if times have passed
// that may lead to one more run.
func TestStoreThatDoesNotAnswerAtTheEndOfARun(t *testing.T) {
	for _, test := range []struct {
		took    time.Duration
		outcome outcome
		told    bool
	}{
		{150 * time.Second, ok, true},
		{150 * time.Second, lost, false}, // it is begun again in any case
		{30 * time.Second, ok, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, _, log := settled(t, test.took, test.outcome, 1000, 0)
			if strings.Contains(log, "the store did not answer at the end of the run") != test.told {
				t.Errorf("after %v, %s: %q", test.took, test.outcome, log)
			}
		})
	}
}

// The end of a daemon does not come later because of a store that is down.
func TestDrainDoesNotInsist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &stale{Store: memory.New()}
		n := newWatching(t, store, "# name: a\n* * * * * true\n", new(bytes.Buffer))
		r := overrun(t, n, 150*time.Second)
		n.leave()
		store.gets = 1000
		began := time.Now()
		r.settle(t.Context(), ok)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited for %v", waited)
		}
	})
}
