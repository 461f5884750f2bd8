package executor

import (
	"context"
	"log/slog"
	"runtime/pprof"
	"strconv"
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
	return p.runPlain(w, e)
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
	p.perform(ctx, w, e)
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

// runPlain runs a Runnable that has no life of its own. It costs no context if
// the submitter's context never ends: the pool's own serves all of them.
func (p *Pool) runPlain(w *worker, e entry) outcome {
	ctx := p.ctx
	if r, ok := e.run.(*errand); ok {
		if r.ctx.Err() != nil {
			return canceledTask
		}
		ctx = withDue(r.ctx, time.Time{})
		if ctx.Done() == nil {
			ctx = p.lasting(ctx)
		} else {
			limited, cancel := within(p, ctx)
			defer cancel(ErrReturned)
			ctx = limited
		}
	}
	if p.perform(ctx, w, e).err != nil {
		return failed
	}
	return succeeded
}

// perform calls the body of e, with the hooks around it. No panic of these
// gets out of it, but runtime.Goexit does.
func (p *Pool) perform(ctx context.Context, w *worker, e entry) (end ending) {
	w.label(e.context())
	var info TaskInfo
	if t := e.task(); p.hooked || t != nil && t.has(special) {
		info = p.info(w, e) // before the run, which may set the time of the next
	}
	if p.hooks.BeforeTask != nil {
		w.told = true
		ctx, end = p.before(ctx, info, e)
		w.told = false
		if end.err != nil {
			return end
		}
	}
	w.ran = true
	end = ending{ErrGoexit, true} // unless invoke returns
	defer func() {
		if p.hooked || end.err != nil {
			p.after(ctx, w, e, info, end)
		}
	}()
	end = e.invoke(ctx)
	w.fine = end.err == nil
	return end
}

// invoke calls the body; a panic comes back as an error.
func (e entry) invoke(ctx context.Context) (end ending) {
	if b, ok := e.bound(); ok {
		return b.invoke(ctx)
	}
	returned := false
	defer func() {
		if !returned {
			end = abrupt(recover())
		}
	}()
	end.err = e.run.Run(ctx)
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

// after tells whoever wants to know how a body ended.
func (p *Pool) after(ctx context.Context, w *worker, e entry, info TaskInfo, end ending) {
	if info.Task == nil {
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
	case perr == nil && (told || matches(end.err, Done)):
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
	if u, ok := info.Task.(Unrun); ok && info.Name == "" {
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

// label gives the goroutine the labels of its worker and those of the context
// that the task was submitted with. Without it, a worker would keep what the
// task before it set, and what the submitter that caused its start had.
func (w *worker) label(ctx context.Context) {
	labels := w.labels
	if ctx != context.Background() {
		own := false
		pprof.ForLabels(ctx, func(string, string) bool {
			own = true
			return false
		})
		if own {
			labels = ctx
			pprof.ForLabels(w.labels, func(k, v string) bool {
				labels = pprof.WithLabels(labels, pprof.Labels(k, v))
				return true
			})
		}
	}
	pprof.SetGoroutineLabels(labels)
}

// workerLabels gives a context with the pprof labels of a worker: none for a
// pool without a name.
func workerLabels(pool string, number int) context.Context {
	if pool == "" {
		return context.Background()
	}
	return pprof.WithLabels(context.Background(), pprof.Labels("executor", pool, "worker", strconv.Itoa(number)))
}
