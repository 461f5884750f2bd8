package node

import (
	"slices"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// freeLocked returns for how many jobs there is room: such as are due now, or such as are due later. It may be
// negative.
func (l *ledger) freeLocked(later bool) int {
	room := l.mu.budget - l.mu.inState[armed]
	if later {
		room = maxHeld - l.mu.inState[claimed] - l.mu.inState[confirming]
	}
	return min(room, l.mu.payloads.room())
}

// idleLocked returns how many workers have nothing to begin, as far as the node knows.
func (l *ledger) idleLocked() int {
	return max(l.workers()-l.mu.inState[armed]-l.mu.inState[begun], 0)
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

// seek notes that jobs of kinds with a rate wait, or may do so.
func (l *ledger) seek() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.turn.seek(time.Now())
}

// request returns what to claim of these kinds, in their order: jobs that are due now, or jobs that are due later; of
// kinds with a rate as well, if rated is set. It reports false if there is no room.
func (l *ledger) request(names []string, later, rated bool, ahead, lead time.Duration) (store.ClaimRequest, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.takesLocked() {
		return store.ClaimRequest{}, false
	}
	idle := 0 // workers for jobs of kinds with a rate
	if rated {
		idle = l.idleLocked()
		if idle == 0 && l.passLocked(names) {
			return store.ClaimRequest{}, false
		}
	}
	if armed := l.mu.inState[armed]; armed > 0 && armed > l.mu.budget/2 {
		l.mu.more = true // a poll is worth its while when half of them have begun
		return store.ClaimRequest{}, false
	}
	free := l.freeLocked(later)
	if free <= 0 {
		l.mu.more = true // there may be room when some have begun
		return store.ClaimRequest{}, false
	}
	req := store.ClaimRequest{Node: l.mu.name, Ahead: ahead, Lead: lead, Limit: free}
	for _, name := range names {
		if l.mu.paused[name] {
			continue
		}
		most := free
		k := l.kind(name)
		if k.Limit > 0 {
			most = min(most, k.Limit-l.mu.perKind[name])
		}
		if k.Rate != (store.Rate{}) {
			if most = min(most, idle); most > 0 && !later {
				req.Limit = min(free, idle) // what is claimed with them must not take their workers
			}
		}
		if most > 0 {
			limit := k.limit()
			limit.Max = most
			req.Kinds = append(req.Kinds, limit)
		}
	}
	return req, len(req.Kinds) > 0
}

// claimed takes what a claim of these kinds has had, and whether the store has more that is due. It reports whether the
// claim was one of what is due, for the sake of kinds with a rate as well, and of those there is no more.
func (l *ledger) claimed(kinds []store.KindLimit, jobs []store.Job, later, more bool) (exhausted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimedLocked(more)
	l.mu.payloads.learn(jobs)
	return !later && l.askedLocked(kinds, jobs)
}

// claimedLocked notes whether the store has more of what was asked for in a claim of what is due.
func (l *ledger) claimedLocked(more bool) {
	if l.mu.more = more; !more {
		return
	}
	if l.mu.begunLately >= l.mu.budget/2 && time.Since(l.mu.lastFull) < 250*time.Millisecond {
		l.mu.budget = min(l.mu.budget*2, maxHeld)
	}
	l.mu.begunLately, l.mu.lastFull = 0, time.Now()
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

// workerFreed notes that a worker has ended a run, and reports whether to poll.
func (l *ledger) workerFreed() (poll bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	poll = l.mu.stalled || l.awaitedLocked()
	l.mu.stalled = false
	return poll
}

// giveBackLate releases what has not begun, due or not, if more jobs than there are workers have been waiting for one
// for longer than Config.Poll, at the time now: another node may be idle. It keeps as many of those as there are workers,
// so that none of them is idle.
//
// If the workers have begun nothing meanwhile, they may be busy for hours: then it releases all if one has waited for
// so long, and the node takes nothing until a worker is free. If the program shares the pool, its other tasks count,
// too: while they make progress our jobs keep their place in the queue.
func (l *ledger) giveBackLate(pool executor.Stats, poll time.Duration, now time.Time) {
	patience := max(poll, minStall)
	l.mu.Lock()
	defer l.mu.Unlock()
	if pool.Runs != l.mu.ended {
		l.mu.ended, l.mu.lastEnded, l.mu.stalled = pool.Runs, time.Now(), false
	}
	if pool.Active < l.workers() {
		l.mu.stalled = false
	}
	waiting := 0
	late := func(r *run) bool {
		return (r.state == claimed || r.state == armed) && r != l.mu.solo &&
			now.Sub(timetable.Later(r.timeLocked(), r.since)) > poll
	}
	for _, r := range l.mu.held {
		if late(r) {
			waiting++
		}
	}
	keep := l.workers()
	if waiting > 0 && time.Since(l.mu.lastBegun) > patience && time.Since(l.mu.lastEnded) >= patience {
		l.mu.stalled, keep = true, 0
	}
	if waiting <= keep {
		return
	}
	l.mu.budget = l.workers()
	l.giveBackAllLocked(func(r *run) bool {
		if keep > 0 && late(r) {
			keep--
			return false
		}
		return r != l.mu.solo
	})
}
