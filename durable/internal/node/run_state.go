package node

import (
	"strconv"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A runState is where a run is between its claim and the store's answer to its outcome:
//
//	claimed ──▶ confirming ──▶ armed ──▶ begun ──▶ committing ──▶ gone
//	                 ▲                     │
//	                 └────── postponed ◀───┘
//
//	claimed, confirming, postponed, armed ──▶ gone    given back, refused, or claimed anew
//	begun, committing ──▶ gone                        the node was declared dead
//
// Claimed and confirming runs are Claimed in the store, postponed and armed ones Confirmed. A run that has begun is
// Running soon, see begins. A run that was due when it was claimed begins as
// armed. One that makes up for occurrences that were missed may turn out, when it begins, to be for another
// occurrence than the store has. It is postponed until the store has that one: any node that begins it again, because
// this node was lost, begins the same.
//
// Only the functions below change a state, and n.mu.inState counts with it. The node's lock is held for each.
type runState uint8

const (
	claimed    runState = iota // a timer is set to confirm it
	confirming                 // the store is asked whether the job is still this node's
	postponed                  // the store is asked to have another occurrence for it
	armed                      // it waits for its time, and then for a worker
	begun                      // its handler is running, or about to
	committing                 // its outcome is handed over
	gone                       // it is not in held any more; what is under way for it does nothing
)

var runStateNames = [...]string{"claimed", "confirming", "postponed", "armed", "begun", "committing", "gone"}

func (s runState) String() string {
	if int(s) < len(runStateNames) {
		return runStateNames[s]
	}
	return "runState(" + strconv.Itoa(int(s)) + ")"
}

// waits reports whether a run in state s has not begun, so that it may be given back.
func (s runState) waits() bool { return s < begun }

// arrows are the states that may follow each.
var arrows = [...][]runState{
	claimed:    {confirming, gone},
	confirming: {armed, gone},
	postponed:  {armed, gone},
	armed:      {begun, gone},
	begun:      {postponed, committing, gone},
	committing: {gone},
	gone:       {},
}

// moveLocked moves the run along one of the arrows.
func (r *run) moveLocked(to runState) {
	for _, next := range arrows[r.state] {
		if next == to {
			r.n.mu.inState[r.state]--
			r.n.mu.inState[to]++
			r.state = to
			return
		}
	}
	panic("durable: a run can't become " + to.String() + " when it is " + r.state.String())
}

// enterLocked makes the node hold the run.
func (r *run) enterLocked() {
	if r.job.State == store.Confirmed {
		r.state = armed
	}
	r.n.mu.held[r.job.ID] = r
	r.n.mu.inState[r.state]++
	r.n.mu.perKind[r.job.Kind]++
	r.n.mu.payloads.held += len(r.job.Payload)
}

// confirmLocked notes that the store is being asked to confirm the run. It reports false if turn is over.
func (r *run) confirmLocked(turn int) bool {
	if r.state != claimed || r.turn != turn {
		return false
	}
	r.moveLocked(confirming)
	return true
}

// confirmedLocked takes the store's answer, given at the time now. The occurrence is zero unless the run was postponed.
func (r *run) confirmedLocked(occurrence, now time.Time) {
	if r.state == confirming {
		r.job.State = store.Confirmed
	}
	if !occurrence.IsZero() {
		r.job.Occurrence, r.decided = occurrence, true
	}
	r.job.Updated = now
	r.moveLocked(armed)
}

// beginLocked notes that a worker has the run, and how to cancel its handler.
func (r *run) beginLocked(cancel func(error)) {
	r.moveLocked(begun)
	r.job.State = store.Running
	r.job.Attempt++
	r.cancel = cancel
	r.n.mu.begunLately++
	r.n.mu.lastBegun = time.Now()
}

// postponeLocked takes that back.
func (r *run) postponeLocked() {
	r.moveLocked(postponed)
	r.job.State = store.Confirmed
	r.job.Attempt--
	r.job.Started = time.Time{}
	r.cancel = nil
	r.n.mu.begunLately--
	r.n.endedLocked(r)
}

// dropLocked forgets a run. It does not change what the store has.
func (r *run) dropLocked() {
	if r.state == gone {
		return
	}
	r.moveLocked(gone)
	r.n.endedLocked(r)
	if r.timer != nil {
		r.timer.Stop()
	}
	n := r.n
	n.mu.payloads.held -= len(r.job.Payload)
	if n.mu.perKind[r.job.Kind]--; n.mu.perKind[r.job.Kind] == 0 {
		delete(n.mu.perKind, r.job.Kind)
	}
	if n.mu.held[r.job.ID] == r {
		delete(n.mu.held, r.job.ID)
	}
	n.checkEmptyLocked()
}

// giveBackLocked drops a run, and has the store release it.
func (r *run) giveBackLocked() {
	r.dropLocked()
	r.n.mu.releasesDue++
}
