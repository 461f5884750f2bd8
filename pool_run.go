package executor

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"strconv"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// This file runs the body of one task on one worker:
//
//	engine ─▶ Do ─▶ runPlain ─▶ guarded ─▶ body          a function without a task
//	          Do ─▶ runTask ─▶ perform ─▶ invoke ─▶ body, and the task is concluded
//	                  └─ prepare: with a context or options; if the context has ended, so does the task
//
// Users' code is met by guard: a panic becomes an ending. What ends the goroutine of the worker
// arrives in lost. Hooks are around all this in hooks_run.go.

// guard is deferred by who calls a body. A panic is its ending; runtime.Goexit goes on.
func guard(end *ending) {
	if v := recover(); v != nil {
		*end = abrupt(v)
	}
}

// guarded calls body.
func guarded(ctx context.Context, body func(context.Context) error) (end ending) {
	defer guard(&end)
	if err := body(ctx); err != nil {
		end = returned(ctx, err)
	}
	return end
}

// local is what a pool keeps with a worker. It is the worker's own.
type local struct {
	pool   *Pool
	worker *engine.Worker

	contexts task.PlainContexts // for bodies without a task
	inBody   *task.PlainContext // that of the body in progress; nil for none

	labels      context.Context // has the pprof labels
	named       string          // the task's name in namedLabels
	namedLabels context.Context // labels with that name; nil before first use
}

func localOf(w *engine.Worker) *local { return w.Local.(*local) }

// workerStarted makes what a pool keeps with a worker.
func (p *Pool) workerStarted(w *engine.Worker) {
	l := &local{pool: p, worker: w, labels: workerLabels(p.name, w.Number)}
	if p.name != "" {
		l.contexts.Labels = l.labels
	}
	w.Local = l
	if p.lender == nil && !w.Hosted {
		p.observed.Load().note(workerStarted)
	}
}

// parkLabels resets the labels of a worker: a profile must not show it at its last task.
func parkLabels(w *engine.Worker) { pprof.SetGoroutineLabels(localOf(w).labels) }

func (p *Pool) workerExited(*engine.Worker) { p.observed.Load().note(workerLeft) }

// runPlain runs the body of u, which has no task.
func (l *local) runPlain(u work, body func(context.Context) error) {
	p := l.pool
	pprof.SetGoroutineLabels(l.labels) // neither those of the last task, nor of who started the goroutine
	if p.hooked || trace.IsEnabled() {
		l.runHooked(l.contexts.Next(&p.owner), u)
		return
	}
	l.worker.Called()
	c := l.contexts.Next(&p.owner)
	l.inBody = c
	end := guarded(c, body)
	l.inBody = nil
	l.contexts.End()
	switch {
	case end.err == nil:
		l.worker.Outcome = engine.Succeeded
		return
	case end.is(wasStopped):
		l.worker.Outcome = engine.Canceled
	}
	l.noteFailure(u, end)
	p.reportBody(c, u, p.info(l.worker.Number, u), end)
}

// runTask runs a task.
func (l *local) runTask(u work) {
	t, labels := u.taskCore(), l.labels
	if !t.IsPlain() {
		labels = l.prepare(u)
	}
	if o := l.pool.observed.Load(); o != nil && o.timed && o.choose() {
		defer l.measureLateness(o, u).end()
	}
	ctx, ok := t.Begin()
	if !ok {
		l.skip(u)
		return
	}
	if end := l.perform(ctx, labels, u); end.is(runsAgain) {
		l.pool.waitsAgain(u)
	}
	l.worker.Outcome = outcomeOf(t)
}

// prepare returns the labels of a task that has options or a context: those of the worker, and the name of the task. If
// the context that it was submitted with has ended, the task is canceled.
func (l *local) prepare(u work) (labels context.Context) {
	t := u.taskCore()
	endsByContext(u)
	if t.HasOptions() {
		return l.labelsNamed(t.Options().Name)
	}
	return l.labels
}

