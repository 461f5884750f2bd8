package executor

import (
	"context"

	"github.com/executor-go/executor/internal/ctxgroup"
	"github.com/executor-go/executor/internal/task"
)

// This file is the way of a task into a pool:
//
//	Execute, Go, Submit        make an entry of what was submitted
//	enter                      context ended: the task is canceled
//	  gate open                push the task at the tail of the queue
//	  gate closed              admitLocked: the four steps
//	  no room, or shut down    the rejection policy decides (reject.go)
//	afterQueued                from now on the end of its context removes the task
//
// User code, as the methods of the submitter's context, is called before the pool's
// lock is taken or after it is released.

// Execute submits task. It returns nil if the pool has accepted the task, or the rejection
// policy has handled it without an error. Otherwise it returns an error that matches
// [ErrRejected], the error of a [RejectFunc], [ErrNilTask], or the error of ctx if ctx had
// ended already. Execute blocks only if the rejection policy does.
//
// ctx is the parent of the task's context: the body gets its values, and is canceled with
// it. A task that still waits when ctx ends is canceled and never runs. If the rejection
// policy waits, ctx bounds the wait. context.Background costs nothing, another context two
// allocations. A nil ctx panics.
//
// A panic in the body of a plain Runnable, an error that it returns, and that it never ran,
// are logged; Hooks.OnPanic, AfterTask and Dropped are called besides. A *Future carries
// them itself. Execute panics if ctx is nil.
//
// A *Future that is done, or was submitted before, is accepted too, as another task.
// Its body still runs once, for whichever comes first; the others find nothing
// to do.
//
// A type of your own that embeds a *Task is declined, with an error that matches
// [ErrInvalid]: it would be taken for that Task, and its own Run never called.
func (p *Pool) Execute(ctx context.Context, task Runnable) error {
	r, err := runnable(task)
	if err != nil {
		return err
	}
	return p.submit(ctx, r)
}

// runnable returns what is to be submitted for r, or an error if r is no task.
func runnable(r Runnable) (Runnable, error) {
	switch r := r.(type) {
	case Dropped:
		return r.again(), nil
	case *taskRunnable: // of Go, as a RejectFunc gets it
		return r, nil
	}
	if f, ok := r.(Func); r == nil || ok && f == nil {
		return nil, ErrNilTask
	}
	if tt, ok := r.(typedTask); ok && tt.runnable() != r {
		return nil, invalid("task %T embeds a Task, for which it would be taken; "+
			"submit the Task itself, or have it in a field with a name", r)
	}
	return r, nil
}

// submit admits a task that runs once, as soon as it can.
func (p *Pool) submit(ctx context.Context, r Runnable) error {
	mustContext(ctx)
	p.mustBeMade()
	e, t := p.newEntry(ctx, r)
	return p.enter(ctx, e, t)
}

// entry is a task in a pool. A typedTask knows its context, and what has none was
// submitted with Background, so that an entry is one interface value: queues hold a
// million of them, and they are copied under the pool's lock.
//
// A typedTask in an entry is attached to this pool. One that is attached to another
// pool, or is run by hand, is in a taskRunnable.
type entry struct{ run Runnable }

// typedTask is a Runnable that has a task.Task: a Task, a Series, or a taskRunnable.
type typedTask interface {
	Runnable
	taskCore() *task.Task

	// invoke runs the body in this goroutine, after taskCore().Begin, and returns how
	// this run ended. The outcome of the task is in its state.
	invoke(ctx context.Context) ending

	// end completes the task if it is pending.
	end(s task.State, err error) bool

	// fail completes a task that has begun and whose body was not called.
	fail(err error)

	// submitted returns what the submitter knows the task by: its Future or Series, or
	// the Runnable in it.
	submitted() any

	// runnable returns what runs the task by hand: the task itself, or the Runnable in it.
	runnable() Runnable

	// detachBody returns the body for a run without the future, nil if it was released.
	detachBody() func(context.Context) error
}

