package durable

import (
	"context"
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	executor "github.com/executor-go/executor"
)

// confirmLead is how long before its time a claim is confirmed: a few commits.
const confirmLead = 25 * time.Millisecond

// maxHeld is the most jobs that a node claims ahead.
const maxHeld = 1024

// A node is one program's part in running the jobs. Five goroutines belong to it. The
// first is that of run, which starts and awaits the others:
//
//	poll    claims what is due before its next look, and gives back
//	beat    renews the lease, and looks in poll's stead while there is nothing
//	settle  commits confirms and outcomes in groups
//	listen  has poll look when the store tells that something has changed
//	prune   removes what has been kept for long enough
//
// Handlers run on the pool's workers. What the node holds is in held; a run
// leaves it when its outcome is committed or refused, or when the node gives it
// up.
type node struct {
	jobs      *Jobs
	pool      *executor.ScheduledPool
	clock     *storeClock
	committer *committer
	wakeup    chan struct{}   // one slot: poll is to look now
	idleBeats chan time.Time  // to poll: when a beat was sent that found nothing to claim
	prefix    string          // of the node's names
	values    context.Context // Run's, without its end: for handlers
	gained    atomic.Int64    // jobs claimed since the beginning

	// renewed is when the beat that renewed the lease last was sent, and nextPoll when
	// poll looks next, unless it is woken, in nanoseconds since clock.base.
	renewed, nextPoll atomic.Int64

	bodies sync.WaitGroup // handlers that have not returned
	closed sync.Once      // the log has been told that the pool is shut down

	// mu is a leaf lock, except that those of Jobs and storeClock are taken under it.
	mu struct {
		sync.Mutex
		name string // of this incarnation; the database knows the node by it
		held map[ID]*run
		// ahead is how many of held are claimed and not confirmed, due how many are
		// confirmed and wait for their time or a worker, postponed how many wait for
		// the store to have their occurrence; perKind counts all of them.
		ahead, due, postponed int
		perKind               map[string]int
		// budget is how many may be due here and wait for a worker. It doubles when half of it was begun
		// in no time and there is more, and falls back when they have to wait, so
		// that other nodes get them.
		budget   int
		begun    int       // runs begun since lastFull
		lastFull time.Time // when a claim was last as large as it could be
		// lastBegun is when a run was begun last; ended is how many runs of anybody the
		// pool had ended at the last look, and lastEnded when a look found more. stalled
		// says that the workers have been busy for long with what they have, and that
		// what waited behind it was given back: nothing is taken until one of them is
		// free.
		lastBegun time.Time
		ended     int64
		lastEnded time.Time
		stalled   bool
		more      bool // there may be more to claim
		// releasesDue counts the events after which the database may hold jobs for this
		// node that it does not know. They are released, except those of the inserts
		// in flight; what happens during the release is for the next. releaseAgain says that the last
		// one could not free all, and is to be repeated; so it is for a lease after
		// lost, when the answer to a claim or an insert was given up last: that may
		// take effect later than a release which was sent after it.
		releasesDue  int
		releaseAgain bool
		lost         time.Time
		inserting    map[*NewJob][]NewJob // by the first of them
		unread       map[string]bool      // the errors by which this program can't read schedules or policies, and has said so
		cursors      map[ID]catchUpCursor // of jobs that catch up
		// paused are the kinds of which nothing is claimed or begun; pausedHere has those
		// that this program has paused or resumed, and when, until the store tells.
		paused     map[string]bool
		pausedHere map[string]time.Time
		fenced     bool // the lease may be over: nothing is claimed or begun
		draining   bool
		empty      chan struct{} // closed when draining and held is empty
	}
}

