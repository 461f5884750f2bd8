package executor

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/executor-go/executor/internal/task"
)

var (
	// ErrRejected reports that an executor did not take a task, because it was saturated or shut down, or that its
	// policy has dropped the task later.
	ErrRejected = errors.New("executor: task rejected")

	// ErrShutdown reports that a shutdown was the reason. The rejection of a task that came after the shutdown matches
	// ErrShutdown. So does the outcome of a task that the shutdown kept from running, and of a task that returned the
	// error of its context after ShutdownNow. ErrShutdown is the [context.Cause] of a task that ShutdownNow canceled.
	ErrShutdown = errors.New("executor: shut down")

	// ErrSaturated is the reason of a rejection by a running pool that had neither room in its queue nor a free worker
	// for the task.
	ErrSaturated = errors.New("executor: saturated")

	// ErrCanceled is matched by the outcome of every canceled task. It is the [context.Cause] for a body that was
	// running when Cancel was called.
	ErrCanceled = errors.New("executor: task canceled")

	// ErrTimeout is matched by the [context.Cause] of a body whose [Timeout] has passed; the Err of that context is
	// [context.DeadlineExceeded]. The outcome matches ErrTimeout, too, if the body returns that error.
	ErrTimeout = task.ErrTimeout

	// ErrReturned is the [context.Cause] of a body's context once the body has returned, if nothing has ended it
	// before. So if a task is submitted with the context of another task's body, and still waits when that body
	// returns, its outcome matches ErrReturned.
	ErrReturned = task.ErrReturned

	// ErrNotDone is returned by methods that do not wait, such as Result and Err, while there is no outcome.
	ErrNotDone = errors.New("executor: task not done")

	// ErrDone reports that a task is done, so that it can't be changed any more.
	ErrDone = errors.New("executor: task done")

	// ErrRunning is returned by [Series.RunNow] if a run is in progress.
	ErrRunning = errors.New("executor: a run is in progress")

	// ErrInvalid is matched by every error about an invalid argument, a nil function or task among them. Its message
	// names the value, its range, and how to fix it.
	ErrInvalid = errors.New("executor: invalid argument")

	// ErrGoexit is the outcome of a task whose body ended its goroutine by
	// [runtime.Goexit], as a failing test does. The worker is replaced.
	ErrGoexit = errors.New("executor: task called runtime.Goexit")

	// ErrStop is returned by the body of periodic work to end its schedule: the [Series]
	// succeeds and there is no further run.
	ErrStop = errors.New("executor: schedule stopped")

	// ErrKept is returned by a [RejectPolicy] that keeps the task, to run it, complete it or
	// pass it on later. The submission succeeds, and the task's future is pending until then,
	// or until the context of the submission ends.
	ErrKept = errors.New("executor: the rejection policy keeps the task")
)

// RejectedError is the error of a task that an executor rejected. It matches [ErrRejected]
// and its Reason.
type RejectedError struct {
	Executor string // the executor's name, or "" if it has none
	Reason   error  // [ErrShutdown], [ErrSaturated], or the error of the context with which [Block] waited in vain
}

// Error names the executor, if it has a name, and the reason.
func (e *RejectedError) Error() string {
	name := ""
	if e.Executor != "" {
		name = fmt.Sprintf(" by %q", e.Executor)
	}
	return fmt.Sprintf("executor: task rejected%s: %s", name, task.Reason(e.Reason))
}

// Unwrap returns ErrRejected and the reason.
func (e *RejectedError) Unwrap() []error { return []error{ErrRejected, e.Reason} }

// CanceledError is the outcome of a canceled task. It matches [ErrCanceled]
// and its Cause.
type CanceledError struct {
	// Cause is what canceled the task: ErrCanceled itself for Cancel and Abandon,
	// ErrShutdown for a shutdown, an error that matches the error and the cause of the
	// submitter's context.
	Cause error
}

// Error returns a text with the cause, unless that is ErrCanceled itself.
func (e *CanceledError) Error() string {
	if e.Cause == ErrCanceled {
		return ErrCanceled.Error()
	}
	return fmt.Sprintf("executor: task canceled: %s", task.Reason(e.Cause))
}

// Unwrap returns ErrCanceled and the cause, nil for one that is a nil pointer.
func (e *CanceledError) Unwrap() []error { return []error{ErrCanceled, task.NonNil(e.Cause)} }

// PanicError is the outcome of a task whose body panicked.
type PanicError struct {
	Value any    // what the body panicked with
	Stack []byte // the stack of the panicking goroutine, as by [debug.Stack]
}

// Error returns the value, in one line: the text may be shown to a client. The verb %+v
// prints the stack as well.
func (e *PanicError) Error() string {
	line, _, more := strings.Cut(fmt.Sprintf("executor: task panicked: %v", e.Value), "\n")
	if more {
		line += " ..."
	}
	return line
}

// Format prints what Error returns or, for %+v, the whole value and the stack.
func (e *PanicError) Format(s fmt.State, verb rune) {
	switch {
	case verb == 'v' && s.Flag('+'):
		fmt.Fprintf(s, "executor: task panicked: %v\n\n%s", e.Value, e.Stack)
	case verb == 'q':
		fmt.Fprintf(s, "%q", e.Error())
	default:
		io.WriteString(s, e.Error())
	}
}

// LogValue returns a group with the text of the value and the stack.
func (e *PanicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("panic", fmt.Sprint(e.Value)), slog.String("stack", string(e.Stack)))
}

// Unwrap returns the value if it was an error, else nil. An error that is a nil pointer
// counts as none, since its methods are likely to panic.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return task.NonNil(err)
}

// matches is [errors.Is] for a user's error, whose methods may panic, most often because it
// is a nil pointer. Such an error matches nothing. Unlike with errors.Is, a target that can't be
// compared is found if it is err itself; see task.Same.
func matches(err, target error) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return errors.Is(err, target) || task.Same(err, target)
}

// canceled returns the outcome for a cause.
func canceled(cause error) error { return &CanceledError{Cause: cause} }

// canceledByHand is the outcome of a cancellation without an error of its own, as by
// Cancel and Abandon: shared, since it is immutable and most timeouts are canceled.
var canceledByHand = error(&CanceledError{Cause: ErrCanceled})

// invalid returns an error that matches ErrInvalid.
func invalid(format string, args ...any) error {
	return &argumentError{fmt.Sprintf("executor: "+format, args...)}
}

// errNilTask is the error of submitting a nil function or task, and the outcome of its future.
var errNilTask = invalid("nil function or task; nothing was submitted")

type argumentError struct{ text string }

func (e *argumentError) Error() string        { return e.text }
func (e *argumentError) Is(target error) bool { return target == ErrInvalid }
