package executor

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/executor-go/executor/internal/ring"
	"github.com/executor-go/executor/internal/spinlock"
)

// Config says what a pool is to be. The zero Config is that of as many workers
// as [runtime.GOMAXPROCS] says, over an unbounded queue.
type Config struct {
	// Name names the pool, in errors, logs, hooks and Stats, and its workers in
	// profiles, as the pprof label "executor". The default is "": no label.
	Name string

	// Core is the number of workers to keep: below it, each task starts a new
	// worker, even if others are idle. It must not be negative. With Core and
	// Max both 0, both are runtime.GOMAXPROCS(0).
	Core int

	// Max is the most workers there may be: above Core, a task that finds the
	// queue full starts a new worker as long as there are fewer than Max. With
	// Unbounded, which is the default, and Prioritized, which are never full, it
	// has no effect: Core is the size of the pool then, and 0 is one worker. It
	// must not be less than Core; 0 means Core.
	Max int

	// KeepAlive is how long a worker above Core stays idle before it leaves. It
	// must not be negative; 0, the default, means that it leaves at once.
	KeepAlive time.Duration

	// AllowCoreTimeout makes KeepAlive hold for the Core workers too; it must
	// be positive then. The default is that they stay until the pool is shut
	// down.
	AllowCoreTimeout bool

	// Queue holds the tasks that wait. The default, nil, is Unbounded.
	Queue Queue

	// Reject decides about a task that the pool can't take. The default, nil,
	// is Abort.
	Reject RejectPolicy

	// Hooks are called around each task.
	Hooks Hooks

	// Logger gets what nobody else would hear of: panics, if there is no
	// Hooks.OnPanic, and errors of fire-and-forget tasks, if there is no
	// Hooks.AfterTask. The default, nil, is slog.Default at that moment.
	Logger *slog.Logger
}

// A Pool runs tasks on workers, goroutines that it starts on demand and keeps.
// It is made by [New] or by one of the presets. All methods may be called by
// any goroutine; those that wait say so.
//
// A task is admitted in four steps, as one atomic act:
//
//  1. below Core workers: a new worker takes it
//  2. else it goes to an idle worker, or into the queue if there is room
//  3. else below Max workers: a new worker takes it
//  4. else the rejection policy decides
//
// A pool must be shut down to end its workers. Java: ThreadPoolExecutor.
type Pool struct {
	name   string
	frozen bool // made by Single or SingleScheduled: it cannot be retuned
	hooks  Hooks
	hooked bool // there is a BeforeTask or an AfterTask
	logger *slog.Logger
	clock  clock

	// ctx is the parent of all bodies' contexts. ShutdownNow ends it, so that
	// no task that is about to start can miss that (JDK-6523756).
	ctx    context.Context
	cancel context.CancelCauseFunc

	terminated chan struct{} // closed when the stage is StageTerminated

	common ties // of tasks that have nothing to do with anybody else

	// mu guards all that is in it. State, worker count and queue change together
	// under it, so that an accepted task always has a worker to run it, and
	// nothing needs a second look. User code never runs under it, and of other
	// locks only those are taken that are leaves: a task's and the alarm's.
	//
	// It begins a line of the cache, since what is above is read by everybody.
	mu poolState

	watches watches // over the contexts of futures that wait
}

// poolState is the state of a pool with its lock, which is two; see gate.
type poolState struct {
	gate gate
	_    cacheLine // others use what follows, at the same time

	// What a worker needs for its next task lies together.
	crew   spinlock.Mutex
	stream *stream // the gate's queue, as seen from here; nil without one
	open   bool    // the same as gate.open, as seen from here
	stage  Stage
	runs   int64              // bodies that have run
	ended  [numOutcomes]int64 // tasks that ended, by outcome

	rules
	queue backlog
	delay *delayQueue // queue, if it is that of a ScheduledPool; else nil

	workers  int                         // goroutines that work and have not decided to leave
	active   int                         // workers that have a task
	largest  int                         // most workers ever
	hired    int                         // workers ever started, for their numbers
	idle     idleList                    // workers parked, waiting to be handed something
	blocked  ring.Ring[*blocked]         // submitters waiting for room, oldest first
	reaper   *time.Timer                 // tells when the worker idle for longest may leave; nil before first use
	reaping  bool                        // reaper is set
	retained bool                        // canceled tasks stay in the queue until a worker meets them
	policies [periodic + 1]AfterShutdown // of a ScheduledPool, by kind of task
	panics   int64
}

