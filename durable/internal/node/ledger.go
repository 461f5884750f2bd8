package node

import (
	"context"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A ledger has what a node holds, and whether the node may take more and begin what it has. Its lock is the only one
// that guards these. It knows no store, and asks no clock but the monotonic one: callers pass the time of the store.
//
// Each method is one step. It calls no user's code, and does nothing but to keep the books: what follows from a step, a
// call of the store, a line of the log, the end of a handler's context, is up to the caller, who has no lock then.
type ledger struct {
	lease time.Duration

	// These are called under the lock, and take locks of their own.
	workers func() int              // of the pool
	kind    func(name string) *Kind // nil for one that the program does not handle
	kinds   func() []string
	serves  func(queue string) bool

	bodies sync.WaitGroup // handlers that have not returned
	empty  chan struct{}  // closed when the node drains and holds nothing

	mu struct {
		sync.Mutex
		name   string    // of this incarnation, by which the store knows the node
		joined time.Time // on the store's clock

		// What the node holds. Each run in held is in one state, and inState and perKind count them.
		held    map[store.ID]*run
		inState [gone + 1]int
		perKind map[string]int

		// Whether it may claim and begin. While one of these is set it holds nothing that waits.
		fenced   bool // the lease may be over
		draining bool
		resting  bool // it is to drain, though Run goes on; see hearDraining

		alone   bool      // no other node is alive, as the last heartbeat has it; see fence
		renewed time.Time // when the heartbeat that renewed the lease last was sent

		load
		solitude
		payloads payloads
		releases
		pauses
	}
}

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

// solitude is that of a run whose job may be what kills its nodes: it waits until the handlers that run have returned,
// and while it is alone no other begins, so that it takes none with it. It is a part of the ledger.
type solitude struct {
	solo      *run        // waits to be alone, or is
	timer     *time.Timer // calls passAlone
	passAlone func()
	behind    []*run // were to begin meanwhile
}

// releases are what the store may have for this node that the node does not know of. They are a part of the ledger.
type releases struct {
	due        int       // events since the last release after which that may be so
	far        bool      // some of them gave back what is far away, since the clock was set back
	again      bool      // the last release could not free all, or may have come too early
	answerLost time.Time // when a claim or an insert was given up last
	inserting  map[*store.NewJob][]store.NewJob
}

// pauses are the kinds that are paused: of these nothing is claimed or begun. They are a part of the ledger.
type pauses struct {
	paused     map[string]bool
	pausedHere map[string]time.Time // paused or resumed by this program, and when, until the store reports it
}

// newLedger returns the books of a node that has not joined. passAlone is called by a timer, see solitude.
func newLedger(c *Config, passAlone func()) *ledger {
	l := &ledger{
		lease: c.Lease, workers: c.workers,
		kind: c.Kind, kinds: c.Kinds, serves: c.serves, empty: make(chan struct{}),
	}
	l.mu.held = make(map[store.ID]*run)
	l.mu.perKind = make(map[string]int)
	l.mu.fenced = true // until it has joined
	l.mu.budget = l.workers()
	l.mu.payloads.mean = maxPayloads / 256
	l.mu.inserting = make(map[*store.NewJob][]store.NewJob)
	l.mu.paused = make(map[string]bool)
	l.mu.pausedHere = make(map[string]time.Time)
	l.mu.passAlone = passAlone
	return l
}

// An incarnation is the node from when it has joined until it is declared dead.
type incarnation struct {
	name   string
	joined time.Time
}

// incarnation returns the present one.
func (l *ledger) incarnation() incarnation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return incarnation{l.mu.name, l.mu.joined}
}

// incarnate gives the node the name and the time of an incarnation.
func (l *ledger) incarnate(i incarnation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.name, l.mu.joined = i.name, i.joined
}

// A standing is whether a node may work.
type standing struct{ fenced, draining, resting bool }

