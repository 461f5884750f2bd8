package node

import (
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// newLedgerTest returns the books of a node that has joined under the name "n", has two workers, and serves the default
// queue.
func newLedgerTest(t *testing.T, kinds ...*Kind) *ledger {
	t.Helper()
	pool := executor.Scheduled(2)
	t.Cleanup(pool.Close)
	c := &Config{Work: Work{Lease: time.Minute}, Pool: pool, Queues: func() []string { return []string{""} }}
	c.Kinds = func() (names []string) {
		for _, k := range kinds {
			names = append(names, k.Name)
		}
		return names
	}
	c.Kind = func(name string) *Kind {
		for _, k := range kinds {
			if k.Name == name {
				return k
			}
		}
		return nil
	}
	l := newLedger(c, func() {})
	l.incarnate(incarnation{"n", time.Now()})
	l.renew(time.Now())
	return l
}

// newStateTest returns books with one run, of a job in that state of the store.
func newStateTest(t *testing.T, s store.State) (*ledger, *run) {
	t.Helper()
	k := &Kind{Name: "k"}
	l := newLedgerTest(t, k)
	r := &run{kind: k, job: store.Job{ID: store.NewID(), Kind: "k", State: s}}
	l.hold("n", []*run{r})
	return l, r
}

// A run moves along the arrows of runState and along no other.
func TestRunStateArrows(t *testing.T) {
	for from := claimed; from <= gone; from++ {
		for to := claimed; to <= gone; to++ {
			t.Run(from.String()+" to "+to.String(), func(t *testing.T) {
				l, r := newStateTest(t, store.Waiting)
				l.mu.inState[r.state]--
				r.state = from
				l.mu.inState[from]++
				want := false
				for _, next := range arrows[from] {
					want = want || next == to
				}
				defer func() {
					if panicked := recover() != nil; panicked == want {
						t.Errorf("panicked: %t", panicked)
					}
				}()
				l.moveLocked(r, to)
			})
		}
	}
}

// An attempt is counted when the run begins, and taken back when it is postponed.
func TestRunStateCountsAnAttemptOnce(t *testing.T) {
	l, r := newStateTest(t, store.Claimed)
	begin := func() {
		t.Helper()
		_, _, turn := l.arm(r, time.Now().Add(2*time.Hour), time.Second, 0)
		if a, _, _ := l.begin(r, turn, func(error) {}, time.Now().Add(2*time.Hour)); a != admitted {
			t.Fatalf("it may not begin: %d", a)
		}
	}
	at := time.Now()
	l.confirm(r, 0)
	l.confirmed(r, true, time.Time{}, at)
	begin()
	if ask, _ := l.postpone(r); !ask || r.job.Attempt != 0 || r.job.State != store.Confirmed {
		t.Errorf("postponed, it is %+v", r.job)
	}
	l.confirmed(r, true, at.Add(time.Hour), at)
	begin()
	if r.job.Attempt != 1 || !r.decided || !r.job.Occurrence.Equal(at.Add(time.Hour)) {
		t.Errorf("it is %+v, decided: %t", r.job, r.decided)
	}
}

// A run that was armed anew is not confirmed by the timer that was set before.
func TestRunStateIgnoresEarlierTurns(t *testing.T) {
	l, r := newStateTest(t, store.Claimed)
	r.turn = 2
	if l.confirm(r, 1) || r.state != claimed {
		t.Errorf("it is %s", r.state)
	}
}

// A job that was due when it was claimed is armed at once.
func TestRunStateOfWhatWasDue(t *testing.T) {
	if _, r := newStateTest(t, store.Confirmed); r.state != armed {
		t.Errorf("it is %s", r.state)
	}
}
