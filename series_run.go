package executor

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/rhythm"
	"github.com/executor-go/executor/internal/task"
)

// This file runs a series. Its task is in the queue or with one worker, so runs never
// overlap, unless they are tasks of their own, as below:
//
//	worker   pop under the lock ─▶ begin ─▶ run the body ─▶ conclude: ran finds the next slot
//	            ▲                    │                            │
//	            │                    └─▶ paused, or too late ─────┤
//	            └── putBackLocked: due = position, push ◀─────────┘ fetch, under the lock
//
// A paused series stays in the queue, at a time that never comes. So whatever ends a task
// that waits ends it too.

// runSeries runs a series that is due.
func (l *local) runSeries(s *Series) {
	u, t := s.work(), s.taskCore()
	defer func() { l.worker.Outcome = outcomeOf(t) }()
	submitted := t.Context()
	labels := l.prepare(u)
	if o := l.pool.observed.Load(); o != nil && o.choose() {
		defer l.measureLateness(o, u).end()
	}
	switch s.begin() {
	case stepRest:
		return
	case stepMove:
		l.moveOn(submitted, s)
		return
	}
	if s.rules.overlap > 1 {
		l.split(submitted, s)
		return
	}
	ctx, ok := t.Begin()
	if !ok { // it is done
		s.notCalled()
		return
	}
	s.run.Add(1)
	l.perform(ctx, labels, u)
	if submitted.Err() != nil {
		s.end(task.Canceled, canceled(task.ContextError(submitted)))
	}
}

func (u *seriesWork) Do(w *engine.Worker) { localOf(w).runSeries(u.series()) }

// seriesStep is what a worker does with a series that was due.
type seriesStep uint8

const (
	stepBegin seriesStep = iota // run it
	stepRest                    // put it back
	stepMove                    // find another slot, without a run
)

