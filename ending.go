package executor

import (
	"context"
	"runtime/debug"

	"github.com/executor-go/executor/internal/task"
)

// ending is how one run of a body, or one call of a hook, ended. An error that a
// body returns may well be the *PanicError or the *CanceledError of some other task, so
// the error alone does not say.
type ending struct {
	err error
	how manner
}

// manner is a set of what there is to know of an ending beside its error. It is one field, since an
// ending goes through all that runs a body: a struct of two fields does so in registers, one of five
// in memory.
type manner uint8

const (
	wasAbrupt  manner = 1 << iota // it did not return: it panicked or called runtime.Goexit
	wasStopped                    // it returned because its pool was shut down
	wasBare                       // its error says no more than that its context has ended
	runsAgain                     // the task is to run again, so that nothing is to be reported
)

// is reports whether the ending was of that manner.
func (e ending) is(m manner) bool { return e.how&m != 0 }

// goexit is the ending of a body that did not return, and did not panic.
var goexit = ending{ErrGoexit, wasAbrupt}

// state returns the state that a task with this outcome ends in.
func (e ending) state() task.State {
	switch {
	case e.err == nil:
		return task.Succeeded
	case e.is(wasStopped):
		return task.Canceled
	}
	return task.Failed
}

// isStop reports whether the body of a series returned ErrStop.
func (e ending) isStop() bool { return !e.is(wasAbrupt) && e.err != nil && matches(e.err, ErrStop) }

// panicked returns the panic that ended the run, nil if there was none.
func (e ending) panicked() *PanicError {
	if !e.is(wasAbrupt) {
		return nil
	}
	perr, _ := e.err.(*PanicError)
	return perr
}

// guard is deferred by who calls a body. A panic is its ending; runtime.Goexit goes on.
func guard(end *ending) {
	if v := recover(); v != nil {
		*end = abrupt(v)
	}
}

// guarded calls body.
func guarded(ctx context.Context, body func(context.Context) error) (end ending) {
	defer guard(&end)
	if err := body(ctx); err != nil {
		end = returned(ctx, err)
	}
	return end
}

// returned is the ending of a body with the context ctx that has returned err. Most
// bodies return the error of their context when that has ended. If a timeout or the
// shutdown of the pool ended it, the error is made to say so.
func returned(ctx context.Context, err error) ending {
	if err == nil || !task.Ended(ctx) {
		return ending{err: err}
	}
	cause := context.Cause(ctx)
	e := ending{err: err}
	if isBare(ctx, err) {
		e.how = wasBare
	} else if !matches(err, context.Canceled) && !matches(err, context.DeadlineExceeded) {
		return e
	}
	switch owner := task.OwnerOf(ctx); {
	case cause == ErrShutdown && owner != nil && owner.Over():
		e.how |= wasStopped
		if err != cause {
			err = task.WithCause(err, cause)
		}
		e.err = canceled(err)
	case matches(cause, ErrTimeout) && !matches(err, ErrTimeout):
		e.err = task.WithCause(err, cause)
	}
	return e
}

// isBare reports whether err says no more than that ctx has ended: it is the error of ctx, the
// cause of that, or both in one. An error that wraps one of them may say more.
func isBare(ctx context.Context, err error) bool {
	return err == context.Canceled || task.IsContextError(ctx, err)
}

// abrupt returns the ending of a call that did not return; v is what recover returned. It
// is called by the deferred function itself, so that the stack is still that of the panic.
func abrupt(v any) ending {
	if v == nil {
		return goexit // panic(nil) arrives as a *runtime.PanicNilError
	}
	return ending{&PanicError{Value: v, Stack: debug.Stack()}, wasAbrupt}
}
