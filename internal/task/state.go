package task

import (
	"context"
	"runtime"
	"sync/atomic"
)

// word is a State, flags, and one bit more, which is the task's lock. So a transition
// takes the lock and reads the old bits, and stores the new ones and releases it: two
// atomic operations. A mutex beside the bits would take three, and eight bytes more.
//
// A goroutine that finds the lock taken tries again and yields in between. It is held
// for some tens of nanoseconds. The zero word is that of a task that Init has not made: it
// looks as if it were locked, so that nothing else has to be tested.
type word struct{ bits uint32 }

const (
	free uint32 = 1 << 31 // the lock is not taken
	made uint32 = 1 << 30 // always set
)

// load returns the bits. It needs no lock.
func (w *word) load() uint32 { return atomic.LoadUint32(&w.bits) }

// init stores the bits of a task that is not shared yet.
func (w *word) init(bits uint32) { w.bits = bits }

// lock takes the lock and returns the bits.
func (w *word) lock() (bits uint32) {
	if bits = w.load() | free; atomic.CompareAndSwapUint32(&w.bits, bits, bits&^free) {
		return bits
	}
	return w.lockSlow()
}

func (w *word) lockSlow() (bits uint32) {
	for tries := 1; ; tries++ {
		bits = w.load() | free
		if bits == free {
			panic("executor: this Future was not made by a submission, NewTask or NewPromise; the zero value is not usable")
		}
		if atomic.CompareAndSwapUint32(&w.bits, bits, bits&^free) {
			return bits
		}
		if tries >= 3 {
			runtime.Gosched()
		}
	}
}

// swap replaces the bits old by bits without taking the lock. It reports false if
// they are not old, or the lock is held.
func (w *word) swap(old, bits uint32) bool {
	return atomic.CompareAndSwapUint32(&w.bits, old, bits)
}

// unlock stores the bits and releases the lock.
func (w *word) unlock(bits uint32) { atomic.StoreUint32(&w.bits, bits) }

// The low bits of the word are a State. Nothing outside of this package reads or
// writes the flags; those that others need have a method. A flag that stands for a
// field of links or cold is set after the field.
const (
	stateBits uint32 = 1<<3 - 1

	wallClock  uint32 = 1 << (iota + 2) // due is on the wall clock; changed by Move, cleared by Detach
	hasOptions                          // cold.Options are set; fixed before the task is shared
	attached                            // Attach or AttachNew was called, and not Detach
	begun                               // the body was called
	inBody                              // since Begin, until the body has returned, whatever becomes of the state
	hasContext                          // links.ctx is set
	hasErr                              // links.err is set
	detached                            // Detach was called: the schedule no longer counts
	hasWaiters                          // links has something to do when the task is done
	unshared                            // only its owner knew it when it took it; allows TryCancel
	reported                            // its owner reports how the body ended; fixed before the task is shared
	grouped                             // its group ends it with its context; fixed before the task is shared
	byHand                              // the latest run is not on a worker
)

func (t *Task) has(flag uint32) bool { return t.word.load()&flag != 0 }

// State returns the task's state.
func (t *Task) State() State { return State(t.word.load() & stateBits) }

// FollowWallClock makes the due time of a new task one of the wall clock.
func (t *Task) FollowWallClock() { t.word.init(t.word.load() | wallClock) }

// FollowsWallClock reports whether the due time is one of the wall clock.
func (t *Task) FollowsWallClock() bool { return t.has(wallClock) }

// MakeReported marks a new task as one whose owner reports how the body ended, besides
// the outcome.
func (t *Task) MakeReported() { t.word.init(t.word.load() | reported) }

// MarkBegun records that the body was called, for an owner that calls it without Begin.
func (t *Task) MarkBegun() { t.word.unlock(t.word.lock() | begun) }

// Reported reports whether MakeReported was called.
func (t *Task) Reported() bool { return t.has(reported) }

// MakeGrouped marks a new task as one of a group, which ends it when its context has ended,
// so that its owner need not watch that.
func (t *Task) MakeGrouped() { t.word.init(t.word.load() | grouped) }

// InitIn is Init and MakeGrouped for a task that is attached as c says. It may become known to
// others at once.
func (t *Task) InitIn(c *Common) {
	t.word.init(free | made | attached | hasContext | grouped)
	t.links.Store(&c.links)
}

// Grouped reports whether MakeGrouped was called.
func (t *Task) Grouped() bool { return t.has(grouped) }

// SetOptions returns the options of a new task, to be set.
func (t *Task) SetOptions() *Options {
	t.word.init(t.word.load() | hasOptions)
	return &t.cold().Options
}

// Options returns the task's options, to be read only.
func (t *Task) Options() *Options {
	if t.has(hasOptions) {
		return &t.links.Load().cold.Options
	}
	return &noOptions
}

// Plan returns Options().Plan of a task that no owner has refused.
func (t *Task) Plan() any {
	if t.word.load()&(hasOptions|detached) == hasOptions {
		return t.links.Load().cold.Plan
	}
	return nil
}

