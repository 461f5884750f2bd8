package executor

import (
	"context"
	"runtime/pprof"
	"runtime/trace"

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

func (f plainFunc) Do(w *engine.Worker)      { localOf(w).runPlain(f, f) }
func (r *plainRunnable) Do(w *engine.Worker) { localOf(w).runPlain(r, r.run.Run) }
func (r *taskRunnable) Do(w *engine.Worker)  { localOf(w).runTask(r) }
func (u *taskWork[T]) Do(w *engine.Worker)   { localOf(w).runTask(u) }

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

// skip follows a task that does not begin, since it is done.
func (l *local) skip(u work) {
	l.worker.Outcome = outcomeOf(u.taskCore())
	l.pool.dropped(u, nil)
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
