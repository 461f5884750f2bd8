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

// load is what a node knows of how busy its workers are, and how many jobs it takes because of it. It is guarded by
// n.mu.
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
	n.mu.Lock()
	draining := n.mu.draining
	n.mu.Unlock()
	if !draining {
		n.poolClosed.Do(func() {
			n.cfg.Log().Error("durable: the pool is shut down, so this node takes no more jobs; shut it down when Run has returned")
		})
	}
	return false
}

// takesLocked reports whether the node takes jobs now. It takes none before what it may hold unknowingly is released.
func (n *Node) takesLocked() bool {
	return !n.mu.fenced && !n.mu.draining && !n.mu.resting && !n.mu.stalled && n.mu.solo == nil && n.mu.releasesDue == 0
}

// freeLocked returns for how many jobs there is room: such as are due now, or such as are due later. It may be
// negative.
func (n *Node) freeLocked(later bool) int {
	room := n.mu.budget - n.mu.inState[armed]
	if later {
		room = maxHeld - n.mu.inState[claimed] - n.mu.inState[confirming]
	}
	return min(room, n.mu.payloads.room())
}

// maxPayloads is how many bytes of payloads a node holds, more or less: it learns how large they are when it has them.
const maxPayloads = 64 << 20

// payloads are those of the runs that the node holds. It is guarded by n.mu.
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
func (n *Node) claimedLocked(more bool) {
	if n.mu.more = more; !more {
		return
	}
	if n.mu.begunLately >= n.mu.budget/2 && time.Since(n.mu.lastFull) < 250*time.Millisecond {
		n.mu.budget = min(n.mu.budget*2, maxHeld)
	}
	n.mu.begunLately, n.mu.lastFull = 0, time.Now()
}

// workerFreed notes that a worker has ended a run.
func (n *Node) workerFreed() {
	n.mu.Lock()
	poll := n.mu.stalled || n.awaitedLocked()
	n.mu.stalled = false
	n.mu.Unlock()
	if poll {
		n.Wake()
	}
	n.bodies.Done()
}

// giveBackLate releases what has not begun, due or not, if more jobs than there are workers have been waiting for one
// for longer than Config.Poll: another node may be idle. It keeps as many of those as there are workers, so that none
// of them is idle.
//
// If the workers have begun nothing meanwhile, they may be busy for hours: then it releases all if one has waited for
// so long, and the node takes nothing until a worker is free. If the program shares the pool, its other tasks count,
// too: while they make progress our jobs keep their place in the queue.
func (n *Node) giveBackLate() {
	pool, patience := n.cfg.Pool.Stats(), max(n.cfg.Poll, minStall)
	n.mu.Lock()
	defer n.mu.Unlock()
	if pool.Runs != n.mu.ended {
		n.mu.ended, n.mu.lastEnded, n.mu.stalled = pool.Runs, time.Now(), false
	}
	if pool.Active < n.workers() {
		n.mu.stalled = false
	}
	now, waiting := n.clock.Now(), 0
	late := func(r *run) bool {
		return (r.state == claimed || r.state == armed) && r != n.mu.solo &&
			now.Sub(timetable.Later(r.timeLocked(), r.since)) > n.cfg.Poll
	}
	for _, r := range n.mu.held {
		if late(r) {
			waiting++
		}
	}
	keep := n.workers()
	if waiting > 0 && time.Since(n.mu.lastBegun) > patience && time.Since(n.mu.lastEnded) >= patience {
		n.mu.stalled, keep = true, 0
	}
	if waiting <= keep {
		return
	}
	n.mu.budget = n.workers()
	n.giveBackLocked(func(r *run) bool {
		if keep > 0 && late(r) {
			keep--
			return false
		}
		return r != n.mu.solo
	})
}
