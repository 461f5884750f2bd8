package executor

import (
	"context"
	"slices"
	"sync"

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
	owner  *task.Owner // of the tasks of ex
	pool   *Pool       // ex, if that is one that is not scheduled
	common task.Common // to all tasks on pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	helps  bool           // the caller runs what waits, since it is a task of ex
	left   sync.WaitGroup // those that are not over

	waiting waitList
	unwatch func() bool // else endWaiting is called when the context ends; nil if the caller's has no end
}

// init makes siblings, as yet none, on ex. ctx is the caller's.
func (s *siblings) init(ctx context.Context, ex Executor) {
	s.ex, s.owner = ex, ownerOf(ex)
	s.helps = runsOn(ctx, s.owner)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if p, ok := ex.(*Pool); ok && p.timer == nil {
		s.pool = p
		s.common.Init(&p.owner, s.ctx)
	}
	if ctx.Done() != nil {
		s.unwatch = context.AfterFunc(s.ctx, s.endWaiting)
	}
}

// submit submits a new member, whose body may be nil, which is an error. It ends with an error in
// any case.
func (s *siblings) submit(m *member, body Runnable, opts []Option) {
	s.left.Add(1)
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
	if err := task.IfEnded(s.ctx); err != nil { // endWaiting may have been here
		m.end(task.Canceled, canceled(err))
		return
	}
	var err error
	if s.pool == nil {
		err = s.ex.Execute(s.ctx, m)
	} else {
		err = s.pool.enter(s.ctx, m, &m.core, s.helps)
	}
	if err != nil {
		m.end(task.Failed, err) // unless ex has completed it
	}
}

// help runs what no worker has begun.
func (s *siblings) help() {
	var retrying []*member
	for m := s.waiting.next(); m != nil; m = s.waiting.next() {
		if retryOf(&m.core) == nil {
			m.Run(s.ctx)
		} else {
			retrying = append(retrying, m)
		}
	}
	if len(retrying) == 0 {
		return
	}
	all := make([]body, len(retrying))
	for i, m := range retrying {
		all[i] = m
		s.waiting.add(m) // for the end of the context
	}
	helpAttempts(s.ctx, all, false, nil, s.owner)
	if s.ctx.Err() != nil { // maybe since before that
		s.endWaiting()
	}
}

// endWaiting ends the tasks that wait, since the context has ended.
func (s *siblings) endWaiting() {
	ended := false
	defer func() {
		if !ended { // a hook has called runtime.Goexit
			s.endWaiting()
		}
	}()
	err := canceled(task.ContextError(s.ctx))
	for m := s.waiting.next(); m != nil; m = s.waiting.next() {
		m.end(task.Canceled, err)
	}
	ended = true
}

// member is one of siblings. It is over when its body has returned, or will never run. Nothing
// but its executor and its siblings can complete it. Its context is not watched by the pool, since
// the siblings end it themselves.
type member struct {
	core task.Task
	of   *siblings
	body Runnable // nil once it is over; under the task's lock
}

// configure evaluates the options of m, which is new.
func (m *member) configure(opts []Option) error {
	if m.body == nil {
		return ErrNilTask
	}
	if len(opts) == 0 {
		return nil
	}
	o, err := gather(oneRun, opts)
	if err != nil {
		return err
	}
	if o.retry.attempts > 1 && m.of.owner == nil {
		call := inPlace(o.retry, Func(m.body.Run).Call)
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

// Run is called by the caller that waits, by an executor that is not of the package, and by what a
// RejectFunc has given the task to.
func (m *member) Run(ctx context.Context) error { return runByHand(ctx, m, task.AnyTime) }

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
		if end, again = tryAgain(&m.core, end, m.drop); again {
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
	m.of.of.over(m, err)
	m.of.left.Done()
}

// isOver reports whether m is over.
func (m *member) isOver() bool { return m.core.State().Done() && !m.core.InBody() }

func (m *member) end(s task.State, err error) bool {
	won := false
	defer func() {
		if won { // also if a hook has called runtime.Goexit
			m.over(errorOf(&m.core))
		}
	}()
	return m.core.CompletePending(s, outcomeWithLast(&m.core, err), func() { won, m.body = true, nil })
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

// waitList has the tasks of siblings that wait, and some that do not any more, in the order
// of their submission. Only a task of the same pool may run them: another goroutine would
// break the pool's limit, and the order of a pool with one worker.
type waitList struct {
	mu    sync.Mutex
	tasks []*member
	few   [8]*member // the first of tasks
	prune int        // remove tasks that do not wait once there are so many
}

// add adds a task that is about to be submitted.
func (l *waitList) add(m *member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) >= max(l.prune, 64) {
		l.tasks = slices.DeleteFunc(l.tasks, func(m *member) bool {
			return m.core.State() != task.Pending && retryOf(&m.core) == nil || m.core.State().Done()
		})
		l.prune = 2 * len(l.tasks)
	}
	if l.tasks == nil {
		l.tasks = l.few[:0]
	}
	l.tasks = append(l.tasks, m)
}

// next takes the first task, nil if there is none.
func (l *waitList) next() *member {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) == 0 {
		return nil
	}
	m := l.tasks[0]
	l.tasks[0] = nil
	l.tasks = l.tasks[1:]
	return m
}
