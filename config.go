package executor

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"time"

	"github.com/executor-go/executor/internal/engine"
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
// changed by the functions in with. It panics if the Config is invalid. To limit the workers, set Max. For tasks beyond
// Max to wait and not to be rejected, set Queue to [Unbounded] and GrowWhenBusy, too.
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
