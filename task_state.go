package executor

import "context"

// This file holds every transition of a task's state. Each takes the lock,
// moves the state, and does what that entails (closing channels, ending
// contexts, callbacks) after releasing it; only abort needs no lock.
//
// publish, where there is one, is called under the lock exactly if the
// transition happens; it stores the value, so that the outcome is there before
// anybody can see that the task is done. That of finish is always called, since
// the body leaves in any case, and told whether the outcome is the body's.

// attach links a task to the pool it is given to. It reports false for a task
// that is running by hand, or is given to a second executor, or to the same one
// again: to that one it is a plain Runnable, which does nothing if it has run by
// then. due is when the task is to run, on the pool's clock.
func (t *task) attach(p *Pool, ctx context.Context, due int64) bool {
	bits := t.lock()
	if bits&(linked|inBody) != 0 {
		t.unlock(bits | plural)
		return false
	}
	t.due = due
	t.tieLocked(p)
	if bits&begun == 0 { // else it keeps the context of the body that has run
		bits = t.setContextLocked(bits, ctx)
	}
	t.unlock(bits | linked)
	return true
}

// link is attach for a task that nobody else knows of, nor will before the pool has
// taken it or detached it.
func (t *task) link(p *Pool, ctx context.Context) {
	t.tieLocked(p)
	t.preset(t.setContextLocked(t.load(), ctx) | linked | native)
}

// detach undoes attach for a task that the pool does not take, so that it can
// be given to another. Its schedule was the pool's, so that elsewhere it has one
// run. The caller holds the pool's lock: whoever holds it, and finds the task
// attached, may use its place and its time.
func (t *task) detach() {
	bits := t.lock()
	if bits&begun == 0 { // else somebody else runs it by hand
		t.tieLocked(nil)
		t.due = 0
		bits = bits&^(linked|native|wallClock) | stray
	}
	t.unlock(bits)
}

// decorate makes d the user's task around this one.
func (t *task) decorate(d ScheduledTask) {
	bits := t.lock()
	t.moreLocked().decorated = d
	t.unlock(bits | special)
}

// begin moves a pending task to running and gives the context for its body; it
// reports whether the body is to run. A task that is linked to a pool keeps the
// context that it was submitted with, another gets parent. recurs says that
// this is one run of several, so that its context can't be the task itself. p
// is the pool that runs it, nil for a run by hand: then a task that is linked is
// not run as one run of several, since its pool may meet it meanwhile, and after
// that nobody would run it again.
func (t *task) begin(p *Pool, parent context.Context, recurs bool) (context.Context, bool) {
	bits := t.lock()
	if State(bits&stateBits) != Pending || bits&(inBody|bodiless) != 0 || recurs && p == nil && bits&linked != 0 {
		t.unlock(bits)
		return nil, false
	}
	if bits&linked == 0 {
		bits = t.setContextLocked(bits, parent)
	}
	if m := t.ties.more; m != nil {
		m.run, m.cancel, m.cause = nil, nil, nil // those of the run before
	}
	t.unlock(bits&^stateBits | uint32(Running) | inBody | begun)
	eager := recurs || t.trait().timeout > 0
	if eager {
		return t.look(), true
	}
	return (*taskContext)(t), true
}

// beginHere is begin in the goroutine of somebody who runs the task by hand. If the
// parent panics when a context is derived from it, the panic goes on to that
// goroutine, and the task has failed: nobody else would complete it.
func (t *task) beginHere(p *Pool, parent context.Context, recurs bool) (ctx context.Context, ok bool) {
	returned := false
	defer passOn(&returned, func(err error) {
		t.unbegin()
		t.finish(Failed, err, nil)
	})
	ctx, ok = t.begin(p, parent, recurs)
	returned = true
	return ctx, ok
}

// unbegin records that the body was not called after all.
func (t *task) unbegin() {
	t.unlock(t.lock() &^ begun)
}

// finish records that the body has returned, and completes the task with the
// body's outcome unless it is complete already.
func (t *task) finish(s State, err error, publish func(won bool)) {
	bits := t.lock() &^ inBody
	out := t.leaveLocked()
	won := !State(bits & stateBits).Done()
	if publish != nil {
		publish(won)
	}
	if won {
		bits = t.settleLocked(bits, s, err, &out)
	}
	t.unlock(bits)
	out.announce()
}

