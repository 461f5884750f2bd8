package executor

import (
	"context"
	"time"
)

// State tells where a task is in its life. It only moves along these arrows:
//
//	Pending -> Running             a worker, or the caller of Run, took it
//	Running -> Pending             a periodic run ended and another will follow
//	Running -> Succeeded, Failed   the body returned, panicked or called Goexit; Complete, Fail
//	Pending -> Succeeded, Failed   Complete, Fail, or a rejection
//	Pending, Running -> Canceled   Cancel, Abandon, a shutdown, the submitter's context
//
// The last three states are final: a task is done once.
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

// String gives the name of the constant in lower case, as "pending", and the number
// of any other value.
func (s State) String() string {
	return name(s, "pending", "running", "succeeded", "failed", "canceled")
}

// unplaced is the place of a task that is in no queue.
const unplaced = -1

// task is the part of a Future that does not depend on the type of its result:
// the state machine, its waiters, and the link to the pool that holds it. Its
// transitions are the methods of task_state.go; nothing else writes the state.
//
// A pending task is all that a pool has to remember of a timeout, a million
// times over, so it holds what every task needs and leaves the rest to its ties. The
// future of a scheduled task without a result has 32 bytes, so that none is in two
// lines of the cache.
//
// Its lock is a leaf: no other is taken and nothing of a user's is called under
// it.
type task struct {
	word        // a State, flags and the lock
	place int32 // where it waits in its pool's queue, or unplaced; under that pool's lock
	ties  *ties // its own or shared ones, never nil
	due   int64 // when it is to run, on the pool's clock; under the pool's lock while queued
}

// The low bits are a State. The flags say what else is known of a task; those
// that speak of ties are set once these are filled in, so that whoever finds the flag
// may follow them without the lock.
const (
	stateBits uint32 = 1<<3 - 1

	wallClock uint32 = 1 << (iota + 2) // due is in wall-clock nanoseconds; fixed before the task is shared, cleared by detach
	bodiless                           // it is a promise; fixed before the task is shared
	special                            // details.traits are set; fixed before the task is queued
	linked                             // attach was called
	begun                              // its body was called
	inBody                             // since begin, until the body has returned, whatever becomes of the state
	withCtx                            // ties.ctx is set
	withErr                            // ties.err is set
	stray                              // detach was called: series and decorated are of no account
	asked                              // somebody is to be told when it is done, through ties
	native                             // nobody else knew of it before its pool took it; cleared by detach
	plural                             // it was submitted more than once, and may wait as a plain Runnable as well
)

// has reports whether any of the flags is set.
func (t *task) has(flags uint32) bool { return t.load()&flags != 0 }

// traits are what distinguishes a task from the simplest one. They are fixed
// before the task is shared or, of a decorated one, queued.
type traits struct {
	name      string
	timeout   time.Duration // bounds each run; 0 is none
	priority  int64
	series    *series       // of periodic work
	decorated ScheduledTask // the user's task around this one
}

// unattached gives a new task.
func unattached() task { return task{place: unplaced, ties: &untied} }

func (t *task) core() *task { return t }

// State tells where the task is in its life. Java: Future.state.
func (t *task) State() State { return State(t.load() & stateBits) }

// Name gives the name that [Named] gave to the task, or "".
func (t *task) Name() string { return t.trait().name }

// trait gives what distinguishes the task, to be read only.
func (t *task) trait() *traits {
	if t.has(special) {
		return &t.ties.more.traits
	}
	return &ordinary
}

var ordinary traits

// traits gives what distinguishes the task, to be set. The task must not be
// shared yet.
func (t *task) traits() *traits {
	t.preset(t.load() | special)
	return &t.moreLocked().traits
}

// series gives the schedule of periodic work, nil for other tasks.
func (t *task) series() *series {
	if t.has(stray) {
		return nil
	}
	return t.trait().series
}

// decorated gives the user's task around this one, nil if there is none.
func (t *task) decorated() ScheduledTask {
	if t.has(stray) {
		return nil
	}
	return t.trait().decorated
}

