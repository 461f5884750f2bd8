package executor

import (
	"context"
	"iter"

	"github.com/executor-go/executor/internal/task"
)

// This file is what a task does that waits for others:
//
//	it hosts those that nobody has begun, and that end when it is to end: it runs them in its own goroutine
//	it lends its place as long as it waits for the rest: only what a task waits for may have it, the latest first
//
// internal/engine/lend.go has both. Which task waits, its context says. A caller that is no task only waits: it would
// break the limit of the pool, and the order of one with a single worker.

// endsWith reports whether t was submitted with ctx, or with more values: so t ends when the caller
// is to end.
func endsWith(t *task.Task, ctx context.Context) bool {
	return t.HasContext() && ctx.Done() != nil && ctx.Done() == t.Context().Done()
}

// host runs t, if nobody has begun it, and the caller is a task that is about to wait for it with ctx.
func host(ctx context.Context, t *task.Task) {
	in, waits := t.Owner(), task.OwnerOf(ctx)
	if in != nil && waits.Within(in) && endsWith(t, ctx) {
		hosted := false
		waits.Host(in, func() *task.Task {
			if hosted {
				return nil
			}
			hosted = true
			return t
		})
	}
}

// lend lends the place of the caller, which is about to wait for tasks of o, if it is a task, until the function that
// it returns is called.
func lend(ctx context.Context, o *task.Owner, tasks iter.Seq[*task.Task]) (waited func()) {
	waits := task.OwnerOf(ctx)
	if waits == nil {
		return func() {}
	}
	waits.Lend()
	o.Want(tasks)
	return waits.Reclaim
}

// one iterates over t.
func one(t *task.Task) iter.Seq[*task.Task] {
	return func(yield func(*task.Task) bool) { yield(t) }
}
