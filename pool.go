package executor

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/ctxgroup"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// Config configures a [Pool]. The zero Config means [runtime.GOMAXPROCS](0) workers over an unbounded queue.
type Config struct {
	// Name names the pool, in errors, logs, hooks and Stats, and its workers in
	// profiles, as the pprof label "executor". The default is "": no label.
	Name string

	// Workers is the number of workers to keep: they stay when they are idle. It must
	// not be negative. With Workers and Max both 0, both are runtime.GOMAXPROCS(0).
	Workers int

	// Max is the most workers there may be. It must not be less than Workers; 0 means Workers. A queue that is never full,
	// which is Prioritized or the default, Unbounded, needs GrowWhenBusy for a Max above Workers: without it the pool
	// would not grow, so New returns an error.
	Max int

	// GrowWhenBusy makes an elastic pool: a task starts a worker if all are busy, up to Max, and only then is the queue
	// used. By default, as in Java, a task starts a worker if there are fewer than Workers, even if
	// others are idle, and if the queue is full up to Max.
	GrowWhenBusy bool

	// KeepAlive is how long a worker above Workers stays idle before it leaves. It
	// must not be negative; 0, the default, means that it leaves at once.
	KeepAlive time.Duration

	// KeepNone applies KeepAlive, which must be positive then, to all workers,
	// too. The default is that they stay until the pool is shut down.
	KeepNone bool

	// Queue holds the tasks that wait. The default, nil, is Unbounded.
	Queue Queue

	// Reject handles the tasks that the pool can't take. The default, nil, is Abort.
	Reject RejectPolicy

	// Hooks are called around each task.
	Hooks Hooks

	// Observer, if not nil, watches the pool and measures some of its tasks.
	Observer *Observer

	// Logger logs what no future shows: panics, errors of tasks without a future and of
	// periodic work, and accepted tasks that never ran. The default, nil, is slog.Default
	// at the time of the record. To log nothing, set a logger with slog.DiscardHandler. If
	// the handler panics, one line about it goes to standard error.
	Logger *slog.Logger
}

// A Pool runs tasks on workers, goroutines that it starts on demand and keeps. It is made
// by [New] or by one of the presets. All methods may be called by any goroutine; a method
// that may block says so.
//
// A task is admitted in four steps, as one atomic act:
//
//  1. fewer than Workers: a new worker takes it
//  2. else it is queued if there is room, and an idle worker is woken for it
//  3. else below Max workers: a new worker takes it
//  4. else the rejection policy decides
//
// With [Config].GrowWhenBusy, an idle worker gets the task first, then a new worker up to Max, then the queue, then the
// policy.
//
// A pool must be shut down to end its workers.
type Pool struct {
	name   string
	frozen bool  // made by Single: it stays one of a single worker
	queue  Queue // of Config; nil in a ScheduledPool
	sheds  bool  // the queue can lose its last task, as DropLowest needs it
	hooks  Hooks
	logger *slog.Logger
	epoch  time.Time // one nanosecond before the pool was made, so that 0 is no time

	// ctx is the parent of all bodies' contexts. ShutdownNow ends it, so that
	// no task that is about to start can miss that (JDK-6523756).
	ctx    context.Context
	cancel context.CancelCauseFunc

	engine *engine.Engine
	owner  task.Owner // what the pool is to its tasks
	timer  *timer     // of a ScheduledPool; nil in others
	lender *Pool      // of a share; nil in others
	byKey  bool       // its tasks have keys, for which they wait

	plain    bool                     // a function with Background needs no task
	hooked   bool                     // there is a BeforeTask, an AfterTask or an Around
	observed atomic.Pointer[observed] // nil without an Observer; written once
	reject   atomic.Pointer[RejectPolicy]
	panics   atomic.Int64
	cutting  atomic.Bool // Drain has no time left: what it interrupts is logged

	settings settings
	deciding deciding
	shares   shareSet

	contexts ctxgroup.Set[work]  // of the tasks that wait
	watching ctxgroup.Soon[work] // tasks that are to be in contexts, if they still wait
}

