package executor

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// This file runs a series. Its task is in the queue or with one worker, so runs never
// overlap, unless they are tasks of their own (series_overlap.go):
//
//	worker   pop under the lock ─▶ begin ─▶ run the body ─▶ conclude: ran finds the next slot
//	            ▲                    │                            │
//	            │                    └─▶ paused, or too late ─────┤
//	            └── requeueLocked: due = position, push ◀─────────┘ fetch, under the lock
//
// A paused series stays in the queue, at a time that never comes. So whatever ends a task
// that waits ends it too.

// turn says what a series waits for, or which run is in progress.
//
//	waits ─▶ inSlot ─▶ waits                a worker takes it when it is due; the run has ended
//	waits ─▶ called ─▶ outOfTurn ─▶ waits   RunNow; a worker takes it; the run has ended
//	inSlot ─▶ outOfTurn                     the slot of the run has been replaced, by Reschedule
//	waits ─▶ stale ─▶ waits                 the wall clock was set back; a worker finds a new slot
//	stale ─▶ called                         RunNow, after which a new slot is found in any case
type turn uint8

const (
	turnWaits     turn = iota // for the time of its slot
	turnCalled                // for a worker, by RunNow
	turnStale                 // for a worker, to find a new slot
	turnInSlot                // the run of the slot is in progress, or is being left out
	turnOutOfTurn             // another run is in progress
)

// runSeries runs a series that a worker has taken from the queue. submitted is the context
// of its submission.
func (p *Pool) runSeries(submitted context.Context, w *worker, e entry, s *Series) outcome {
	t := s.taskCore()
	switch s.begin() {
	case stepRest:
		return outcomeOf(t)
	case stepMove:
		p.moveOn(submitted, w, e, s)
		return outcomeOf(t)
	}
	if s.rules.overlap > 1 {
		p.split(submitted, w, e, s)
		return outcomeOf(t)
	}
	ctx, ok := t.Begin(task.Repeatedly)
	if !ok {
		return outcomeOf(t)
	}
	s.run.Add(1)
	p.perform(ctx, w, e, t)
	if submitted.Err() != nil {
		s.end(task.Canceled, canceled(task.ContextError(submitted)))
	}
	return outcomeOf(t)
}

// seriesStep is what a worker does with a series that was due.
type seriesStep uint8

const (
	stepBegin seriesStep = iota // run it
	stepRest                    // put it back
	stepMove                    // find another slot, without a run
)

// begin decides what to do with a series that was due.
func (s *Series) begin() seriesStep {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.turn == turnStale:
		return stepMove
	case s.isFullLocked() || s.isUsedUpLocked() || s.slot.over:
		return stepRest
	case s.turn == turnCalled:
		s.turn = turnOutOfTurn
	case s.mode == paused:
		return stepRest
	case s.rules.tooLate(now.Sub(s.taskCore().DueTime())):
		s.turn = turnInSlot
		s.record.leftOut++
		return stepMove
	default:
		s.turn = turnInSlot
	}
	if s.rules.overlap <= 1 { // else the run is a task of its own
		s.record.since = now
	}
	return stepBegin
}

// moveOn finds another slot for a series without a run. It ends the series if there is
// none, or if the trigger fails.
func (p *Pool) moveOn(ctx context.Context, w *worker, e entry, s *Series) {
	more, last := false, goexit
	defer func() {
		if more {
			return
		}
		s.end(last.state(), last.err)
		if last.err != nil {
			p.report(ctx, p.info(w, e), last)
		}
	}()
	more, last = s.advance()
}

// ran records the ending of a run, and finds the time of the next. If there is
// none it returns the ending of the series.
func (s *Series) ran(run ending) (more bool, last ending) {
	s.mu.Lock()
	stopped := s.record.add(s.record.since, run)
	s.record.since = time.Time{}
	runs := s.record.runs
	s.mu.Unlock()
	switch {
	case stopped:
		return false, ending{}
	case run.abrupt && s.rules.onPanic == panicEnds:
		return false, run
	case s.rules.times > 0 && runs >= s.rules.times:
		return false, ending{}
	}
	return s.advance()
}

// add records a run that has ended, and reports whether it returned Stop.
func (r *record) add(began time.Time, run ending) (stopped bool) {
	r.runs++
	r.started, r.duration, r.err = began, time.Since(began), run.err
	if stopped = run.isStop(); stopped {
		r.err = nil
	}
	if r.err != nil {
		r.failures++
	}
	return stopped
}

