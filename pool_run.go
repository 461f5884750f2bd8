package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// This file runs one task on one worker:
//
//	run ── context ended: cancel it, or leave it to its state
//	  └─ perform ── BeforeTask ── body ── report what no future shows ── AfterTask
//
// The outcome of a task that has a state is read from that afterwards; a plain Runnable
// has only its ending.

// outcome is how a task ended, as the counters see it.
type outcome uint8

const (
	succeeded outcome = iota
	failed
	canceledTask
	rejectedTask
	numOutcomes

	noTask // there was no task
	recurs // one run of several has ended
	byHand // Task.Run or a wait runs it
)

// outcomeOf returns the outcome of a task from its state.
func outcomeOf(t *task.Task) outcome {
	switch t.State() {
	case task.Pending:
		return recurs
	case task.Succeeded:
		return succeeded
	case task.Failed:
		return failed
	}
	return canceledTask
}

// run runs the task in the hands of w.
func (p *Pool) run(w *worker) outcome {
	e := w.entry
	if tt, ok := e.typed(); ok {
		if t, ok := tt.(*shareTurn); ok {
			return p.runTurn(w, t)
		}
		return p.runTyped(w, e, tt)
	}
	end := p.perform(w.contexts.Lend(), w, e, nil)
	switch {
	case end.err == nil:
		return succeeded
	case end.stopped:
		return canceledTask
	}
	return failed
}

// runMeasured runs the task in the hands of w, and measures it if its body is called.
func (p *Pool) runMeasured(w *worker) outcome {
	o := w.measured
	w.measured = nil
	named := o.named(p.info(w, w.entry).Name)
	began := p.elapsed()
	wait := time.Duration(began - w.admitted)
	if p.timer != nil {
		t := w.entry.task()
		wait = delay.Until(p.clock().Now().On(t.FollowsWallClock()), t.Due())
	}
	defer func() {
		if w.phase < phaseCalled {
			return
		}
		run := time.Duration(p.elapsed() - began)
		o.all.record(wait, run)
		if named != nil {
			named.record(wait, run)
		}
	}()
	return p.run(w)
}

// runTyped runs a task that has a state. If the context of its submission has ended, the
// task is canceled.
func (p *Pool) runTyped(w *worker, e entry, tt typedTask) outcome {
	t := tt.taskCore()
	submitted := t.Context()
	if submitted.Err() != nil {
		tt.end(task.Canceled, canceled(task.ContextError(submitted)))
	}
	if s := planOf(t).series; s != nil {
		return p.runSeries(submitted, w, e, s)
	}
	ctx, ok := t.Begin(task.Once)
	if !ok {
		switch t.State() {
		case task.Pending:
			return canceledTask // a promise
		case task.Running:
			return byHand
		}
		p.dropped(e, nil)
		return outcomeOf(t)
	}
	p.perform(ctx, w, e, t)
	return outcomeOf(t)
}

// perform calls the body of e, whose task is t, with the hooks around it. No panic
// of these gets out of it, but runtime.Goexit does.
func (p *Pool) perform(ctx context.Context, w *worker, e entry, t *task.Task) (end ending) {
	labels := w.labels // a profile must not show it at its last task, nor at the work of the goroutine that started it
	if t != nil && (t.HasOptions() || t.HasContext()) {
		labels = w.labelsOf(t)
	}
	pprof.SetGoroutineLabels(labels)
	var early *TaskInfo
	if p.hooked || t != nil && t.HasOptions() {
		info := p.info(w, e) // before the run, which may set the time of the next
		if p.hooked {
			info.Begun = time.Now()
		}
		early = &info
	}
	if p.hooks.BeforeTask != nil {
		w.phase = phaseInHook
		ctx, end = p.before(ctx, *early, e)
		w.phase = phaseTaken
		if end.err != nil {
			return end
		}
	}
	w.phase = phaseCalled
	end = goexit // unless the body returns
	caught := t != nil
	defer func() {
		if end.abrupt && !caught { // a task catches what comes out of its body itself
			end = abrupt(recover())
		}
		if p.hooked || end.err != nil {
			p.after(ctx, w, e, early, end)
		}
	}()
	if p.hooks.Around != nil {
		var called bool
		end, called = p.around(ctx, *early, e)
		caught = true // around catches what comes out of the hook, and of the body
		if !called {
			w.phase = phaseTaken
		}
	} else if f, ok := e.run.(Func); ok { // by far the most frequent: two calls less are felt
		err := f(ctx)
		if end = (ending{}); err != nil {
			end = returned(ctx, err)
		}
	} else {
		end = e.call(ctx)
	}
	if end.err == nil {
		w.phase = phaseReturned
	}
	return end
}

