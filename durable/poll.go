package durable

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	executor "github.com/executor-go/executor"
)

// busyPause is how long a node waits that found another one claiming jobs of a
// kind that is limited for all: some claims.
const busyPause = 5 * time.Millisecond

// auditPause is the time between two releases without a reason.
const auditPause = time.Minute

// pollLoop claims until ctx ends.
func (n *node) pollLoop(ctx context.Context) {
	outage := n.outage("claim")
	timer := time.NewTimer(0)
	defer timer.Stop()
	audit := time.NewTicker(auditPause)
	defer audit.Stop()
	after := func(d time.Duration) {
		timer.Reset(d)
		n.nextPoll.Store(int64(time.Since(n.clock.base) + d))
	}
	for {
		tick, claim := true, true
		var quiet time.Time // when a beat looked in our stead
		select {
		case <-ctx.Done():
			return
		case <-n.wakeup:
			tick = false
		case <-audit.C:
			n.scheduleAudit()
			tick, claim = false, outage.failed > 0
		case quiet = <-n.idleBeats:
			claim = outage.failed > 0
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return
		}
		if tick {
			n.giveBackLate()
			n.retryRelease()
		}
		asked, err := n.poll(ctx, claim)
		if ctx.Err() != nil {
			return
		}
		switch {
		case asked && !outage.over(err):
			after(outage.delay())
		case tick && !claim:
			after(n.jobs.cfg.Poll - time.Since(quiet))
		case tick:
			after(n.jobs.cfg.Poll)
		}
	}
}

// poll releases what is to be released, and claims, if claim says so, as much as
// there is room for: first no more than the workers can begin soon, so that other
// nodes get their part of a backlog; then, if that reached what is not due yet, as
// much as may be claimed ahead, since that must be here in time. It reports whether
// it has asked the store anything: if not, no error is no answer.
func (n *node) poll(ctx context.Context, claim bool) (asked bool, err error) {
	if asked, err = n.release(ctx); err != nil || !claim {
		return asked, err
	}
	for ahead := false; ; ahead = true {
		req, ok := n.request(ahead)
		if !ok {
			return asked, nil
		}
		again, err := n.claim(ctx, req)
		if err != nil || !again {
			return true, err
		}
		asked = true
	}
}

// claim claims, and reports whether there may be more that is not due yet.
func (n *node) claim(ctx context.Context, req ClaimRequest) (again bool, err error) {
	opCtx, cancel := n.opContext(ctx)
	defer cancel()
	asked := n.clock.ask()
	claims, err := n.jobs.store.Claim(opCtx, req)
	if err != nil {
		n.mu.Lock()
		n.loseAnswerLocked()
		n.mu.Unlock()
		return false, err
	}
	n.heard(asked, claims.Now)
	if claims.Busy {
		time.AfterFunc(busyPause, n.wake)
	}
	full := claims.More
	again = full && slices.ContainsFunc(claims.Jobs, func(j Job) bool { return j.State == Claimed })
	n.mu.Lock()
	if full && !again {
		if n.mu.begun >= n.mu.budget/2 && time.Since(n.mu.lastFull) < 250*time.Millisecond {
			n.mu.budget = min(n.mu.budget*2, maxHeld)
		}
		n.mu.begun, n.mu.lastFull = 0, time.Now()
	}
	n.mu.more = full && !again
	n.mu.Unlock()
	n.gained.Add(int64(len(claims.Jobs)))
	n.hold(req.Node, claims.Jobs)
	return again, nil
}

// open reports whether the pool takes work. If the program has shut it down before
// Run drains, jobs are for other nodes. In a drain they are in any case.
func (n *node) open() bool {
	if n.pool.Stage() == executor.StageRunning {
		return true
	}
	n.mu.Lock()
	draining := n.mu.draining
	n.mu.Unlock()
	if !draining {
		n.closed.Do(func() {
			n.jobs.log().Error("durable: the pool is shut down, so this node takes no more jobs; shut it down when Run has returned")
		})
	}
	return false
}

// request says what to claim. It is false if there is no room.
func (n *node) request(ahead bool) (ClaimRequest, bool) {
	if !n.open() {
		return ClaimRequest{}, false
	}
	names := n.jobs.kindNames()
	rand.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.fenced || n.mu.draining || n.mu.stalled || n.mu.releasesDue > 0 {
		return ClaimRequest{}, false
	}
	if n.mu.due > n.mu.budget/2 && n.mu.due > 0 {
		n.mu.more = true // worth a look when half of them have begun
		return ClaimRequest{}, false
	}
	free := n.mu.budget - n.mu.due
	if ahead {
		free = maxHeld - n.mu.ahead
	}
	req := ClaimRequest{Node: n.mu.name, Ahead: n.ahead(), Lead: confirmLead, Limit: free}
	for _, name := range names {
		if n.mu.paused[name] {
			continue
		}
		most := free
		k := n.jobs.kind(name)
		if k.limit > 0 {
			most = min(most, k.limit-n.mu.perKind[name])
		}
		if most > 0 {
			req.Kinds = append(req.Kinds, KindLimit{name, most, k.global})
		}
	}
	return req, len(req.Kinds) > 0
}

