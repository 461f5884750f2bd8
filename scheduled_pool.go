package executor

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// This file is what a pool has in addition if its tasks wait for a time: a delay queue, rules
// for a shutdown, and a list of its series. The engine does the rest; see its due.go.

// timer is the part of a Pool that only a ScheduledPool has.
type timer struct {
	pool   *Pool
	queue  *engine.Due
	series registry

	// The engine's lock guards these.
	dropped  [periodic + 1]bool // by kind of task: those that wait at a shutdown are canceled
	retained atomic.Bool        // canceled tasks stay in the queue until they are due
}

// clock returns the clock of the pool's times.
func (p *Pool) clock() delay.Clock { return delay.Clock{Epoch: p.epoch} }

// later makes the queue for tasks that wait to run again in a pool that is not scheduled.
func (p *Pool) later() engine.Timed {
	return engine.NewDue(p.clock(), -1, true, p.when, func(engine.Unit) bool { return false })
}

// when returns when a unit is due that enters a delay queue. A series gets its time now.
func (p *Pool) when(unit engine.Unit) engine.Moment {
	u, own := unit.(work)
	if !own {
		return engine.Moment{At: p.elapsed()}
	}
	t := u.taskCore()
	if s := planOf(t).series; s != nil {
		t.Move(s.position())
	}
	return engine.Moment{At: t.Due(), Wall: t.FollowsWallClock()}
}

// stale marks a task of a trigger after the wall clock was set back: a worker will ask
// the trigger for the next time, without the lock.
func stale(unit engine.Unit) bool {
	u, own := unit.(work)
	if !own {
		return false
	}
	s := planOf(u.taskCore()).series
	return s != nil && s.setBack()
}

// keeps reports whether a task may run again though the pool is shut down. The engine's lock
// is held.
func (p *Pool) keeps(unit engine.Unit) bool {
	return p.timer != nil && planOf(unit.(work).taskCore()).series != nil && !p.timer.dropped[periodic]
}

// notKept cancels a task that the pool, which is shut down, no longer takes back.
func (p *Pool) notKept(_ *engine.Worker, unit engine.Unit) {
	unit.(work).end(task.Canceled, canceled(ErrShutdown))
}

// retains reports whether t is to stay in the queue though it is canceled.
func (tm *timer) retains(t *task.Task) bool {
	if !tm.retained.Load() || t.State() != task.Canceled {
		return false
	}
	_, waits := t.Slot().Place()
	return waits
}

// drops returns what tells the tasks that the policies do not let run after a shutdown, which
// happens now. It is called with the engine's lock.
func (tm *timer) drops() func(engine.Unit) bool {
	now := tm.pool.clock().Now()
	return func(unit engine.Unit) bool {
		u, own := unit.(work)
		if !own {
			return false
		}
		t := u.taskCore()
		switch {
		case t.State() == task.Canceled:
			return true
		case planOf(t).series != nil:
			return tm.dropped[periodic]
		case waitsForAttempt(t):
			return true
		case t.Due() <= now.On(t.FollowsWallClock()):
			return false
		}
		return tm.dropped[delayed]
	}
}

// settings returns the timer's part of Settings.
func (tm *timer) settings() (dropDelayed, keepPeriodic, retainCanceled bool) {
	tm.pool.engine.Locked(func() { dropDelayed, keepPeriodic = tm.dropped[delayed], !tm.dropped[periodic] })
	return dropDelayed, keepPeriodic, tm.retained.Load()
}

// set changes the timer's part of Settings. It returns the tasks that a pool which is shut
// down does not keep any more; the caller completes them.
func (tm *timer) set(dropDelayed, keepPeriodic, retainCanceled bool) (gone []engine.Unit) {
	tm.retained.Store(retainCanceled)
	more := false
	tm.pool.engine.Locked(func() {
		more = dropDelayed && !tm.dropped[delayed] || !keepPeriodic && !tm.dropped[periodic]
		tm.dropped[delayed], tm.dropped[periodic] = dropDelayed, !keepPeriodic
	})
	if more {
		gone = tm.pool.engine.Drop(tm.drops())
	}
	return gone
}

// plan is what a pool keeps with a task that is not simply due once.
type plan struct {
	series     *Series                    // of periodic work, else nil
	run        *seriesRun                 // a run that is a task of its own, else nil
	retry      *retry                     // of a task with Retry, else nil
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
	// queue, and decides both when the task runs and in which order. A series asks about one
	// time after the other, so Next must not call Resume or Reschedule, which ask too.
	Next() time.Time
}

// decoration is a user's task that wraps one of this package.
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
			end = f.conclude(end)
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
