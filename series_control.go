package executor

import (
	"context"
	"time"

	"github.com/executor-go/executor/internal/rhythm"
)

// This file is what a program asks of a series, and how it changes one.

var (
	_ worker    = (*Series)(nil)
	_ Awaitable = (*Series)(nil)
)

// Name returns the name that [Named] set, or "".
func (s *Series) Name() string { return s.future.Name() }

// State returns the state of the series. It is [Pending] between two runs, and while the
// series is paused.
func (s *Series) State() State {
	s.mustBeMade()
	st := s.future.State()
	if s.rules.overlap > 1 && st == Pending && len(s.overlapping()) > 0 {
		return Running
	}
	return st
}

// Done returns a channel that is closed when the series is done, the same one each time.
func (s *Series) Done() <-chan struct{} {
	s.mustBeMade()
	return s.future.Done()
}

// Err returns the error of the outcome without waiting: nil if the series succeeded,
// [ErrNotDone] if it is not done.
func (s *Series) Err() error {
	s.mustBeMade()
	return s.future.Err()
}

// Wait waits until the series is done, and returns the error of the outcome. If ctx ends
// first, Wait returns the error of ctx, and the series goes on.
func (s *Series) Wait(ctx context.Context) error {
	s.mustBeMade()
	_, err := s.future.Get(ctx)
	return err
}

// Join waits until the series is done and its runs in progress have returned, like
// [Future.Join].
func (s *Series) Join(ctx context.Context) error {
	s.mustBeMade()
	mustContext(ctx)
	err := s.future.Join(ctx)
	for _, r := range s.overlapping() {
		if err == nil {
			err = r.core.Join(ctx)
		}
	}
	return err
}

// OnDone arranges for fn to be called once the series is done, like [Future.OnDone].
func (s *Series) OnDone(fn func()) {
	s.mustBeMade()
	s.future.OnDone(fn)
}

// Cancel completes the series as canceled: there is no further run, and the context of a run in progress ends with the
// cause [ErrCanceled]. Cancel reports false, and does nothing, if the series is done.
func (s *Series) Cancel() bool {
	s.mustBeMade()
	did := s.future.Cancel()
	if did {
		for _, r := range s.overlapping() {
			r.cancel()
		}
	}
	return did
}

// Abandon completes the series as canceled, as Cancel does, but does not end the context of a run in progress: that run
// continues.
func (s *Series) Abandon() bool {
	s.mustBeMade()
	return s.future.Abandon()
}

// Next returns the time at which the next run is due; during a run that is the time at
// which this run was due, and [ScheduleInfo] has the one after it. It is zero if the
// series is paused or done, or was not accepted.
func (s *Series) Next() time.Time {
	s.mustBeMade()
	s.mu.Lock()
	waits, location := s.mode == paused && s.turn == turnWaits, s.rhythm.Location
	s.mu.Unlock()
	next := nextOf(s.taskCore())
	switch {
	case waits || next.IsZero():
		return time.Time{}
	case location != nil:
		return next.In(location)
	}
	return next
}

// Runs returns the number of runs that have ended.
func (s *Series) Runs() int64 {
	s.mustBeMade()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.runs
}

// LastError returns the error of the last run that has ended. It returns nil if that run succeeded, or if no run has
// ended.
func (s *Series) LastError() error {
	s.mustBeMade()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.err
}

// String is like that of [Future], as `series "tidy": pending, due ...`.
func (s *Series) String() string {
	t := s.taskCore()
	return describe("series", t, errorOf(t)) + due(s.State(), s.Next())
}

// Name returns the name of the series, for a policy that gets it.
func (u *seriesWork) Name() string { return u.series().Name() }

func (u *seriesWork) String() string { return u.series().String() }

// What follows changes a series that a pool has. A method finds what it needs of user code
// first, and then takes the pool's lock and that of the series:
//
//	the series waits           it moves to its new time in the queue
//	a worker has it            the worker puts it there, when the run has ended
//	it has changed meanwhile   the method begins again

// Pause keeps the series from running until [Series.Resume]; a run in progress goes on. The remaining [Times], and the
// due times of a fixed rate, stay as they are. Pause reports false, and does nothing, if the series is already paused
// or is done.
//
// A shutdown treats a paused series like any other: with KeepPeriodic the pool does
// not end before the series has been resumed and has ended, or is canceled.
func (s *Series) Pause() (pauses bool) {
	s.mustBeMade()
	s.change(func() bool {
		if pauses = s.mode == active && !s.isOutLocked(); pauses {
			s.mode = paused
		}
		return pauses
	})
	return pauses
}