// endsByContext cancels a pending task if the context that it was submitted with has ended, and reports whether it has.
func endsByContext(u work) bool {
	err := task.IfEnded(u.taskCore().Context())
	if err != nil {
		u.end(task.Canceled, canceled(err))
	}
	return err != nil
}

// skip follows a task that does not begin, since it is done.
func (l *local) skip(u work) {
	l.worker.Outcome = outcomeOf(u.taskCore())
	l.pool.dropped(u, nil)
}

// measureLateness begins the measurement of a run of a task of a scheduled pool.
func (l *local) measureLateness(o *observed, u work) run {
	t, now := u.taskCore(), l.pool.clock().Now()
	l.worker.Begun(now.Mono)
	return o.begin(l, u, int64(delay.Until(now.On(t.FollowsWallClock()), t.Due())), now.Mono)
}

// perform calls the body of u, whose task has begun, with the hooks around it.
func (l *local) perform(ctx, labels context.Context, u work) ending {
	p := l.pool
	if labels != context.Background() || !l.worker.Hosted {
		pprof.SetGoroutineLabels(labels)
	}
	if labels != context.Background() {
		if l.worker.Hosted { // by a task, whose labels the goroutine is to have again
			defer pprof.SetGoroutineLabels(u.taskCore().Context())
		}
		ctx = task.WithLabels(ctx, labels)
	}
	if p.hooked || p.hooks.OnPanic != nil || trace.IsEnabled() {
		return l.runHooked(ctx, u)
	}
	l.worker.Called()
	end := u.invoke(ctx, l.worker)
	if end.err != nil {
		l.noteFailure(u, end)
		p.reportBody(ctx, u, p.info(l.worker.Number, u), end)
	}
	return end
}

// noteFailure notes a run that has failed, for Stats.Failures. That of a series which returned ErrStop has not.
func (l *local) noteFailure(u work, end ending) {
	if end.state() == task.Failed && !(isPeriodic(u) && end.isStop()) {
		l.worker.Failed()
	}
}

// lost ends a task that has ended the goroutine of its worker: by runtime.Goexit, with a nil
// v, or by a panic of user code other than body and hooks: of an OnDone function, maybe one that
// is called here.
func (p *Pool) lost(w *engine.Worker, unit engine.Unit, v any) {
	u := unit.(work)
	l := localOf(w)
	t := u.taskCore()
	c := l.inBody
	l.inBody = nil
	switch {
	case c != nil:
		l.contexts.End()
		end := abrupt(v)
		l.noteFailure(u, end)
		p.report(context.Background(), p.info(w.Number, u), end)
	case t == nil: // runHooked has looked after it
	case t.InBody() && v == nil:
		l.noteFailure(u, goexit)
		info := p.info(w.Number, u)
		p.reportBody(context.Background(), u, info, p.endInvoked(context.Background(), info, u, nil))
	case v != nil:
		end := abrupt(v)
		p.report(context.Background(), p.info(w.Number, u), end)
		if !t.State().Done() {
			u.fail(end.err)
		}
	}
	if t != nil {
		w.Outcome = outcomeOf(t)
	}
}

// labelsNamed returns a context with the labels of the worker, and the name of a task.
func (l *local) labelsNamed(name string) context.Context {
	if name == "" {
		return l.labels
	}
	if l.named != name {
		l.named, l.namedLabels = name, pprof.WithLabels(l.labels, pprof.Labels(labelTask, name))
	}
	return l.namedLabels
}

// The keys of the labels of a body.
const (
	labelPool   = "executor"
	labelWorker = "worker"
	labelTask   = "task"
)

// workerLabels returns a context with the pprof labels of a worker: none for a pool
// without a name.
func workerLabels(pool string, number int) context.Context {
	if pool == "" {
		return context.Background()
	}
	return pprof.WithLabels(context.Background(), pprof.Labels(labelPool, pool, labelWorker, strconv.Itoa(number)))
}
