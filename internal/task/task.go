// Package task is the life of one task: its state, its waiters, the context of its
// body, and its link to the pool that owns it. It knows neither the body nor the type
// of the result, which a future keeps beside it.
//
//	                Attach, Detach
//	                     ⇅
//	          Begin               Finish, Complete
//	Pending ─────────▶ Running ─────────────────────▶ Succeeded, Failed
//	  │ ▲                 │ │                                ▲
//	  │ └──── Reset ──────┘ └──── Cancel ───▶ Canceled       │
//	  │                                          ▲           │
//	  └── Cancel, TryCancel ─────────────────────┘           │
//	  └── Complete, CompletePending ─────────────────────────┘
//
// The three states on the right are final. A task that is completed while its body
// runs is done at once; Finish then records only that the body has returned.
package task

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/engine"
)

// State is where a task is in its life.
type State uint8

const (
	Pending   State = iota // not begun, or between two runs
	Running                // its body is running
	Succeeded              // done, with a value
	Failed                 // done, with an error
	Canceled               // done without the body's outcome; the body may still be running
)

// Done reports whether s is final.
func (s State) Done() bool { return s >= Succeeded }

// Task is the part of a future that does not depend on the type of its result. It is
// made by Init. Its methods are safe for concurrent use unless they say otherwise.
//
// A pool may hold a million tasks that only wait. So a Task has what every task needs,
// and leaves the rest to its links. It has 24 bytes; with the body and an empty value
// a future has 32, so that none lies in two cache lines.
//
// Its lock is a leaf: no other lock is taken and no user code is called under it.
type Task struct {
	word  word        // state, flags and lock; see state.go
	slot  engine.Slot // in its owner's engine
	links atomic.Pointer[links]
	due   atomic.Int64 // written under the owner's lock, or by Detach
}

// Init makes the zero Task a pending task. It is called once, before any other method.
func (t *Task) Init() {
	t.word.init(free | made)
	t.links.Store(&unlinked)
}

// Options distinguish a task from the simplest one. They do not change once the task
// is shared.
type Options struct {
	Name     string
	Timeout  time.Duration // bounds each run; 0 is none
	Priority int64
	Plan     any  // what a pool keeps with the task
	Repeats  bool // the body may run again, each time with a context of its own
}

var noOptions Options

// Owner is the pool that a task is attached to.
type Owner struct {
	unqueue func(*Task)
	ctx     context.Context
	epoch   time.Time
	links   links // shared by its tasks that have no links of their own

	Engine *engine.Engine // runs its tasks

	lender *Owner // has the workers of the owner, nil if they are its own
}

// Within reports whether o is of, or its workers are those of of. A nil o is within none.
func (o *Owner) Within(of *Owner) bool {
	for ; o != nil; o = o.lender {
		if o == of {
			return true
		}
	}
	return false
}

// Init initializes the owner. unqueue removes a task that is done from the queue. The end of ctx ends the contexts of
// the bodies, and monotonic times count from epoch. Init returns ctx as the context of a body that was submitted with
// Background.
func (o *Owner) Init(unqueue func(*Task), ctx context.Context, epoch time.Time) context.Context {
	o.unqueue, o.ctx, o.epoch = unqueue, context.WithValue(ctx, ownerKey{}, o), epoch
	o.links = links{owner: o, shared: true}
	return o.ctx
}

// links connect a task with others: its owner, its submitter and its waiters. Most
// tasks have an owner and nothing else. They share the owner's links, which are
// never written. A task that needs more gets links of its own, for good.
//
// They are guarded by the task's lock once the task is shared. A field that a flag
// stands for may be read without the lock by a goroutine that has seen the flag: own links
// that replace shared ones have it too.
type links struct {
	owner  *Owner          // nil unless the task is attached
	done   chan struct{}   // made by the first waiter, closed when the task is done
	ctx    context.Context // parent of the body's context; Background without the flag hasContext
	err    error           // the outcome; nil without the flag hasErr
	cold   *cold           // nil for most tasks; written once
	watch  Remover         // where the submitter's context is watched, nil if it is not
	shared bool
}

var unlinked = links{shared: true}

// cold is what few tasks need. The options are read without the lock.
type cold struct {
	Options
	run    context.Context         // the body's context, once it was asked for
	now    *runContext             // the run in progress of a body that runs repeatedly
	cancel context.CancelCauseFunc // ends run
	cause  error                   // ended the body's context before it was asked for
	since  int64                   // when the task was submitted; see SetSubmitted
	left   chan struct{}           // made by Join, closed when the body has returned
	onDone callbacks
}

// Common is what many tasks have in common: an owner, and a context that is not Background.
// They need no links of their own for it.
type Common struct{ links links }

// Init makes the zero Common one for tasks of o that are submitted with ctx.
func (c *Common) Init(o *Owner, ctx context.Context) {
	c.links = links{owner: o, ctx: ctx, shared: true}
}

// Remover is a membership that ends when the task is done.
type Remover interface{ Remove() }