func newNode(ctx context.Context, j *Jobs, pool *executor.ScheduledPool) *node {
	name := j.cfg.Name
	if name == "" {
		name, _ = os.Hostname()
	}
	n := &node{
		jobs: j, pool: pool, values: context.WithoutCancel(ctx), clock: newStoreClock(), wakeup: make(chan struct{}, 1), idleBeats: make(chan time.Time),
		prefix: strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "?"),
	}
	n.committer = newCommitter(n)
	n.mu.fenced = true // until it has joined
	n.mu.held = make(map[ID]*run)
	n.mu.perKind = make(map[string]int)
	n.mu.inserting = make(map[*NewJob][]NewJob)
	n.mu.unread = make(map[string]bool)
	n.mu.cursors = make(map[ID]catchUpCursor)
	n.mu.paused = make(map[string]bool)
	n.mu.pausedHere = make(map[string]time.Time)
	n.mu.budget = n.workers()
	n.mu.empty = make(chan struct{})
	return n
}

func (n *node) workers() int { return max(n.pool.Core(), 1) }

// newName gives a name that no incarnation has had.
func (n *node) newName() string { return n.prefix + "-" + strings.ToLower(rand.Text()[:10]) }

// run is the node's life. Handlers, beat and settle outlast ctx until the node
// has drained; and it signs off when no call of it is under way. Or a confirm that
// the database is about could make a job run for a node that has left, and others
// would count as lost with it what never began.
func (n *node) run(ctx context.Context) {
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	joined := n.join(ctx)
	if joined {
		wg.Go(func() { n.heartbeatLoop(live) })
		wg.Go(func() { n.committer.loop(live) })
		wg.Go(func() { n.listenLoop(ctx) })
		wg.Go(func() { n.pruneLoop(ctx) })
		n.pollLoop(ctx)
		n.drain(live)
	}
	stop()
	wg.Wait()
	if joined {
		n.leave(context.WithoutCancel(ctx))
	}
}

// join makes the node known. It reports false if ctx ended first.
func (n *node) join(ctx context.Context) bool {
	outage := n.outage("join")
	for ctx.Err() == nil {
		n.mu.Lock()
		n.mu.name = n.newName()
		name := n.mu.name
		n.mu.Unlock()
		opCtx, cancel := n.opContext(ctx)
		before := time.Now()
		paused, err := n.jobs.store.PausedKinds(opCtx)
		asked, now := n.clock.ask(), time.Time{}
		if err == nil {
			now, err = n.jobs.store.Join(opCtx, name, n.jobs.cfg.Lease)
		}
		cancel()
		if outage.over(err) {
			n.heard(asked, now)
			n.hearPaused(before, paused)
			n.renew(asked.at)
			return true
		}
		outage.wait(ctx)
	}
	return false
}

// opContext bounds one call of the store. A call that takes longer than a lease
// is as good as none.
func (n *node) opContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, n.jobs.cfg.Lease)
}

// heard learns the time from an answer of the store.
func (n *node) heard(asked question, now time.Time) {
	moved, jumped := n.clock.observe(asked, time.Now(), now)
	if jumped {
		n.jobs.log().Warn("durable: the clock of the database jumped", "by", moved)
	}
	if moved != 0 {
		n.rekey()
	}
}

// wake makes poll look now.
func (n *node) wake() {
	select {
	case n.wakeup <- struct{}{}:
	default:
	}
}

// name gives the name of this incarnation.
func (n *node) name() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.name
}

// ahead is how far a claim looks ahead: to the next look and a little beyond.
func (n *node) ahead() time.Duration {
	p := n.jobs.cfg.Poll
	return p + p/4 + confirmLead
}

