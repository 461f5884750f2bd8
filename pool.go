package executor

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/ctxgroup"
	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

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

// mustBeMade panics for a zero Pool, and for a zero ScheduledPool, which has none.
func (p *Pool) mustBeMade() {
	if p == nil || p.engine == nil {
		panic("executor: this pool was not made by New, NewScheduled or a preset; the zero value is not usable")
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

// settings is what apply changes, one call at a time.
type settings struct {
	sync.Mutex
	version int
	rate    Rate // of a share
}

// shareSet are the shares of a pool that are not terminated. Its lock is a leaf.
type shareSet struct {
	sync.Mutex
	set map[*Pool]struct{}
}

func (s *shareSet) add(p *Pool) {
	s.Lock()
	defer s.Unlock()
	if s.set == nil {
		s.set = make(map[*Pool]struct{})
	}
	s.set[p] = struct{}{}
}

func (s *shareSet) remove(p *Pool) {
	s.Lock()
	defer s.Unlock()
	delete(s.set, p)
}

func (s *shareSet) all() []*Pool {
	s.Lock()
	defer s.Unlock()
	return slices.Collect(maps.Keys(s.set))
}

// timer is the part of a Pool that only a ScheduledPool has.
type timer struct {
	pool   *Pool
	queue  *engine.Due
	series registry

	// The engine's lock guards it.
	dropped [periodic + 1]bool // by kind of task: those that wait at a shutdown are canceled
}

// clock returns the clock of the pool's times.
func (p *Pool) clock() delay.Clock { return delay.Clock{Epoch: p.epoch} }

// RejectPolicy handles the tasks that a pool can't take, because the pool is shut down or has neither room in its queue
// nor a worker to spare. The goroutine that submits a task calls the policy, once for the task, with no lock held.
//
// The policies of this package are [Abort], [CallerRuns], [Discard], [DiscardOldest],
// [DropLowest], [Block] and [BlockFor]; [RejectFunc] makes one of a function.
type RejectPolicy interface {
	// Reject handles a task, which is passed as it was submitted. A task of Go with options
	// is a Runnable that keeps them: its timeout wherever it runs, its name and priority in
	// a pool. A task without a future that was submitted for a key of a [Keyed] is a Runnable
	// that calls its body. Periodic work is a Runnable that makes one run, which ends the
	// Series. What Reject returns decides:
	//
	//   - an error: the submission and the task's future fail with it
	//   - nil: the submission succeeds. If Reject has neither begun to run the task, nor
	//     completed it, nor passed it to a pool, the task is discarded: its future fails with
	//     a *RejectedError, as by [Discard].
	//   - [ErrKept]: the submission succeeds, and the future is pending until something else
	//     completes it: the policy has stored the task, started a goroutine that will run it,
	//     or passed it to an Executor that is not of this package
	//
	// If Reject panics, so does the submission, and the future fails with a *PanicError. A task without a future, such
	// as one of Go, belongs to the policy alone: nil and ErrKept mean the same.
	Reject(ctx context.Context, task Runnable, pool *Pool) error
}

// RejectFunc is a function as a RejectPolicy. It may leave the decision to a policy of this package, by calling its
// Reject for the same pool: the task is then counted once, as that policy decides, and in a [Keyed] keeps its key. It
// may submit the task by Execute to another pool, or again to this one: this pool then counts the task as rejected, and
// the task has no key. Either way the context that the RejectFunc passes becomes the parent of the task's context. So a
// context that ends when the RejectFunc returns also ends the task. To bound only the wait, use [BlockFor]. A nil
// RejectFunc is an error of [New] and [Pool.Reconfigure].
type RejectFunc func(ctx context.Context, task Runnable, pool *Pool) error

// Reject calls f.
func (f RejectFunc) Reject(ctx context.Context, task Runnable, pool *Pool) error {
	return f(ctx, task, pool)
}
