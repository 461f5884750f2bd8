package executor

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// A ScheduledFuture is the [Future] of a task of a [ScheduledPool] that runs once, when it
// is due. Where a *Future is asked for, as by [Completed], &f.Future is that of a
// ScheduledFuture f.
type ScheduledFuture[T any] struct{ Future[T] }

var (
	_ typedTask = (*ScheduledFuture[int])(nil)
	_ Awaitable = (*ScheduledFuture[int])(nil)
)

// newScheduledFuture returns a future that is due then, without its jitter.
func newScheduledFuture[T any](due int64, fn func(context.Context) (T, error)) *ScheduledFuture[T] {
	f := &ScheduledFuture[T]{Future[T]{fn: fn}}
	f.core.Init()
	f.core.InitDue(due)
	return f
}

func (f *ScheduledFuture[T]) submitted() Runnable { return f }

// Name is [Future.Name].
func (f *ScheduledFuture[T]) Name() string { return f.Future.Name() }

// State is [Future.State].
func (f *ScheduledFuture[T]) State() State { return f.Future.State() }

// Done is [Future.Done].
func (f *ScheduledFuture[T]) Done() <-chan struct{} { return f.Future.Done() }

// Get is [Future.Get].
func (f *ScheduledFuture[T]) Get(ctx context.Context) (T, error) { return f.Future.Get(ctx) }

// Result is [Future.Result].
func (f *ScheduledFuture[T]) Result() (T, error) { return f.Future.Result() }

// Err is [Future.Err].
func (f *ScheduledFuture[T]) Err() error { return f.Future.Err() }

// Join is [Future.Join].
func (f *ScheduledFuture[T]) Join(ctx context.Context) error { return f.Future.Join(ctx) }

// OnDone is [Future.OnDone].
func (f *ScheduledFuture[T]) OnDone(fn func()) { f.Future.OnDone(fn) }

// Cancel is [Future.Cancel].
func (f *ScheduledFuture[T]) Cancel() bool { return f.Future.Cancel() }

// Abandon is [Future.Abandon].
func (f *ScheduledFuture[T]) Abandon() bool { return f.Future.Abandon() }

// Complete is [Future.Complete].
func (f *ScheduledFuture[T]) Complete(v T) bool { return f.Future.Complete(v) }

// Fail is [Future.Fail].
func (f *ScheduledFuture[T]) Fail(err error) bool { return f.Future.Fail(err) }

// Run is [Future.Run].
func (f *ScheduledFuture[T]) Run(ctx context.Context) error { return f.Future.Run(ctx) }

// RunAndReset is [Future.RunAndReset]. It does nothing for a task that a pool has.
func (f *ScheduledFuture[T]) RunAndReset(ctx context.Context) bool { return f.Future.RunAndReset(ctx) }

// Next returns the time at which the task is due; it is zero if the task is done, or was
// not accepted.
func (f *ScheduledFuture[T]) Next() time.Time { return nextOf(&f.core) }

// Delay returns the time that is left until the task is due. It is negative for
// one that is overdue, and zero for one that is done.
func (f *ScheduledFuture[T]) Delay() time.Duration { return delayOf(&f.core) }

// String is like that of [Future], and says when a task that waits is due.
func (f *ScheduledFuture[T]) String() string { return f.Future.String() + due(f.State(), f.Next()) }

// due says when a task that waits is due.
func due(s State, next time.Time) string {
	if s != Pending || next.IsZero() {
		return ""
	}
	return next.Format(", due 2006-01-02T15:04:05.000Z07:00")
}

// nextOf returns the time at which t is due, zero if it is done or was not accepted.
func nextOf(t *task.Task) time.Time {
	if _, _, owner := t.Schedule(); owner == nil {
		return time.Time{}
	}
	return t.DueTime()
}

// delayOf returns the time until t is due, zero if it is done or was not accepted.
func delayOf(t *task.Task) time.Duration {
	due, wall, owner := t.Schedule()
	if owner == nil {
		return 0
	}
	return delay.Until(due, delay.Clock{Epoch: owner.Epoch()}.Now().On(wall))
}

// plan is what a scheduled pool keeps with a task that is not simply due once.
type plan struct {
	series     *Series                    // of periodic work, else nil
	run        *seriesRun                 // a run that is a task of its own, else nil
	decoration atomic.Pointer[decoration] // the user's task around this one, else nil
}

var noPlan plan

// ScheduledTask is a task of a scheduled pool as a decoration sees it. A decoration
// implements it too, as a rule by embedding the one it is given.
type ScheduledTask interface {
	// Run does one run. A decoration calls it exactly once in its own Run. If it does
	// that in another goroutine and does not wait, the worker does: a run is over
	// when both have returned.
	Runnable
	// Next returns the time of the next run. It is called whenever the task enters the
	// queue, and decides both when the task runs and in which order.
	Next() time.Time
}

// decoration is a task of the user's around one of ours.
type decoration struct {
	task    ScheduledTask
	offered atomic.Pointer[offeredBody] // set while task.Run has not called our Run yet
}

// offeredBody is the body of a decorated task, which the user's Run is to call through
// our Run, in whichever goroutine.
type offeredBody struct {
	returned chan struct{} // closed when our Run is over
	end      ending        // of the body; read once returned is closed
}

// errNotRun is the outcome of a task whose decoration did not run it.
var errNotRun = errors.New("executor: the decorated task returned without having called Run")

// runDecorated has the decoration run the body, and waits for both: the run is not over
// before, and the next must not begin.
func (f *Future[T]) runDecorated(ctx context.Context, d *decoration) (end ending) {
	b := &offeredBody{returned: make(chan struct{})}
	d.offered.Store(b)
	returned := false
	defer func() {
		if !returned {
			end = abrupt(recover())
		}
		if d.offered.Swap(nil) != nil { // our Run was not called
			if end.err == nil {
				end.err = errNotRun
			}
			var zero T
			end = f.conclude(zero, end)
			return
		}
		<-b.returned
		if returned && b.end.abrupt {
			end = b.end // which our Run could only pass on as an error
		}
	}()
	end.err = d.task.Run(ctx)
	returned = true
	return end
}

// takeBody returns the body of t that runDecorated offers, nil if there is none.
func takeBody(t *task.Task) *offeredBody {
	if d := planOf(t).decoration.Load(); d != nil {
		return d.offered.Swap(nil)
	}
	return nil
}