// taskRunnable is a plain Runnable with a task, where one is needed: to name it, to bound
// its time, to cancel it when its context ends, or to place it in a delay queue. It is
// visible outside only as what a RejectFunc gets of a task of Go with options.
type taskRunnable struct {
	core task.Task
	run  Runnable
}

func newTaskRunnable(r Runnable) *taskRunnable {
	t := &taskRunnable{run: r}
	t.core.Init()
	t.core.MakeReported()
	return t
}

func (r *taskRunnable) taskCore() *task.Task { return &r.core }

// Run is called by what a RejectFunc has given the task to.
func (r *taskRunnable) Run(ctx context.Context) error {
	ctx, cancel := task.Limit(ctx, r.core.Options().Timeout)
	defer cancel()
	return r.run.Run(ctx)
}

func (r *taskRunnable) fail(err error) { r.core.FinishUncalled(err, nil) }
func (r *taskRunnable) submitted() any { return r.run }

// runnable returns r itself if it has options, which the Runnable in it has not.
func (r *taskRunnable) runnable() Runnable {
	if r.core.HasOptions() {
		return r
	}
	return r.run
}

func (r *taskRunnable) end(s task.State, err error) bool {
	return r.core.CompletePending(s, err, nil)
}

func (r *taskRunnable) detachBody() func(context.Context) error { return r.run.Run }

func (r *taskRunnable) invoke(ctx context.Context) (end ending) {
	back := false
	defer func() {
		if !back {
			end = abrupt(recover())
		}
		r.core.Finish(end.state(), end.err, nil)
	}()
	body := r.run.Run
	if d, ok := r.run.(Dropped); ok {
		body = d.body // its timeout is in ctx
	}
	end = returned(ctx, body(ctx))
	back = true
	return end
}

// newEntry returns the entry of a Runnable that is to run as soon as it can, and its
// task, if it has one. In a scheduled pool every entry has one, for its time.
func (p *Pool) newEntry(ctx context.Context, r Runnable) (entry, *task.Task) {
	if p.timer != nil {
		return p.timer.newEntry(ctx, r)
	}
	tt, ok := r.(typedTask)
	switch {
	case ok && tt.taskCore().Attach(&p.owner, ctx, 0):
		return entry{r}, tt.taskCore()
	case !ok && task.IsBackground(ctx) && p.hooks.Dropped == nil:
		return entry{r}, nil
	}
	c := newTaskRunnable(r)
	c.core.AttachNew(&p.owner, ctx)
	return entry{c}, &c.core
}

// typed returns the task of an entry that has one. The case of functions, which have none,
// comes first, since comparing types is faster than looking up methods.
func (e entry) typed() (typedTask, bool) {
	switch r := e.run.(type) {
	case Func:
		return nil, false
	case typedTask:
		return r, true
	case *mark, *keyedTask:
		tt, ok := e.unwrapped().(typedTask)
		return tt, ok
	}
	return nil, false
}

// unwrapped returns the Runnable that was admitted, which a mark, a keyedTask or both hold.
func (e entry) unwrapped() Runnable {
	r := e.run
	if m, ok := r.(*mark); ok {
		r = m.Runnable
	}
	if k, ok := r.(*keyedTask); ok {
		r = k.Runnable
	}
	return r
}

// task returns the core of the entry's task, nil if it has none.
func (e entry) task() *task.Task {
	if tt, ok := e.typed(); ok {
		return tt.taskCore()
	}
	return nil
}

// submittedWithContext reports whether the context of the submission may end or panic.
// A task that has begun keeps the context that it had, which may be another.
func submittedWithContext(t *task.Task) bool {
	return t != nil && (t.HasContext() || t.Begun())
}

// watched reports whether the context of the submission is to be watched while the task
// is in a queue.
func watched(t *task.Task) bool { return submittedWithContext(t) && !t.Grouped() }

// context returns the context that the task was submitted with.
func (e entry) context() context.Context {
	if t := e.task(); t != nil {
		return t.Context()
	}
	return context.Background()
}

