package executor

import (
	"cmp"
	"iter"
	"reflect"
	"time"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// This file shows and removes tasks that wait, and changes the settings of a pool while it
// runs. A change of settings affects neither a worker that has a task nor that task's context:
// excess workers leave when they would take their next task, idle ones at once.

// Remove removes a waiting task from the queue, cancels it with the cause [ErrCanceled], and reports whether the queue
// had it. what is the task's *Future, *Task or *Series, or the Runnable passed to Execute, compared by ==. Functions
// can't be compared, so a [Func] is never found. Each call removes one task. A future is found in constant time, a
// Runnable by a scan of the queue.
func (p *Pool) Remove(what any) bool {
	p.mustBeMade()
	if what == nil || !reflect.ValueOf(what).Comparable() {
		return false // == would panic
	}
	var t *task.Task
	switch w := what.(type) {
	case interface{ taskCore() *task.Task }:
		t = w.taskCore()
	}
	if t != nil {
		t.Owner() // of a zero Future panics here, not under the lock
	}
	found := p.find(what, t)
	if found == nil {
		return false
	}
	defer p.engine.Tidy()
	if t := found.taskCore(); !found.end(task.Canceled, nil) && t != nil && t.State() != task.Canceled {
		return false // it was completed by hand in this moment
	}
	p.takenAway(found, canceledByHand)
	return true
}

// find takes out of the queue what Remove is given, whose task is t, which may be nil.
func (p *Pool) find(what any, t *task.Task) work {
	if t != nil {
		if t.Owner() != &p.owner {
			return nil
		}
		if left := p.engine.Take(slotOf(t), func() bool { return t.BelongsTo(&p.owner) }); left != nil {
			return left.(work)
		}
		return nil
	}
	found := false
	left := p.engine.TakeFunc(func(unit engine.Unit) bool {
		if found || !is(unit.(work), what) {
			return false
		}
		found = true
		return true
	})
	if len(left) == 0 {
		return nil
	}
	return left[0].(work)
}

// watchedBy has o watch p, if p has no Observer yet, and it has not ended. It
// returns the Observer that p has, or o if p has ended.
func (p *Pool) watchedBy(o *Observer) *Observer {
	w := &observed{observer: o, pool: p, name: p.name, epoch: p.epoch, every: cmp.Or(o.Every, defaultEvery), timed: p.timer != nil}
	watches := o
	p.engine.Locked(func() {
		if before := p.observed.Load(); before != nil {
			watches = before.observer
		} else if p.engine.StageLocked() < engine.Tidying {
			o.add(w)
			p.observed.Store(w)
			p.engine.Stamp()
		}
	})
	return watches
}

// Waiting returns an iterator over a snapshot of the tasks that wait in the queue. Each is
// a *Future, a *Series, or the Runnable of Execute or Go. In a first-in, first-out queue
// the next one to leave comes first; other queues are in no particular order.
func (p *Pool) Waiting() iter.Seq[any] {
	return func(yield func(any) bool) {
		p.mustBeMade()
		var all []any
		for _, u := range p.engine.Waiting() {
			all = append(all, u.(work).submitted())
		}
		for _, task := range all {
			if !yield(task) {
				return
			}
		}
	}
}

// Pause has p begin no task until [Pool.Resume]. Tasks that run go on, and what they wait for in p begins
// nevertheless, see [Future.Get]. Others wait: p accepts tasks as far as its queue has room, and calls the rejection
// policy beyond that, for each task if the queue is [Handoff]. Pause does not wait for the tasks that run: those are
// [Stats].Active.
//
// The shares of p pause with p, and a [Keyed] is one. Each can be paused alone, too. A task of p that waits for one of
// such a share waits until that is resumed.
//
// In a [ScheduledPool], what is due meanwhile is late when the pool is resumed, as if all workers had been busy:
// [CatchUp] and [StartWithin] decide about the times of a series that have passed.
//
// A shutdown ends a pause, and what waits runs, as it does without a pause. So Close and Drain return, also those of a
// share of a pool that is paused. Pause does nothing if p is paused, or shut down.
func (p *Pool) Pause() {
	p.mustBeMade()
	p.engine.Pause()
	p.lookAtShares()
}

// Resume ends a [Pool.Pause] of p. A share that was paused itself, or belongs to a pool that is paused, remains so.
func (p *Pool) Resume() {
	p.mustBeMade()
	p.engine.Resume()
	p.lookAtShares()
}

// lookAtShares follows a change of whether p is paused.
func (p *Pool) lookAtShares() {
	for _, s := range p.shares.all() {
		s.engine.Look()
		s.lookAtShares()
	}
}

// Prestart starts up to n workers ahead of tasks, as long as there are fewer than Workers, and
// returns how many it started. It starts none if n is not positive, or if the pool is shut
// down and no task waits.
func (p *Pool) Prestart(n int) int {
	p.mustBeMade()
	return p.engine.Prestart(n)
}

// Settings are the fields of [Config] and [ScheduledConfig] that can be changed while a
// pool runs.
type Settings struct {
	Workers, Max int // Max is math.MaxInt in a scheduled pool, which has no maximum
	GrowWhenBusy bool
	KeepAlive    time.Duration
	KeepNone     bool
	Reject       RejectPolicy

	DropDelayed, KeepPeriodic bool // of a ScheduledPool; false in others

	Rate Rate // of a share; no bound in others
}

// Settings returns the settings as they are now, all at the same instant.
func (p *Pool) Settings() Settings {
	s, _ := p.settingsNow()
	return s
}

// settingsNow returns the settings and their version.
func (p *Pool) settingsNow() (Settings, int) {
	p.mustBeMade()
	p.settings.Lock()
	defer p.settings.Unlock()
	l := p.engine.Counts().Limits
	s := Settings{
		Workers: l.Kept, Max: l.Max, GrowWhenBusy: l.WhenBusy,
		KeepAlive: l.KeepAlive, KeepNone: l.KeepNone,
		Reject: *p.reject.Load(), Rate: p.settings.rate,
	}
	if p.timer != nil {
		s.DropDelayed, s.KeepPeriodic = p.timer.settings()
	}
	return s, p.settings.version
}

// Reconfigure changes the settings, all in one step:
//
//	pool.Reconfigure(func(s *executor.Settings) { s.Workers, s.Max = 4, 16 })
//
// change modifies the current settings. The caller's goroutine calls change, with no lock held, and again if another
// call has changed the settings meanwhile. So change must not call Reconfigure itself. If the result is out of range,
// nothing changes, and the error matches [ErrInvalid]. A nil change panics.
//
// If Workers is raised, workers are started for the tasks that wait. If it is lowered, the
// workers above it leave when they have been idle for KeepAlive. Above a lowered Max, and a
// lowered Workers of a scheduled pool, idle workers leave at once, busy ones after their task.
// In a pool that is shut down, tasks that DropDelayed and KeepPeriodic no longer keep are
// canceled at once.
//
// In a pool made by [Single] only Reject can be changed. A scheduled pool has no Max. A
// share has only Reject, Rate and Max, which is its Limit. A new Rate keeps the tokens that
// are left of the old one, at most its burst.
func (p *Pool) Reconfigure(change func(*Settings)) error {
	if change == nil {
		panic("executor: Pool.Reconfigure: nil function")
	}
	return p.reconfigure("Reconfigure", change)
}

// Resize sets Workers and Max to n; in a scheduled pool it sets only Workers, and in a share the Limit. If n is less
// than 1, or the pool was made by Single, nothing changes, and the error matches [ErrInvalid]. To set Max alone, use
// Reconfigure.
func (p *Pool) Resize(n int) error {
	if n < 1 {
		return invalid("Resize(%d): must be at least 1", n)
	}
	return p.reconfigure("Resize", func(s *Settings) {
		if p.lender == nil {
			s.Workers = n
		}
		if p.timer == nil {
			s.Max = n
		}
	})
}

// reconfigure is Reconfigure. where is the name of the method in errors.
func (p *Pool) reconfigure(where string, change func(*Settings)) error {
	for {
		before, version := p.settingsNow()
		after := before
		change(&after)
		if err := p.checkChange(where, before, after); err != nil {
			return err
		}
		if ok, err := p.apply(where, after, version); ok {
			return err
		}
	}
}

// checkChange returns an error if a pool of the kind of p can't be changed so.
func (p *Pool) checkChange(where string, before, after Settings) error {
	was, is := before, after
	was.Reject, is.Reject = nil, nil // a RejectFunc can't be compared
	switch {
	case p.lender == nil && after.Rate != Rate{}:
		return invalid("%s: Rate is for a share, see Pool.Share; leave it out", where)
	case p.lender != nil && after.GrowWhenBusy != before.GrowWhenBusy:
		return invalid("%s: a share has no GrowWhenBusy; set it in the pool that the share belongs to", where)
	case p.timer == nil && (after.DropDelayed || after.KeepPeriodic):
		return invalid("%s: DropDelayed and KeepPeriodic are for a ScheduledPool; leave them out", where)
	case p.frozen && is != was:
		return invalid("%s: a pool made by Single stays one of a single worker; make it by New", where)
	case p.timer == nil:
		return nil
	case after.Max != before.Max:
		return invalid("%s: Max is %d, but a scheduled pool has no maximum; its workers, of which there are at most Workers, run all tasks", where, after.Max)
	case after.GrowWhenBusy != before.GrowWhenBusy:
		return invalid("%s: a scheduled pool has no GrowWhenBusy; its workers, of which there are at most Workers, run all tasks", where)
	}
	return nil
}

// apply sets the settings if they are valid, and puts them into effect. It reports false,
// and does nothing, if the settings have another version by now.
func (p *Pool) apply(where string, s Settings, version int) (applied bool, err error) {
	applied, dropped, err := p.set(where, s, version)
	if applied && err == nil { // and without the lock, since users' code is called
		defer p.engine.Tidy()
		p.dropAll(dropped)
	}
	return applied, err
}

// set is apply, but for the tasks that the pool does not keep any more, which it returns.
func (p *Pool) set(where string, s Settings, version int) (applied bool, dropped []engine.Unit, err error) {
	p.settings.Lock()
	defer p.settings.Unlock()
	if p.settings.version != version {
		return false, nil, nil
	}
	l := engine.Limits{
		Kept: s.Workers, Max: s.Max, WhenBusy: s.GrowWhenBusy, KeepAlive: s.KeepAlive, KeepNone: s.KeepNone,
	}
	rate, err := s.Rate.bucket()
	if err == nil {
		err = p.check(where, l, s.Reject)
	}
	if err != nil {
		return true, nil, err
	}
	p.settings.version++
	p.reject.Store(&s.Reject)
	if p.timer != nil {
		dropped = p.timer.set(s.DropDelayed, s.KeepPeriodic)
	}
	changed := &rate
	if s.Rate == p.settings.rate {
		changed = nil
	}
	p.settings.rate = s.Rate
	p.engine.Resize(l, changed)
	return true, dropped, nil
}

// check returns an error if a setting is out of its range. where names the call that sets it.
func (p *Pool) check(where string, l engine.Limits, reject RejectPolicy) error {
	switch {
	case l.Kept < 0:
		return invalid("%s: Workers is %d; it must not be negative", where, l.Kept)
	case l.Max < 1:
		return invalid("%s: Max is %d; it must be at least 1", where, l.Max)
	case l.Max < l.Kept:
		return invalid("%s: Max is %d, less than Workers, which is %d; raise Max or lower Workers", where, l.Max, l.Kept)
	case l.KeepAlive < 0:
		return invalid("%s: KeepAlive is %v; it must not be negative", where, l.KeepAlive)
	case l.KeepNone && l.KeepAlive == 0:
		return invalid("%s: KeepAlive is 0 while KeepNone is true, and workers would leave after each task; "+
			"set KeepAlive to how long they may be idle", where)
	}
	if p.lender != nil && (l.Kept > 0 || l.KeepAlive > 0 || l.KeepNone) {
		return invalid("%s: a share has no workers to keep; use Resize to change its Limit", where)
	}
	if reject == DropLowest && !p.sheds {
		return invalid("%s: Reject is DropLowest, which needs the queue BoundedPrioritized(n); "+
			"set Queue to that, or Reject to DiscardOldest", where)
	}
	if f, ok := reject.(RejectFunc); reject == nil || ok && f == nil {
		return invalid("%s: nil RejectPolicy; Abort is the default", where)
	}
	return nil
}
