package executor

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A ScheduledFuture is the Future of a task of a [ScheduledPool]. That of
// periodic work is complete when the work has ended for good: it fails if a run
// panicked, it is canceled, or it succeeds because its runs were limited or one
// of them returned [Stop]. Where a *Future is asked for, as by [Completed], &f.Future
// is that of a ScheduledFuture f. Java: ScheduledFuture.
type ScheduledFuture[T any] struct{ Future[T] }

// newScheduledFuture returns a future that follows the wall clock, or else the
// monotonic one.
func newScheduledFuture[T any](wall bool, fn func(context.Context) (T, error)) *ScheduledFuture[T] {
	f := &ScheduledFuture[T]{Future[T]{fn: fn, task: unattached()}}
	if wall {
		f.preset(wallClock)
	}
	return f
}

func (f *ScheduledFuture[T]) origin() Runnable { return f }

// Next gives the time at which the task is due next; during a run that is the
// time at which this run was due. It is zero if the task is done, or was never
// accepted. Java has only the delay.
func (f *ScheduledFuture[T]) Next() time.Time {
	due, wall, p := f.dueNow()
	if p == nil {
		return time.Time{}
	}
	next := p.clock.time(due, wall)
	if s := f.series(); s != nil && s.location != nil {
		next = next.In(s.location)
	}
	return next
}

// Delay gives the time that is left until the task is due. It is negative for
// one that is overdue, and zero for one that is done. Java: getDelay.
func (f *ScheduledFuture[T]) Delay() time.Duration {
	due, wall, p := f.dueNow()
	if p == nil {
		return 0
	}
	return until(due, p.clock.now().on(wall))
}

// dueNow gives when the task is due, on which clock of which pool; no pool if it is
// done, or no pool has it.
func (f *ScheduledFuture[T]) dueNow() (due int64, wall bool, p *Pool) {
	p = f.attached()
	if p == nil || f.State().Done() {
		return 0, false, nil
	}
	p.mu.Lock() // against detach
	defer p.mu.Unlock()
	if f.attached() != p {
		return 0, false, nil
	}
	return f.due, f.has(wallClock), p
}

// Runs gives the number of runs that have ended.
func (f *ScheduledFuture[T]) Runs() int64 {
	if s := f.series(); s != nil {
		return s.runs.Load()
	}
	if bits := f.load(); bits&begun != 0 && bits&inBody == 0 {
		return 1
	}
	return 0
}

// LastError gives the error of the last run that returned one, nil if none did.
// A run that succeeds does not clear it.
func (f *ScheduledFuture[T]) LastError() error {
	if s := f.series(); s != nil {
		if err := s.lastErr.Load(); err != nil {
			return *err
		}
		return nil
	}
	if f.State() == Failed && f.Runs() > 0 {
		return f.outcome()
	}
	return nil
}

// rhythm says how a series finds its next time.
type rhythm uint8

const (
	fixedRate  rhythm = iota // from the time that was due
	fixedDelay               // from the end of the run
	triggered                // by a Trigger
)

// series is the schedule of periodic work. Its runs follow each other, and all
// but the counters belongs to whoever has the task in hand: the submitter, then
// one worker after the other, each taking over under the pool's lock.
type series struct {
	rhythm   rhythm
	period   time.Duration // of fixedRate and fixedDelay; positive
	trigger  Trigger
	location *time.Location // of the trigger's first time, and of those it is asked about
	jitter   time.Duration
	times    int64     // most runs, 0 for any number
	end      time.Time // no run is due after it; zero for none
	skip     bool      // leave out times that have passed

	stale bool // the wall clock was set back: next is to be found anew; under the pool's lock while queued

	base int64 // when the present run was due, without jitter
	next int64 // when the next run is due

	run     atomic.Int64 // the number of the present or latest run, from 1
	runs    atomic.Int64 // runs that have ended
	lastErr atomic.Pointer[error]
}

