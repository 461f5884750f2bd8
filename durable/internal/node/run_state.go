package node

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"
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

// timeLocked returns when the run may begin. That is Due, unless the occurrence was moved and the store's clock has
// been put back since. A run that was begun before, by a node that was lost, does not wait for its occurrence again.
func (r *run) timeLocked() time.Time {
	if r.job.State == store.Confirmed && r.job.Attempt == 0 {
		return timetable.Later(r.job.Due, r.job.Occurrence)
	}
	return r.job.Due
}

// maxTokenLate is how long after the time of its token a job may begin that was claimed ahead.
const maxTokenLate = 10 * time.Millisecond

// missedTokenLocked reports whether the run has a token for a time that has passed, since it was claimed ahead, and no
// worker was idle at its time: workers that become idle together would begin several. It is claimed anew, as one that
// is due. One that was due when it was claimed begins in any case, so none is given back again and again.
func (r *run) missedTokenLocked(now time.Time) bool {
	at := r.timeLocked()
	return r.kind.Rate != (store.Rate{}) && !r.decided && r.since.Before(at) && now.Sub(at) > maxTokenLate
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

// A Phase is where a job is that a node holds, see durable.Phase.
type Phase uint8

const (
	Ahead Phase = iota
	Due
	Running
	Ending
)

// phase returns that of a run in state s.
func (s runState) phase() Phase {
	switch s {
	case claimed, confirming:
		return Ahead
	case postponed, armed:
		return Due
	case begun:
		return Running
	}
	return Ending
}
