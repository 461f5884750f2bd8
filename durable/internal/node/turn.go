package node

import (
	"time"
)

// minStall is the shortest time without a worker becoming free after which a node takes its workers to be busy for
// long. While they are quicker it pays to have the next job at hand.
const minStall = time.Second

// A turn is that of the kinds with a rate among the kinds of a node. The node claims no more of them than it has idle
// workers, since a job that waited for one would begin later than its token was for. A backlog of other kinds leaves
// none idle, as the node always has their next jobs at hand, so it has to hold back from time to time:
//
//	asked ──▶ passed over    no worker is idle
//	passed over ──▶ sought   a second later
//	any ──▶ sought           a token came, or a claim had all that it has asked for
//	any ──▶ asked            a claim had what there was
//
// While they are sought, the node takes nothing until a worker is idle, and then asks for them with the others. The
// turn is a part of the ledger.
type turn struct {
	at time.Time // when they are sought; zero if they were asked for
}

// pass notes that others are claimed, and these are not asked for.
func (t *turn) pass(now time.Time) {
	if t.at.IsZero() {
		t.at = now.Add(minStall)
	}
}

// seek notes that jobs of these kinds wait, or may do so.
func (t *turn) seek(now time.Time) {
	if t.at.IsZero() || now.Before(t.at) {
		t.at = now
	}
}

// ask notes that a claim has asked for them, and whether there may be more.
func (t *turn) ask(now time.Time, more bool) {
	if t.at = (time.Time{}); more {
		t.at = now
	}
}

func (t *turn) asked() bool { return t.at.IsZero() }

func (t *turn) sought(now time.Time) bool { return !t.asked() && !now.Before(t.at) }
