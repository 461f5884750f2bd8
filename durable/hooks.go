package durable

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/node"
)

// Hooks are functions that Jobs call around their work, for metrics and traces for example. Each may be nil, and then
// costs nothing. They are called with no lock held, by several goroutines at once. If a hook panics, or if Settled,
// Failed or Call calls runtime.Goexit, that is logged, and the work is done as if there were no hook. Join combines
// several Hooks.
type Hooks struct {
	// Adding is called in place of each call of the store that adds jobs, or registers a periodic one, by the goroutine
	// of the caller. It calls add, which makes the call; the jobs have been checked. Before that it may set the Meta
	// and the Tags of the jobs, and no other field. The caller gets the error that Adding returns. If Adding does not
	// call add, nothing is added, and if it then returns nil, the caller gets an error that says so.
	//
	// ctx is the caller's. Call add once, in the goroutine of Adding, with ctx, a context derived from it, or nil,
	// which stands for ctx.
	Adding func(ctx context.Context, jobs []NewJob, add func(context.Context) error) error

	// Around is called in place of each call of a handler, by the worker, and calls run, which calls the handler. The
	// job and ctx are those of the handler: Current, Progress and Output work in it. run returns the handler's error, a
	// *PanicError if it panicked; if the handler calls runtime.Goexit, run does not return. The error that Around
	// returns is the error of the run; it may differ from the handler's error, and may be Permanent or Snooze. If
	// Around calls runtime.Goexit, the error of the run is what run has returned. If Around does not call run, the
	// handler is not called, and a nil error is replaced by one that says so.
	//
	// Call run once, in the goroutine of Around, with ctx, a context derived from it, or nil, which stands for ctx.
	Around func(ctx context.Context, job Job, run func(context.Context) error) error

	// Settled is called once the store has answered the commit of a run's outcome. job is as it was when the run began,
	// and o is the outcome: o.State is the new state of the job, and o.Run is complete, except that its Seq is 0 if the
	// history does not have it. committed is false if the store refused the outcome, because the run was no longer this
	// node's. The next outcomes wait until Settled returns: it must be quick. After a CompleteTx whose transaction was
	// rolled back, o is the success that CompleteTx was to commit if the answer to the first commit was lost.
	Settled func(job Job, o Outcome, committed bool)

	// Failed is called when the last attempt of a job, or of one time of its schedule, has failed. It replaces the line
	// of Config.Logger, for programs that log failures themselves. job is as it was when the run began, and run is
	// complete except for its Seq. The store does not have it yet, and may refuse it. Failed must be quick.
	Failed func(job Job, run Run)

	// Call is called after each call of the store, with the name of the call, how long it took, and its error. The
	// names are those of the methods of Store and TxStore, such as "claim", "heartbeat", "commit" and "insert_tx". The
	// call of Listen, which lasts as long as the node, is left out. Call must be quick, too.
	Call func(op string, took time.Duration, err error)
}

// Join returns hooks that call those of h and then those of others, such as one for metrics and one for traces. Adding
// and Around of h call those of the next; Settled, Failed and Call are called in order, also if one of them panics.
func (h Hooks) Join(others ...Hooks) Hooks {
	to := h
	for _, h := range others {
		to = Hooks{
			Adding:  joinAdding(to.Adding, h.Adding),
			Around:  joinAround(to.Around, h.Around),
			Settled: joinSettled(to.Settled, h.Settled),
			Failed:  joinFailed(to.Failed, h.Failed),
			Call:    joinCall(to.Call, h.Call),
		}
	}
	return to
}

func joinAdding(
	outer, inner func(context.Context, []NewJob, func(context.Context) error) error,
) func(context.Context, []NewJob, func(context.Context) error) error {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	}
	return func(ctx context.Context, jobs []NewJob, add func(context.Context) error) error {
		return outer(ctx, jobs, func(derived context.Context) error { return inner(or(derived, ctx), jobs, add) })
	}
}

func joinAround(
	outer, inner func(context.Context, Job, func(context.Context) error) error,
) func(context.Context, Job, func(context.Context) error) error {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	}
	return func(ctx context.Context, job Job, run func(context.Context) error) error {
		return outer(ctx, job, func(derived context.Context) error { return inner(or(derived, ctx), job, run) })
	}
}

func joinSettled(first, second func(Job, Outcome, bool)) func(Job, Outcome, bool) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(job Job, o Outcome, committed bool) {
		defer second(job, o, committed)
		first(job, o, committed)
	}
}