// rules are the parts of the configuration that can change while a pool runs.
type rules struct {
	core, max   int
	keepAlive   time.Duration
	coreTimeout bool
	reject      RejectPolicy
}

// check says what is wrong with the rules, each with the name that it has in
// the call named by where.
func (r *rules) check(where string) error {
	switch {
	case r.core < 0:
		return invalid("%s: Core is %d; it must not be negative", where, r.core)
	case r.max < 1:
		return invalid("%s: Max is %d; it must be at least 1", where, r.max)
	case r.max < r.core:
		return invalid("%s: Max is %d, less than Core, which is %d; raise Max or lower Core", where, r.max, r.core)
	case r.keepAlive < 0:
		return invalid("%s: KeepAlive is %v; it must not be negative", where, r.keepAlive)
	case r.coreTimeout && r.keepAlive == 0:
		return invalid("%s: KeepAlive is 0 while AllowCoreTimeout is true; idle core workers would leave at once and come back for each task", where)
	}
	if f, ok := r.reject.(RejectFunc); r.reject == nil || ok && f == nil {
		return invalid("%s: nil RejectPolicy; Abort is the default", where)
	}
	return nil
}

// New returns a pool, without any worker yet, or an error that matches
// [ErrInvalid] and says which field of c is out of its range.
func New(c Config) (*Pool, error) {
	if c.Core == 0 && c.Max == 0 {
		c.Core = runtime.GOMAXPROCS(0)
	}
	if c.Max == 0 {
		c.Max = c.Core
	}
	if c.Queue == nil {
		c.Queue = Unbounded()
	}
	if c.Reject == nil {
		c.Reject = Abort
	}
	r := rules{c.Core, c.Max, c.KeepAlive, c.AllowCoreTimeout, c.Reject}
	if err := r.check("Config"); err != nil {
		return nil, err
	}
	q, err := c.Queue.backlog()
	if err != nil {
		return nil, err
	}
	return newPool(c, r, q), nil
}

