package node

import (
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

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

// seek notes that jobs of kinds with a rate wait, or may do so.
func (l *ledger) seek() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.turn.seek(time.Now())
}

// ratedLocked reports whether one of these kinds, of which the node may have more jobs, has a rate.
func (l *ledger) ratedLocked(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		k := l.kind(name)
		return k.Rate != (store.Rate{}) && !l.mu.paused[name] && (k.Limit == 0 || l.mu.perKind[name] < k.Limit)
	})
}

// passLocked is called when the node has room for more of these kinds, but no worker is idle. It reports whether the
// node holds back.
func (l *ledger) passLocked(names []string) bool {
	if !l.ratedLocked(names) {
		return false
	}
	l.mu.turn.pass(time.Now())
	if !l.mu.turn.sought(time.Now()) {
		return false
	}
	l.mu.budget = l.workers()
	return true
}

// soughtLocked reports whether the node holds back.
func (l *ledger) soughtLocked() bool {
	return l.mu.turn.sought(time.Now()) && l.ratedLocked(l.kinds())
}

// awaitedLocked reports whether a worker is idle, and the kinds with a rate are to be asked for.
func (l *ledger) awaitedLocked() bool {
	return !l.mu.turn.asked() && l.idleLocked() > 0 && l.ratedLocked(l.kinds())
}

// askedLocked notes what a claim has had of the kinds with a rate: if that is all that it has asked for of one, there
// may be more. It reports whether the claim has asked for such kinds, and there is no more.
func (l *ledger) askedLocked(kinds []store.KindLimit, jobs []store.Job) (exhausted bool) {
	rated, more := false, false
	for _, k := range kinds {
		if k.Rate == (store.Rate{}) {
			continue
		}
		had := 0
		for i := range jobs {
			if jobs[i].Kind == k.Kind {
				had++
			}
		}
		rated, more = true, more || had == k.Max
	}
	if rated {
		l.mu.turn.ask(time.Now(), more)
	}
	return rated && !more
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

// idleLocked returns how many workers have nothing to begin, as far as the node knows.
func (l *ledger) idleLocked() int {
	return max(l.workers()-l.mu.inState[armed]-l.mu.inState[begun], 0)
}
