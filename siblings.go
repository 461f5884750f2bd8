package executor

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// siblings are tasks for all of which one caller waits: the functions of a Group, or the calls of
// Map. They have a context in common, with whose end those end that wait.
//
//	submit ─▶ waits ─▶ a worker, or the caller if it is a task of the same pool ─▶ over
//	            └───── the context ends ─────────────────────────────────────────▶ over
type siblings struct {
	of interface {
		what() string              // one of them is
		over(m *member, err error) // follows the end of one
	}
	ex     Executor
	owner  *task.Owner  // of the tasks of ex
	pool   *Pool        // that of ex; nil if ex is of another package
	key    *keyExecutor // ex, if that is one of a key, else nil
	common task.Common  // to all tasks on pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	waits  *task.Owner // of the caller, if that is a task of ex, and so hosts what waits; else nil

	limit   *limit // nil for none
	waiting waitList
	unwatch func() bool // else endWaiting is called when the context ends; nil if the caller's has no end
}

// init makes siblings, as yet none, on ex. ctx is the caller's.
func (s *siblings) init(ctx context.Context, ex Executor) {
	s.ex, s.pool, s.owner = ex, poolOf(ex), ownerOf(ex)
	s.key, _ = ex.(*keyExecutor)
	if waits := task.OwnerOf(ctx); s.owner != nil && waits.Within(s.owner) {
		s.waits = waits
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.waiting.init()
	if s.pool != nil {
		s.common.Init(&s.pool.owner, s.ctx)
	}
	if ctx.Done() != nil {
		s.unwatch = context.AfterFunc(s.ctx, s.endWaiting)
	}
}

// submit submits a new member, whose body may be nil, which is an error. It ends with an error in
// any case.
func (s *siblings) submit(m *member, body Runnable, opts []Option) {
	s.waiting.left.Add(1)
	m.of, m.body = s, body
	if s.pool != nil {
		m.core.InitIn(&s.common)
	} else {
		m.core.Init()
		m.core.MakeGrouped()
	}
	if err := m.configure(opts); err != nil {
		m.end(task.Failed, err)
		return
	}
	s.waiting.add(m)
	switch forks := s.waits != nil; {
	case s.limit == nil:
		s.place(m, forks)
	case s.limit.enter(m):
		s.placeInTurn(m, forks)
	}
}

// placeInTurn submits m, whose turn has come by the limit, and then those whose turn comes since the one before is over
// by then: where the executor runs them at once, or refuses them, they do not run in one another.
func (s *siblings) placeInTurn(m *member, forks bool) {
	for m != nil {
		s.place(m, forks)
		m, forks = s.limit.placed(m), true
	}
}

// place submits a member that is in the list. forks is as for Pool.enter.
func (s *siblings) place(m *member, forks bool) {
	if err := task.IfEnded(s.ctx); err != nil { // endWaiting may have been here
		m.end(task.Canceled, canceled(err))
		return
	}
	if err := s.execute(m, forks); err != nil {
		m.end(task.Failed, err) // unless ex has completed it
	} else if s.waiting.wanted.Load() {
		s.owner.Want(one(&m.core))
	}
}

// execute passes m to its executor.
func (s *siblings) execute(m *member, forks bool) error {
	var u work = m
	switch {
	case s.pool == nil:
		return s.ex.Execute(s.ctx, m)
	case s.pool.timer != nil:
		m.core.SetDue(s.pool.elapsed())
	case s.key != nil:
		u = withKey(m, s.key.key)
	}
	return s.pool.enter(s.ctx, u, &m.core, forks)
}

// wait waits until all are over.
func (s *siblings) wait() {
	if s.waiting.left.Load() > 0 && s.waits != nil {
		s.waits.Host(s.owner, s.waiting.next)
	}
	if s.waiting.left.Load() == 0 {
		return
	}
	s.waiting.wanted.Store(true)
	defer lend(s.ctx, s.owner, s.waiting.all())()
	s.waiting.wait()
}

// endWaiting ends the tasks that wait, since the context has ended.
func (s *siblings) endWaiting() {
	err := canceled(task.ContextError(s.ctx))
	for _, m := range s.waiting.snapshot() {
		m.end(task.Canceled, err)
	}
}

// member is one of siblings. It is over when its body has returned, or will never run. Nothing
// but its executor and its siblings can complete it. Its context is not watched by the pool, since
// the siblings end it themselves.
type member struct {
	core task.Task
	of   *siblings
	body Runnable // nil once it is over; under the task's lock

	standing standing // of a group with a limit; under the limit's lock
}

// standing is what the limit of a group has to do with a member.
//
//	held ─▶ being placed ─▶ placed ─▶ over       its turn has come; place has returned; it is over
//	  │          └─▶ over early ─▶ over          over before place has returned: that goroutine goes on with the next
//	  └─▶ over                                   the context has ended
type standing uint8

const (
	isHeld standing = iota
	isBeingPlaced
	isPlaced
	isOverEarly
)

// limit is how many members may be submitted and not over. The others wait in it. Its lock is a leaf.
type limit struct {
	sync.Mutex
	most int
	used int // by members that were submitted, or are about to be, and are not over
	held []*member
}

// enter reports whether m is to be submitted now.
func (l *limit) enter(m *member) bool {
	l.Lock()
	defer l.Unlock()
	if l.used == l.most {
		l.held = append(l.held, m)
		return false
	}
	m.standing = isBeingPlaced
	l.used++
	return true
}

// placed follows the submission of m, and returns the member that is to be submitted next by the same goroutine, nil
// for none.
func (l *limit) placed(m *member) *member {
	l.Lock()
	defer l.Unlock()
	if m.standing == isOverEarly {
		return l.nextLocked()
	}
	m.standing = isPlaced
	return nil
}

// leave follows the end of m, and returns the member that is to be submitted in its place, nil for none.
func (l *limit) leave(m *member) *member {
	l.Lock()
	defer l.Unlock()
	switch m.standing {
	case isBeingPlaced:
		m.standing = isOverEarly
	case isPlaced:
		return l.nextLocked()
	}
	return nil
}

// nextLocked gives the place of a member that is over to the next one that waits for the limit, and returns that.
func (l *limit) nextLocked() *member {
	for len(l.held) > 0 {
		next := l.held[0]
		l.held[0] = nil
		l.held = l.held[1:]
		if !next.core.State().Done() { // else the context has ended
			next.standing = isBeingPlaced
			return next
		}
	}
	l.used--
	return nil
}

// configure evaluates the options of m, which is new.
func (m *member) configure(opts []Option) error {
	if m.body == nil {
		return errNilTask
	}
	if len(opts) == 0 {
		return nil
	}
	o, err := gather(oneRun, opts)
	if err != nil {
		return err
	}
	if o.retry.attempts > 1 && m.of.owner == nil {
		call := inPlace(&m.core, o.retry, Func(m.body.Run).Call)
		m.body = Func(func(ctx context.Context) error {
			_, err := call(ctx)
			return err
		})
		o.retry = retryRule{}
	}
	adopt(&m.core, o)
	return nil
}

// Name returns the name of the task, for a hook or a policy that gets it.
func (m *member) Name() string { return m.core.Options().Name }

func (m *member) String() string { return describe(m.of.of.what(), &m.core, errorOf(&m.core)) }

// Run is called by an executor that is not of the package, and by what a RejectFunc has given the task to.
func (m *member) Run(ctx context.Context) error { return runByHand(ctx, m) }

func (m *member) Slot() *engine.Slot      { return m.core.Slot() }
func (m *member) Outcome() engine.Outcome { return outcomeOf(&m.core) }
func (m *member) Do(w *engine.Worker)     { localOf(w).runTask(m) }
func (m *member) taskCore() *task.Task    { return &m.core }

func (m *member) invoke(ctx context.Context, on *engine.Worker) ending {
	end := guarded(ctx, m.body.Run)
	on.Showing()
	return m.conclude(end)
}

func (m *member) conclude(end ending) ending {
	if m.core.HasOptions() {
		again := false
		if end, _, again = planOf(&m.core).conclude(&m.core, end, m); again {
			if !end.is(runsAgain) { // it was completed meanwhile
				m.over(errorOf(&m.core))
			}
			return end
		}
	}
	m.core.Finish(end.state(), end.err, func(bool) { m.drop() })
	m.over(end.err)
	return end
}

// drop releases the body. The caller holds the task's lock.
func (m *member) drop() { m.body = nil }

// over counts m, which is over.
func (m *member) over(err error) {
	s := m.of
	s.of.over(m, err)
	if s.limit != nil {
		s.placeInTurn(s.limit.leave(m), true)
	}
	s.waiting.over()
}

// isOver reports whether m is over.
func (m *member) isOver() bool { return m.core.State().Done() && !m.core.InBody() }

func (m *member) end(s task.State, err error) bool {
	won := m.core.CompletePending(s, planOf(&m.core).withLast(err), m.drop)
	if won {
		m.over(errorOf(&m.core))
	}
	return won
}

func (m *member) fail(err error) {
	m.core.FinishUncalled(err, func(bool) { m.drop() })
	m.over(err)
}

func (m *member) submitted() any     { return m }
func (m *member) runnable() Runnable { return m }

func (m *member) detachBody() func(context.Context) error {
	var body Runnable
	m.core.IfNotDone(func() { body = m.body })
	if body == nil {
		return nil
	}
	return body.Run
}

// waitList has the tasks of siblings that wait, and some that do not any more, in the order of their submission.
type waitList struct {
	left   atomic.Int64 // tasks that are not over, wait or not
	wanted atomic.Bool  // a task waits for them

	mu      sync.Mutex
	tasks   []*member
	few     [8]*member // the first of tasks
	hosted  int        // of tasks: those that next has returned
	prune   int        // remove tasks that do not wait once there are so many
	allOver sync.Cond  // left has come to 0
}

func (l *waitList) init() { l.allOver.L = &l.mu }

// add adds a task that is about to be submitted.
func (l *waitList) add(m *member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) >= max(l.prune, 64) {
		l.pruneLocked()
	}
	if l.tasks == nil {
		l.tasks = l.few[:0]
	}
	l.tasks = append(l.tasks, m)
}

