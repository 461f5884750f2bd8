package executor

import (
	"log/slog"
	"reflect"
)

// ShareConfig says what a share of a pool is to be. The zero ShareConfig is that of a share
// without bounds of its own, which has a queue, counters and a shutdown of its own.
type ShareConfig struct {
	// Name is as in Config. The default is the name of the pool that lends.
	Name string

	// Limit is the most tasks of the share that run at the same time. It must not be
	// negative. The default, 0, is the size that the lending pool has at that moment.
	Limit int

	// Rate bounds how often tasks begin. The default is no bound.
	Rate Rate

	// Queue holds the tasks that wait for the limit, the rate, or a worker of the lending
	// pool. With Handoff, and beyond n with Bounded(n), a task is rejected that the limit
	// or the rate does not let begin as soon as there is a worker. The default, nil, is
	// Unbounded.
	Queue Queue

	// Reject decides about a task that the share can't take. The default, nil, is Abort.
	Reject RejectPolicy

	// Hooks are called for the tasks of the share. The default is those of the lending
	// pool, without Terminated. The hooks of the lending pool are not called otherwise.
	Hooks Hooks

	// Logger is as in Config. The default is that of the lending pool. So is the Observer.
	Logger *slog.Logger
}

// Share returns a pool whose tasks run on the workers of p, within bounds of its own. It
// has a queue, counters, a name and a shutdown of its own; Go, Submit, futures and all else
// are as with any pool.
//
// A share has no workers. For each task that may begin it asks p for a turn, which waits
// among the tasks of p, and when a worker of p comes to the turn, it runs the first task of
// the share. So shares and tasks of p take turns, in the order in which they ask, and a
// share that is at its limit, or beyond its rate, holds no worker. A turn is one task in
// the [Stats] of p. p never rejects a turn: where a submitter would be rejected, the turn
// waits for room, as one of [Block].
//
// In the Stats of the share Active are the tasks that run, Idle the turns that it has asked
// for, and Workers both. SetMax and Resize change the limit. Setters of Core, KeepAlive and
// AllowCoreTimeout return an error.
//
// A shutdown of the share ends only the share. A shutdown of p shuts its shares down in the
// same way: after Shutdown p runs what waits in them, ShutdownNow returns it with the rest,
// and p is terminated when its shares are. Until then p retains its shares. A share of a
// share is within the bounds of both.
//
// A task of p that waits for a task of a share holds a worker of p, which the share may
// need. The reverse is safe, as within one pool: a [Group] in a task of the share may run
// functions on p.
//
// The error matches [ErrInvalid] if a field of c is out of its range, and [ErrShutdown] if
// p is shut down.
func (p *Pool) Share(c ShareConfig) (*Pool, error) {
	if c.Limit < 0 {
		return nil, invalid("ShareConfig: Limit is %d; it must not be negative", c.Limit)
	}
	if c.Rate.err != nil {
		return nil, c.Rate.err
	}
	if c.Queue == nil {
		c.Queue = Unbounded()
	}
	q, room, err := c.Queue.lane()
	if err != nil {
		return nil, err
	}
	s, err := p.newShare(c, q, room)
	if err != nil {
		return nil, err
	}
	if !p.lend(s) {
		return nil, p.rejected(ErrShutdown)
	}
	return s, nil
}

// newShare returns a share over a queue, which has room for so many tasks without a turn.
// It is not known to p yet.
func (p *Pool) newShare(c ShareConfig, q backlog, room int) (*Pool, error) {
	if c.Name == "" {
		c.Name = p.name
	}
	if c.Limit == 0 {
		c.Limit = p.size()
	}
	if c.Reject == nil {
		c.Reject = Abort
	}
	if reflect.ValueOf(c.Hooks).IsZero() {
		c.Hooks = p.hooks
		c.Hooks.Terminated = nil
	}
	if c.Logger == nil {
		c.Logger = p.logger
	}
	_, sheds := q.(*shedding)
	r := rules{max: c.Limit, growth: GrowWhenBusy, reject: c.Reject, sheds: sheds, lent: true}
	if err := r.check("ShareConfig"); err != nil {
		return nil, err
	}
	s := newPool(Config{Name: c.Name, Hooks: c.Hooks, Logger: c.Logger}, r)
	s.mu.queue = q
	s.loan = &loan{share: s, lender: p, room: room, rate: bucket{Rate: c.Rate}}
	s.loan.lanes, _ = q.(*lanes)
	return s, nil
}

// lend makes s known to p, and reports false if p is shut down.
func (p *Pool) lend(s *Pool) bool {
	p.mu.Lock()
	running := p.mu.stage == StageRunning
	if running {
		if p.mu.shares == nil {
			p.mu.shares = make(map[*Pool]struct{})
		}
		p.mu.shares[s] = struct{}{}
	}
	p.mu.Unlock()
	if o := p.observed.Load(); running && o != nil {
		s.watchedBy(o.observer)
	}
	return running
}

// size returns how many tasks p runs at the same time, at most.
func (p *Pool) size() int {
	r := p.rules()
	if p.timer != nil {
		return max(r.core, 1)
	}
	return r.max
}