// call calls the body. A panic of a plain Runnable is the caller's to catch.
func (e entry) call(ctx context.Context) ending {
	if tt, ok := e.typed(); ok {
		return tt.invoke(ctx)
	}
	return returned(ctx, e.run.Run(ctx))
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

// aroundRun is a run that Hooks.Around is to make.
type aroundRun struct {
	e     entry
	taken atomic.Bool   // run was called, or is too late
	over  chan struct{} // closed when run has returned
	end   ending        // of the body; read once over is closed
}

func (r *aroundRun) run(ctx context.Context) error {
	mustContext(ctx)
	if r.taken.Swap(true) {
		return errRunOnce
	}
	defer close(r.over)
	r.end = goexit // unless the body returns
	r.end = r.e.invoke(ctx)
	return r.end.err
}

var (
	errRunOnce  = errors.New("executor: Hooks.Around called run twice, or after it had returned")
	errNoAround = errors.New("executor: Hooks.Around returned without having called run")
)

// around calls the Around hook. It returns the ending of the body, and whether that was
// called.
func (p *Pool) around(ctx context.Context, info TaskInfo, e entry) (end ending, called bool) {
	r := &aroundRun{e: e, over: make(chan struct{})}
	var hook ending
	returned := false
	defer func() {
		if !returned {
			hook = abrupt(recover())
		}
		if called = r.taken.Swap(true); called {
			<-r.over
			end = r.end
		} else if end = hook; end.err == nil {
			end.err = errNoAround
		}
		exited := end.abrupt && end.err == ErrGoexit // the ending has it, also that of a body, which ends the hook
		shown := !called && e.errorUnseen()          // after reports the ending, which is the hook's
		if hook.abrupt && !exited && !shown {
			p.report(ctx, info, hook)
		}
		if tt, ok := e.typed(); ok && !called {
			tt.fail(end.err)
		}
	}()
	hook.err = p.hooks.Around(ctx, info, r.run)
	returned = true
	return end, called
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
		if tt, ok := e.typed(); ok {
			tt.fail(end.err)
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

// after reports how a body ended, and calls AfterTask. early is the task's info before the
// run, nil if it is the same as now.
func (p *Pool) after(ctx context.Context, w *worker, e entry, early *TaskInfo, end ending) {
	var info TaskInfo
	if early != nil {
		info = *early
	} else {
		info = p.info(w, e)
	}
	p.reportBody(ctx, e, info, end)
	if p.hooks.AfterTask == nil {
		return
	}
	p.callHook(ctx, info, func() {
		w.contexts.EndNow()
		p.hooks.AfterTask(ctx, info, end.err)
	})
}

// callHook calls a hook, whose failure to return is reported.
func (p *Pool) callHook(ctx context.Context, info TaskInfo, hook func()) {
	returned := false
	defer func() {
		if !returned {
			p.report(ctx, info, abrupt(recover()))
		}
	}()
	hook()
	returned = true
}

// errorUnseen reports whether an error may go unseen, since there is no future, or none
// that must be kept.
func (e entry) errorUnseen() bool {
	t := e.task()
	return t == nil || t.Reported()
}

// decorated reports whether a user's task wraps this one. If that panics after the body, no
// future shows it.
func (e entry) decorated() bool {
	t := e.task()
	return t != nil && planOf(t).decoration.Load() != nil
}

// reportBody reports how a body ended, unless a future shows it, or it is the expected end
// of a schedule or of a canceled body. A panic is counted in any case.
func (p *Pool) reportBody(ctx context.Context, e entry, info TaskInfo, end ending) {
	perr := end.panicked()
	switch {
	case end.err == nil:
	case !e.errorUnseen() && !(end.abrupt && e.decorated()):
		if perr != nil {
			p.countPanic()
		}
	case perr == nil && e.periodic() && matches(end.err, Stop):
	case perr == nil && p.interrupted(e) &&
		(matches(end.err, context.Canceled) || matches(end.err, context.Cause(ctx))):
	default:
		p.report(ctx, info, end)
	}
}

// periodic reports whether e is periodic work, or a run of it.
func (e entry) periodic() bool {
	t := e.task()
	return t != nil && (planOf(t).series != nil || planOf(t).run != nil)
}

// interrupted reports whether the context of the body of e ended before the body
// returned. It always ends afterwards.
func (p *Pool) interrupted(e entry) bool {
	t := e.task()
	return p.ctx.Err() != nil || e.context().Err() != nil || t != nil && t.State() == task.Canceled
}

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
	returned := false
	defer func() {
		if second := abrupt(recover()).panicked(); !returned && second != nil {
			p.logPanic(ctx, info, second)
		}
	}()
	p.hooks.OnPanic(ctx, info, perr)
	returned = true
}

func (p *Pool) countPanic() {
	p.mu.Lock()
	p.mu.panics++
	p.mu.Unlock()
	p.observed.Load().note(panicked)
}

func (p *Pool) logPanic(ctx context.Context, info TaskInfo, err *PanicError) {
	logPanic(p.logger, ctx, info, err)
}

func logPanic(to *slog.Logger, ctx context.Context, info TaskInfo, err *PanicError) {
	writeLog(to, ctx, slog.LevelError, "executor: task panicked",
		info.attrs(slog.Any("panic", err.Value), slog.String("stack", string(err.Stack))))
}

func (p *Pool) log(ctx context.Context, level slog.Level, text string, attrs ...slog.Attr) {
	writeLog(p.logger, ctx, level, text, attrs)
}

// writeLog writes a record to a logger, nil for slog.Default. If the user's handler panics,
// one line goes to the standard error: the goroutine may be a worker.
func writeLog(to *slog.Logger, ctx context.Context, level slog.Level, text string, attrs []slog.Attr) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "executor: the log handler panicked: %q; lost: %s %q %q\n",
				fmt.Sprint(v), level, text, fmt.Sprint(attrs))
		}
	}()
	if to == nil {
		to = slog.Default()
	}
	to.LogAttrs(ctx, level, text, attrs...)
}

