package engine

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/bucket"
	"github.com/executor-go/executor/internal/list"
	"github.com/executor-go/executor/internal/spinlock"
)

// Config is what an engine is made of. Its functions are called with no lock held, unless
// they say otherwise. A nil one is not called. None gets a lease, which is the engine's own.
type Config struct {
	Limits
	Queue Queue

	// Epoch is one nanosecond before the engine was made: its times count from there.
	Epoch time.Time

	// Later makes the queue for units that wait to run again, at the first of them. It is
	// not called if Queue is Timed: they wait in that.
	Later func() Timed

	// InOrder has a unit that waits to run again bar all others: they do not run meanwhile.
	InOrder bool

	// Keeps reports whether a unit may still run again though the engine is shut down. It is
	// called under the lock.
	Keeps func(Unit) bool

	// Dropped ends a unit that Keeps has refused, and that is aside.
	Dropped func(u Unit)

	// Lost ends a unit whose Do did not return: it panicked with v or, with nil, called
	// runtime.Goexit. The worker goes on in another goroutine.
	Lost func(w *Worker, u Unit, v any)

	// Started is called by a worker before its first unit, Parked before it waits, Exited
	// when it has been counted out.
	Started, Parked, Exited func(w *Worker)

	// Over is called once, when the engine is shut down, its last unit has ended and no
	// worker is left. The engine is terminated when it has returned.
	Over func()

	// Lender lends its workers, if it is not nil; see lease.go.
	Lender *Engine
	Rate   bucket.Bucket // of the units of such an engine
}

// Limits can change while an engine runs.
type Limits struct {
	Kept, Max int
	WhenBusy  bool // it grows before it queues
	KeepAlive time.Duration
	KeepNone  bool
}

// eager returns the number of workers below which a unit that finds none idle starts one,
// whatever the queue.
func (l *Limits) eager() int {
	if l.WhenBusy {
		return l.Max
	}
	return l.Kept
}

// mostLocked returns how many workers there may be. One with a Timed queue does not grow beyond Kept.
func (e *Engine) mostLocked() int {
	if e.timed != nil {
		return max(e.Kept, 1)
	}
	return e.Max
}

// Engine runs units. It is made by New.
type Engine struct {
	Config     // the lock guards Limits, Rate and what is in Queue; the rest does not change
	terminated chan struct{}
	timed      Timed // Queue, if it is one; else nil
	keyed      Keyed // Queue, if it is one; else nil
	borrows    bool  // Borrow has kept the lender from its end
	hands      bool  // a unit may go directly to a worker, without having been queued

	// Every goroutine reads what is above, submitters write the gate, and workers what is below.
	_    cacheLine
	gate gate
	_    cacheLine

	// What a worker needs for its next unit lies together.
	workersLock spinlock.Mutex // half of the lock, of which the gate has the other; see lock.go
	stream      *Stream        // Queue, if it has two ends for the gate; else nil
	open        bool           // gate.open, under the workers' lock
	stage       Stage
	runs        int64              // calls of Worker.Called
	failures    int64              // of Worker.Failed by units that were not canceled
	ended       [numOutcomes]int64 // units that have ended, by outcome
	later       Timed              // units that wait to run again, if Queue is not Timed; nil before the first

	workers int                // that have not decided to exit
	crew    list.List[*Worker] // these, the oldest first
	active  int                // workers that have a unit
	largest int                // most workers ever
	hired   int                // workers ever started, for their numbers
	idle    idleList           // workers that are parked
	waking  *Worker            // was woken to look at the queue, and has not done so yet; else nil
	fresh   *Worker            // workers that Unlock starts, linked by next
	aside   map[*Slot]Unit     // units that are aside; see Slot

	// See lend.go.
	lent    int     // places of units that wait
	covered int     // workers whose unit was wanted
	wanted  []*Slot // of wanted units that wait, the latest last, and some that do not wait any more

	blocked       list.List[*Waiter] // submitters that wait for room, the oldest first
	nBlocked      int                // length of blocked
	blockedWanted int                // of blocked: those whose unit is wanted
	roomSeeks     int                // of blocked: those that lend their places
	borrowers     int                // engines that borrow from this one
	pressed       atomic.Bool        // its workers have more to do than leases; kept while there are borrowers
	reaper        *time.Timer        // dismisses the worker that is idle for longest; nil before first use
	reaping       bool               // reaper is set
	alarm         *alarm.Alarm       // nil before first use
	set           int64              // when the alarm goes off; 0 if it is not set
	spare         *Worker            // workers without a lease, linked by next; see lease.go
	hosted        *Worker            // workers for a Host that have none, linked by next
	nHosted       int                // of hosted
	wantAsked     int                // leases that were asked for, and are wanted
	stranded      bool               // the lender takes no leases any more
	pause         pause

	// showing is how many workers have a unit that shows its outcome, and are as good as
	// free. It is counted if limited, where it makes a difference.
	showing atomic.Int64
	limited bool

	stamps atomic.Bool // of Stamp
}

// New returns an engine, without any worker yet.
func New(c Config) *Engine {
	e := &Engine{Config: c, terminated: make(chan struct{})}
	e.timed, _ = c.Queue.(Timed)
	e.keyed, _ = c.Queue.(Keyed)
	e.hands = e.timed == nil && e.keyed == nil && c.Lender == nil
	if c.Lender == nil {
		e.stream, _ = c.Queue.(*Stream)
		e.gate.stream = e.stream
	}
	e.limited = c.Queue.Limit() < Any
	return e
}

