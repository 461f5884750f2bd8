package executor

// This file changes a series that a pool has. A method finds what it needs of user code
// first, and then takes the pool's lock and that of the series:
//
//	the series waits           it moves to its new time in the queue
//	a worker has it            the worker puts it there, when the run has ended
//	it has changed meanwhile   the method begins again

// Pause keeps the series from running until [Series.Resume]; a run in progress goes on. What
// is left of [Times], and the grid of a fixed rate, stay as they are. Pause reports false,
// and does nothing, if the series is paused already, or is done.
//
// A shutdown treats a paused series like any other: with KeepAfterShutdown the pool does
// not end before the series has been resumed and has ended, or is canceled.
func (s *Series) Pause() (pauses bool) {
	s.change(func() bool {
		if pauses = s.mode == active && !s.isOutLocked(); pauses {
			s.mode = paused
		}
		return pauses
	})
	return pauses
}

// Resume ends a pause. The next run is due at the next time of the rhythm: no run is made
// up for times that passed during the pause. With a fixed delay that has passed, it is due
// at once. If there is no further time before [Until], the series ends, as succeeded.
// Resume reports false, and does nothing, if the series is not paused, or is done.
//
// Resume calls the Trigger, if there is one, and panics if that does.
func (s *Series) Resume() bool {
	for {
		f, err := s.find(pauseEnded, s.clock().Now())
		switch s.tryResume(f, err) {
		case resumed:
			return true
		case notPaused:
			return false
		case noTimeLeft:
			if s.end(ending{err: err}.state(), err) && err != nil {
				s.pool.report(s.taskCore().Context(), s.pool.info(nil, entry{s}), ending{err: err})
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
		case s.slot.over: // the last runs are in progress
		case s.turn == turnInSlot || s.turn == turnStale: // the worker will find the next slot
		case s.version != f.version:
			r = changed
			return false
		case err != nil || f.slot.over:
			if waits && len(s.inProgress) == 0 {
				r = noTimeLeft
				return false
			}
			s.slot.over = err == nil
		default:
			s.take(f)
		}
		s.mode = active
		return true
	})
	return r
}

// RunNow makes a run due at once, besides those of the rhythm, whose next time stays as it
// is. It is one run as any other: it counts for [Times], and does not overlap with others
// unless [Overlap] is given; a fixed delay begins anew at its end. A series that is paused
// runs once and stays paused.
//
// RunNow returns nil if a run is due now that has not begun, [ErrRunning] if a run is in
// progress, or as many as may be, and [ErrDone] if the series is done; it then does nothing.
func (s *Series) RunNow() (err error) {
	s.change(func() bool {
		switch {
		case s.isOutLocked():
			err = ErrDone
		case s.turn == turnInSlot || s.turn == turnOutOfTurn || s.isFullLocked() || s.isUsedUpLocked() || s.slot.over:
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

// Reschedule sets another rhythm. The first run is due after one period or delay from now,
// or at the first time of the trigger; a run in progress goes on. All else stays as it is:
// the options, what is left of [Times], a pause. The error is [ErrDone] if the series is
// done, or matches [ErrInvalid] if the rhythm has no time, as one with a period that is not
// positive; the series then stays as it is. Reschedule panics if a trigger does.
func (s *Series) Reschedule(r Rhythm) error {
	const where = "Reschedule"
	at, err := r.first(where, s.clock())
	if err == nil {
		err = s.rules.check(where, r)
	}
	if err != nil {
		return err
	}
	next, over := s.due(at, r)
	if over {
		return invalid("%s: the first run would be at %v, after Until(%v)",
			where, s.clock().Time(at.base, r.onWall()), s.rules.until)
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
		s.take(finding{slot: at, next: next})
		return true
	})
	return err
}

// isDueLocked reports whether a run of the rhythm is due.
func (s *Series) isDueLocked() bool {
	return s.turn == turnWaits && s.mode == active && s.next <= s.clock().Now().On(s.rhythm.onWall())
}