// Resume ends a pause. The next run is due at the next time of the schedule: times that passed during the pause are not
// made up for. If a fixed delay has passed, the next run is due at once. If there is no further time before [Until],
// the series ends, as succeeded. Resume reports false, and does nothing, if the series is not paused, or is done.
//
// Resume calls the Trigger, if there is one, and panics if that does.
func (s *Series) Resume() bool {
	s.mustBeMade()
	for {
		f, err := s.find(rhythm.PauseEnded, s.clock().Now())
		switch s.tryResume(f, err) {
		case resumed:
			return true
		case notPaused:
			return false
		case noTimeLeft:
			if s.end(ending{err: err}.state(), err) && err != nil {
				s.pool.report(s.taskCore().Context(), s.pool.info(0, s.work()), ending{err: err})
			}
			return true
		}
	}
}

// resumption is what has become of an attempt to resume a series.
type resumption uint8

const (
	resumed    resumption = iota
	notPaused             // there was nothing to do
	noTimeLeft            // there is no slot, so that the series is to end
	changed               // the series has another slot now, so that the attempt is to be repeated
)

func (s *Series) tryResume(f finding, err error) (r resumption) {
	s.change(func() bool {
		switch waits := s.turn == turnWaits || s.turn == turnCalled; {
		case s.mode == active || s.isOutLocked():
			r = notPaused
			return false
		case s.slot.Over: // the last runs are in progress
		case s.turn == turnInSlot || s.turn == turnStale: // the worker will find the next slot
		case s.version != f.version:
			r = changed
			return false
		case err != nil || f.slot.Over:
			if waits && len(s.inProgress) == 0 {
				r = noTimeLeft
				return false
			}
			s.slot.Over = err == nil
		default:
			s.take(f)
		}
		s.mode = active
		return true
	})
	return r
}

// RunNow makes a run due at once, in addition to the runs of the rhythm, whose next time
// does not change. It is a run like any other: it counts for [Times], and does not overlap
// with others unless [Overlap] is given; a fixed delay begins anew at its end. A series
// that is paused runs once and stays paused.
//
// RunNow returns nil if a run is now due that has not begun. If a run is in progress, or with Overlap as many runs as
// are allowed, RunNow does nothing and returns [ErrRunning]. If the series is done, RunNow does nothing and returns
// [ErrDone].
func (s *Series) RunNow() (err error) {
	s.mustBeMade()
	s.change(func() bool {
		switch {
		case s.isOutLocked():
			err = ErrDone
		case s.turn == turnInSlot || s.turn == turnOutOfTurn || s.isFullLocked() || s.isUsedUpLocked() || s.slot.Over:
			err = ErrRunning
		case s.turn == turnCalled || s.isDueLocked():
		default:
			s.turn = turnCalled
			return true
		}
		return false
	})
	return err
}

// Reschedule makes the runs due at the times of trigger, which may be [FixedRate] or [FixedDelay]. A run in progress
// goes on. Nothing else changes: neither the options, nor the remaining [Times], nor a pause. The error is [ErrDone] if
// the series is done. It matches [ErrInvalid] if the trigger has no time, for example because its period is not
// positive; the series then does not change. Reschedule panics if the trigger does.
func (s *Series) Reschedule(trigger Trigger) error {
	s.mustBeMade()
	const where = "Reschedule"
	r := rhythmOf(trigger)
	at, err := firstOf(&r, where, s.clock())
	if err == nil {
		err = s.rules.check(where, r)
	}
	if err != nil {
		return err
	}
	if r.EndAt(s.clock(), s.rules.until); r.Ended(at.Base) {
		return invalid("%s: the first run would be at %v, after Until(%v)",
			where, s.clock().Time(at.Base, r.OnWall()), s.rules.until)
	}
	s.change(func() bool {
		if s.isOutLocked() {
			err = ErrDone
			return false
		}
		switch s.turn {
		case turnInSlot:
			s.turn = turnOutOfTurn
		case turnStale:
			s.turn = turnWaits
		}
		s.rhythm = r
		s.take(finding{slot: at, next: r.Delayed(at.Base, s.rules.jitter)})
		return true
	})
	return err
}

// isDueLocked reports whether a run of the rhythm is due.
func (s *Series) isDueLocked() bool {
	return s.turn == turnWaits && s.mode == active && s.next <= s.clock().Now().On(s.rhythm.OnWall())
}