// beginInsert says whether new jobs may be this node's at once. Until endInsert they
// are not released, as they would be otherwise, since nobody knows them yet.
func (n *node) beginInsert(jobs []NewJob) Placement {
	for i := range jobs {
		if k := n.jobs.kind(jobs[i].Kind); k == nil || k.limit > 0 || k.global > 0 {
			return Placement{}
		}
	}
	if !n.open() {
		return Placement{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.ContainsFunc(jobs, func(j NewJob) bool { return n.mu.paused[j.Kind] }) {
		return Placement{}
	}
	free := n.mu.budget - n.mu.due
	if n.clock.until(jobs[0].Due) > confirmLead || jobs[0].Due.IsZero() && jobs[0].Delay > confirmLead {
		free = maxHeld - n.mu.ahead
	}
	if n.mu.fenced || n.mu.draining || n.mu.stalled || n.mu.releasesDue > 0 || free <= 0 {
		return Placement{}
	}
	n.mu.inserting[&jobs[0]] = jobs
	return Placement{Node: n.mu.name, Ahead: n.ahead(), Lead: confirmLead, Limit: free}
}

// endInsert takes what the insert has given to this node.
func (n *node) endInsert(p Placement, jobs []NewJob, placed []InsertResult, err error, asked question) {
	if err != nil {
		placed = nil // what comes with an error is not to be relied on
	}
	if len(placed) > 0 {
		n.heard(asked, placed[0].Now)
	}
	near := false
	var held []Job
	for i := range placed {
		switch {
		case placed[i].Held:
			held = append(held, placed[i].Job)
		case placed[i].State == Waiting && n.clock.until(placed[i].Due) < n.ahead():
			near = true
		}
	}
	n.mu.Lock()
	runs := n.holdLocked(p.Node, held)
	if p.Node != "" {
		delete(n.mu.inserting, &jobs[0]) // at once: what is dropped from here on is to be released
		if err != nil {
			n.loseAnswerLocked()
		}
	}
	look := near || n.mu.releasesDue > 0
	n.mu.Unlock()
	for _, r := range runs {
		r.arm()
	}
	if look {
		n.wake()
	}
}

// loseAnswerLocked notes that the answer to a claim or an insert was lost: it may
// have been done all the same, or may yet be.
func (n *node) loseAnswerLocked() {
	n.mu.releasesDue++
	n.mu.lost = time.Now()
}

// drain ends the node's work: it returns when nothing is held.
func (n *node) drain(ctx context.Context) {
	n.mu.Lock()
	n.mu.draining = true
	n.dropWaitingLocked(all)
	n.checkEmptyLocked()
	n.mu.Unlock()

	bodies := make(chan struct{})
	go func() {
		n.bodies.Wait()
		close(bodies)
	}()
	n.giveBackUntil(ctx, bodies)
	// What the store has not taken within a lease is no longer ours to say.
	timer := time.NewTimer(n.jobs.cfg.Lease)
	defer timer.Stop()
	select {
	case <-n.mu.empty:
	case <-timer.C:
		n.jobs.log().Error("durable: gave up on outcomes that the store did not take; the jobs will run again")
	}
}

// leave signs off.
func (n *node) leave(ctx context.Context) {
	opCtx, cancel := n.opContext(ctx)
	defer cancel()
	if err := n.jobs.store.Leave(opCtx, n.name()); err != nil {
		n.jobs.log().Warn("durable: could not sign off; what this node held will be freed when its lease ends", "error", err)
	}
}

// giveBackUntil gives back what has not begun, also what comes later from an insert
// that was under way, until the handlers have returned; when they have had
// Config.Drain for it, it cancels them.
func (n *node) giveBackUntil(ctx context.Context, bodies <-chan struct{}) {
	// A release that the store does not answer must not hold this up.
	patience := time.AfterFunc(max(n.jobs.cfg.Drain, 0), func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.cancelLocked(executor.ErrShutdown)
	})
	defer patience.Stop()
	again := time.NewTimer(n.jobs.cfg.Poll)
	defer again.Stop()
	outage := n.outage("release")
	for {
		if asked, err := n.release(ctx); asked && !outage.over(err) {
			again.Reset(outage.delay())
		}
		select {
		case <-bodies:
		case <-n.wakeup:
		case <-again.C:
			n.retryRelease()
			again.Reset(n.jobs.cfg.Poll)
		}
		select {
		case <-bodies: // whatever else there was
			return
		default:
		}
	}
}

func (n *node) checkEmptyLocked() {
	if n.mu.draining && len(n.mu.held) == 0 {
		select {
		case <-n.mu.empty:
		default:
			close(n.mu.empty)
		}
	}
}