// release frees in the database what this node holds there but not here, nor is
// about to. It reports whether it has asked the store, as look does.
func (n *node) release(ctx context.Context) (asked bool, err error) {
	n.mu.Lock()
	if n.mu.releasesDue == 0 || n.mu.fenced {
		n.mu.Unlock()
		return false, nil
	}
	name, seen := n.mu.name, n.mu.releasesDue
	early := time.Since(n.mu.lost) < n.jobs.cfg.Lease
	keep := make([]ID, 0, len(n.mu.held))
	for id := range n.mu.held {
		keep = append(keep, id)
	}
	for _, jobs := range n.mu.inserting {
		for i := range jobs {
			keep = append(keep, jobs[i].ID)
		}
	}
	n.mu.Unlock()
	opCtx, cancel := n.opContext(ctx)
	defer cancel()
	left, err := n.jobs.store.Release(opCtx, name, keep)
	if err != nil {
		return true, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.releasesDue -= seen
	n.mu.releaseAgain = left || early
	return true, nil
}

// scheduleAudit has released what this node holds in the database and not here, though
// nothing is known to have gone wrong. A claim that was given up may have lain on
// the line for longer than anybody waits for it, and what it takes then is this
// node's: as long as the node lives, nobody else would run it.
func (n *node) scheduleAudit() {
	n.mu.Lock()
	n.mu.releasesDue++
	n.mu.Unlock()
}

// retryRelease has released again what the last release could not free, or may have
// come too early for.
func (n *node) retryRelease() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.releaseAgain {
		n.mu.releaseAgain = false
		n.mu.releasesDue++
	}
}

// minStall is the least time without a worker that became free after which a node
// takes its workers for busy with what lasts. What is quicker is worth to have the
// next job at hand.
const minStall = time.Second

// giveBackLate gives back what has not begun, due or not, if more jobs than there are
// workers have been waiting for one for longer than a look takes to come round:
// some other node may be idle. As many of those that wait are kept as there are
// workers, so that none is idle here. If the workers have begun nothing meanwhile, one
// that waits is enough, and none is kept, since what they are busy with may last for
// hours; and the node takes nothing more until one is free. In a pool that others use
// too, what is theirs counts as well: as long as that goes on, the turn of ours comes,
// which it would lose if it was given back.
func (n *node) giveBackLate() {
	pool, patience := n.pool.Stats(), max(n.jobs.cfg.Poll, minStall)
	n.mu.Lock()
	defer n.mu.Unlock()
	if pool.Runs != n.mu.ended {
		n.mu.ended, n.mu.lastEnded, n.mu.stalled = pool.Runs, time.Now(), false
	}
	if pool.Active < n.workers() {
		n.mu.stalled = false
	}
	now, waiting := n.clock.now(), 0
	waits := func(r *run) bool {
		return !r.begun && !r.asked && now.Sub(maxTime(r.timeLocked(), r.since)) > n.jobs.cfg.Poll
	}
	for _, r := range n.mu.held {
		if waits(r) {
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
	n.dropWaitingLocked(func(r *run) bool {
		if keep > 0 && waits(r) {
			keep--
			return false
		}
		return true
	})
}

// listenLoop passes the store's hints on, if it gives any.
func (n *node) listenLoop(ctx context.Context) {
	store, ok := n.jobs.store.(Listener)
	if !ok {
		return
	}
	outage := n.outage("listen")
	h := &hints{n: n}
	var mu sync.Mutex // guards outage: a store may call wake in any goroutine
	over := func(err error) (pause time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if !outage.over(err) {
			pause = outage.delay()
		}
		return pause
	}
	for ctx.Err() == nil {
		begun := time.Now()
		var listened atomic.Bool
		err := store.Listen(ctx, func() {
			listened.Store(true)
			over(nil)
			h.hint()
		})
		if ctx.Err() != nil {
			return
		}
		pause := over(err)
		if err != nil && listened.Load() && time.Since(begun) < time.Second {
			pause = time.Second // it comes and goes: let the log have little of that
		}
		sleep(ctx, pause)
	}
}

// pruneMore is how much a prune must have removed for the next to follow soon.
const pruneMore = 1000

// pruneLoop removes once a minute, at a time of its own, what has been kept for
// long enough, and warns of jobs that nobody here handles. As long as there is much
// it goes on, piece by piece: or more would be added than removed.
func (n *node) pruneLoop(ctx context.Context) {
	outage := n.outage("prune")
	warned := make(map[string]bool)
	removed := 0
	for {
		pause := 45*time.Second + rand.N(30*time.Second)
		if removed >= pruneMore {
			pause = 200 * time.Millisecond
		}
		if !sleep(ctx, pause) {
			return
		}
		opCtx, cancel := n.opContext(ctx)
		var err error
		removed, err = n.jobs.store.Prune(opCtx, n.jobs.cfg.Keep)
		if err == nil {
			err = n.warnUnknown(opCtx, warned)
		}
		cancel()
		if ctx.Err() == nil {
			outage.over(err)
		}
	}
}

func (n *node) warnUnknown(ctx context.Context, warned map[string]bool) error {
	kinds, err := n.jobs.store.Kinds(ctx)
	for _, name := range kinds {
		if n.jobs.kind(name) == nil && !warned[name] {
			warned[name] = true
			n.jobs.log().Warn("durable: jobs wait whose kind this program does not handle; they are kept", "kind", name)
		}
	}
	return err
}