func (l *ledger) standing() standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return standing{l.mu.fenced, l.mu.draining, l.mu.resting}
}

// takesLocked reports whether the node takes jobs now. It takes none before what it may hold unknowingly is released.
func (l *ledger) takesLocked() bool {
	return !l.mu.fenced && !l.mu.draining && !l.mu.resting && !l.mu.stalled && l.mu.solo == nil && l.mu.due == 0
}

// keepsLocked reports whether the node may have, and begin, a job that has not begun. If not, it is to be given back.
func (l *ledger) keepsLocked(j *store.Job) bool {
	return !l.mu.fenced && !l.mu.draining && !l.mu.resting && !l.mu.paused[j.Kind] && l.serves(j.Queue)
}

// leaseLeft is how long the node may still rely on its lease: five sixths of it, since the heartbeat that renewed it
// was sent.
func (l *ledger) leaseLeft() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaseLeftLocked()
}

func (l *ledger) leaseLeftLocked() time.Duration { return l.lease*5/6 - time.Since(l.mu.renewed) }

// renewedAgo returns how long ago the heartbeat was sent that renewed the lease last.
func (l *ledger) renewedAgo() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.mu.renewed)
}

// waiting returns the runs that have not begun.
func (l *ledger) waiting() (runs []*run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.mu.held {
		if r.state.waits() {
			runs = append(runs, r)
		}
	}
	return runs
}

// running returns the runs that have begun and not ended, in random order, and of which incarnation they are.
func (l *ledger) running() (i incarnation, runs []*run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.mu.held {
		if r.state == begun {
			runs = append(runs, r)
		}
	}
	return incarnation{l.mu.name, l.mu.joined}, runs
}

// find returns the run of a job, nil if the node has none, and its state.
func (l *ledger) find(id store.ID) (*run, runState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.mu.held[id]; r != nil {
		return r, r.state
	}
	return nil, gone
}

// A Held is a job that the node holds.
type Held struct {
	Job      store.Job // without its Payload
	Phase    Phase
	Progress *store.RunProgress
}

// jobs returns the jobs that the node holds, in no order.
func (l *ledger) jobs() []Held {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Held, 0, len(l.mu.held))
	for _, r := range l.mu.held {
		h := Held{r.job, r.state.phase(), r.progress()}
		h.Job.Payload = nil
		all = append(all, h)
	}
	return all
}

// counts returns how many runs are in each state.
func (l *ledger) counts() (counts [gone + 1]int, held int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.inState, len(l.mu.held)
}

// cancels are what ends the contexts of handlers.
type cancels []context.CancelCauseFunc

func (c cancels) cancel(cause error) {
	for _, cancel := range c {
		cancel(cause)
	}
}

// handlers returns what ends the contexts of all handlers.
func (l *ledger) handlers() cancels {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.handlersLocked()
}

func (l *ledger) handlersLocked() (c cancels) {
	for _, r := range l.mu.held {
		if r.state == begun {
			c = append(c, r.cancel)
		}
	}
	return c
}

// cancelWanted notes that the jobs of these runs are to be canceled, and returns what ends the contexts of those that
// have begun. The others end as they begin.
func (l *ledger) cancelWanted(refs []store.Ref) (c cancels) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ref := range refs {
		r := l.mu.held[ref.ID]
		if r == nil || r.job.Epoch != ref.Epoch || r.cancelWanted {
			continue
		}
		r.cancelWanted = true
		if r.state == begun {
			c = append(c, r.cancel)
		}
	}
	return c
}

// canceled reports whether the job of a run is to be canceled.
func (l *ledger) canceled(r *run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.cancelWanted
}

// checkEmptyLocked closes empty when a draining node holds nothing.
func (l *ledger) checkEmptyLocked() {
	if l.mu.draining && len(l.mu.held) == 0 {
		select {
		case <-l.empty:
		default:
			close(l.empty)
		}
	}
}
