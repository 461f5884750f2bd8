package executor

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// State tells where a task is in its life. It only moves along these arrows:
//
//	Pending -> Running             a worker, or the caller of Run, took it
//	Running -> Pending             a periodic run ended and another will follow
//	Running -> Succeeded, Failed   the body returned, panicked or called Goexit
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

func (s State) String() string {
	return name(s, "pending", "running", "succeeded", "failed", "canceled")
}

// name gives the name of a constant, or the number of one that is none.
func name[N ~uint8](n N, names ...string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return strconv.Itoa(int(n))
}

// unplaced is the place of a task that is in no queue.
const unplaced = -1

// task is the part of a Future that does not depend on the type of its result:
// the state machine, its waiters, and the link to the pool that holds it. Its
// transitions are the methods of task_state.go; nothing else writes state.
//
// mu is a leaf: no other lock is taken and nothing of a user's is called under
// it.
type task struct {
	mu       sync.Mutex
	state    atomic.Uint32 // a State; written under mu, read anywhere
	wall     bool          // due is in wall-clock nanoseconds; fixed before the task is shared
	linked   bool          // attach was called; under mu
	bodiless bool          // it is a promise; fixed before the task is shared
	begun    bool          // its body was called; under mu

	// inBody is true from begin until the body has returned, whatever becomes
	// of the state meanwhile; under mu.
	inBody bool

	place int   // where it waits in its pool's queue, or unplaced; under the pool's lock
	due   int64 // when it is to run, on the pool's clock; under the pool's lock while queued

	pool *Pool           // the pool that took it, or nil; under mu, set by attach, cleared by detach
	ctx  context.Context // parent of the body's context; written by attach or, unlinked, by begin
	done chan struct{}   // made by the first waiter, closed when done; under mu
	err  error           // the outcome; written before the state is final, read after
	with *traits         // nil for most tasks; fixed before the task is shared, but for detach
	more *details        // nil for most tasks; the pointer and what it points to under mu
}

// traits are what distinguishes a task from the simplest one. They are fixed
// before the task is shared.
type traits struct {
	name      string
	timeout   time.Duration // bounds each run; 0 is none
	priority  int64
	series    *series       // of periodic work
	decorated ScheduledTask // the user's task around this one
}

// details are what few tasks need in the course of their life.
type details struct {
	lent   bool                    // decorated was started and has not called Run yet
	lentTo ending                  // how the body ended that decorated has called
	run    context.Context         // the body's context, once somebody looked at it
	cancel context.CancelCauseFunc // ends run
	cause  error                   // ended the body's context before anybody looked
	unhook func() bool             // ends the watch over the submitter's context
	left   chan struct{}           // made by Join, closed when the body has returned
	onDone []func()
}

func (t *task) core() *task { return t }

// moreLocked gives the details, made at need.
func (t *task) moreLocked() *details {
	if t.more == nil {
		t.more = new(details)
	}
	return t.more
}

// State tells where the task is in its life. Java: Future.state.
func (t *task) State() State { return State(t.state.Load()) }

// Name gives the name that [Named] gave to the task, or "".
func (t *task) Name() string {
	if t.with == nil {
		return ""
	}
	return t.with.name
}

// series gives the schedule of periodic work, nil for other tasks.
func (t *task) series() *series {
	if t.with == nil {
		return nil
	}
	return t.with.series
}

func (t *task) timeout() time.Duration {
	if t.with == nil {
		return 0
	}
	return t.with.timeout
}

// traits gives what distinguishes the task, made at need. The task must not be
// shared yet.
func (t *task) traits() *traits {
	if t.with == nil {
		t.with = new(traits)
	}
	return t.with
}

// Done gives a channel that is closed when the task is done, the same one each
// time.
func (t *task) Done() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done == nil {
		t.done = make(chan struct{}) // settleLocked never leaves it nil
	}
	return t.done
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
	return t.err
}

// OnDone arranges for f to be called once the task is done: by the goroutine
// that completes it, in order of registration and with no lock held; at once,
// by the caller, if the task is done already. f must be quick and must not
// panic. Java: FutureTask.done.
func (t *task) OnDone(f func()) {
	t.mu.Lock()
	if t.State().Done() {
		t.mu.Unlock()
		f()
		return
	}
	m := t.moreLocked()
	m.onDone = append(m.onDone, f)
	t.mu.Unlock()
}

// Join waits until the task is done and its body has really returned, which
// after Cancel and Abandon may be later. It returns nil then, and ctx's error
// if ctx ends first. A body that joins its own task waits for ever. Java has
// no counterpart.
func (t *task) Join(ctx context.Context) error {
	if err := await(ctx, t.Done()); err != nil {
		return err
	}
	t.mu.Lock()
	if !t.inBody {
		t.mu.Unlock()
		return nil
	}
	m := t.moreLocked()
	if m.left == nil {
		m.left = make(chan struct{})
	}
	left := m.left
	t.mu.Unlock()
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
