package node

import (
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// minStall is the shortest time without a worker becoming free after which a node takes its workers to be busy for
// long. While they are quicker it pays to have the next job at hand.
const minStall = time.Second

// load is what a node knows of how busy its workers are, and how many jobs it takes because of it. It is a part of the
// ledger.
type load struct {
	// budget is how many runs may be armed. It doubles when half of them were begun at once and there is more to claim,
	// and falls back to the number of workers when runs have to wait, so that other nodes get them.
	budget      int
	begunLately int       // runs begun since lastFull
	lastFull    time.Time // when a claim was last as large as it could be
	more        bool      // there may be more to claim

	lastBegun time.Time // when a run was begun last
	ended     int64     // runs that the pool had ended at the last poll, those of its other users as well
	lastEnded time.Time // when a poll found more
	// stalled is set while the workers are busy for long with what they have. What waited was given back, and nothing
	// is taken until a worker is free.
	stalled bool

	turn turn // of the kinds with a rate
}

// open reports whether the pool takes work. If the program has shut it down before Run drains, jobs are for other
// nodes; in a drain they are in any case.
func (n *Node) open() bool {
	if n.cfg.Pool.Stats().Stage == executor.StageRunning {
		return true
	}
	if !n.ledger.standing().draining {
		n.poolClosed.Do(func() {
			n.cfg.Log().Error("durable: the pool is shut down, so this node takes no more jobs; shut it down when Run has returned")
		})
	}
	return false
}

// freeLocked returns for how many jobs there is room: such as are due now, or such as are due later. It may be
// negative.
func (l *ledger) freeLocked(later bool) int {
	room := l.mu.budget - l.mu.inState[armed]
	if later {
		room = maxHeld - l.mu.inState[claimed] - l.mu.inState[confirming]
	}
	return min(room, l.mu.payloads.room())
}

// maxPayloads is how many bytes of payloads a node holds, more or less: it learns how large they are when it has them.
const maxPayloads = 64 << 20

// payloads are those of the runs that the node holds. It is a part of the ledger.
type payloads struct {
	held int // bytes
	mean int // bytes of one, as of the latest claims
}

// room returns how many more jobs there is room for: at least one, if the node holds nothing.
func (p *payloads) room() int {
	if p.held == 0 {
		return max(maxPayloads/max(p.mean, 1), 1)
	}
	return (maxPayloads - p.held) / max(p.mean, 1)
}

// learn takes in what a claim has had.
func (p *payloads) learn(jobs []store.Job) {
	if len(jobs) == 0 {
		return
	}
	bytes := 0
	for i := range jobs {
		bytes += len(jobs[i].Payload)
	}
	p.mean = max(bytes/len(jobs), p.mean/4)
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

// claimed takes what a claim of these kinds has had, and whether the store has more that is due. It reports whether the
// claim was one of what is due, for the sake of kinds with a rate as well, and of those there is no more.
func (l *ledger) claimed(kinds []store.KindLimit, jobs []store.Job, later, more bool) (exhausted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimedLocked(more)
	l.mu.payloads.learn(jobs)
	return !later && l.askedLocked(kinds, jobs)
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