func newPool(c Config, r rules, q backlog) *Pool {
	p := &Pool{
		name:       c.Name,
		hooks:      c.Hooks,
		hooked:     c.Hooks.BeforeTask != nil || c.Hooks.AfterTask != nil,
		logger:     c.Logger,
		clock:      newClock(),
		terminated: make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.common = ties{pool: p, shared: true}
	p.mu.rules = r
	p.mu.queue = q
	p.mu.stream, _ = q.(*stream)
	p.mu.gate.queue = p.mu.stream
	p.mu.blocked = *ring.New((*blocked).moved)
	return p
}

// Name gives Config.Name.
func (p *Pool) Name() string { return p.name }

// Execute submits task. It returns nil if the task was accepted, or dealt with
// by the rejection policy in a way that is no error; else an error that matches
// [ErrRejected], that of a [RejectFunc] as it is, [ErrNilTask], or ctx's error if
// ctx had ended before.
//
// ctx is the parent of the task's context: the body gets its values, and is
// canceled with it; a task that still waits when ctx ends is canceled and never
// runs. With a rejection policy that waits, ctx bounds the wait. A ctx that
// never ends costs one allocation, context.Background nothing.
//
// A panic in the body of a plain Runnable is reported to Hooks.OnPanic, and an
// error that it returns to Hooks.AfterTask, or both to the log. A *Future
// carries them itself. Execute panics if ctx is nil.
//
// A *Future that is done, or was submitted before, is accepted too, as another task.
// Its body runs once all the same, for whichever comes first; the others find nothing
// to do.
//
// A type of your own that embeds a *Future is declined, with an error that matches
// [ErrInvalid]: it would be taken for that Future, and a Run of its own never called.
// Java: execute.
func (p *Pool) Execute(ctx context.Context, task Runnable) error {
	if f, ok := task.(Func); task == nil || ok && f == nil {
		return ErrNilTask
	}
	if b, ok := task.(bound); ok && b.origin() != task {
		return invalid("task %T embeds a Future, for which it would be taken; give the Future itself, or have it in a field with a name", task)
	}
	return p.submit(ctx, task)
}

// Go submits fn to be run once and forgotten; it is Execute for a function.
// Options name it, bound its time, or give it a priority.
func (p *Pool) Go(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	if fn == nil {
		return ErrNilTask
	}
	if len(opts) == 0 {
		return p.submit(ctx, Func(fn))
	}
	c := newCarrier(Func(fn))
	if err := c.configure(opts); err != nil {
		return err
	}
	return p.submit(ctx, c)
}

// submit admits a task that runs once, as soon as it can.
func (p *Pool) submit(ctx context.Context, r Runnable) error {
	mustContext(ctx)
	e, t := p.bind(ctx, r)
	return p.enter(ctx, e, t)
}

// enter admits the entry of t, which may have none, submitted with ctx, or has
// the rejection policy decide about it.
func (p *Pool) enter(ctx context.Context, e entry, t *task) error {
	if !e.alone(t) {
		if err := ask(p, e, func() error { return over(ctx) }); err != nil {
			e.end(Canceled, canceled(err))
			return err
		}
	}
	if p.mu.gate.admit(e, t) {
		p.attend(ctx, e, t)
		return nil
	}
	p.mu.Lock()
	w, verdict := p.admitLocked(e, t)
	policy := p.mu.reject
	p.mu.Unlock()
	if w != nil {
		go p.work(w)
	}
	switch verdict {
	case queued:
		p.attend(ctx, e, t)
		return nil
	case taken:
		return nil
	}
	return p.refuse(ctx, e, policy, verdict.reason())
}

// verdict is the answer to a task that asks for admission.
type verdict uint8

const (
	taken     verdict = iota // a worker has it
	queued                   // it waits
	saturated                // there is no room
	tooLate                  // the pool is shut down
)

func (v verdict) reason() error {
	if v == tooLate {
		return ErrShutdown
	}
	return ErrSaturated
}

// admitLocked is the four steps. It counts the task exactly if it admits it. A
// worker that it returns must be started by the caller, without the lock.
func (p *Pool) admitLocked(e entry, t *task) (*worker, verdict) {
	if p.mu.stage != StageRunning {
		return nil, tooLate
	}
	if p.mu.delay != nil {
		if p.mu.delay.len() >= most {
			return nil, saturated
		}
		p.mu.gate.submitted++
		return p.placeLocked(e, t), queued
	}
	if p.mu.workers < p.mu.core {
		return p.hireForLocked(e), taken
	}
	if w := p.mu.idle.pop(); w != nil { // nothing waits in the queue then
		p.mu.gate.submitted++
		p.handLocked(w, e)
		return nil, taken
	}
	if p.mu.queue.push(e) {
		p.mu.gate.submitted++
		return p.ensureWorkerLocked(), queued
	}
	if p.mu.workers < p.mu.max {
		return p.hireForLocked(e), taken
	}
	return nil, saturated
}

// hireForLocked makes a worker whose first task is e.
func (p *Pool) hireForLocked(e entry) *worker {
	p.mu.gate.submitted++
	p.mu.active++
	w := p.hireLocked()
	w.entry = e
	return w
}

// ensureWorkerLocked makes a worker if there is none: a task that waits must
// have somebody to run it, even with Core zero.
func (p *Pool) ensureWorkerLocked() *worker {
	if p.mu.workers > 0 {
		return nil
	}
	return p.hireLocked()
}

func mustContext(ctx context.Context) {
	if ctx == nil {
		panic("executor: nil Context")
	}
}