var _ Executor = (*Pool)(nil)

// check returns an error if a setting is out of its range. where names the call that sets it.
func (p *Pool) check(where string, l engine.Limits, reject RejectPolicy) error {
	switch {
	case l.Kept < 0:
		return invalid("%s: Workers is %d; it must not be negative", where, l.Kept)
	case l.Max < 1:
		return invalid("%s: Max is %d; it must be at least 1", where, l.Max)
	case l.Max < l.Kept:
		return invalid("%s: Max is %d, less than Workers, which is %d; raise Max or lower Workers", where, l.Max, l.Kept)
	case l.KeepAlive < 0:
		return invalid("%s: KeepAlive is %v; it must not be negative", where, l.KeepAlive)
	case l.KeepNone && l.KeepAlive == 0:
		return invalid("%s: KeepAlive is 0 while KeepNone is true, and workers would leave after each task; "+
			"set KeepAlive to how long they may be idle", where)
	}
	if p.lender != nil && (l.Kept > 0 || l.KeepAlive > 0 || l.KeepNone) {
		return invalid("%s: a share has no workers to keep; use Resize to change its Limit", where)
	}
	if reject == DropLowest && !p.sheds {
		return invalid("%s: Reject is DropLowest, which needs the queue BoundedPrioritized(n); "+
			"set Queue to that, or Reject to DiscardOldest", where)
	}
	if f, ok := reject.(RejectFunc); reject == nil || ok && f == nil {
		return invalid("%s: nil RejectPolicy; Abort is the default", where)
	}
	return nil
}

// New returns a pool, without any worker yet, or an error that matches
// [ErrInvalid] and says which field of c is out of its range.
func New(c Config) (*Pool, error) {
	if c.Workers == 0 && c.Max == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Max == 0 {
		c.Max = c.Workers
	}
	if c.Queue == nil {
		c.Queue = Unbounded()
	}
	if c.Reject == nil {
		c.Reject = Abort
	}
	p := newPool(c)
	_, p.sheds = c.Queue.(boundedPrioritized)
	l := engine.Limits{
		Kept: c.Workers, Max: c.Max, WhenBusy: c.GrowWhenBusy,
		KeepAlive: c.KeepAlive, KeepNone: c.KeepNone,
	}
	if err := p.check("Config", l, c.Reject); err != nil {
		return nil, err
	}
	if err := c.Observer.check("Config"); err != nil {
		return nil, err
	}
	q, err := c.Queue.new()
	if err != nil {
		return nil, err
	}
	if most := max(l.Kept, 1); l.Max > most && !l.WhenBusy && q.Limit() == engine.Any {
		return nil, invalid("Config: Max is %d, but the pool would never have more workers than %d, since its queue is "+
			"never full; set GrowWhenBusy, or Workers to %d, or Queue to Bounded(n)", l.Max, most, l.Max)
	}
	p.build(engine.Config{Limits: l, Queue: q})
	if c.Observer != nil {
		p.watchedBy(c.Observer)
	}
	return p, nil
}

// newPool returns a pool without an engine.
func newPool(c Config) *Pool {
	p := &Pool{
		name:   c.Name,
		queue:  c.Queue,
		hooks:  c.Hooks,
		hooked: c.Hooks.BeforeTask != nil || c.Hooks.AfterTask != nil || c.Hooks.Around != nil,
		logger: c.Logger,
		epoch:  time.Now().Add(-1),
	}
	p.reject.Store(&c.Reject)
	p.contexts.Ended = cancelByContext
	p.watching.Call = p.watchSoon
	ctx, cancel := context.WithCancelCause(context.Background())
	p.ctx, p.cancel = p.owner.Init(p.unqueue, ctx, p.epoch), cancel
	return p
}