// HasOptions reports whether the task has any.
func (t *Task) HasOptions() bool { return t.has(hasOptions) }

// Begun reports whether the body was called.
func (t *Task) Begun() bool { return t.has(begun) }

// InBody reports whether the body is running.
func (t *Task) InBody() bool { return t.has(inBody) }

// IsPlain reports whether the task has neither options nor a context other than Background: then it
// runs once, as soon as it can.
func (t *Task) IsPlain() bool { return !t.has(hasOptions | hasContext) }

// IsToBeWatched reports whether the end of the task's context is to be watched while it waits: it has
// another context than Background, and no group ends it.
func (t *Task) IsToBeWatched() bool {
	return t.word.load()&(hasContext|grouped) == hasContext
}

// HasContext reports whether the task has a context other than Background.
func (t *Task) HasContext() bool { return t.has(hasContext) }

// Context returns the parent of the body's context.
func (t *Task) Context() context.Context {
	if t.has(hasContext) {
		return t.links.Load().ctx
	}
	return context.Background()
}

// setContext stores the parent of the body's context and returns the bits for the
// caller to store. The body is not running; the caller holds the lock.
func (t *Task) setContext(bits uint32, ctx context.Context) uint32 {
	if IsBackground(ctx) {
		return bits &^ hasContext
	}
	own := *t.links.Load() // a copy: others may read the context without the lock
	own.shared, own.ctx = false, ctx
	t.links.Store(&own)
	return bits | hasContext
}

// Outcome returns the error of a task that is done. It is nil if the task succeeded
// or was canceled without an error of its own.
func (t *Task) Outcome() error {
	if t.has(hasErr) {
		return t.links.Load().err
	}
	return nil
}

// Attach attaches the task to o, with ctx as the parent of its body's context; due is as
// for SetDue. It reports false if the body is running or the task is attached already.
func (t *Task) Attach(o *Owner, ctx context.Context, due int64) bool {
	bits := t.word.lock()
	if bits&(attached|inBody) != 0 {
		t.word.unlock(bits)
		return false
	}
	t.SetDue(due)
	t.setOwner(o)
	if bits&begun == 0 { // else it keeps the context of the body that has run
		bits = t.setContext(bits, ctx)
	}
	t.word.unlock(bits | attached)
	return true
}

// AttachNew is Attach for a task that is not shared until o has taken or
// refused it.
func (t *Task) AttachNew(o *Owner, ctx context.Context) {
	bits := t.word.load() | attached | unshared
	t.setOwner(o)
	if !IsBackground(ctx) {
		t.ownLinks().ctx = ctx
		bits |= hasContext
	}
	t.word.init(bits)
}

// Detach undoes Attach for a task that its owner refuses, so that it can be given to
// another. A schedule does not go with it: elsewhere the task runs once. The caller
// holds the owner's lock.
func (t *Task) Detach() {
	bits := t.word.lock()
	t.setOwner(nil)
	t.SetDue(0)
	t.word.unlock(bits&^(attached|unshared|wallClock) | detached)
}

// Attached reports whether the task is attached.
func (t *Task) Attached() bool { return t.has(attached) }

// BelongsTo reports whether the task is attached to o, which had it at some time.
func (t *Task) BelongsTo(o *Owner) bool { return !t.has(detached) || t.Owner() == o }

// Begin moves a pending task to Running, for its owner, and returns the context for
// its body. It reports false if the body is not to run. It may call methods of the
// parent context.
func (t *Task) Begin() (context.Context, bool) { return t.begin(t.word.lock(), 0) }

// BeginHere is Begin in the goroutine of the submitter.
func (t *Task) BeginHere() (context.Context, bool) { return t.begin(t.word.lock(), byHand) }

// BeginByHand is Begin for a task that is not attached, for which it reports false. parent is the parent of the body's
// context.
func (t *Task) BeginByHand(parent context.Context) (context.Context, bool) {
	bits := t.word.lock()
	if State(bits&stateBits) != Pending || bits&(inBody|attached) != 0 {
		t.word.unlock(bits)
		return nil, false
	}
	return t.begin(t.setContext(bits, parent), byHand)
}

// begin is Begin. by is byHand or 0. The caller holds the lock; begin releases it.
func (t *Task) begin(bits, by uint32) (context.Context, bool) {
	if State(bits&stateBits) != Pending || bits&inBody != 0 {
		t.word.unlock(bits)
		return nil, false
	}
	var run *runContext
	limited := false
	if c := t.links.Load().cold; c != nil {
		if c.Repeats {
			run = &runContext{task: t, due: t.dueTime(bits)}
		}
		limited = c.Timeout > 0
		c.run, c.now, c.cancel, c.cause = nil, run, nil, nil // not those of the run before
	}
	t.word.unlock(bits&^(stateBits|byHand) | uint32(Running) | inBody | begun | by)
	switch {
	case limited: // by a timeout, which counts from now
		ctx := t.behind(run)
		if by == byHand {
			ctx = context.WithValue(ctx, ownerKey{}, OwnerOf(t.Context()))
		}
		return ctx, true
	case run != nil:
		return run, true
	}
	return (*lazyContext)(t), true
}

