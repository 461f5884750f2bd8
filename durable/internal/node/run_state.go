package node

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/store"
)

// A run is one holding of a job by this node, from the claim to the store's answer to its outcome. See runState.
type run struct {
	kind *Kind
	job  store.Job
	// since is when this node got it, on the store's clock.
	since time.Time
	// handling is that of its job; nil before a worker has it.
	handling atomic.Pointer[Handling]
	// noted is set when the store has, or will have, that it has begun.
	noted atomic.Bool

	// These are the ledger's, as are the changes of job.
	state        runState
	turn         int                     // goes up when a timer or task is set; those of earlier turns do nothing
	timer        *time.Timer             // to confirm, or to arm again
	decided      bool                    // the store has the occurrence that the run is for
	cancelWanted bool                    // there was a call to cancel the job
	cancel       context.CancelCauseFunc // of the handler's context, once begun
}

func (r *run) ref() store.Ref { return store.Ref{ID: r.job.ID, Epoch: r.job.Epoch} }

// progress returns what the handler has noted, nil if there is nothing.
func (r *run) progress() *store.RunProgress {
	if h := r.handling.Load(); h != nil {
		return h.progress.Load()
	}
	return nil
}

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
// Only the methods of the ledger below change a state, and inState counts with it.
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
func (l *ledger) moveLocked(r *run, to runState) {
	if !slices.Contains(arrows[r.state], to) {
		panic("durable: a run can't become " + to.String() + " when it is " + r.state.String())
	}
	l.mu.inState[r.state]--
	l.mu.inState[to]++
	r.state = to
}

// enterLocked makes the node hold the run.
func (l *ledger) enterLocked(r *run) {
	if r.job.State == store.Confirmed {
		r.state = armed
	}
	l.mu.held[r.job.ID] = r
	l.mu.inState[r.state]++
	l.mu.perKind[r.job.Kind]++
	l.mu.payloads.held += len(r.job.Payload)
}

// What is next for a run that is armed.
type next uint8

const (
	doNothing    next = iota // another step has come before
	beReleased               // it was given back
	confirmLater             // the store is to confirm it, after a while
	armLater                 // it is to be armed again, after a while
	submit                   // it goes to the pool
)

// arm returns what is next for a run that is claimed or armed, and after how long: its confirmation, lead before it is
// due, or the task that begins it when it is due. Those of earlier turns do nothing from here on.
//
// A run that no claim would give to this node, since the store's clock was put back, is given back: until its time it
// would have a place here, and in the limits of its kind, that others need.
func (l *ledger) arm(r *run, now time.Time, ahead, lead time.Duration) (what next, after time.Duration, turn int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state != claimed && r.state != armed {
		return doNothing, 0, 0
	}
	left := r.timeLocked().Sub(now)
	if left > ahead {
		l.giveBackLocked(r)
		l.mu.far = true
		return beReleased, 0, 0
	}
	r.turn++
	if r.timer != nil {
		r.timer.Stop()
	}
	switch {
	case r.state == claimed:
		return confirmLater, left - lead, r.turn
	case left > lead:
		// The store's clock was put back. A task in the pool would keep a shutdown of that waiting.
		return armLater, left - lead, r.turn
	}
	return submit, left, r.turn
}

// setTimer has the timer stopped when the turn of the run is over.
func (l *ledger) setTimer(r *run, turn int, t *time.Timer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state == gone || r.turn != turn {
		t.Stop()
		return
	}
	r.timer = t
}

// refused gives a run back that the pool does not take. It reports false if its turn is over.
func (l *ledger) refused(r *run, turn int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state != armed || r.turn != turn {
		return false
	}
	l.giveBackLocked(r)
	return true
}

// confirm notes that the store is being asked to confirm the run. It reports false if the turn is over, or the run needs
// no confirmation.
func (l *ledger) confirm(r *run, turn int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state != claimed || r.turn != turn {
		return false
	}
	l.moveLocked(r, confirming)
	return true
}