// Now returns the nanoseconds since the engine was made, from 1.
func (e *Engine) Now() int64 { return int64(time.Since(e.Epoch)) }

// Counts is a snapshot of an engine. In each,
//
//	Submitted = Queued + Active + the sum of Ended
type Counts struct {
	Limits
	Stage   Stage
	Paused  bool // by Pause, of this engine or of one that lends to it
	Workers int
	Active  int // workers that have a unit
	Largest int // most workers ever
	Queued  int // units that wait, or are aside
	Blocked int // submitters that wait for room

	Submitted int64
	Ended     [NumOutcomes]int64 // by Outcome
	Runs      int64
	Failures  int64 // of Runs
}

// Counts returns a snapshot.
func (e *Engine) Counts() Counts {
	e.Lock()
	defer e.Unlock()
	return Counts{
		Limits: e.Limits, Stage: e.stage, Paused: e.pausesLocked(), Workers: e.workers, Active: e.active, Largest: e.largest,
		Queued: e.waitsLocked() + len(e.aside), Blocked: e.nBlocked,
		Submitted: e.gate.submitted, Ended: e.ended, Runs: e.runs, Failures: e.failures,
	}
}

// Stage returns the stage.
func (e *Engine) Stage() Stage {
	e.Lock()
	defer e.Unlock()
	return e.stage
}

// waitsLocked returns how many units wait.
func (e *Engine) waitsLocked() int {
	if e.later != nil {
		return e.Queue.Len() + e.later.Len()
	}
	return e.Queue.Len()
}

// Reject counts a unit that was not accepted, or no more, with an outcome of a rejection.
func (e *Engine) Reject(why Outcome) {
	e.Lock()
	e.gate.submitted++
	e.ended[why]++
	e.Unlock()
}

// Waiting returns the units that wait.
func (e *Engine) Waiting() []Unit {
	e.Lock()
	defer e.Unlock()
	all := make([]Unit, 0, e.waitsLocked())
	if e.later != nil {
		for u := range e.later.All() {
			all = append(all, u)
		}
	}
	for u := range e.Queue.All() {
		if !isLease(u) {
			all = append(all, u)
		}
	}
	return all
}

// Locked calls f under the lock, for what changes together with it.
func (e *Engine) Locked(f func()) {
	e.Lock()
	f()
	e.Unlock()
}

// Stamp has Workers know from now on when a worker has got a unit that was handed to it. That
// takes a reading of the clock, which is less than the hand-over.
func (e *Engine) Stamp() { e.stamps.Store(true) }

// Resize sets the limits and, of an engine with a Lender, the rate. Workers are started for
// the units that wait if there may be more of them; those that are too many exit. The caller
// calls Tidy.
func (e *Engine) Resize(to Limits, rate *bucket.Bucket) {
	e.Lock()
	grown := to.eager() - e.eager()
	e.Limits = to
	if rate != nil {
		e.Rate.Change(e.Now(), rate.Interval, rate.Burst)
		e.unsetLocked()
	}
	e.retireLocked()
	if grown > 0 && e.Lender == nil {
		// The new workers are for units that wait now; later ones start theirs.
		e.prestartLocked(min(grown, e.Queue.Len()), to.eager())
	}
	e.unblockLocked()
	e.dispatchLocked()
	e.Unlock()
}

// Prestart starts up to n workers, as long as there are fewer than Kept, and returns how many
// it has started.
func (e *Engine) Prestart(n int) int {
	e.Lock()
	defer e.Unlock()
	if e.Lender != nil {
		return 0
	}
	return e.prestartLocked(n, e.Kept)
}

func (e *Engine) prestartLocked(n, limit int) (started int) {
	if e.stage >= Stopped || e.stage == Shut && e.waitsLocked() == 0 {
		return 0
	}
	for ; started < n && e.countedLocked() < limit; started++ {
		e.hireLocked()
	}
	return started
}

// Activity is what a worker does.
type Activity struct {
	Number int // from 1; no other worker has or had it
	Tasks  int64
	Active bool // it has a unit
	Unit   Unit // that; nil for none, and for a lease

	// Since is when it became idle, or got its unit, as far as that is known; 0 for a worker
	// that is about to look for a unit.
	Since int64
}

// Workers returns what each worker does, in no order.
func (e *Engine) Workers() []Activity {
	e.Lock()
	defer e.Unlock()
	now := e.Now()
	all := make([]Activity, 0, e.workers)
	for n := e.crew.First(); n != nil; n = n.Next() {
		w := n.Value
		a := Activity{Number: w.Number, Tasks: w.tasks, Active: w.unit != nil, Since: w.since}
		if !isLease(w.unit) {
			a.Unit = w.unit
		}
		if a.Active {
			if w.begunOf.Load() != w.tasks {
				w.Begun(now) // it has had the unit for longer
			}
			a.Since = w.begunAt.Load()
		}
		all = append(all, a)
	}
	return all
}

// maxHosted is how many workers an engine keeps for the next Host.
const maxHosted = 64

// Unlimited is the Max of an engine without one.
const Unlimited = math.MaxInt
