package executor

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// A Series is periodic work of a [ScheduledPool]: the handle by which it is canceled,
// and the outcome of the whole. It is done when there will be no further run: it fails
// if a run panicked, it is canceled, or it succeeds because its runs were limited or
// one of them returned [Stop].
//
// All methods may be called by any goroutine. The zero Series is not usable.
type Series struct {
	// Its runs never overlap:
	//
	//	worker   pop under the lock ─▶ run the body ─▶ conclude: ran finds next
	//	            ▲                                        │
	//	            └── requeueLocked: due = next, push ◀────┘ fetch, under the lock
	//
	// The task is in the queue or with one worker. So all but the counters belongs to the
	// goroutine that has the task: the submitter, then one worker after the other. Each
	// takes over under the pool's lock.
	future Future[struct{}]
	plan   plan

	cadence  cadence
	period   time.Duration // of fixedRate and fixedDelay; positive
	trigger  Trigger
	location *time.Location // of the trigger's first time, and of those it is asked about
	jitter   time.Duration
	times    int64     // most runs, 0 for any number
	until    time.Time // no run is due after it; zero for none
	skip     bool      // leave out times that have passed

	stale bool // the wall clock was set back, and next is to be found anew; under the pool's lock while queued

	base int64 // when the present run was due, without jitter
	next int64 // when the next run is due

	run     atomic.Int64 // the number of the present or latest run, from 1
	runs    atomic.Int64 // runs that have ended
	lastErr atomic.Pointer[error]
}

var (
	_ typedTask     = (*Series)(nil)
	_ ScheduledTask = (*Series)(nil)
	_ Awaitable     = (*Series)(nil)
)

// Name returns the name that [Named] set, or "".
func (s *Series) Name() string { return s.future.Name() }

// State reports where the series is in its life. Between two runs it is [Pending].
func (s *Series) State() State { return s.future.State() }

// Done returns a channel that is closed when the series is done, the same one each time.
func (s *Series) Done() <-chan struct{} { return s.future.Done() }

// Err returns the error of the outcome without waiting: nil if the series succeeded,
// [ErrNotDone] if it is not done.
func (s *Series) Err() error { return s.future.Err() }

// Wait waits until the series is done, and returns the error of the outcome. If ctx ends
// first, Wait returns the error of ctx, and the series goes on.
func (s *Series) Wait(ctx context.Context) error {
	_, err := s.future.Get(ctx)
	return err
}

// Join waits until the series is done and a run in progress has returned, like
// [Future.Join].
func (s *Series) Join(ctx context.Context) error { return s.future.Join(ctx) }

// OnDone arranges for fn to be called once the series is done, like [Future.OnDone].
func (s *Series) OnDone(fn func()) { s.future.OnDone(fn) }

// Cancel completes the series as canceled: there is no further run, and the context of
// one in progress ends with the cause [ErrCanceled]. It reports false, and does nothing,
// if the series is done.
func (s *Series) Cancel() bool { return s.future.Cancel() }

// Abandon is Cancel without the end of the context: a run in progress continues
// undisturbed.
func (s *Series) Abandon() bool { return s.future.Abandon() }

// Next returns the time at which the next run is due; during a run that is the time at
// which this run was due. It is zero if the series is done, or was not accepted.
func (s *Series) Next() time.Time {
	next := nextOf(s.taskCore())
	if s.location != nil && !next.IsZero() {
		next = next.In(s.location)
	}
	return next
}

// Delay returns the time that is left until the next run is due. It is negative for one
// that is overdue, and zero if the series is done.
func (s *Series) Delay() time.Duration { return delayOf(s.taskCore()) }

// Runs returns the number of runs that have ended.
func (s *Series) Runs() int64 { return s.runs.Load() }

// LastError returns the error of the last run that returned one, nil if none did.
// A run that succeeds does not clear it.
func (s *Series) LastError() error {
	if err := s.lastErr.Load(); err != nil {
		return *err
	}
	return nil
}

// Run is for a decoration, see [ScheduledConfig].Decorate, which calls it to do a run.
// Otherwise it does nothing: the pool alone runs a series.
func (s *Series) Run(ctx context.Context) error { return s.future.Run(ctx) }

// cadence says how a series finds its next time.
type cadence uint8

const (
	fixedRate  cadence = iota // from the time that was due
	fixedDelay                // from the end of the run
	triggered                 // by a Trigger
)

// ran records the ending of a run, and finds the time of the next. If there is
// none it returns the ending of the series.
func (s *Series) ran(run ending) (more bool, last ending) {
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
	return s.advance()
}

// advance finds the next time. It calls the user's Trigger, and is protected
// from it.
func (s *Series) advance() (more bool, last ending) {
	defer func() {
		if v := recover(); v != nil {
			more, last = false, abrupt(v)
		}
	}()
	t := s.taskCore()
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
	if d := s.plan.decoration.Load(); d != nil {
		t.SetDue(s.next) // for the decoration's Next, which is likely to ask for it
		s.next = clock.Reading(d.task.Next(), t.FollowsWallClock())
	}
	return true, ending{}
}

// following returns the trigger's time after from.
func (s *Series) following(from int64) (time.Time, error) {
	t := time.Unix(0, from).In(s.location)
	at := s.trigger.Next(t)
	if !at.IsZero() && !at.After(t) {
		return at, invalid("Trigger %v: Next(%v) is %v, which is not later", s.trigger, t, at)
	}
	return at, nil
}

// restart finds the next time as if the present were the beginning.
func (s *Series) restart() (more bool, last ending) {
	s.base = time.Now().UnixNano()
	return s.advance()
}

// isOver reports whether a run due then would come after the end.
func (s *Series) isOver(c delay.Clock, due int64, wall bool) bool {
	return !s.until.IsZero() && c.Time(due, wall).After(s.until)
}

// jitter returns a random delay below d.
func jitter(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return rand.Int64N(int64(d))
}

// The methods below are those of typedTask.

func (s *Series) taskCore() *task.Task                    { return &s.future.core }
func (s *Series) invoke(ctx context.Context) ending       { return s.future.invoke(ctx) }
func (s *Series) fail(err error)                          { s.future.fail(err) }
func (s *Series) submitted() Runnable                     { return s }
func (s *Series) detachBody() func(context.Context) error { return s.future.detachBody() }

func (s *Series) end(st task.State, err error) bool { return s.future.end(st, err) }
