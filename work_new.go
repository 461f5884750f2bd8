package executor

import (
	"context"

	"github.com/executor-go/executor/internal/task"
)

// This file makes the work of what is submitted.

// runnable returns what is to be submitted for r, or an error if r is no task.
func runnable(r Runnable) (Runnable, error) {
	switch r := r.(type) {
	case Dropped:
		return r.submission(), nil
	case *taskRunnable: // of Go, as a RejectFunc gets it
		return r, nil
	}
	if f, ok := r.(Func); r == nil || ok && f == nil {
		return nil, errNilTask
	}
	if w, ok := r.(worker); ok && w.work() == nil {
		return nil, errNilTask
	}
	if w := workOf(r); w != nil && w.runnable() != r {
		return nil, invalid("task %T embeds a Task and would be taken for it; "+
			"submit the Task itself, or have it in a field with a name", r)
	}
	return r, nil
}

// newWork returns the work of a Runnable that is to run as soon as it can, and its task, if
// it has one. In a scheduled pool it has one, for its time.
func (p *Pool) newWork(ctx context.Context, r Runnable) (work, *task.Task, error) {
	due := int64(0)
	if p.timer != nil {
		due = p.elapsed()
	}
	u := workOf(r)
	switch {
	case u == nil && p.plain && task.IsBackground(ctx):
		if f, ok := r.(Func); ok {
			return plainFunc(f), nil, nil
		}
		return &plainRunnable{r}, nil, nil
	case u == nil:
		u = newTaskRunnable(r)
	}
	if !u.taskCore().Attach(&p.owner, ctx, due) {
		return nil, nil, invalid("%v was submitted before, or runs by hand; a task is submitted once: make another one", r)
	}
	return u, u.taskCore(), nil
}

// submission returns a task that runs d, with its options.
func (d Dropped) submission() Runnable {
	if d.body == nil {
		return Func(d.Run)
	}
	r := newTaskRunnable(d)
	if o := d.options; o.Name != "" || o.Timeout > 0 || o.Priority != 0 {
		*r.core.SetOptions() = o
	}
	return r
}