// ran records the ending of a run, and finds the time of the next. If there is
// none it gives the ending of the whole series.
func (s *series) ran(t *task, run ending) (more bool, last ending) {
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
func (s *series) advance(t *task) (more bool, last ending) {
	defer func() {
		if v := recover(); v != nil {
			more, last = false, abrupt(v)
		}
	}()
	p := t.attached()
	clock := p.clock
	now := clock.now()
	switch s.rhythm {
	case fixedRate:
		s.base = after(s.base, int64(s.period))
		if late := until(now.mono, s.base); s.skip && late > 0 {
			missed := (int64(late) + int64(s.period) - 1) / int64(s.period)
			s.base = after(s.base, missed*int64(s.period))
		}
	case fixedDelay:
		s.base = after(now.mono, int64(s.period))
	case triggered:
		from := s.base
		if until(from, now.wall) >= stepBack {
			from = now.wall // see renew, which did not find it in the queue
		}
		at, err := s.following(from)
		if err == nil && !at.IsZero() && wallNanos(at) <= now.wall {
			at, err = s.following(now.wall) // leave out what has passed
		}
		if err != nil || at.IsZero() {
			return false, ending{err: err}
		}
		s.base = wallNanos(at)
	}
	s.next = after(s.base, jitter(s.jitter))
	if s.isOver(clock, s.next, s.rhythm == triggered) {
		return false, ending{}
	}
	if d := t.decorated(); d != nil {
		p.postpone(t, s.next) // what the decoration's Next is likely to ask for
		s.next = clock.in(d.Next(), t.has(wallClock))
	}
	return true, ending{}
}

// following asks the trigger for the time after from.
func (s *series) following(from int64) (time.Time, error) {
	t := time.Unix(0, from).In(s.location)
	at := s.trigger.Next(t)
	if !at.IsZero() && !at.After(t) {
		return at, invalid("Trigger %v: Next(%v) is %v, which is not later", s.trigger, t, at)
	}
	return at, nil
}

// restart finds the next time as if the present were the beginning.
func (s *series) restart(t *task) (more bool, last ending) {
	s.base = t.attached().clock.now().wall
	return s.advance(t)
}

// isOver reports whether a run due then would come after the end.
func (s *series) isOver(c clock, due int64, wall bool) bool {
	return !s.end.IsZero() && c.time(due, wall).After(s.end)
}

// postpone sets the time of a task that is not queued.
func (p *Pool) postpone(t *task, due int64) {
	p.mu.Lock()
	t.due = due
	p.mu.Unlock()
}

// jitter draws a delay below d.
func jitter(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return rand.Int64N(int64(d))
}

// errNotRun is the outcome of a task whose decoration did not run it.
var errNotRun = errors.New("executor: the decorated task returned without having called Run")

// loan is the body of a decorated task, which lend offers to the decoration.
type loan struct {
	open bool          // the decoration was started and has not called Run yet
	back chan struct{} // closed when the Run that it has called is over
	end  ending        // of that; read once back is closed
}

// lend has the user's decoration run the body, in whichever goroutine, and waits for
// both: the run is not over before, and the next must not begin.
func (f *Future[T]) lend(ctx context.Context) (end ending) {
	l := &loan{open: true, back: make(chan struct{})}
	bits := f.lock()
	f.moreLocked().loan = l
	f.unlock(bits)
	returned := false
	defer func() {
		if !returned {
			end = abrupt(recover())
		}
		if f.borrow() != nil { // nobody called Run
			if end.err == nil {
				end.err = errNotRun
			}
			var zero T
			end = f.conclude(zero, end)
			return
		}
		<-l.back
		if returned && l.end.abrupt {
			end = l.end // which Run could only pass on as an error
		}
	}()
	end.err = f.decorated().Run(ctx)
	returned = true
	return end
}

// borrow takes the body that lend offers, nil if it does not.
func (f *Future[T]) borrow() *loan {
	if f.decorated() == nil {
		return nil
	}
	bits := f.lock()
	l := f.ties.more.loan
	if l != nil && l.open {
		l.open = false
	} else {
		l = nil
	}
	f.unlock(bits)
	return l
}
