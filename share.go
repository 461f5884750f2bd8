package executor

import (
	"log/slog"
	"reflect"

	"github.com/executor-go/executor/internal/engine"
)

// ShareConfig configures a share of a pool, see [Pool.Share], and a [Keyed]. The zero ShareConfig means a share without
// bounds of its own, which has the bound and the rejection policy of the lending pool, as far as this table says:
//
//	           a share             a Keyed               a ScheduledPool
//	Name       the lending pool's  the lending pool's    its own
//	Limit      the lending pool's size at that moment    Workers
//	Rate       none                none                  none
//	Queue      as the lending pool, or Unbounded if that takes any number of tasks;
//	           of a Keyed only the limit counts          a delay queue without a limit
//	Reject     the lending pool's, or Abort if that is DropLowest and the queue
//	           has no priorities; of a Keyed, CallerRuns acts as Abort
//	                                                     Abort
//	Hooks      the lending pool's, without Terminated    its own
//	Logger     the lending pool's  the lending pool's    its own
//	Observer   always the lending pool's                 its own
//
// Jobs of package durable run in a ScheduledPool, that of its Config.Executor.
type ShareConfig struct {
	// Name names the share, as Config.Name names a pool. The default is the name of the lending pool.
	Name string

	// Limit is the most tasks of the share that run at the same time. It must not be
	// negative. The default, 0, is the size that the lending pool has at that moment.
	Limit int

	// Rate bounds how often tasks begin. The default is no bound.
	Rate Rate

	// Queue holds the tasks that wait for the limit, the rate, their key, or a worker of the
	// lending pool. With Handoff, and beyond n tasks with Bounded(n), a task is rejected if
	// one of these keeps it from beginning as soon as a worker is free. The default, nil, is
	// the kind of queue that the lending pool has, with its limit, and Unbounded for a lending
	// pool that takes any number of tasks, such as one made by Cached. A Keyed has tasks of a
	// key run in the order of their submission, so of its Queue only the limit counts.
	Queue Queue

	// Reject handles the tasks that the share can't take. The default, nil, is the policy that
	// the lending pool has at that moment, and Abort for DropLowest if Queue has no priorities.
	Reject RejectPolicy

	// Hooks are called for the tasks of the share. The default is those of the lending
	// pool, without Terminated. The hooks of the lending pool are not called otherwise.
	Hooks Hooks

	// Logger is as in Config. The default is that of the lending pool. A share always has the Observer of the lending
	// pool.
	Logger *slog.Logger
}

// Share returns a pool whose tasks run on the workers of p, within bounds of its own. It
// has a queue, counters, a name and a shutdown of its own; Go, Submit, futures and all else
// are as with any pool.
//
// A share has no workers. For each task that may begin, the share asks p for a worker, by a request that waits among
// the tasks of p. When a worker of p comes to the request, it runs the first task of the share, and further tasks while
// p has nothing else for the worker. So a share that is at its limit, or beyond its rate, holds no worker. A request is
// one task in the [Stats] of p. p never rejects a request: if p is full, the request waits for room, as with the policy
// [Block]. If the task was canceled meanwhile, the request does nothing.
//
// In the Stats of the share Active are the tasks that run, Idle the requests that wait, and
// Workers both. Resize changes the limit, and [Pool.Reconfigure] the limit,
// as Max, the rate and the rejection policy.
//
// A shutdown of the share ends only the share. A shutdown of p shuts its shares down in the same way: after Shutdown, p
// runs the tasks that wait in them; ShutdownNow returns those tasks, too; and p is terminated when its shares are. A
// share without tasks is terminated at once. If a task of p that still runs submits to such a share, the share rejects
// that; p itself would accept it. Until a share is terminated p refers to it. A share of a share is within the bounds
// of both.
//
// Tasks of p and of its shares may wait for one another, see [Future.Get], and for room in another share, by [Block].
//
// If you make a share for a single request, shut it down: p keeps a share until the share is terminated.
//
// The error matches [ErrInvalid] if a field of c is out of its range, and [ErrShutdown] if
// p is shut down.
func (p *Pool) Share(c ShareConfig) (*Pool, error) {
	p.mustBeMade()
	s, err := p.newShare(c, 0)
	if err != nil {
		return nil, err
	}
	if !p.addShare(s) {
		return nil, p.rejected(ErrShutdown)
	}
	return s, nil
}

// newShare returns a share, of which at most perKey tasks of a key run at a time; with 0 they have no keys. It is not
// known to p yet.
func (p *Pool) newShare(c ShareConfig, perKey int) (*Pool, error) {
	if c.Limit < 0 {
		return nil, invalid("ShareConfig: Limit is %d; it must not be negative", c.Limit)
	}
	rate, err := c.Rate.bucket()
	if err != nil {
		return nil, err
	}
	if c.Queue == nil {
		c.Queue = p.queueOfShares()
	}
	q, err := c.Queue.shared()
	if err != nil {
		return nil, err
	}
	if perKey > 0 {
		q = engine.NewKeys(perKey, q.Limit())
	}
	if c.Name == "" {
		c.Name = p.name
	}
	if c.Limit == 0 {
		c.Limit = p.size()
	}
	_, sheds := q.(engine.Shedding)
	if c.Reject == nil {
		if c.Reject = *p.reject.Load(); c.Reject == DropLowest && !sheds {
			c.Reject = Abort
		}
	}
	if reflect.ValueOf(c.Hooks).IsZero() {
		c.Hooks = p.hooks
		c.Hooks.Terminated = nil
	}
	if c.Logger == nil {
		c.Logger = p.logger
	}
	s := newPool(Config{Name: c.Name, Queue: c.Queue, Hooks: c.Hooks, Logger: c.Logger, Reject: c.Reject})
	s.lender = p
	s.byKey = perKey > 0
	s.sheds = sheds
	l := engine.Limits{Max: c.Limit, WhenBusy: true}
	if err := s.check("ShareConfig", l, c.Reject); err != nil {
		return nil, err
	}
	s.settings.rate = c.Rate
	s.build(engine.Config{Limits: l, Queue: q, Lender: p.engine, Rate: rate})
	s.owner.Borrow(&p.owner)
	return s, nil
}

// addShare makes s known to p, and reports false if p is shut down.
func (p *Pool) addShare(s *Pool) bool {
	p.shares.add(s) // first, so that a shutdown finds it
	if !s.engine.Borrow() {
		p.shares.remove(s)
		return false
	}
	if o := p.observed.Load(); o != nil {
		s.watchedBy(o.observer)
	}
	return true
}

// queueOfShares returns the queue of a share of p that is given none.
func (p *Pool) queueOfShares() Queue {
	if p.timer != nil || p.engine.Counts().Max == engine.Unlimited {
		return Unbounded()
	}
	return p.queue
}

// size returns how many tasks p runs at the same time, at most.
func (p *Pool) size() int {
	l := p.engine.Counts().Limits
	if p.timer != nil {
		return max(l.Kept, 1)
	}
	return l.Max
}