// context gives the parent of the body's context.
func (t *task) context() context.Context {
	if t.has(withCtx) {
		return t.ties.ctx
	}
	return context.Background()
}

// setContextLocked is for a task whose body is not running. It gives the bits for
// the caller to store.
func (t *task) setContextLocked(bits uint32, ctx context.Context) uint32 {
	if isBackground(ctx) {
		return bits &^ withCtx
	}
	t.tiesLocked().ctx = ctx
	return bits | withCtx
}

// isBackground reports whether ctx says nothing, so that nobody need keep it.
func isBackground(ctx context.Context) bool {
	return ctx == context.Background() || ctx == context.TODO()
}

// outcome gives the error of a task that is done.
func (t *task) outcome() error {
	switch bits := t.load(); {
	case bits&withErr != 0:
		return t.ties.err
	case State(bits&stateBits) == Canceled:
		return canceledByHand
	}
	return nil
}

// Done gives a channel that is closed when the task is done, the same one each
// time.
func (t *task) Done() <-chan struct{} {
	bits := t.lock()
	done := t.ties.done
	switch {
	case done != nil:
	case State(bits & stateBits).Done():
		done = closed
	default:
		done = make(chan struct{})
		t.tiesLocked().done = done
		bits |= asked
	}
	t.unlock(bits)
	return done
}

// closed is the Done channel of tasks that were done before anybody waited.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Err gives the outcome without waiting: nil if the task succeeded, its error
// if it failed or was canceled, [ErrNotDone] if it is not done. Java:
// Future.exceptionNow.
func (t *task) Err() error {
	if !t.State().Done() {
		return ErrNotDone
	}
	return t.outcome()
}

// OnDone arranges for f to be called once the task is done: by the goroutine
// that completes it, in order of registration and with no lock held; at once,
// by the caller, if the task is done already. f must be quick and must not
// panic; one that does not return keeps none of the others from being called. A
// nil f panics.
//
// The end of a pool is waited for until what its workers call here has returned. What
// another goroutine calls, as that which ends futures with their context, may come
// after [Pool.Close] has returned.
//
// f must not wait for another future: what completes many of them, as the end of
// their context does, or a ShutdownNow, completes one after the other.
//
// A future that f completes calls its own functions before f returns. So a chain of
// futures, each of which completes the next, is a stack as deep as it is long: a
// million fit into Go's, several millions may not. Have a pool complete the next one
// there. Java: FutureTask.done.
func (t *task) OnDone(f func()) {
	if f == nil {
		panic("executor: Future.OnDone: nil function")
	}
	t.notify(f)
}

// notify is OnDone. It gives the notice, for withdraw.
func (t *task) notify(f func()) *notice {
	bits := t.lock()
	if State(bits & stateBits).Done() {
		t.unlock(bits)
		f()
		return nil
	}
	n := &notice{value: f}
	t.moreLocked().onDone.add(n)
	t.unlock(bits | asked)
	return n
}

// withdraw takes back what notify gave, once, so that a task which is done late
// keeps nothing of it.
func (t *task) withdraw(n *notice) {
	bits := t.lock()
	if !State(bits & stateBits).Done() {
		t.moreLocked().onDone.remove(n)
	}
	t.unlock(bits)
}

// Join waits until the task is done and its body has really returned, which
// after Cancel and Abandon may be later. It returns nil then, and ctx's error
// if ctx ends first. A body that joins its own task waits for ever. Java has
// no counterpart.
func (t *task) Join(ctx context.Context) error {
	if err := await(ctx, t.Done()); err != nil {
		return err
	}
	bits := t.lock()
	if bits&inBody == 0 {
		t.unlock(bits)
		return nil
	}
	m := t.moreLocked()
	if m.left == nil {
		m.left = make(chan struct{})
	}
	left := m.left
	t.unlock(bits)
	return await(ctx, left)
}

// await waits for c or for the end of ctx. If both are there c wins: a select
// over two ready channels would choose at random.
func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	default:
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-c:
		return nil
	default:
		return ended(ctx)
	}
}