// submitted returns the value by which the submitter knows the task; see typedTask.
func (e entry) submitted() any {
	if tt, ok := e.typed(); ok {
		return tt.submitted()
	}
	return e.runnable()
}

// runnable returns what runs the task by hand.
func (e entry) runnable() Runnable {
	if tt, ok := e.typed(); ok {
		return tt.runnable()
	}
	return e.unwrapped()
}

// is reports whether r, which is comparable, is what was submitted, or the user's
// decoration of it.
func (e entry) is(r any) bool {
	if e.submitted() == r || e.runnable() == r {
		return true
	}
	t := e.task()
	if t == nil {
		return false
	}
	d := planOf(t).decoration.Load()
	return d != nil && d.task == r
}

// end completes the entry's task, if it has one and it is pending.
func (e entry) end(s task.State, err error) {
	if tt, ok := e.typed(); ok {
		tt.end(s, err)
	}
}

// setPlace records in the entry's task, if it has one, where it is in the queue.
func (e entry) setPlace(place int) {
	if _, ok := e.run.(Func); ok { // the most frequent case, without a call
		return
	}
	if t := e.task(); t != nil {
		t.SetPlace(place)
	}
}

// enter admits the entry of t, which may be nil, submitted with ctx, or has
// the rejection policy decide.
func (p *Pool) enter(ctx context.Context, e entry, t *task.Task) error {
	if submittedWithContext(t) {
		if err := callUser(p, e, func() error { return task.IfEnded(ctx) }); err != nil {
			e.end(task.Canceled, canceled(err))
			return err
		}
	}
	if p.hooks.Dropped != nil {
		t.SetSubmitted(p.elapsed())
	}
	if p.mu.gate.open.Load() && p.mu.gate.push(e, t, p.observed.Load()) {
		p.afterQueued(ctx, e, t)
		return nil
	}
	p.mustBeMade()
	p.mu.Lock()
	w, v := p.admitLocked(e, t)
	policy := p.mu.reject
	p.mu.Unlock()
	if w != nil {
		p.launch(w)
	}
	switch v {
	case taken:
		return nil
	case queued:
		p.afterQueued(ctx, e, t)
		return nil
	}
	return p.refuse(ctx, e, policy, v.reason())
}

// verdict is the result of an attempt to admit a task.
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

// admitLocked is the four steps. It counts the task if and only if it admits it. The caller
// starts the worker that it returns, without the lock.
func (p *Pool) admitLocked(e entry, t *task.Task) (*worker, verdict) {
	if p.mu.stage != StageRunning && (p.mu.stage != StageShutdown || !e.isTurn()) {
		return nil, tooLate
	}
	if p.timer != nil {
		return p.timer.admitLocked(e, t)
	}
	if p.loan != nil {
		return p.loan.admitLocked(e)
	}
	if p.mu.workers < p.mu.core && !p.mu.whenBusy {
		return p.hireForLocked(e), taken
	}
	if p.mu.workers < p.mu.eager() && p.mu.workers-p.mu.active <= p.mu.queue.len() {
		return p.hireForLocked(e), taken // every worker that is free has a task to come
	}
	if p.mu.idle.top != nil && p.mu.waking == nil && watched(t) {
		// The queue is empty, and in it the task's context would have to be watched.
		p.mu.gate.submitted++
		p.handLocked(p.wakeLocked(), e)
		return nil, taken
	}
	if p.queueLocked(e) {
		p.mu.gate.submitted++
		if p.mu.workers == 0 { // Core is 0, and a task that waits needs a worker
			return p.hireLocked(), queued
		}
		p.dispatchLocked()
		return nil, queued
	}
	if w := p.freeLocked(); w != nil {
		p.mu.gate.submitted++
		first, ok := p.mu.queue.pop()
		if !ok {
			p.handLocked(w, e)
			return nil, taken
		}
		p.queueLocked(e)
		p.assignQueuedLocked(w, first)
		return nil, queued
	}
	if p.mu.workers < p.mu.max {
		return p.hireForLocked(e), taken
	}
	return nil, saturated
}

