package executor

import (
	"github.com/executor-go/executor/internal/task"
)

// This file evaluates the options of a task, and gives the task what they say.

// errRetry is the error of Retry for work that it does not apply to.
func errRetry(work string) error {
	return invalid("Retry does not apply to %s; it is for Submit, Go, Map, SubmitAfter, GoAfter, SubmitAt and GoAt", work)
}

// gather evaluates the options for a task of the kind k.
func gather(k taskKind, opts []Option) (*options, error) {
	if len(opts) == 0 {
		return &noOptions, nil
	}
	o := new(options)
	for _, opt := range opts {
		if opt == nil {
			return o, invalid("nil Option")
		}
		opt(o)
	}
	if o.err == nil && k == periodic && o.retry.attempts > 0 {
		o.err = errRetry("periodic work, which runs again at its next time")
	}
	if o.err == nil && o.needs > k {
		o.reject("%s does not apply to a task that runs %s; it is for %sAtFixedRate, WithFixedDelay and On",
			o.owner, [...]string{"once and at once", "once"}[k], [...]string{delayed: "SubmitAfter, GoAfter, SubmitAt, GoAt, ", periodic: ""}[o.needs])
	}
	return o, o.err
}

// noOptions is not written to.
var noOptions options

// configure evaluates the options of a task that runs once, as soon as it can, and
// is not shared yet.
func configure(t *task.Task, opts []Option) error {
	o, err := gather(oneRun, opts)
	if err == nil && o.retry.attempts > 0 {
		err = errRetry("NewTask")
	}
	if err != nil {
		return err
	}
	adopt(t, o)
	return nil
}

// adopt sets the options that every kind of task has.
func adopt(t *task.Task, o *options) {
	if o.name == "" && o.timeout == 0 && o.priority == 0 && o.retry.attempts <= 1 {
		return
	}
	to := t.SetOptions()
	to.Name, to.Timeout, to.Priority = o.name, o.timeout, o.priority
	if o.retry.attempts > 1 {
		to.Plan, to.Repeats = &retry{rule: o.retry}, true
	}
}
