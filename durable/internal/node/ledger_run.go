package node

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/store"
)

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

// giveBack drops the runs that wait and are such, to be released.
func (l *ledger) giveBack(such func(*run) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveBackAllLocked(such)
}

func all(*run) bool { return true }

func (l *ledger) giveBackAllLocked(such func(*run) bool) {
	for _, r := range l.mu.held {
		if r.state.waits() && such(r) {
			l.giveBackLocked(r)
		}
	}
}

// giveBackLocked drops a run, and has the store release it.
func (l *ledger) giveBackLocked(r *run) {
	l.dropLocked(r)
	l.mu.due++
}

// hold takes runs of jobs that the store has given to this node under that name, and returns those to arm.
func (l *ledger) hold(name string, runs []*run) []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holdLocked(name, runs)
}

func (l *ledger) holdLocked(name string, runs []*run) []*run {
	taken := runs[:0]
	for _, r := range runs {
		if l.mu.name != name || !l.keepsLocked(&r.job) { // since they were asked for
			l.mu.due++
			continue
		}
		if old := l.mu.held[r.job.ID]; old != nil {
			if old.job.Epoch >= r.job.Epoch {
				continue // a later answer came first: the job was freed since, and claimed again
			}
			l.dropLocked(old) // its epoch is over
		}
		l.enterLocked(r)
		taken = append(taken, r)
	}
	return taken
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
// to poll, since half of what the node had has begun. canceled is set if the job is to be canceled. The end of the
// handler is workerFreed.
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
