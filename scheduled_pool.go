package executor

import (
	"sync"
	"time"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// This file is what a pool has in addition if its tasks wait for a time: a delay queue, rules
// for a shutdown, and a list of its series. The engine does the rest; see its due.go.

// later makes the queue for tasks that wait to run again in a pool that is not scheduled.
func (p *Pool) later() engine.Timed {
	return engine.NewDue(p.clock(), -1, true, p.when, func(engine.Unit, time.Duration) bool { return false })
}

// when returns when a unit is due that enters a delay queue. A series gets its time now.
func (p *Pool) when(unit engine.Unit) engine.Moment {
	t := unit.(work).taskCore()
	planOf(t).move(t)
	return engine.Moment{At: t.Due(), Wall: t.FollowsWallClock()}
}

// stale marks a task of a trigger after the wall clock was set back: a worker will ask
// the trigger for the next time, without the lock.
func stale(unit engine.Unit, step time.Duration) bool {
	return planOf(unit.(work).taskCore()).setBack(step)
}

// keeps reports whether a task may run again though the pool is shut down. The engine's lock
// is held.
func (p *Pool) keeps(unit engine.Unit) bool {
	return p.timer != nil && planOf(unit.(work).taskCore()).isSeries() && !p.timer.dropped[periodic]
}

// notKept cancels a task that the pool, which is shut down, no longer takes back.
func (p *Pool) notKept(unit engine.Unit) {
	unit.(work).end(task.Canceled, canceled(ErrShutdown))
}

// drops returns what tells the tasks that the policies do not let run after a shutdown. The engine
// calls that with its lock, under which it reads the clock: a task that was submitted since, to run
// at once, would count as delayed.
func (tm *timer) drops() func(engine.Unit) bool {
	now := sync.OnceValue(tm.pool.clock().Now)
	return func(unit engine.Unit) bool {
		t := unit.(work).taskCore()
		switch {
		case planOf(t).isSeries():
			return tm.dropped[periodic]
		case planOf(t).hasRun():
			return true
		case t.Due() <= now().On(t.FollowsWallClock()):
			return false
		}
		return tm.dropped[delayed]
	}
}

// settings returns the timer's part of Settings.
func (tm *timer) settings() (dropDelayed, keepPeriodic bool) {
	tm.pool.engine.Locked(func() { dropDelayed, keepPeriodic = tm.dropped[delayed], !tm.dropped[periodic] })
	return dropDelayed, keepPeriodic
}

// set changes the timer's part of Settings. It returns the tasks that a pool which is shut
// down does not keep any more; the caller completes them.
func (tm *timer) set(dropDelayed, keepPeriodic bool) (gone []engine.Unit) {
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
