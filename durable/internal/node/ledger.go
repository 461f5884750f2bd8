package node

import (
	"context"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"
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
		resting  bool // it is to drain, though Run goes on; see queue.go

		alone   bool      // no other node is alive, as the last heartbeat has it; see fence
		renewed time.Time // when the heartbeat that renewed the lease last was sent

		load
		solitude
		payloads payloads
		releases
		pauses
	}
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

// takesLocked reports whether the node takes jobs now. It takes none before what it may hold unknowingly is released.
func (l *ledger) takesLocked() bool {
	return !l.mu.fenced && !l.mu.draining && !l.mu.resting && !l.mu.stalled && l.mu.solo == nil && l.mu.due == 0
}

// keepsLocked reports whether the node may have, and begin, a job that has not begun. If not, it is to be given back.
func (l *ledger) keepsLocked(j *store.Job) bool {
	return !l.mu.fenced && !l.mu.draining && !l.mu.resting && !l.mu.paused[j.Kind] && l.serves(j.Queue)
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

// giveBack drops the runs that wait and are such, to be released.
func (l *ledger) giveBack(such func(*run) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveBackAllLocked(such)
}

func (l *ledger) giveBackAllLocked(such func(*run) bool) {
	for _, r := range l.mu.held {
		if r.state.waits() && such(r) {
			l.giveBackLocked(r)
		}
	}
}

func all(*run) bool { return true }

// drain has the node begin and take nothing more.
func (l *ledger) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.draining = true
	l.giveBackAllLocked(all)
	l.checkEmptyLocked()
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

// rest has the node begin and take nothing, or no longer so, and reports whether it did before.
func (l *ledger) rest(rest bool) (was bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, l.mu.resting = l.mu.resting, rest
	if rest && !was {
		l.giveBackAllLocked(all)
	}
	return was
}

// A standing is whether a node may work.
type standing struct{ fenced, draining, resting bool }

func (l *ledger) standing() standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return standing{l.mu.fenced, l.mu.draining, l.mu.resting}
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

// timeLocked returns when the run may begin. That is Due, unless the occurrence was moved and the store's clock has
// been put back since. A run that was begun before, by a node that was lost, does not wait for its occurrence again.
func (r *run) timeLocked() time.Time {
	if r.job.State == store.Confirmed && r.job.Attempt == 0 {
		return timetable.Later(r.job.Due, r.job.Occurrence)
	}
	return r.job.Due
}