// pruneLocked removes tasks that do not wait.
func (l *waitList) pruneLocked() {
	some := func(m *member) bool {
		return m.core.State() != task.Pending && !m.core.Options().Repeats || m.core.State().Done()
	}
	all, hosted := l.tasks, slices.DeleteFunc(l.tasks[:l.hosted], some)
	l.tasks = append(hosted, slices.DeleteFunc(all[l.hosted:], some)...)
	clear(all[len(l.tasks):])
	l.hosted, l.prune = len(hosted), 2*len(l.tasks)
}

// next returns the first task that it has not returned, nil if there is none.
func (l *waitList) next() *task.Task {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hosted == len(l.tasks) {
		return nil
	}
	l.hosted++
	return &l.tasks[l.hosted-1].core
}

// isEmpty reports whether no task was added.
func (l *waitList) isEmpty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tasks == nil
}

// snapshot returns the tasks that wait, and some that do not any more.
func (l *waitList) snapshot() []*member {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tasks)
}

// all iterates over these.
func (l *waitList) all() iter.Seq[*task.Task] {
	return func(yield func(*task.Task) bool) {
		for _, m := range l.snapshot() {
			if !yield(&m.core) {
				return
			}
		}
	}
}

// over counts a task that is over.
func (l *waitList) over() {
	if l.left.Add(-1) > 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allOver.Broadcast()
}

// wait waits until all tasks are over.
func (l *waitList) wait() {
	if l.left.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.left.Load() > 0 {
		l.allOver.Wait()
	}
}