// advance finds the next slot, and when it is due. It calls the user's Trigger, and is
// protected from it.
func (s *Series) advance() (more bool, last ending) {
	defer func() {
		if v := recover(); v != nil {
			more, last = false, abrupt(v)
		}
	}()
	for {
		s.mu.Lock()
		why := s.turn.event()
		s.mu.Unlock()
		f, err := s.find(why, s.clock().Now())
		if err != nil {
			return false, ending{err: err}
		}
		s.mu.Lock()
		if s.version == f.version {
			if f.slot.over && len(s.inProgress) == 0 {
				s.mu.Unlock()
				return false, ending{}
			}
			if s.turn != turnCalled { // while it was stale
				s.turn = turnWaits
			}
			s.take(f)
			s.mu.Unlock()
			return true, ending{}
		}
		s.mu.Unlock() // a method has set another slot
	}
}

// event returns what makes a series of that turn need a slot.
func (t turn) event() event {
	switch t {
	case turnInSlot:
		return slotUsed
	case turnStale:
		return clockSetBack
	}
	return slotKept
}

// finding is a slot that was found without the lock, for a series as it was then.
type finding struct {
	version int
	slot    slot
	next    int64 // when the run is due
	leftOut int64 // times that are left out
}

// find finds the slot that a series needs for that reason. It calls the user's Trigger and
// decoration. The slot is over if there is none.
func (s *Series) find(why event, now delay.Instant) (finding, error) {
	s.mu.Lock()
	f, rhythm, at := finding{version: s.version, next: s.next}, s.rhythm, s.slot
	usedUp := s.isUsedUpLocked()
	s.mu.Unlock()
	if usedUp {
		f.slot.over = true
		return f, nil
	}
	var err error
	f.slot, f.leftOut, err = rhythm.after(at, why, s.rules.tardiness, now)
	if err == nil && !f.slot.over && f.slot != at {
		f.next, f.slot.over = s.due(f.slot, rhythm)
	}
	return f, err
}

// due returns when a run in that slot is due, and whether there will be none since that is
// too late. It calls the user's decoration.
func (s *Series) due(at slot, r Rhythm) (next int64, over bool) {
	wall := r.onWall()
	next = delay.After(at.base, jitter(s.rules.jitter))
	if s.isOver(next, wall) {
		return 0, true
	}
	if d := s.plan.decoration.Load(); d != nil {
		at := r.time(s.clock(), next)
		s.offered.Store(&at)
		defer s.offered.Store(nil)
		next = s.clock().Reading(d.task.Next(), wall)
	}
	return next, false
}

// take makes the slot that was found that of the series. The caller holds the lock.
func (s *Series) take(f finding) {
	s.slot, s.next = f.slot, f.next
	s.version++
	s.record.leftOut += f.leftOut
}

// isOver reports whether a run due then would come after the end.
func (s *Series) isOver(due int64, wall bool) bool {
	return !s.rules.until.IsZero() && s.clock().Time(due, wall).After(s.rules.until)
}

// position returns the time to which a series that waits belongs in the queue, and on
// which clock.
func (s *Series) position() (due int64, wall bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wall = s.rhythm.onWall()
	switch {
	case s.turn == turnStale:
		return 1, wall
	case s.turn == turnCalled:
		return s.clock().Now().On(wall), wall
	case s.mode == paused || s.slot.over || s.isFullLocked() || s.isUsedUpLocked():
		return delay.Never, wall
	}
	return s.next, wall
}

// change calls f with the pool's lock and that of the series. If f reports that the series
// has another time, it moves to that in the queue.
func (s *Series) change(f func() (moves bool)) {
	p := s.pool
	p.mu.Lock()
	s.mu.Lock()
	moves := f()
	s.mu.Unlock()
	if moves {
		p.timer.repositionLocked(s)
	}
	p.mu.Unlock()
}

// isOutLocked reports whether the pool will not run the series any more: it is done, or
// was refused and given to another executor.
func (s *Series) isOutLocked() bool {
	return s.future.State().Done() || !s.taskCore().BelongsTo(&s.pool.owner)
}

// setBack says that the wall clock was set back by much, and reports whether a worker is
// to find a new slot.
func (s *Series) setBack() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == turnWaits && s.mode == paused {
		return false // Resume finds a new one
	}
	if s.turn == turnWaits {
		s.turn = turnStale
	}
	return true
}

// jitter returns a random delay below d.
func jitter(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return rand.Int64N(int64(d))
}
