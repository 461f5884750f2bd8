package executor

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// A ScheduledFuture is the Future of a task of a [ScheduledPool]. That of
// periodic work is complete when the work has ended for good: it fails if a run
// panicked, it is canceled, or it succeeds because its runs were limited or one
// of them returned [Stop]. Where a *Future is asked for, as by [Completed], &f.Future
// is that of a ScheduledFuture f.
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

// Cancel is [Future.Cancel]. Periodic work has no further run.
func (f *ScheduledFuture[T]) Cancel() bool { return f.Future.Cancel() }

// Abandon is [Future.Abandon]. Periodic work has no further run.
func (f *ScheduledFuture[T]) Abandon() bool { return f.Future.Abandon() }

// Complete is [Future.Complete]. Periodic work has no further run.
func (f *ScheduledFuture[T]) Complete(v T) bool { return f.Future.Complete(v) }

// Fail is [Future.Fail]. Periodic work has no further run.
func (f *ScheduledFuture[T]) Fail(err error) bool { return f.Future.Fail(err) }

// Run is [Future.Run]. It does nothing for periodic work.
func (f *ScheduledFuture[T]) Run(ctx context.Context) error { return f.Future.Run(ctx) }

// RunAndReset is [Future.RunAndReset]. It does nothing for a task that a pool has.
func (f *ScheduledFuture[T]) RunAndReset(ctx context.Context) bool { return f.Future.RunAndReset(ctx) }

// Next returns the time at which the task is due next; during a run that is the
// time at which this run was due. It is zero if the task is done, or was not
// accepted.
func (f *ScheduledFuture[T]) Next() time.Time {
	if _, _, owner := f.core.Schedule(); owner == nil {
		return time.Time{}
	}
	next := f.core.DueTime()
	if s := planOf(&f.core).series; s != nil && s.location != nil && !next.IsZero() {
		next = next.In(s.location)
	}
	return next
}

// Delay returns the time that is left until the task is due. It is negative for
// one that is overdue, and zero for one that is done.
func (f *ScheduledFuture[T]) Delay() time.Duration {
	due, wall, owner := f.core.Schedule()
	if owner == nil {
		return 0
	}
	return delay.Until(due, delay.Clock{Epoch: owner.Epoch()}.Now().On(wall))
}

// Runs returns the number of runs that have ended.
func (f *ScheduledFuture[T]) Runs() int64 {
	if s := planOf(&f.core).series; s != nil {
		return s.runs.Load()
	}
	if f.core.HasRun() {
		return 1
	}
	return 0
}

// LastError returns the error of the last run that returned one, nil if none did.
// A run that succeeds does not clear it.
func (f *ScheduledFuture[T]) LastError() error {
	if s := planOf(&f.core).series; s != nil {
		if err := s.lastErr.Load(); err != nil {
			return *err
		}
		return nil
	}
	if f.State() == Failed && f.Runs() > 0 {
		return errorOf(&f.core)
	}
	return nil
}

// plan is what a scheduled pool keeps with a task that is not simply due once.
type plan struct {
	series     *series                    // of periodic work, else nil
	decoration atomic.Pointer[decoration] // the user's task around this one, else nil
}

var noPlan plan

// cadence says how a series finds its next time.
type cadence uint8

const (
	fixedRate  cadence = iota // from the time that was due
	fixedDelay                // from the end of the run
	triggered                 // by a Trigger
)

// series is the schedule of periodic work. Its runs never overlap:
//
//	worker   pop under the lock ─▶ run the body ─▶ conclude: ran finds next
//	            ▲                                        │
//	            └── requeueLocked: due = next, push ◀────┘ fetch, under the lock
//
// The task is in the queue or with one worker. So all but the counters belongs to the
// goroutine that has the task: the submitter, then one worker after the other. Each
// takes over under the pool's lock.
type series struct {
	cadence  cadence
	period   time.Duration // of fixedRate and fixedDelay; positive
	trigger  Trigger
	location *time.Location // of the trigger's first time, and of those it is asked about
	jitter   time.Duration
	times    int64     // most runs, 0 for any number
	end      time.Time // no run is due after it; zero for none
	skip     bool      // leave out times that have passed

	stale bool // the wall clock was set back, and next is to be found anew; under the pool's lock while queued

	base int64 // when the present run was due, without jitter
	next int64 // when the next run is due

	run     atomic.Int64 // the number of the present or latest run, from 1
	runs    atomic.Int64 // runs that have ended
	lastErr atomic.Pointer[error]
}

// ran records the ending of a run, and finds the time of the next. If there is
// none it returns the ending of the series.
func (s *series) ran(t *task.Task, run ending) (more bool, last ending) {
	n := s.runs.Add(1)
	switch {
	case run.err == nil:
	case !run.abrupt && matches(run.err, Stop):
		return false, ending{}
	default:
		s.lastErr.Store(&run.err)
	}
	if run.abrupt {
		return false, run
	}
	if s.times > 0 && n >= s.times {
		return false, ending{}
	}
	return s.advance(t)
}

// advance finds the next time. It calls the user's Trigger, and is protected
// from it.
func (s *series) advance(t *task.Task) (more bool, last ending) {
	defer func() {
		if v := recover(); v != nil {
			more, last = false, abrupt(v)
		}
	}()
	clock := delay.Clock{Epoch: t.Owner().Epoch()}
	now := clock.Now()
	switch s.cadence {
	case fixedRate:
		s.base = delay.After(s.base, int64(s.period))
		if late := delay.Until(now.Mono, s.base); s.skip && late > 0 {
			missed := (int64(late) + int64(s.period) - 1) / int64(s.period)
			s.base = delay.After(s.base, missed*int64(s.period))
		}
	case fixedDelay:
		s.base = delay.After(now.Mono, int64(s.period))
	case triggered:
		from := s.base
		if delay.Until(from, now.Wall) >= delay.StepBack {
			from = now.Wall // the clock was set back while the task was not in the queue
		}
		at, err := s.following(from)
		if err == nil && !at.IsZero() && delay.WallNanos(at) <= now.Wall {
			at, err = s.following(now.Wall) // leave out what has passed
		}
		if err != nil || at.IsZero() {
			return false, ending{err: err}
		}
		s.base = delay.WallNanos(at)
	}
	s.next = delay.After(s.base, jitter(s.jitter))
	if s.isOver(clock, s.next, s.cadence == triggered) {
		return false, ending{}
	}
	if d := planOf(t).decoration.Load(); d != nil {
		t.SetDue(s.next) // for the decoration's Next, which is likely to ask for it
		s.next = clock.Reading(d.task.Next(), t.FollowsWallClock())
	}
	return true, ending{}
}

// following returns the trigger's time after from.
func (s *series) following(from int64) (time.Time, error) {
	t := time.Unix(0, from).In(s.location)
	at := s.trigger.Next(t)
	if !at.IsZero() && !at.After(t) {
		return at, invalid("Trigger %v: Next(%v) is %v, which is not later", s.trigger, t, at)
	}
	return at, nil
}

// restart finds the next time as if the present were the beginning.
func (s *series) restart(t *task.Task) (more bool, last ending) {
	s.base = time.Now().UnixNano()
	return s.advance(t)
}

// isOver reports whether a run due then would come after the end.
func (s *series) isOver(c delay.Clock, due int64, wall bool) bool {
	return !s.end.IsZero() && c.Time(due, wall).After(s.end)
}

// jitter returns a random delay below d.
func jitter(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return rand.Int64N(int64(d))
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
