package executor

import (
	"context"

	"github.com/executor-go/executor/internal/ctxgroup"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// A task that waits ends with the context that it was submitted with, and leaves the queue when its future is done.
// This file does both.

// watchContext arranges for u, which is queued, to be canceled when ctx ends, by add, a method
// of p.contexts.
func (p *Pool) watchContext(ctx context.Context, u work, add func(*watch, <-chan struct{})) {
	if done := ctx.Done(); done != nil {
		m := p.contexts.NewMember(u, ctx)
		add(m, done)
		u.taskCore().RemoveWhenDone(m)
	}
}

type watch = ctxgroup.Member[work]

// watchSoon is watchContext for a task that was queued a moment ago, if it still waits, in a
// goroutine for such tasks: most do not.
func (p *Pool) watchSoon(u work) {
	if t := u.taskCore(); t.State() == task.Pending && t.BelongsTo(&p.owner) {
		p.watchContext(t.Context(), u, p.contexts.AddOrEnd)
	}
}

// cancelByContext cancels a task whose context has ended.
func cancelByContext(u work, ctx context.Context) {
	u.end(task.Canceled, canceled(task.ContextError(ctx)))
}

// endsByContext cancels a pending task if the context that it was submitted with has ended, and reports whether it has.
func endsByContext(u work) bool {
	err := task.IfEnded(u.taskCore().Context())
	if err != nil {
		u.end(task.Canceled, canceled(err))
	}
	return err != nil
}

// waitsAgain follows an attempt of u that has failed, if there is another one: the end of its
// context ends u. Whoever watched that may have found u running.
func (p *Pool) waitsAgain(u work) {
	t := u.taskCore()
	if !t.HasContext() {
		return
	}
	ctx := t.Context()
	switch {
	case guarded(ctx, task.IfEnded).err != nil:
		cancelByContext(u, ctx)
	case !t.Grouped() && !t.Watched():
		p.watchContext(ctx, u, p.contexts.Add)
	}
}

// foreign are the futures that wait in executors which are not ours.
var foreign = ctxgroup.Set[work]{Ended: cancelByContext}

// watchForeign has a task canceled when ctx ends, unless it is done, or a pool has it, which
// does that itself. An executor of the user's may never call Run of a task whose context
// has ended.
func watchForeign(ctx context.Context, u work) {
	t := u.taskCore()
	done := ctx.Done()
	if done == nil || t.State() != task.Pending || t.Owner() != nil {
		return
	}
	m := foreign.NewMember(u, ctx)
	foreign.Add(m, done)
	t.OnDone(m.Remove)
}

// afterQueued follows the admission of a task to the queue. From now on the end of the submitter's
// context removes the task, if that is watched. A task that was completed on its way into the queue
// is removed now.
func (p *Pool) afterQueued(ctx context.Context, u work, t *task.Task, watched bool) {
	switch {
	case t.State().Done():
		p.unqueue(t)
	case watched:
		if p.timer != nil {
			p.watchContext(ctx, u, p.contexts.Add)
		} else if ctx.Done() != nil {
			p.watching.Add(u)
		}
	}
}

// unqueue follows the end of t: it leaves the queue if it waits there.
func (p *Pool) unqueue(t *task.Task) {
	left, last := p.engine.Leave(slotOf(t), func() engine.Outcome {
		if !t.BelongsTo(&p.owner) { // its slot is guarded by the lock of another pool
			return engine.None
		}
		return outcomeOf(t)
	})
	if left != nil {
		p.dropped(left.(work), nil)
	}
	if last {
		p.engine.Tidy()
	}
}