func joinFailed(first, second func(Job, Run)) func(Job, Run) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(job Job, run Run) {
		defer second(job, run)
		first(job, run)
	}
}

func joinCall(first, second func(string, time.Duration, error)) func(string, time.Duration, error) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(op string, took time.Duration, err error) {
		defer second(op, took, err)
		first(op, took, err)
	}
}

// or returns ctx, or the other one if that is nil.
func or(ctx, other context.Context) context.Context {
	if ctx == nil {
		return other
	}
	return ctx
}

// adding has the hook add jobs, if there is one. add is called once, when the jobs are complete.
func (j *Jobs) adding(ctx context.Context, jobs []NewJob, add func(context.Context) error) error {
	checked := func(ctx context.Context) error {
		for i := range jobs {
			if err := checkMeta(jobs[i].Meta); err != nil {
				return err
			}
			tags, err := tagsOf(jobs[i].Tags)
			if err != nil {
				return err
			}
			jobs[i].Tags = tags
		}
		return add(ctx)
	}
	hook := j.cfg.Hooks.Adding
	if hook == nil {
		return checked(ctx)
	}
	shown := slices.Clone(jobs)
	for i := range shown {
		shown[i].Meta, shown[i].Tags = maps.Clone(jobs[i].Meta), slices.Clone(jobs[i].Tags)
	}
	return j.surround(ctx, "Adding", func(add func(context.Context) error) error { return hook(ctx, shown, add) },
		func(ctx context.Context) error {
			for i := range jobs {
				jobs[i].Meta, jobs[i].Tags = maps.Clone(shown[i].Meta), slices.Clone(shown[i].Tags)
			}
			return checked(ctx)
		})
}

// around has the hook call a handler, if there is one.
func (j *Jobs) around(ctx context.Context, job Job, run func(context.Context) error) error {
	hook := j.cfg.Hooks.Around
	if hook == nil {
		return run(ctx)
	}
	return j.surround(ctx, "Around", func(run func(context.Context) error) error { return hook(ctx, job, run) }, run)
}

// surround calls a hook that calls do. It calls do itself if the hook panics before that.
func (j *Jobs) surround(ctx context.Context, name string, hook func(do func(context.Context) error) error,
	do func(context.Context) error) (err error) {
	var called, returned bool
	var result error
	func() {
		defer j.guardHook(name)
		err = hook(func(derived context.Context) error {
			if called {
				return errors.New("durable: Hooks." + name + " called its function twice; call it once")
			}
			called = true
			result = do(or(derived, ctx))
			return result
		})
		returned = true
	}()
	switch {
	case !called && !returned:
		return do(ctx)
	case !returned:
		return result
	case !called && err == nil:
		return errors.New("durable: Hooks." + name + " returned nil without calling its function; call it, or return an error")
	}
	return node.Sound(err)
}

// settled calls the hook for an outcome that the store has answered for.
func (j *Jobs) settled(job Job, o Outcome, committed bool) {
	j.callHook("Settled", func() { j.cfg.Hooks.Settled(job, o, committed) })
}

// failed calls the hook for a run that was the last attempt.
func (j *Jobs) failed(job Job, run Run) {
	j.callHook("Failed", func() { j.cfg.Hooks.Failed(job, run) })
}

// callHook calls a hook, and waits until it has returned. The goroutine is the hook's own, since runtime.Goexit, as a
// failing test calls it, ends that: the one of the caller, which commits for example, has more to do.
func (j *Jobs) callHook(name string, hook func()) {
	var over sync.WaitGroup
	over.Go(func() {
		returned := false
		defer func() {
			if v := recover(); v != nil {
				j.hookPanicked(name, v)
			} else if !returned {
				j.log().Error("durable: a hook called runtime.Goexit", "hook", name, hookHint)
			}
		}()
		hook()
		returned = true
	})
	over.Wait()
}

// guardHook is deferred around a call of a hook by the goroutine of the caller.
func (j *Jobs) guardHook(name string) {
	if v := recover(); v != nil {
		j.hookPanicked(name, v)
	}
}

func (j *Jobs) hookPanicked(name string, v any) {
	j.log().Error("durable: a hook panicked", "hook", name, "panic", &executor.PanicError{Value: v, Stack: debug.Stack()}, hookHint)
}

var hookHint = slog.String("hint", "the work continued without it; fix the hook")
