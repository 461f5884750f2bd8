package executor

import "github.com/executor-go/executor/internal/engine"

// Queue is a kind of queue for the tasks that wait for a worker: [Unbounded], [Bounded],
// [Handoff], [Prioritized] or [BoundedPrioritized]. A [ScheduledPool] has a delay queue
// instead. One Queue can be used for many pools. A queue without a limit, or with a higher
// one, holds at least 67 million tasks; beyond that the pool is saturated. Package queue
// has the same queues for use without a pool.
type Queue interface {
	// new returns a new queue for one pool, or an error if the limit is out of range.
	new() (engine.Queue, error)
	// shared returns a new queue for a share.
	shared() (engine.Queue, error)
}

// Unbounded is a first-in, first-out queue without a limit. A pool that has it grows beyond
// Workers only with [Config].GrowWhenBusy.
func Unbounded() Queue { return unbounded{} }

// Bounded is a first-in, first-out queue of at most n tasks. When it is full the pool
// grows up to Max workers, then rejects. If n is less than 1, [New] fails.
func Bounded(n int) Queue { return bounded(n) }

// Handoff is a queue without room: a task goes straight to an idle or a new worker, or is
// rejected.
func Handoff() Queue { return handoff{} }

// Prioritized is a queue without a limit that returns the task with the least [Priority]
// first and, among equals, the one that came first.
func Prioritized() Queue { return prioritized{} }

// BoundedPrioritized is Prioritized with a limit of n tasks. When it is full the pool
// grows up to Max workers, then rejects. The policy [DropLowest] drops the least urgent
// task then. If n is less than 1, [New] fails.
func BoundedPrioritized(n int) Queue { return boundedPrioritized(n) }

type (
	unbounded          struct{}
	bounded            int
	handoff            struct{}
	prioritized        struct{}
	boundedPrioritized int
)

func (unbounded) new() (engine.Queue, error)    { return new(engine.Stream), nil }
func (unbounded) shared() (engine.Queue, error) { return engine.NewLine(engine.Any), nil }

func (n bounded) new() (engine.Queue, error) {
	if n < 1 {
		return nil, invalid("Bounded(%d): must be at least 1; Handoff() is the queue without room", int(n))
	}
	return engine.NewLine(int(n)), nil
}
func (n bounded) shared() (engine.Queue, error) { return n.new() }

func (handoff) new() (engine.Queue, error)    { return engine.NewLine(0), nil }
func (handoff) shared() (engine.Queue, error) { return engine.NewLine(0), nil }

func (prioritized) new() (engine.Queue, error)      { return engine.NewPriorities(priority), nil }
func (q prioritized) shared() (engine.Queue, error) { return q.new() }

func (n boundedPrioritized) new() (engine.Queue, error) {
	if n < 1 {
		return nil, invalid("BoundedPrioritized(%d): must be at least 1; Handoff() is the queue without room", int(n))
	}
	return engine.NewLimitedPriorities(int(n), priority), nil
}
func (n boundedPrioritized) shared() (engine.Queue, error) { return n.new() }

// priority returns what the option Priority has set.
func priority(u engine.Unit) int64 {
	if t := u.(work).taskCore(); t != nil {
		return t.Options().Priority
	}
	return 0
}
