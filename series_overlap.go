package executor

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/internal/task"
)

// This file runs a series with the option Overlap. When it is due, a worker gives the run to
// the pool as a task of its own, and puts the series back for its next time:
//
//	series   due ─▶ begin ─▶ split ─▶ advance ─▶ requeue
//	                           │
//	run                        └─▶ queue ─▶ a worker runs it ─▶ leave
//
// As long as it has as many runs as it may have, the series stays in the queue at a time
// that never comes. leave then finds its next slot, by the rules for missed times. A series
// without a further time stays likewise, until its last run ends it.

// seriesRun is a run of a series that may overlap with others.
type seriesRun struct {
	core   task.Task
	series *Series
	body   func(context.Context) error
	plan   plan
	number int64     // from 1
	since  time.Time // when its body began; under the lock of the series
}

var _ typedTask = (*seriesRun)(nil)

// split gives a run of s, which w has taken from the queue, to the pool, and finds the next
// slot.
func (p *Pool) split(submitted context.Context, w *worker, e entry, s *Series) {
	if r := s.newRun(submitted); r != nil {
		p.mu.Lock()
		var hired *worker
		v := tooLate
		if p.mu.stage < StageStop { // else the series is about to be dropped
			hired, v = p.timer.admitLocked(entry{r}, &r.core)
		}
		p.mu.Unlock()
		if hired != nil {
			p.start([]*worker{hired})
		}
		s.taskCore().MarkBegun()
		if v != queued {
			r.end(task.Canceled, canceled(ErrShutdown))
			s.remove(r)
		}
	}
	p.moveOn(submitted, w, e, s)
}

// newRun returns a run that is due when the series is, nil if that is done.
func (s *Series) newRun(ctx context.Context) *seriesRun {
	body := s.detachBody()
	if body == nil {
		return nil
	}
	r := &seriesRun{series: s, body: body}
	r.plan.run = r
	r.core.Init()
	r.core.MakeReported()
	t := s.taskCore()
	r.core.InitDue(t.Due())
	if t.FollowsWallClock() {
		r.core.FollowWallClock()
	}
	o := r.core.SetOptions()
	*o = *t.Options()
	o.Plan = &r.plan
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
	full := s.isFullLocked() // in one step with the removal: the series then waits for this room
	s.removeLocked(r)
	s.mu.Unlock()
	switch {
	case stopped:
		s.end(task.Succeeded, nil)
	case run.abrupt && s.rules.onPanic == panicEnds:
		s.end(task.Failed, run.err)
	default:
		more, last := false, goexit // unless the trigger returns
		defer func() {
			if !more && s.end(last.state(), last.err) && last.err != nil {
				s.pool.report(r.core.Context(), s.pool.info(nil, entry{s}), last)
			}
		}()
		more, last = s.makeRoom(full)
	}
}

// makeRoom has a series go on after a run has ended, before which it was full or not. It
// returns how the series ends if that was the last run.
func (s *Series) makeRoom(full bool) (more bool, last ending) {
	defer func() {
		if v := recover(); v != nil {
			more, last = false, abrupt(v)
		}
	}()
	for {
		s.mu.Lock()
		over, none := s.slot.over || s.isUsedUpLocked(), len(s.inProgress) == 0
		s.mu.Unlock()
		if over || !full {
			return !over || !none, ending{}
		}
		f, err := s.find(slotKept, s.clock().Now())
		if err != nil {
			return false, ending{err: err}
		}
		taken := false
		s.change(func() bool {
			switch {
			case s.turn != turnWaits: // a worker finds a slot, or RunNow was called
				taken, full = true, false
			case s.version == f.version:
				s.take(f)
				taken = true
			}
			return taken
		})
		full = full && !taken
	}
}

func (r *seriesRun) taskCore() *task.Task                    { return &r.core }
func (r *seriesRun) submitted() Runnable                     { return r.series }
func (r *seriesRun) detachBody() func(context.Context) error { return r.body }
func (r *seriesRun) Run(context.Context) error               { return nil } // the pool calls invoke

func (r *seriesRun) end(st task.State, err error) bool { return r.core.CompletePending(st, err, nil) }

// fail is called if the body is not called, which ends a series.
func (r *seriesRun) fail(err error) {
	r.series.remove(r)
	r.core.FinishUncalled(err, nil)
	r.series.end(task.Failed, err)
}

func (r *seriesRun) invoke(ctx context.Context) (end ending) {
	s := r.series
	s.mu.Lock()
	r.since = time.Now()
	s.mu.Unlock()
	back := false
	defer func() {
		if !back {
			end = abrupt(recover())
		}
		outcome := end
		if end.isStop() {
			outcome = ending{}
		}
		defer r.core.Finish(outcome.state(), outcome.err, nil)
		s.leave(r, end)
	}()
	err := r.body(ctx)
	back = true
	return returned(ctx, err)
}
