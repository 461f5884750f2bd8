package executor

import (
	"context"
	"runtime/pprof"
	"time"
)

// outcome is how a task ended, as the counters see it.
type outcome uint8

const (
	succeeded outcome = iota
	failed
	canceledTask
	rejectedTask
	numOutcomes

	again // one run of several has ended
	none  // there was no task
)

// outcomeOf reads the outcome of a task off its state.
func outcomeOf(t *task) outcome {
	switch t.State() {
	case Pending:
		return again
	case Succeeded:
		return succeeded
	case Failed:
		return failed
	}
	return canceledTask
}

// final is the state that a task with the outcome err ends in.
func final(err error) State {
	if err != nil {
		return Failed
	}
	return Succeeded
}

// run runs the task in the hands of w.
func (p *Pool) run(w *worker) outcome {
	e := w.entry
	if b, ok := e.bound(); ok {
		return p.runBound(w, e, b)
	}
	if r, ok := e.run.(*errand); ok {
		return p.runErrand(w, e, r)
	}
	return plainly(p.perform(p.ctx, w, e, nil))
}

func (p *Pool) runBound(w *worker, e entry, b bound) outcome {
	t := b.core()
	submitted := t.context()
	if submitted.Err() != nil {
		expire(b, ended(submitted))
	}
	s := t.series()
	if s != nil && s.stale {
		s.stale = false
		p.restart(submitted, w, e, b)
		return outcomeOf(t)
	}
	ctx, ok := t.begin(p, submitted, s != nil)
	if !ok {
		if !t.State().Done() {
			return canceledTask // a promise, or somebody else runs it: the pool has no part in it
		}
		return outcomeOf(t)
	}
	if s != nil {
		s.run.Add(1)
	}
	p.perform(ctx, w, e, t)
	if submitted.Err() != nil {
		expire(b, ended(submitted)) // a series whose submitter is gone
	}
	return outcomeOf(t)
}

// restart finds a new time for a series after the wall clock was set back. It
// ends the series if there is none, or if the trigger does not tell.
func (p *Pool) restart(ctx context.Context, w *worker, e entry, b bound) {
	more, last := false, ending{ErrGoexit, true}
	defer func() {
		if more {
			return
		}
		b.end(final(last.err), last.err)
		if last.err != nil {
			p.report(ctx, p.info(w, e), last)
		}
	}()
	more, last = b.core().series().restart(b.core())
}

// runErrand runs a Runnable that came with a context. From one that never ends none
// has to be derived for it.
func (p *Pool) runErrand(w *worker, e entry, r *errand) outcome {
	if r.ctx.Err() != nil {
		return canceledTask
	}
	ctx := withDue(r.ctx, time.Time{})
	if ctx.Done() == nil {
		return plainly(p.perform(p.lasting(ctx), w, e, nil))
	}
	ctx, cancel := within(p, ctx)
	defer cancel(ErrReturned)
	return plainly(p.perform(ctx, w, e, nil))
}

// plainly is the outcome of a task that is over when its body is.
func plainly(end ending) outcome {
	if end.err != nil {
		return failed
	}
	return succeeded
}

// perform calls the body of e, whose task is t, with the hooks around it. No panic
// of these gets out of it, but runtime.Goexit does.
func (p *Pool) perform(ctx context.Context, w *worker, e entry, t *task) (end ending) {
	labels := w.labels // a profile must not show it at its last task, nor at the work of who started it
	if e.accompanied(t) {
		labels = w.labelsWith(e.context())
	}
	pprof.SetGoroutineLabels(labels)
	var early *TaskInfo
	if p.hooked || t != nil && t.has(special) {
		info := p.info(w, e) // before the run, which may set the time of the next
		early = &info
	}
	if p.hooks.BeforeTask != nil {
		w.told = true
		ctx, end = p.before(ctx, *early, e)
		w.told = false
		if end.err != nil {
			return end
		}
	}
	w.ran = true
	end = ending{ErrGoexit, true} // unless the body returns
	defer func() {
		if end.abrupt && t == nil { // a task catches what comes out of its body itself
			end = abrupt(recover())
		}
		if p.hooked || end.err != nil {
			p.after(ctx, w, e, early, end)
		}
	}()
	if f, ok := e.run.(Func); ok { // by far the most frequent: two calls less are felt
		end = ending{err: f(ctx)}
	} else {
		end = e.call(ctx)
	}
	w.fine = end.err == nil
	return end
}

// call calls the body. A panic of a plain Runnable is the caller's to catch.
func (e entry) call(ctx context.Context) ending {
	if b, ok := e.bound(); ok {
		return b.invoke(ctx)
	}
	return ending{err: e.run.Run(ctx)}
}

// invoke is call; a panic comes back as an error.
func (e entry) invoke(ctx context.Context) (end ending) {
	returned := false
	defer func() {
		if !returned && e.task() == nil {
			end = abrupt(recover())
		}
	}()
	end = e.call(ctx)
	returned = true
	return end
}

// before calls the BeforeTask hook. If that does not return, the task has
// failed.
func (p *Pool) before(ctx context.Context, info TaskInfo, e entry) (derived context.Context, end ending) {
	returned := false
	defer func() {
		if returned {
			return
		}
		end = abrupt(recover())
		if b, ok := e.bound(); ok {
			b.fail(end.err)
		}
		p.report(ctx, info, end)
	}()
	derived = p.hooks.BeforeTask(ctx, info)
	returned = true
	if derived == nil {
		derived = ctx
	}
	return derived, ending{}
}

// after tells whoever wants to know how a body ended. early is what was known of
// the task before, nil if that is the same as now.
func (p *Pool) after(ctx context.Context, w *worker, e entry, early *TaskInfo, end ending) {
	var info TaskInfo
	if early != nil {
		info = *early
	} else {
		info = p.info(w, e)
	}
	p.reportBody(ctx, e, info, end, p.hooks.AfterTask != nil)
	if p.hooks.AfterTask == nil {
		return
	}
	returned := false
	defer func() {
		if !returned {
			p.report(ctx, info, abrupt(recover()))
		}
	}()
	p.hooks.AfterTask(ctx, info, end.err)
	returned = true
}
