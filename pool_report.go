package executor

import (
	"context"
	"log/slog"
)

// unwatched reports whether nobody holds a future that would show an error.
func (e entry) unwatched() bool {
	t := e.task()
	if t == nil {
		return true
	}
	_, carried := e.run.(*carrier)
	return carried || t.series() != nil
}

// decorated reports whether a task of the user's own is around this one. If it
// panics after the body, no future shows that.
func (e entry) decorated() bool {
	t := e.task()
	return t != nil && t.decorated() != nil
}

// reportBody makes known how a body ended, if that is news. told says that
// AfterTask hears of errors.
func (p *Pool) reportBody(ctx context.Context, e entry, info TaskInfo, end ending, told bool) {
	perr := end.panicked()
	switch {
	case end.err == nil:
	case !e.unwatched() && !(end.abrupt && e.decorated()): // its future shows it
		if perr != nil {
			p.countPanic()
		}
	case perr == nil && (told || matches(end.err, Stop)):
	case perr == nil && p.interrupted(e) && (matches(end.err, context.Canceled) || matches(end.err, context.Cause(ctx))):
	default:
		p.report(ctx, info, end)
	}
}

// interrupted reports whether somebody has ended the context of the body of e. That
// it has ended says nothing, once the body has returned.
func (p *Pool) interrupted(e entry) bool {
	t := e.task()
	return p.ctx.Err() != nil || e.context().Err() != nil || t != nil && t.State() == Canceled
}

// report makes a failure known that nobody else is told of. A panic goes to
// OnPanic or the log, an error to the log.
func (p *Pool) report(ctx context.Context, info TaskInfo, end ending) {
	perr := end.panicked()
	if perr == nil {
		p.log().LogAttrs(ctx, slog.LevelWarn, "executor: task failed", info.attrs(slog.Any("error", end.err))...)
		return
	}
	p.countPanic()
	if p.hooks.OnPanic == nil {
		p.logPanic(ctx, info, perr)
		return
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		if second := abrupt(recover()).panicked(); second != nil {
			p.logPanic(ctx, info, second)
		}
		p.logPanic(ctx, info, perr)
	}()
	p.hooks.OnPanic(ctx, info, perr)
	returned = true
}

func (p *Pool) countPanic() {
	p.mu.Lock()
	p.mu.panics++
	p.mu.Unlock()
}

func (p *Pool) logPanic(ctx context.Context, info TaskInfo, err *PanicError) {
	p.log().LogAttrs(ctx, slog.LevelError, "executor: task panicked",
		info.attrs(slog.Any("panic", err.Value), slog.String("stack", string(err.Stack)))...)
}

func (p *Pool) log() *slog.Logger {
	if p.logger != nil {
		return p.logger
	}
	return slog.Default()
}

// info gives what a hook is told; w is nil for a run by the submitter.
func (p *Pool) info(w *worker, e entry) TaskInfo {
	info := TaskInfo{Executor: p.name, Task: e.origin(), Run: 1}
	if w != nil {
		info.Worker = w.number
	}
	if t := e.task(); t != nil {
		info.Name = t.Name()
		info.Due = t.dueTime()
		if s := t.series(); s != nil {
			info.Run = s.run.Load()
		}
	}
	if u, ok := info.Task.(Dropped); ok && info.Name == "" {
		info.Name = u.name
	}
	return info
}

// attrs gives the parts of i that say something, then more.
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