// begin returns what to do with a series that was due.
func (s *Series) begin() seriesStep {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.turn == turnStale:
		return stepMove
	case s.isFullLocked() || s.isUsedUpLocked() || s.slot.Over:
		return stepRest
	case s.turn == turnCalled:
		s.turn = turnOutOfTurn
	case s.mode == paused:
		return stepRest
	case s.rules.TooLate(now.Sub(s.taskCore().DueTime())):
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
func (l *local) moveOn(ctx context.Context, s *Series) {
	more, last := s.advance()
	if more {
		return
	}
	s.end(last.state(), last.err)
	if last.err != nil {
		l.pool.report(ctx, l.pool.info(l.worker.Number, s.work()), last)
	}
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
	case run.is(wasAbrupt) && s.rules.onPanic == panicEnds:
		return false, run
	case s.rules.times > 0 && runs >= s.rules.times:
		return false, ending{}
	}
	return s.advance()
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
			if f.slot.Over && len(s.inProgress) == 0 {
				s.record.leftOut += f.leftOut
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

func (p *seriesPlan) number() int64                   { return p.series.run.Load() }
func (p *seriesPlan) isSeries() bool                  { return true }
func (p *seriesPlan) isPeriodic() bool                { return true }
func (p *seriesPlan) move(t *task.Task)               { t.Move(p.series.position()) }
func (p *seriesPlan) setBack(step time.Duration) bool { return p.series.setBack(step) }

func (p *seriesPlan) conclude(t *task.Task, end ending, body dropper) (outcome, run ending, again bool) {
	more, last := p.series.ran(end)
	switch {
	case more:
		t.Reset(body.drop)
		return end, end, true
	case last.err != nil:
		return last, last, false
	}
	return last, end, false
}

// event returns what makes a series of that turn need a slot.
func (t turn) event() rhythm.Event {
	switch t {
	case turnInSlot:
		return rhythm.SlotUsed
	case turnStale:
		return rhythm.ClockSetBack
	}
	return rhythm.SlotKept
}

// finding is a slot that was found without the lock, for a series as it was then.
type finding struct {
	version int
	slot    rhythm.Slot
	next    int64 // when the run is due
	leftOut int64 // times that are left out
}

// find finds the slot that a series needs for the reason why. It calls the user's Trigger.
// The slot is over if there is none.
func (s *Series) find(why rhythm.Event, now delay.Instant) (finding, error) {
	s.mu.Lock()
	f, r, at := finding{version: s.version, next: s.next}, s.rhythm, s.slot
	usedUp := s.isUsedUpLocked()
	s.mu.Unlock()
	if usedUp {
		f.slot.Over = true
		return f, nil
	}
	var err error
	f.slot, f.leftOut, err = r.After(at, why, s.rules.Tardiness, now)
	switch {
	case err != nil:
		err = invalid("%v", err)
	case !f.slot.Over && f.slot != at:
		f.next = r.Delayed(f.slot.Base, s.rules.jitter)
	}
	return f, err
}

// take sets the slot of the series to the one that was found. The caller holds the lock.
func (s *Series) take(f finding) {
	s.slot, s.next = f.slot, f.next
	s.version++
	s.record.leftOut += f.leftOut
}

// position returns the time to which a series that waits belongs in the queue, and on
// which clock.
func (s *Series) position() (due int64, wall bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wall = s.rhythm.OnWall()
	switch {
	case s.turn == turnStale:
		return 1, wall
	case s.turn == turnCalled:
		return s.clock().Now().On(wall), wall
	case s.mode == paused || s.slot.Over || s.isFullLocked() || s.isUsedUpLocked():
		return delay.Never, wall
	}
	return s.next, wall
}

// change calls f with the engine's lock and that of the series. If f reports that the series
// has another time, it moves to that in the queue.
func (s *Series) change(f func() (moves bool)) {
	s.pool.engine.Move(slotOf(s.taskCore()), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return f()
	})
}

// isOutLocked reports whether the pool will not run the series any more: it is done, or
// was refused and given to another executor.
func (s *Series) isOutLocked() bool {
	return s.future.State().Done() || !s.taskCore().BelongsTo(&s.pool.owner)
}

// setBack records that the wall clock was set back by that step, and reports whether a worker
// is to find a new slot.
func (s *Series) setBack(step time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.rhythm.Repeats(step) || s.turn == turnWaits && s.mode == paused { // Resume finds a new one
		return false
	}
	if s.turn == turnWaits {
		s.turn = turnStale
	}
	return true
}

// What follows runs a series with the option Overlap. When it is due, a worker passes the run to
// the pool as a task of its own, and puts the series back for its next time:
//
//	series   due ─▶ begin ─▶ split ─▶ advance ─▶ requeue
//	                           │
//	run                        └─▶ queue ─▶ a worker runs it ─▶ leave
//
// As long as it has as many runs as it may have, the series stays in the queue at a time
// that never comes. leave then finds its next slot, by the rules for missed times. A series
// without a further time stays likewise, until its last run ends it.

// split passes a run of s to the pool, and finds the next slot.
func (l *local) split(submitted context.Context, s *Series) {
	if r := s.newRun(submitted); r != nil {
		s.taskCore().MarkBegun()
		if l.pool.engine.Submit(r, true) != engine.Queued { // the series is about to be dropped
			r.end(task.Canceled, canceled(ErrShutdown))
			s.remove(r)
		}
	}
	l.moveOn(submitted, s)
}

// newRun returns a run that is due when the series is, nil if that is done.
func (s *Series) newRun(ctx context.Context) *seriesRun {
	body := s.future.detachBody()
	if body == nil {
		return nil
	}
	r := &seriesRun{series: s, body: body}
	r.plan.run = r
	r.core.Init()
	r.core.MakeReported()
	t := s.taskCore()
	r.core.SetDue(t.Due())
	if t.FollowsWallClock() {
		r.core.FollowWallClock()
	}
	o := r.core.SetOptions()
	*o = *t.Options()
	o.Plan, o.Repeats = &r.plan, false
	r.core.AttachNew(&s.pool.owner, ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOutLocked() { // then Cancel does not find r
		return nil
	}
	r.number = s.run.Add(1)
	s.inProgress = append(s.inProgress, r)
	return r
}

// remove removes r from the runs in progress.
func (s *Series) remove(r *seriesRun) {
	s.mu.Lock()
	s.removeLocked(r)
	s.mu.Unlock()
}

// removeLocked is remove. The caller holds the lock of the series.
func (s *Series) removeLocked(r *seriesRun) {
	s.inProgress = slices.DeleteFunc(s.inProgress, func(other *seriesRun) bool { return other == r })
}

// overlapping returns the runs in progress of a series with the option Overlap.
func (s *Series) overlapping() []*seriesRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inProgress)
}

// isFullLocked reports whether there are as many runs as there may be. The caller holds the
// lock of the series.
func (s *Series) isFullLocked() bool { return len(s.inProgress) >= max(s.rules.overlap, 1) }

// isUsedUpLocked reports whether all runs that there may be have begun.
func (s *Series) isUsedUpLocked() bool {
	return s.rules.overlap > 1 && s.rules.times > 0 && s.run.Load() >= s.rules.times
}

