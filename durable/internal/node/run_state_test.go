package node

import (
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// newStateTest returns a node that holds one run, of a job in that state of the store.
func newStateTest(t *testing.T, s store.State) *run {
	t.Helper()
	pool := executor.Scheduled(1)
	t.Cleanup(pool.Close)
	n := New(t.Context(), Config{Name: "n", Pool: pool})
	r := &run{n: n, kind: &Kind{Name: "k"}, job: store.Job{ID: store.NewID(), Kind: "k", State: s}}
	r.enterLocked()
	return r
}

// A run moves along the arrows of runState and along no other.
func TestRunStateArrows(t *testing.T) {
	for from := claimed; from <= gone; from++ {
		for to := claimed; to <= gone; to++ {
			t.Run(from.String()+" to "+to.String(), func(t *testing.T) {
				r := newStateTest(t, store.Waiting)
				r.n.mu.inState[r.state]--
				r.state = from
				r.n.mu.inState[from]++
				want := false
				for _, next := range arrows[from] {
					want = want || next == to
				}
				defer func() {
					if panicked := recover() != nil; panicked == want {
						t.Errorf("panicked: %t", panicked)
					}
				}()
				r.moveLocked(to)
			})
		}
	}
}

// The counts are those of the runs that are held, whatever way a run takes.
func TestRunStateCounts(t *testing.T) {
	for name, way := range map[string][]func(*run){
		"claimed ahead": {
			func(r *run) { r.confirmLocked(0) },
			func(r *run) { r.confirmedLocked(time.Time{}, time.Now()) },
			func(r *run) { r.beginLocked(func(error) {}) },
			func(r *run) { r.moveLocked(committing) },
			(*run).dropLocked,
		},
		"postponed": {
			func(r *run) { r.confirmLocked(0) },
			func(r *run) { r.confirmedLocked(time.Time{}, time.Now()) },
			func(r *run) { r.beginLocked(func(error) {}) },
			(*run).postponeLocked,
			func(r *run) { r.confirmedLocked(time.Now(), time.Now()) },
			(*run).giveBackLocked,
		},
		"given back":    {(*run).giveBackLocked},
		"dropped twice": {(*run).dropLocked, (*run).dropLocked},
	} {
		t.Run(name, func(t *testing.T) {
			r := newStateTest(t, store.Claimed)
			check := func() {
				for s := claimed; s < gone; s++ {
					want := 0
					for _, held := range r.n.mu.held {
						if held.state == s {
							want++
						}
					}
					if got := r.n.mu.inState[s]; got != want {
						t.Errorf("%s: %d are counted as %s, want %d", r.state, got, s, want)
					}
				}
				if got := r.n.mu.perKind["k"]; got != len(r.n.mu.held) {
					t.Errorf("%s: %d are counted of its kind, and %d held", r.state, got, len(r.n.mu.held))
				}
			}
			check()
			for _, step := range way {
				step(r)
				check()
			}
			if r.state != gone {
				t.Errorf("it is %s at the end", r.state)
			}
		})
	}
}

// An attempt is counted when the run begins, and taken back when it is postponed.
func TestRunStateCountsAnAttemptOnce(t *testing.T) {
	r := newStateTest(t, store.Claimed)
	at := time.Now()
	r.confirmLocked(0)
	r.confirmedLocked(time.Time{}, at)
	r.beginLocked(func(error) {})
	r.postponeLocked()
	if r.job.Attempt != 0 || r.job.State != store.Confirmed {
		t.Errorf("postponed, it is %+v", r.job)
	}
	r.confirmedLocked(at.Add(time.Hour), at)
	r.beginLocked(func(error) {})
	if r.job.Attempt != 1 || !r.decided || !r.job.Occurrence.Equal(at.Add(time.Hour)) {
		t.Errorf("it is %+v, decided: %t", r.job, r.decided)
	}
}

// A run that was armed anew is not confirmed by the timer that was set before.
func TestRunStateIgnoresEarlierTurns(t *testing.T) {
	r := newStateTest(t, store.Claimed)
	r.turn = 2
	if r.confirmLocked(1) || r.state != claimed {
		t.Errorf("it is %s", r.state)
	}
}

// A job that was due when it was claimed is armed at once.
func TestRunStateOfWhatWasDue(t *testing.T) {
	if r := newStateTest(t, store.Confirmed); r.state != armed {
		t.Errorf("it is %s", r.state)
	}
}
