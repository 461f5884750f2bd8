package executor

import (
	"context"
	"errors"
	"runtime/trace"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// This file is what surrounds a body in a pool with hooks, or in an execution trace:
//
//	BeforeTask ─▶ Around ─▶ body ─▶ report what no future shows ─▶ AfterTask
//
// A pool without them does not come here.

// runHooked calls the body of u with the hooks around it. The context of work without a task is
// a PlainContext, which ends here.
func (l *local) runHooked(ctx context.Context, u work) (end ending) {
	p := l.pool
	if trace.IsEnabled() {
		defer l.traceRegion(u).End()
	}
	info := p.info(l.worker.Number, u) // before the run, which may set the time of the next
	if p.hooked {
		info.Begun = time.Now()
	}
	_, plain := ctx.(*task.PlainContext)
	if p.hooks.BeforeTask != nil {
		if ctx, end = l.before(ctx, info, u); end.err != nil {
			if plain {
				l.contexts.End()
			}
			return end
		}
	}
	back := false
	defer func() {
		if !back {
			end = p.endInvoked(ctx, info, u, recover())
		}
		if plain {
			l.contexts.End()
		}
		l.worker.Outcome = hookedOutcome(u, end)
		l.noteFailure(u, end)
		p.reportBody(ctx, u, info, end)
		if p.hooks.AfterTask != nil {
			p.callHook(ctx, info, func() { p.hooks.AfterTask(ctx, info, end.err) })
		}
	}()
	if p.hooks.Around != nil {
		var called bool
		if end, called = l.around(ctx, info, u); called {
			l.worker.Called()
		}
	} else {
		l.worker.Called()
		end = u.invoke(ctx, l.worker)
	}
	back = true
	return end
}

// endInvoked returns the ending of a body whose invoke has not returned: it has called runtime.Goexit, or else a
// function that OnDone was given has panicked with v, which is reported.
func (p *Pool) endInvoked(ctx context.Context, info TaskInfo, u work, v any) (end ending) {
	t := u.taskCore()
	if v != nil {
		p.report(ctx, info, abrupt(v))
		return ending{err: errorOf(t)}
	}
	end = goexit
	if t == nil || !t.InBody() {
		return end
	}
	defer func() {
		if v := recover(); v != nil { // of a function that OnDone was given
			p.report(ctx, info, abrupt(v))
		}
	}()
	return u.conclude(end)
}

// traceRegion begins a region of an execution trace, with the name of the task.
func (l *local) traceRegion(u work) *trace.Region {
	name := l.pool.info(l.worker.Number, u).Name
	if name == "" {
		name = "executor task"
	}
	return trace.StartRegion(contextOf(u), name)
}

// aroundRun is a run that Hooks.Around is to make.
type aroundRun struct {
	pool  *Pool
	info  TaskInfo
	work  work
	on    *engine.Worker
	taken atomic.Bool   // run was called, or is too late
	over  chan struct{} // closed when run has returned
	end   ending        // of the body; read once over is closed
}

func (r *aroundRun) run(ctx context.Context) (err error) {
	mustContext(ctx)
	if r.taken.Swap(true) {
		return errRunOnce
	}
	back := false
	defer func() {
		defer close(r.over)
		if !back {
			r.end = r.pool.endInvoked(ctx, r.info, r.work, recover())
			err = r.end.err
		}
	}()
	r.end = r.work.invoke(ctx, r.on)
	back = true
	return r.end.err
}

var (
	errRunOnce  = errors.New("executor: Hooks.Around called run twice, or after it had returned")
	errNoAround = errors.New("executor: Hooks.Around returned without having called run")
)

// around calls the Around hook. It returns the ending of the body, and whether that was
// called.
func (l *local) around(ctx context.Context, info TaskInfo, u work) (end ending, called bool) {
	p := l.pool
	r := &aroundRun{pool: p, info: info, work: u, on: l.worker, over: make(chan struct{})}
	var hook ending
	defer func() {
		if v := recover(); v != nil {
			hook = abrupt(v)
		}
		if called = r.taken.Swap(true); called {
			<-r.over
			end = r.end
		} else if end = hook; end.err == nil {
			end.err = errNoAround
		}
		shown := !called && errorUnseen(u) // the report has the ending, which is the hook's
		if hook.is(wasAbrupt) && !shown {
			p.report(ctx, info, hook)
		}
		if !called {
			u.fail(end.err)
		}
	}()
	hook.err = p.hooks.Around(ctx, info, r.run)
	return end, called
}

// before calls the BeforeTask hook. If that panics, the task has failed.
func (l *local) before(ctx context.Context, info TaskInfo, u work) (derived context.Context, end ending) {
	defer func() {
		if v := recover(); v != nil {
			end = abrupt(v)
			u.fail(end.err)
			l.pool.report(ctx, info, end)
		}
	}()
	derived = l.pool.hooks.BeforeTask(ctx, info)
	if derived == nil {
		derived = ctx
	}
	return derived, ending{}
}

// hookedOutcome returns the outcome of a run.
func hookedOutcome(u work, end ending) engine.Outcome {
	switch t := u.taskCore(); {
	case t != nil:
		return outcomeOf(t)
	case end.err == nil:
		return engine.Succeeded
	case end.is(wasStopped):
		return engine.Canceled
	}
	return engine.Failed
}
