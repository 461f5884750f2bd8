package executor

import (
	"context"
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
	owner  *task.Owner // of the tasks of ex
	pool   *Pool       // ex, if that is one that is not scheduled
	common task.Common // to all tasks on pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	helps  bool // the caller runs what waits, since it is a task of ex

	waiting waitList
	unwatch func() bool // else endWaiting is called when the context ends; nil if the caller's has no end
}

// init makes siblings, as yet none, on ex. ctx is the caller's.
func (s *siblings) init(ctx context.Context, ex Executor) {
	s.ex, s.owner = ex, ownerOf(ex)
	s.helps = runsOn(ctx, s.owner)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.waiting.init()
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

// help runs what no worker has begun, also what is added meanwhile, until all are over.
func (s *siblings) help() {
	h := &helper{}
	var retrying []*member // that h has not yet
	returns := false
	defer func() {
		if returns {
			return
		}
		for _, b := range h.all { // a function has called runtime.Goexit: a Wait that is deferred finds them in the list
			s.waiting.add(b.body.(*member))
		}
		for _, m := range retrying {
			s.waiting.add(m)
		}
	}()
	s.runWaiting(&retrying)
	if s.waiting.left.Load() > 0 {
		h = newHelper(s.ctx, nil, []*task.Owner{s.owner})
		s.helpRetrying(h, &retrying)
	}
	returns = true
}

// helpRetrying is help, where tasks with Retry may be left to run later.
func (s *siblings) helpRetrying(h *helper, retrying *[]*member) {
	defer h.end()
	defer s.waiting.tells(h.more)()
	for ended := s.ctx.Done(); s.waiting.left.Load() > 0; s.runWaiting(retrying) {
		for _, m := range *retrying {
			h.add(m)
		}
		*retrying = nil
		if ended == nil { // endWaiting did not find these
			for _, b := range h.all {
				b.end(task.Canceled, canceled(task.ContextError(s.ctx)))
			}
		}
		if _, next := h.run(false); !h.await(next, ended) {
			ended = nil
		}
	}
}

// runWaiting runs what no worker has begun, but for tasks with Retry, which it appends to retrying: another attempt may
// be left to run later.
func (s *siblings) runWaiting(retrying *[]*member) {
	for m := s.waiting.next(); m != nil; m = s.waiting.next() {
		if retryOf(&m.core) == nil {
			runByHand(s.ctx, m, task.AnyTime)
		} else {
			*retrying = append(*retrying, m)
		}
	}
}

// endWaiting ends the tasks that wait, since the context has ended.
func (s *siblings) endWaiting() {
	err := canceled(task.ContextError(s.ctx))
	for m := s.waiting.next(); m != nil; m = s.waiting.next() {
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
func (m *member) Run(ctx context.Context) error { return runByHand(ctx, m, task.Unowned) }

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
	m.of.waiting.over()
}

// isOver reports whether m is over.
func (m *member) isOver() bool { return m.core.State().Done() && !m.core.InBody() }

func (m *member) end(s task.State, err error) bool {
	won := m.core.CompletePending(s, outcomeWithLast(&m.core, err), m.drop)
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

// waitList has the tasks of siblings that wait, and some that do not any more, in the order
// of their submission. Only a task of the same pool may run them: another goroutine would
// break the pool's limit, and the order of a pool with one worker.
type waitList struct {
	left atomic.Int64 // tasks that are not over, wait or not

	mu      sync.Mutex
	tasks   []*member
	few     [8]*member      // the first of tasks
	prune   int             // remove tasks that do not wait once there are so many
	allOver sync.Cond       // left has come to 0
	helpers []chan struct{} // each gets a token when a task is added, and when left has come to 0
}

func (l *waitList) init() { l.allOver.L = &l.mu }

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
	l.tellLocked()
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

// over counts a task that is over.
func (l *waitList) over() {
	if l.left.Add(-1) > 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allOver.Broadcast()
	l.tellLocked()
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

// tells has helper get its tokens, and one now, until the function that it returns is called.
func (l *waitList) tells(helper chan struct{}) (forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.helpers = append(l.helpers, helper)
	signal(helper)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.helpers = slices.DeleteFunc(l.helpers, func(h chan struct{}) bool { return h == helper })
	}
}

// tellLocked gives the helpers a token. The caller holds the lock.
func (l *waitList) tellLocked() {
	for _, h := range l.helpers {
		signal(h)
	}
}