// confirmed takes the store's answer, given at the time now, and reports whether the run is to be armed. The occurrence
// is zero unless the run was postponed.
func (l *ledger) confirmed(r *run, ok bool, occurrence, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ok {
		l.dropLocked(r)
	}
	if r.state == gone {
		return false
	}
	if r.state == confirming {
		r.job.State = store.Confirmed
	}
	if !occurrence.IsZero() {
		r.job.Occurrence, r.decided = occurrence, true
	}
	r.job.Updated = now
	l.moveLocked(r, armed)
	return true
}

// What a worker does with a run.
type admission uint8

const (
	notNow    admission = iota // nothing: another step has come before
	givenBack                  // nothing: it is to be released
	tooEarly                   // arm it anew: the store's clock was put back since
	admitted                   // call the handler
)

// begin notes that a worker has the run, which cancel ends, unless it may not begin at the time now. It reports whether
// to poll, since half of what the node had has begun. canceled is set if the job is to be canceled. The end of the body
// is bodyEnded.
func (l *ledger) begin(r *run, turn int, cancel context.CancelCauseFunc, now time.Time) (a admission, poll, canceled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state != armed {
		return notNow, false, false
	}
	if l.leaseLeftLocked() <= 0 {
		// A process that was suspended wakes with its lease long over.
		l.giveBackLocked(r)
		return givenBack, false, false
	}
	switch {
	case r.turn != turn:
		return notNow, false, false
	case r.missedTokenLocked(now):
		l.giveBackLocked(r)
		l.mu.turn.seek(time.Now()) // it waits for another token
		return givenBack, true, false
	case r.timeLocked().Sub(now) > storeclock.Noise:
		return tooEarly, false, false
	case !l.admitLocked(r):
		return notNow, false, false
	}
	l.moveLocked(r, begun)
	r.job.State = store.Running
	r.job.Attempt++
	r.cancel = cancel
	l.mu.begunLately++
	l.mu.lastBegun = time.Now()
	l.bodies.Add(1)
	return admitted, l.mu.more && l.mu.inState[armed] <= l.mu.budget/2, r.cancelWanted
}

// calling notes the time at which the handler of a run is about to be called, and reports whether the node still begins
// its job.
func (l *ledger) calling(r *run, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.job.Started = at
	return l.keepsLocked(&r.job)
}

// keeps reports whether the node still begins the job of a run.
func (l *ledger) keeps(r *run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keepsLocked(&r.job)
}

// goesOn reports whether the handler of a run may not have returned.
func (l *ledger) goesOn(r *run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.state == begun
}

// postpone takes back that the run was begun. It reports whether the store is to be asked to have another occurrence for
// it, or else whether it is given back.
func (l *ledger) postpone(r *run) (ask, back bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state == gone {
		return false, false
	}
	l.moveLocked(r, postponed)
	r.job.State = store.Confirmed
	r.job.Attempt--
	r.job.Started = time.Time{}
	r.cancel = nil
	l.mu.begunLately--
	l.endedLocked(r)
	if !l.keepsLocked(&r.job) {
		l.giveBackLocked(r)
		return false, true
	}
	return true, false
}

// ended notes that the handler of a run has returned.
func (l *ledger) ended(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state == begun {
		l.moveLocked(r, committing)
	}
	l.endedLocked(r)
}

// drop forgets a run. It does not change what the store has.
func (l *ledger) drop(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropLocked(r)
}

func (l *ledger) dropLocked(r *run) {
	if r.state == gone {
		return
	}
	l.moveLocked(r, gone)
	l.endedLocked(r)
	if r.timer != nil {
		r.timer.Stop()
	}
	l.mu.payloads.held -= len(r.job.Payload)
	if l.mu.perKind[r.job.Kind]--; l.mu.perKind[r.job.Kind] == 0 {
		delete(l.mu.perKind, r.job.Kind)
	}
	if l.mu.held[r.job.ID] == r {
		delete(l.mu.held, r.job.ID)
	}
	l.checkEmptyLocked()
}

// giveBackLocked drops a run, and has the store release it.
func (l *ledger) giveBackLocked(r *run) {
	l.dropLocked(r)
	l.mu.due++
}