// rest records that one run of several has returned. It reports whether the
// task is pending again; if not, it was completed meanwhile.
func (t *task) rest() bool {
	bits := t.lock() &^ inBody
	out := t.leaveLocked()
	again := State(bits&stateBits) == Running
	if again {
		bits = bits&^stateBits | uint32(Pending)
	}
	t.unlock(bits)
	out.announce()
	return again
}

// settle completes the task from outside of its body. It reports false if the
// task was complete already. The body, if it is running, runs on undisturbed.
func (t *task) settle(s State, err error, publish func()) bool {
	return t.settleIf(false, s, err, nil, publish)
}

// abort is the cancellation by hand of a native task that waits, if nobody is to be
// told of it: then there is nothing to do under the lock, and one step is enough.
// It reports false if it is not so, whatever the reason. Where it reports true the
// caller has the body to itself, and tells the pool to forget the task. Nobody
// detaches that any more, since the pool has taken it.
func (t *task) abort() bool {
	bits := t.load()
	return bits&(stateBits|held|asked|native) == native && t.swap(bits, bits|uint32(Canceled))
}

// settleIf is settle that may be restricted to a pending task. interrupt, unless
// it is nil, ends the context of a body that is running. A cancellation without
// an error is one by hand.
func (t *task) settleIf(pending bool, s State, err, interrupt error, publish func()) bool {
	bits := t.lock()
	if old := State(bits & stateBits); old.Done() || pending && old != Pending {
		t.unlock(bits)
		return false
	}
	if publish != nil {
		publish()
	}
	var out aftermath
	if interrupt != nil && bits&inBody != 0 {
		m := t.moreLocked()
		m.cause = interrupt
		out.cancel, out.cause = m.cancel, interrupt
	}
	pool := t.ties.pool
	t.unlock(t.settleLocked(bits, s, err, &out))
	if pool != nil {
		pool.forget(t) // before the waiters wake, so that they find it gone
	}
	out.announce()
	return true
}

// settleLocked gives the bits with s as the final state, for the caller to store.
func (t *task) settleLocked(bits uint32, s State, err error, out *aftermath) uint32 {
	bits = bits&^stateBits | uint32(s)
	if err != nil {
		t.tiesLocked().err = err
		bits |= withErr
	}
	if bits&asked == 0 {
		return bits
	}
	out.done = t.ties.done
	if m := t.ties.more; m != nil {
		out.onDone, out.watch = m.onDone.first, m.watch
		m.onDone, m.watch = chain[func()]{}, nil
	}
	return bits
}

// leaveLocked lets go of what belonged to the body, which has returned; the
// caller clears inBody.
func (t *task) leaveLocked() (out aftermath) {
	if m := t.ties.more; m != nil {
		out.cancel, out.cause, out.left = m.cancel, ErrReturned, m.left
		m.cancel, m.left = nil, nil
	}
	return out
}

// aftermath is what a transition leaves to do once the lock is released.
type aftermath struct {
	cancel context.CancelCauseFunc
	cause  error
	done   chan struct{}
	left   chan struct{}
	watch  *link[watched]
	onDone *notice // the first of them
}

// announce ends what has a context behind it first. That may be one of the user's,
// which does not return: the others are told all the same.
func (a *aftermath) announce() {
	if a.cancel == nil && a.watch == nil {
		a.tell()
		return
	}
	defer a.tell()
	if a.watch != nil {
		defer leave(a.watch)
	}
	if a.cancel != nil {
		a.cancel(a.cause)
	}
}

func (a *aftermath) tell() {
	if a.done != nil {
		close(a.done)
	}
	if a.left != nil {
		close(a.left)
	}
	if a.onDone != nil {
		callAll(a.onDone)
	}
}

// each calls f for each of all in turn, for the others also if one call does not
// return.
func each[E any](all []E, f func(E)) {
	defer func() {
		if len(all) > 0 {
			each(all, f)
		}
	}()
	for len(all) > 0 {
		e := all[0]
		all = all[1:]
		f(e)
	}
}

// expire cancels b if it is pending.
func expire(b bound, cause error) { b.end(Canceled, canceled(cause)) }

// watch has b leave ws when it is done.
func (t *task) watch(l *link[watched]) {
	bits := t.lock()
	done := State(bits & stateBits).Done()
	if !done {
		t.moreLocked().watch = l
		bits |= asked
	}
	t.unlock(bits)
	if done {
		leave(l)
	}
}