// ownLinks returns links that the task does not share. The caller holds the lock.
func (t *Task) ownLinks() *links {
	l := t.links.Load()
	if l.shared {
		own := *l
		own.shared = false
		l = &own
		t.links.Store(l)
	}
	return l
}

// setOwner links the task with o, or with none. The caller holds the lock.
func (t *Task) setOwner(o *Owner) {
	switch l := t.links.Load(); {
	case !l.shared || l.ctx != nil:
		t.ownLinks().owner = o
	case o == nil:
		t.links.Store(&unlinked)
	default:
		t.links.Store(&o.links)
	}
}

// cold returns the task's cold data, made if need be. The caller holds the lock.
func (t *Task) cold() *cold {
	own := t.ownLinks()
	if own.cold == nil {
		own.cold = new(cold)
	}
	return own.cold
}

// Owner returns the owner that the task is attached to, nil if there is none.
func (t *Task) Owner() *Owner {
	bits := t.word.lock()
	o := t.links.Load().owner
	t.word.unlock(bits)
	return o
}

// Slot returns where the task is in its owner's engine.
func (t *Task) Slot() *engine.Slot { return &t.slot }

// Due returns when the task is due, 0 if it has no time: in nanoseconds since the
// owner's epoch or, if it follows the wall clock, since that of Unix.
func (t *Task) Due() int64 { return t.due.Load() }

// SetDue sets when the task is due. The task is new or not in a queue, or the caller holds
// the owner's lock.
func (t *Task) SetDue(due int64) { t.due.Store(due) }

// Move sets when the task is due, and on which clock. The task is not in a queue, or the caller
// holds the owner's lock.
func (t *Task) Move(due int64, wall bool) {
	bits := t.word.lock() &^ wallClock
	if wall {
		bits |= wallClock
	}
	t.due.Store(due)
	t.word.unlock(bits)
}

// SetSubmitted records when the task was submitted, in nanoseconds since the owner's epoch.
func (t *Task) SetSubmitted(at int64) {
	bits := t.word.lock()
	t.cold().since = at
	t.word.unlock(bits)
}

// Submitted returns what SetSubmitted has recorded, 0 if there is nothing.
func (t *Task) Submitted() (at int64) {
	bits := t.word.lock()
	if c := t.links.Load().cold; c != nil {
		at = c.since
	}
	t.word.unlock(bits)
	return at
}

// DueTime returns when the task is due as a time.Time, zero if it has no time.
func (t *Task) DueTime() time.Time {
	bits := t.word.lock()
	due := t.dueTime(bits)
	t.word.unlock(bits)
	return due
}

// dueTime is DueTime. The caller holds the lock.
func (t *Task) dueTime(bits uint32) time.Time {
	due, o := t.Due(), t.links.Load().owner
	switch {
	case due == 0 || o == nil:
		return time.Time{}
	case bits&wallClock != 0:
		return time.Unix(0, due)
	}
	return o.epoch.Add(time.Duration(due))
}

// Over reports whether the owner's context has ended.
func (o *Owner) Over() bool { return o.ctx.Err() != nil }

// Borrow has the workers of lender run the tasks of o, which is new.
func (o *Owner) Borrow(lender *Owner) { o.lender = lender }

// Lend lends the place of a task of o, which is about to wait, until Reclaim: it has one with each owner that it is
// within.
func (o *Owner) Lend() { o.lendBelow(nil) }

// Reclaim ends one Lend.
func (o *Owner) Reclaim() { o.reclaimBelow(nil) }

// lendBelow is Lend, but for the places with in and its lenders.
func (o *Owner) lendBelow(in *Owner) {
	for ; o != in; o = o.lender {
		o.Engine.Lend()
	}
}

func (o *Owner) reclaimBelow(in *Owner) {
	for ; o != in; o = o.lender {
		o.Engine.Reclaim()
	}
}

// Want has those of the tasks that wait with o run in the places that are lent, the first of them first, since another
// task waits for them. A nil o has none.
func (o *Owner) Want(tasks iter.Seq[*Task]) {
	if o == nil {
		return
	}
	o.Engine.Want(func(yield func(*engine.Slot) bool) {
		for t := range tasks {
			if !t.State().Done() && t.BelongsTo(o) && !yield(t.Slot()) {
				return
			}
		}
	})
}

// Host runs the tasks that next returns, until that returns nil, as far as they wait with in and may run now, in the
// goroutine of the caller, a task of o that is about to wait for them. o is within in.
func (o *Owner) Host(in *Owner, next func() *Task) {
	if o != in {
		o.lendBelow(in)
		defer o.reclaimBelow(in)
	}
	h := in.Engine.Host()
	defer h.End()
	for t := next(); t != nil; t = next() {
		h.Run(t.Slot(), func() bool { return t.BelongsTo(in) })
	}
}

// Context returns the context that ends those of the owner's bodies.
func (o *Owner) Context() context.Context { return o.ctx }

// Epoch returns the time from which the owner's monotonic times count.
func (o *Owner) Epoch() time.Time { return o.epoch }