// Finish records that the body has returned, and completes the task unless it is done.
// publish, if not nil, is called under the lock. won reports whether the task gets
// this outcome; then the value must be stored before publish returns.
func (t *Task) Finish(s State, err error, publish func(won bool)) {
	bits := t.word.lock() &^ inBody
	out := t.leaveBody()
	won := !State(bits & stateBits).Done()
	if publish != nil {
		publish(won)
	}
	if won {
		bits = t.complete(bits, s, err, &out)
	}
	t.word.unlock(bits)
	out.run()
}

// FinishUncalled is Finish for a body that was not called after Begin.
func (t *Task) FinishUncalled(err error, publish func(won bool)) {
	t.word.unlock(t.word.lock() &^ begun)
	t.Finish(Failed, err, publish)
}

// Reset records that one run of several has returned, and reports whether the task is
// pending again. If not, it was completed meanwhile; drop is then called under the lock.
func (t *Task) Reset(drop func()) bool {
	bits := t.word.lock() &^ inBody
	out := t.leaveBody()
	again := State(bits&stateBits) == Running
	if again {
		bits = bits&^stateBits | uint32(Pending)
	}
	t.word.unlock(bits)
	if !again {
		bits = t.word.lock()
		drop()
		t.word.unlock(bits)
	}
	out.run()
	return again
}

// Complete completes the task. It reports false if the task is done already. A body
// that is running is not disturbed. publish is called under the lock if the task is
// completed; it stores the value.
func (t *Task) Complete(s State, err error, publish func()) bool {
	return t.completeOutside(t.word.lock(), s, err, nil, publish)
}

// CompletePending is Complete for a task that is pending: it reports false if the
// body is running.
func (t *Task) CompletePending(s State, err error, publish func()) bool {
	bits := t.word.lock()
	if State(bits&stateBits) != Pending {
		t.word.unlock(bits)
		return false
	}
	return t.completeOutside(bits, s, err, nil, publish)
}

// Cancel completes the task as canceled, with the outcome err or with none. The
// context of a body that is running ends with the cause. Otherwise it is like Complete.
func (t *Task) Cancel(err, cause error, publish func()) bool {
	return t.completeOutside(t.word.lock(), Canceled, err, cause, publish)
}

// TryCancel cancels a pending task that is unshared and has no waiters, by one
// compare-and-swap. It reports false, and does nothing, if the task is not such; Cancel
// then decides. If it reports true, the caller has the body for itself.
func (t *Task) TryCancel() bool {
	bits := t.word.load()
	if bits&(stateBits|free|hasWaiters|unshared) != free|unshared || !t.word.swap(bits, bits|uint32(Canceled)) {
		return false
	}
	t.links.Load().owner.unqueue(t) // the owner took it, so it is not detached any more
	return true
}

// completeOutside completes the task from outside of its body. The caller holds the
// lock; completeOutside releases it.
func (t *Task) completeOutside(bits uint32, s State, err, cause error, publish func()) bool {
	if State(bits & stateBits).Done() {
		t.word.unlock(bits)
		return false
	}
	if publish != nil {
		publish()
	}
	var out effects
	if cause != nil && bits&inBody != 0 {
		c := t.cold()
		c.cause = cause
		out.cancel, out.cause = c.cancel, cause
	}
	owner := t.links.Load().owner
	t.word.unlock(t.complete(bits, s, err, &out))
	if owner != nil {
		owner.unqueue(t) // before the waiters wake: they find it gone from the queue
	}
	out.run()
	return true
}

// complete returns the bits with the final state s, for the caller to store, and adds
// to out what is to be done afterwards. The caller holds the lock.
func (t *Task) complete(bits uint32, s State, err error, out *effects) uint32 {
	bits = bits&^stateBits | uint32(s)
	if err != nil {
		t.ownLinks().err = err
		bits |= hasErr
	}
	if bits&hasWaiters == 0 {
		return bits
	}
	own := t.ownLinks()
	out.done = own.done
	out.watch, own.watch = own.watch, nil
	if c := own.cold; c != nil {
		out.onDone = c.onDone.First()
		c.onDone = callbacks{}
	}
	return bits
}

// leaveBody releases what belonged to the body, which has returned. The caller holds
// the lock and clears inBody.
func (t *Task) leaveBody() (out effects) {
	if c := t.links.Load().cold; c != nil {
		out.cancel, out.cause, out.left = c.cancel, ErrReturned, c.left
		c.now, c.cancel, c.left = nil, nil, nil
	}
	return out
}

// IfNotDone calls f under the lock unless the task is done. A caller of TryCancel may
// use the body of a task that is done.
func (t *Task) IfNotDone(f func()) {
	bits := t.word.lock()
	if !State(bits & stateBits).Done() {
		f()
	}
	t.word.unlock(bits)
}

// IsBackground reports whether ctx has neither values nor an end, so that there is no
// need to keep it.
func IsBackground(ctx context.Context) bool {
	return ctx == context.Background() || ctx == context.TODO()
}