// info returns the argument of hooks; w is nil for a run by the submitter.
func (p *Pool) info(w *worker, e entry) TaskInfo {
	info := TaskInfo{Executor: p.name, Task: e.submitted(), Run: 1}
	if w != nil {
		info.Worker = w.number
	}
	if t := e.task(); t != nil {
		info.Name = t.Options().Name
		info.Due = t.DueTime()
		if p.hooks.Dropped != nil {
			if at := t.Submitted(); at != 0 {
				info.Submitted = p.epoch.Add(time.Duration(at))
			}
		}
		if s := planOf(t).series; s != nil {
			info.Run = s.run.Load()
		}
		if r := planOf(t).run; r != nil {
			info.Run = r.number
		}
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

// labelsOf returns a context with the labels of w, the name of the task, and those of the
// context that it was submitted with.
func (w *worker) labelsOf(t *task.Task) context.Context {
	labels := w.labels
	if name := t.Options().Name; name != "" {
		if w.named != name {
			w.named, w.namedLabels = name, pprof.WithLabels(w.labels, pprof.Labels("task", name))
		}
		labels = w.namedLabels
	}
	if t.HasContext() {
		labels = labelsWith(labels, t.Context())
	}
	return labels
}

// labelsWith returns a context with the labels of both, those of the first where both have
// one.
func labelsWith(labels, ctx context.Context) context.Context {
	own := false
	pprof.ForLabels(ctx, func(string, string) bool {
		own = true
		return false
	})
	if !own {
		return labels
	}
	pprof.ForLabels(labels, func(k, v string) bool {
		ctx = pprof.WithLabels(ctx, pprof.Labels(k, v))
		return true
	})
	return ctx
}

// workerLabels returns a context with the pprof labels of a worker: none for a pool
// without a name.
func workerLabels(pool string, number int) context.Context {
	if pool == "" {
		return context.Background()
	}
	return pprof.WithLabels(context.Background(), pprof.Labels("executor", pool, "worker", strconv.Itoa(number)))
}