// leave records the ending of r, and has the series go on, or end.
func (s *Series) leave(r *seriesRun, run ending) {
	s.mu.Lock()
	stopped := s.record.add(r.since, run)
	full := s.isFullLocked() // as one step with the removal, since a full series waits for the room that this makes
	s.removeLocked(r)
	s.mu.Unlock()
	switch {
	case stopped:
		s.end(task.Succeeded, nil)
	case run.is(wasAbrupt) && s.rules.onPanic == panicEnds:
		s.end(task.Failed, run.err)
	default:
		s.goOn(r, full)
	}
}

// goOn has a series go on, or end, after r has left, which was one of as many as there may be if it
// was full.
func (s *Series) goOn(r *seriesRun, full bool) {
	if s.taskCore().State().Done() {
		return
	}
	more, last := s.makeRoom(full)
	if !more && s.end(last.state(), last.err) && last.err != nil {
		s.pool.report(r.core.Context(), s.pool.info(0, s.work()), last)
	}
}

// makeRoom has a series go on after one of its overlapping runs has ended. full means that
// it had as many as it may have, so that it waits for room, at a time that never comes. If
// there is neither a further slot nor a run left, it returns how the series ends.
func (s *Series) makeRoom(full bool) (more bool, last ending) {
	defer func() {
		if v := recover(); v != nil {
			more, last = false, abrupt(v)
		}
	}()
	for {
		s.mu.Lock()
		over, left := s.slot.Over || s.isUsedUpLocked(), len(s.inProgress) > 0
		s.mu.Unlock()
		if over || !full {
			return !over || left, ending{}
		}
		f, err := s.find(rhythm.SlotKept, s.clock().Now())
		if err != nil {
			return false, ending{err: err}
		}
		s.change(func() (moves bool) {
			switch {
			case s.turn != turnWaits: // a worker finds a slot, or RunNow was called
				full = false
			case s.version == f.version: // else a method has set another slot
				s.take(f)
				full = false
			}
			return !full
		})
	}
}

func (r *seriesRun) Slot() *engine.Slot                      { return r.core.Slot() }
func (r *seriesRun) Outcome() engine.Outcome                 { return outcomeOf(&r.core) }
func (r *seriesRun) Do(w *engine.Worker)                     { localOf(w).runTask(r) }
func (r *seriesRun) taskCore() *task.Task                    { return &r.core }
func (r *seriesRun) submitted() any                          { return r.series }
func (r *seriesRun) runnable() Runnable                      { return r.series.work().runnable() }
func (r *seriesRun) detachBody() func(context.Context) error { return r.body }

func (r *seriesRun) end(st task.State, err error) bool {
	if !r.core.CompletePending(st, err, nil) {
		return false
	}
	s := r.series
	s.mu.Lock()
	full := s.isFullLocked()
	s.removeLocked(r)
	s.mu.Unlock()
	s.goOn(r, full)
	return true
}

// endWaitingRuns cancels the runs that have not begun, since the series has ended.
func (s *Series) endWaitingRuns() {
	if s.pool.ctx.Err() != nil {
		return // ShutdownNow has them
	}
	var why error
	if t := s.taskCore(); t.State() == task.Canceled {
		why = t.Outcome()
	}
	for _, r := range s.overlapping() {
		r.end(task.Canceled, why)
	}
}

// cancel ends the run, or the context of one that has begun.
func (r *seriesRun) cancel() {
	if !r.end(task.Canceled, nil) {
		r.core.Cancel(nil, ErrCanceled, nil)
	}
}

// fail ends the run and the series, since the body was not called.
func (r *seriesRun) fail(err error) {
	r.series.remove(r)
	r.core.FinishUncalled(err, nil)
	r.series.end(task.Failed, err)
}

func (r *seriesRun) invoke(ctx context.Context, on *engine.Worker) ending {
	s := r.series
	s.mu.Lock()
	r.since = time.Now()
	s.mu.Unlock()
	end := guarded(ctx, r.body)
	on.Showing()
	return r.conclude(end)
}

func (r *seriesRun) conclude(end ending) ending {
	outcome := end
	if end.isStop() {
		outcome = ending{}
	}
	defer r.core.Finish(outcome.state(), outcome.err, nil)
	r.series.leave(r, end)
	return end
}

// seriesEnded logs that a series has ended because its submitter's context has.
func (p *Pool) seriesEnded(s *Series) {
	end, ok := s.future.Err().(*CanceledError)
	if !ok || end.Cause == ErrShutdown || end.Cause == ErrCanceled {
		return
	}
	info := p.info(0, s.work())
	p.log(s.taskCore().Context(), slog.LevelWarn, "executor: schedule ended", info.attrs(slog.Any("reason", end))...)
}
