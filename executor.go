package executor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/executor-go/executor/internal/task"
)

// An Executor runs tasks, now or later, in the calling goroutine or in another one.
type Executor interface {
	// Execute takes task and arranges for its Run to be called at most once. If it returns an error, Run will never be
	// called; the error matches [ErrRejected] if the executor has declined the task. If it returns nil, Run will be
	// called unless the task is canceled, its ctx ends, or the executor drops it by a policy that says so. ctx bounds
	// the wait for admission, if there is one, and is the parent of the context that Run gets.
	//
	// An Executor that wraps tasks before it passes them to a pool hides their futures from
	// the pool. Pass on the task itself, and add behavior by Hooks.Around or a RejectFunc.
	Execute(ctx context.Context, task Runnable) error
}

// Runnable is a piece of work.
type Runnable interface {
	// Run does the work, and returns when it is done or soon after ctx ended.
	Run(ctx context.Context) error
}

// Func is a function as a [Runnable].
type Func func(ctx context.Context) error

// Run calls f.
func (f Func) Run(ctx context.Context) error { return f(ctx) }

// Call calls f as a function with a result, an empty one, for [Submit] and all that expects
// such a function: SubmitAfter(ctx, pool, d, Func(fn).Call). For a nil f the error matches [ErrInvalid].
func (f Func) Call(ctx context.Context) (struct{}, error) {
	if f == nil {
		return struct{}{}, errNilTask
	}
	return struct{}{}, f(ctx)
}

// State is the state of a task. It changes only along these arrows:
//
//	Pending -> Running             a worker, or the caller of Run, took it
//	Running -> Pending             a periodic run or an attempt ended, and another will follow
//	Running -> Succeeded, Failed   the body returned, panicked or called Goexit; Complete, Fail
//	Pending -> Succeeded, Failed   Complete, Fail, or a rejection
//	Pending, Running -> Canceled   Cancel, Abandon, a shutdown, the submitter's context
//
// The last three states are final: a task is done once.
type State uint8

const (
	Pending   = State(task.Pending)   // not begun, or between two runs or attempts
	Running   = State(task.Running)   // its body is running
	Succeeded = State(task.Succeeded) // done, with a value
	Failed    = State(task.Failed)    // done, with an error
	Canceled  = State(task.Canceled)  // done without the body's outcome; the body may still be running
)

// Done reports whether s is final.
func (s State) Done() bool { return task.State(s).Done() }

// String returns the name of the constant in lower case, as "pending", and the number
// of any other value.
func (s State) String() string {
	return name(s, stateNames)
}

var stateNames = []string{"pending", "running", "succeeded", "failed", "canceled"}

// MarshalText returns the text of String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the state with that name. Another text is an error that
// matches [ErrInvalid].
func (s *State) UnmarshalText(text []byte) error { return setByName(s, "State", stateNames, text) }

// Awaitable is the part of a [Future] that does not depend on its type, for
// code that handles futures of several types.
type Awaitable interface {
	// Name returns the name that Named set, or "".
	Name() string
	// State returns the state of the task.
	State() State
	// Done returns a channel that is closed when the task is done.
	Done() <-chan struct{}
	// Err returns the error of the outcome without waiting, ErrNotDone while there is none.
	Err() error
	// Wait waits until the task is done, and returns the error of the outcome, or that of ctx if
	// ctx ends first.
	Wait(ctx context.Context) error
	// Join waits until the task is done and its body has returned.
	Join(ctx context.Context) error
	// OnDone arranges for f to be called once the task is done; see Future.OnDone.
	OnDone(f func())
	// Cancel completes the task as canceled, unless it is done.
	Cancel() bool
}

// Dropped is a task that was waiting when ShutdownNow shut its pool down. It is a Runnable
// and can be submitted to another executor. It keeps the body of the task, its name, its
// timeout and its priority, but not its time, nor its future, which is canceled with the
// cause [ErrShutdown]. For periodic work it is one more run of the body.
type Dropped struct {
	task    any
	body    func(context.Context) error
	options task.Options
}

// Run runs the body of the task, bounded by its [Timeout], and returns its error. The zero
// Dropped does nothing.
func (d Dropped) Run(ctx context.Context) error {
	if d.body == nil {
		return nil
	}
	ctx, cancel := task.Limit(ctx, d.options.Timeout)
	defer cancel()
	return d.body(ctx)
}

// Task returns the *Future of the task, its *Series, or the Runnable that Execute or Go was
// called with.
func (d Dropped) Task() any { return d.task }

// Name returns the name of the task that [Named] set, or "".
func (d Dropped) Name() string { return d.options.Name }

// name returns the name of a constant, or the number of any other value.
func name[N ~uint8](n N, names []string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return strconv.Itoa(int(n))
}

// setByName sets n to the constant with that name.
func setByName[N ~uint8](n *N, kind string, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return invalid("%q is not a %s; it must be one of %s", text, kind, strings.Join(names, ", "))
	}
	*n = N(i)
	return nil
}

// describe describes a task in one line: its name, its state, and why it failed or was
// canceled. err is its outcome.
func describe(what string, t *task.Task, err error) string {
	s := State(t.State())
	return fmt.Sprintf("%s: %v%s", titled(what, t.Options().Name), s, because(s, err))
}

// because returns the reason of a state that needs one, in one line.
func because(s State, err error) string {
	if s != Failed && s != Canceled {
		return ""
	}
	if c, ok := err.(*CanceledError); ok && s == Canceled {
		if err = c.Cause; err == ErrCanceled {
			return ""
		}
	}
	line, _, _ := strings.Cut(task.Reason(err), "\n")
	return ": " + line
}

// titled returns what something is, with its name if it has one.
func titled(what, name string) string {
	if name == "" {
		return what
	}
	return what + " " + strconv.Quote(name)
}

func mustContext(ctx context.Context) {
	if ctx == nil {
		panic("executor: nil Context")
	}
}