// build makes the engine of a pool.
func (p *Pool) build(c engine.Config) {
	p.plain = p.timer == nil && p.hooks.Dropped == nil
	c.Epoch = p.epoch
	c.Later = p.later
	c.Keeps, c.Dropped, c.Lost = p.keeps, p.notKept, p.lost
	c.Started, c.Parked, c.Exited = p.workerStarted, parkLabels, p.workerExited
	c.Over = p.over
	p.engine = engine.New(c)
	p.owner.Engine = p.engine
}

// mustBeMade panics for a zero Pool, and for a zero ScheduledPool, which has none.
func (p *Pool) mustBeMade() {
	if p == nil || p.engine == nil {
		panic("executor: this pool was not made by New, NewScheduled or a preset; the zero value is not usable")
	}
}

func mustContext(ctx context.Context) {
	if ctx == nil {
		panic("executor: nil Context")
	}
}

// Name returns Config.Name.
func (p *Pool) Name() string {
	p.mustBeMade()
	return p.name
}

// elapsed returns the nanoseconds since the pool was made, from 1.
func (p *Pool) elapsed() int64 { return int64(time.Since(p.epoch)) }

// The presets are common Configs. Each takes functions that change the Config before the
// pool is made, for example to name it or to add hooks:
//
//	pool := executor.Cached(func(c *executor.Config) { c.Name = "mail" })

// Fixed returns a pool of n workers, started on demand and kept, over an unbounded queue.
// It is [New] with Config{Workers: n}, changed by the functions in with. It panics if n is
// less than 1, or the Config is invalid.
func Fixed(n int, with ...func(*Config)) *Pool {
	if n < 1 {
		panic(invalid("Fixed(%d): must be at least 1", n).Error())
	}
	return preset(Config{Workers: n}, with)
}

// Cached returns a pool without a limit, which starts a worker whenever none is idle and
// keeps idle workers for a minute. It is [New] with
//
//	Config{Max: math.MaxInt, KeepAlive: time.Minute, Queue: Handoff()}
//
// changed by the functions in with. It panics if the Config is invalid. For a limit set Max
// and, for tasks beyond it to wait, Queue to [Unbounded] and GrowWhenBusy.
func Cached(with ...func(*Config)) *Pool {
	return preset(Config{Max: math.MaxInt, KeepAlive: time.Minute, Queue: Handoff()}, with)
}

// Single returns a pool of one worker over an unbounded queue: tasks run one after the
// other, in order. It is [New] with Config{Workers: 1}, changed by the functions in with, but
// [Pool.Reconfigure] can't add workers. It panics if the Config is invalid or allows more
// than one worker.
func Single(with ...func(*Config)) *Pool {
	p := Fixed(1, with...)
	if most := p.engine.Counts().Max; most != 1 {
		panic(invalid("Single: Max is %d; it must be 1", most).Error())
	}
	p.frozen, p.engine.InOrder = true, true
	return p
}

// PerTask returns a pool without a limit that runs each task in a goroutine of its own and
// keeps none: the go statement with futures, hooks, counters and a shutdown. It is [New]
// with
//
//	Config{Max: math.MaxInt, Queue: Handoff()}
//
// changed by the functions in with. It panics if the Config is invalid.
func PerTask(with ...func(*Config)) *Pool {
	return preset(Config{Max: math.MaxInt, Queue: Handoff()}, with)
}

// preset returns a pool of c, changed by the functions.
func preset(c Config, with []func(*Config)) *Pool {
	for _, change := range with {
		mustChange(change != nil)
		change(&c)
	}
	return must(New(c))
}

// mustChange panics if a preset was given a nil function.
func mustChange(given bool) {
	if !given {
		panic("executor: a preset was given a nil function; leave it out")
	}
}

func must[P any](p P, err error) P {
	if err != nil {
		panic(err.Error())
	}
	return p
}
