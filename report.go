package executor

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// This file reports what no future shows, to the log and to Hooks.OnPanic and Dropped.

// errorUnseen reports whether an error may go unseen, since there is no future, or none
// that must be kept.
func errorUnseen(u work) bool {
	t := u.taskCore()
	return t == nil || t.Reported()
}

// reportBody reports how a body ended, unless a future shows it, or it is the expected end
// of a schedule or of a canceled body, which returned the error of its context and no other. Of
// the latter, those that Drain has cut short are logged by name. A panic is counted in any case.
func (p *Pool) reportBody(ctx context.Context, u work, info TaskInfo, end ending) {
	perr := end.panicked()
	switch {
	case end.err == nil || end.is(runsAgain):
	case !errorUnseen(u):
		if perr != nil {
			p.countPanic()
		}
	case perr == nil && isPeriodic(u) && matches(end.err, ErrStop):
	case perr == nil && end.is(wasBare) && p.interrupted(u):
		if p.isCut() && p.ctx.Err() != nil {
			p.log(ctx, slog.LevelWarn, "executor: run cut short", info.attrs(slog.Any("reason", ErrShutdown))...)
		}
	default:
		p.report(ctx, info, end)
	}
}

// isPeriodic reports whether u is periodic work, or a run of it.
func isPeriodic(u work) bool {
	t := u.taskCore()
	return t != nil && planOf(t).isPeriodic()
}

// interrupted reports whether the context of the body of u ended before the body
// returned. It always ends afterwards.
func (p *Pool) interrupted(u work) bool {
	t := u.taskCore()
	return p.ctx.Err() != nil || contextOf(u).Err() != nil || t != nil && t.State() == task.Canceled
}

// isCut reports whether Drain has cut short what p runs.
func (p *Pool) isCut() bool { return p.cutting.Load() || p.lender != nil && p.lender.isCut() }

// report reports a failure that no future shows: it is logged, and OnPanic is called for a
// panic.
func (p *Pool) report(ctx context.Context, info TaskInfo, end ending) {
	perr := end.panicked()
	if perr == nil {
		p.log(ctx, slog.LevelWarn, "executor: task failed", info.attrs(slog.Any("error", end.err))...)
		return
	}
	p.countPanic()
	p.logPanic(ctx, info, perr)
	if p.hooks.OnPanic == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			p.logPanic(ctx, info, abrupt(v).panicked())
		}
	}()
	p.hooks.OnPanic(ctx, info, perr)
}

func (p *Pool) countPanic() {
	p.panics.Add(1)
	p.observed.Load().note(panicked)
}

// dropped reports that the task of u, which was accepted, will never run, unless it has
// begun. why is the reason for work without a task; others have it in their outcome. It is
// called once for each task, with no lock held:
//
//	canceled, or done by hand, in the queue    unqueue
//	                           with a worker   skip
//	evicted, discarded                         the policies, in reject.go
//	removed                                    Remove
//	left over at a shutdown                    ShutdownNow, dropAll
func (p *Pool) dropped(u work, why error) { p.reportDrop(u, why, true) }

// takenAway is dropped without a log record, for a task that the caller of the pool asked
// for.
func (p *Pool) takenAway(u work, why error) { p.reportDrop(u, why, false) }

func (p *Pool) reportDrop(u work, why error, log bool) {
	t := u.taskCore()
	if t != nil {
		if t.Begun() {
			return
		}
		why = errorOf(t)
		log = log && t.Reported() && !isPeriodic(u) && why != canceledByHand
	}
	if !log && p.hooks.Dropped == nil {
		return
	}
	info := p.info(0, u)
	info.Run = 0
	if log {
		attrs := info.attrs(slog.Any("reason", why))
		if !info.Submitted.IsZero() {
			attrs = append(attrs, slog.Duration("age", time.Since(info.Submitted)))
		}
		p.log(contextOf(u), slog.LevelWarn, "executor: task dropped", attrs...)
	}
	if p.hooks.Dropped != nil {
		ctx := contextOf(u)
		p.callHook(ctx, info, func() { p.hooks.Dropped(ctx, info, why) })
	}
}

// dropAll cancels tasks that a shutdown has taken out of the queue.
func (p *Pool) dropAll(us []engine.Unit) {
	each(us, func(unit engine.Unit) {
		u := unit.(work)
		defer p.dropped(u, nil)
		u.end(task.Canceled, canceled(ErrShutdown))
	})
}

func (p *Pool) logPanic(ctx context.Context, info TaskInfo, err *PanicError) {
	p.log(ctx, slog.LevelError, "executor: task panicked",
		info.attrs(slog.Any("panic", err.Value), slog.String("stack", string(err.Stack)))...)
}

// log writes a record to the logger of p, slog.Default without one. If the user's handler panics,
// one line goes to the standard error: the goroutine may be a worker.
func (p *Pool) log(ctx context.Context, level slog.Level, text string, attrs ...slog.Attr) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "executor: the log handler panicked: %q; lost: %s %q %q\n",
				fmt.Sprint(v), level, text, fmt.Sprint(attrs))
		}
	}()
	to := p.logger
	if to == nil {
		to = slog.Default()
	}
	to.LogAttrs(ctx, level, text, attrs...)
}

// info returns the argument of hooks; worker is the number of the worker, 0 for a run by the
// submitter.
func (p *Pool) info(worker int, u work) TaskInfo {
	info := TaskInfo{Executor: p.name, Task: u.submitted(), Run: 1, Worker: worker}
	if t := u.taskCore(); t != nil {
		info.Name = t.Options().Name
		info.Due = t.DueTime()
		if p.hooks.Dropped != nil {
			if at := t.Submitted(); at != 0 {
				info.Submitted = p.epoch.Add(time.Duration(at))
			}
		}
		info.Run = planOf(t).number()
	}
	return info
}

// attrs returns the parts of i that are set, then more.
func (i TaskInfo) attrs(more ...slog.Attr) []slog.Attr {
	var as []slog.Attr
	if i.Executor != "" {
		as = append(as, slog.String("executor", i.Executor))
	}
	if i.Name != "" {
		as = append(as, slog.String("task", i.Name))
	}
	return append(as, more...)
}

// callHook calls a hook, whose panic is reported.
func (p *Pool) callHook(ctx context.Context, info TaskInfo, hook func()) {
	defer func() {
		if v := recover(); v != nil {
			p.report(ctx, info, abrupt(v))
		}
	}()
	hook()
}

// each calls f for each element in turn. If a call panics, the others are still made.
func each[E any](all []E, f func(E)) {
	defer func() {
		if len(all) > 0 {
			each(all, f)
		}
	}()
	for len(all) > 0 {
		e := all[0]
		all = all[1:]
		f(e)
	}
}