// queueLocked queues e, with a mark if it is to be measured, and reports whether there was
// room.
func (p *Pool) queueLocked(e entry) bool {
	o := p.observed.Load()
	if o == nil {
		return p.mu.queue.push(e)
	}
	o.refill()
	e.run = o.toQueue(e.run)
	queued := p.mu.queue.push(e)
	if !queued {
		o.notQueued(e.run)
	}
	return queued
}

// afterQueued follows the admission to the queue. From now on the end of the submitter's
// context removes the task. A task that was completed on its way into the queue is removed
// now.
func (p *Pool) afterQueued(ctx context.Context, e entry, t *task.Task) {
	switch {
	case t == nil:
	case t.State().Done():
		p.unqueue(t)
	case watched(t):
		tt, _ := e.typed()
		if t.Begun() || p.timer != nil {
			p.watchContext(ctx, tt, p.contexts.Add)
		} else if ctx.Done() != nil {
			p.watching.Add(tt)
		}
	}
}

// watchContext arranges for tt, which is queued, to be canceled when ctx ends, by add, a method
// of p.contexts. If a method of ctx panics, ctx counts as ended, and the panic continues. A worker
// may have begun the task by then; otherwise it does not run.
func (p *Pool) watchContext(ctx context.Context, tt typedTask, add func(*watch, <-chan struct{})) {
	var m *watch
	returned := false
	defer repanic(&returned, func(err error) {
		tt.end(task.Canceled, canceled(err))
		if m != nil {
			m.Remove()
		}
	})
	if done := ctx.Done(); done != nil {
		m = p.contexts.NewMember(tt, ctx)
		add(m, done)
		tt.taskCore().RemoveWhenDone(m)
	}
	returned = true
}

type watch = ctxgroup.Member[typedTask]

// watchSoon is watchContext for a task that was queued a moment ago, if it still waits, in a
// goroutine for such tasks: most do not.
func (p *Pool) watchSoon(tt typedTask) {
	defer p.reportPanic(tt)
	if t := tt.taskCore(); t.State() == task.Pending && t.BelongsTo(&p.owner) {
		p.watchContext(t.Context(), tt, p.contexts.AddOrEnd)
	}
}

// contextEnded cancels a task whose context has ended, in the goroutine of the context. A
// panic of the user's, as of what OnDone was given, is reported.
func (p *Pool) contextEnded(tt typedTask, ctx context.Context) {
	defer p.reportPanic(tt)
	cancelByContext(tt, ctx)
}

// reportPanic, deferred, reports a panic in a goroutine that watches the contexts of tasks.
func (p *Pool) reportPanic(tt typedTask) {
	if v := recover(); v != nil {
		p.report(context.Background(), p.info(nil, entry{tt}), abrupt(v))
	}
}

// cancelByContext cancels a task whose context has ended. If a method of ctx panics, the
// panic is the cause.
func cancelByContext(tt typedTask, ctx context.Context) {
	returned := false
	defer repanic(&returned, func(err error) { tt.end(task.Canceled, canceled(err)) })
	err := task.ContextError(ctx)
	returned = true
	tt.end(task.Canceled, canceled(err))
}

// callUser calls question, a method of the submitter's context or decoration. If it
// panics, the task, which is not queued yet, fails and counts as rejected, and the
// panic continues in the submitter.
func callUser[A any](p *Pool, e entry, question func() A) (answer A) {
	returned := false
	defer repanic(&returned, func(err error) {
		p.countRejected(err)
		e.end(task.Failed, err)
	})
	answer = question()
	returned = true
	return answer
}

// repanic is deferred by a caller of user code. If the user code has not returned, it calls
// failed, and then continues the panic, or the runtime.Goexit.
func repanic(returned *bool, failed func(err error)) {
	if *returned {
		return
	}
	end := abrupt(recover())
	failed(end.err)
	if perr := end.panicked(); perr != nil {
		panic(perr.Value)
	}
}
