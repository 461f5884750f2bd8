package executor

import (
	"cmp"
	"iter"
	"log/slog"
	"math"
	"reflect"
	"time"

	"github.com/executor-go/executor/internal/bucket"
	"github.com/executor-go/executor/internal/task"
)

// This file removes tasks from the queue without running them, and changes the settings of
// a pool while it runs. A change of settings affects neither a worker that has a task nor
// that task's context: excess workers leave when they would take their next task, idle ones
// at once.

// unqueue removes t, which is done or is run by hand, from the queue if it waits there. A
// canceled task stays if the pool retains canceled tasks. A task is counted when it has an
// outcome; until then a task that left the queue without a worker is set aside:
//
//	queued ── done ─────────────────▶ counted
//	  │  with a worker ── done ─────▶ counted by the worker
//	  │      └─ run by hand ──▶ aside ── done ──▶ counted
//	  └─ run by hand, ShutdownNow ──┘
func (p *Pool) unqueue(t *task.Task) {
	p.mu.Lock()
	// The place of a task that another pool has is under that pool's lock.
	place, done, out := task.Unplaced, t.State().Done(), noTask
	if t.BelongsTo(&p.owner) {
		place = t.Place()
	}
	if place == task.Unplaced || place == task.Aside && !done ||
		place >= 0 && p.mu.retained && t.State() == task.Canceled {
		p.mu.Unlock()
		return
	}
	var gone entry
	if place == task.Aside {
		p.mu.aside--
		t.SetPlace(task.Unplaced)
	} else {
		if done && p.mayReport(t) {
			gone = p.mu.queue.at(t)
		}
		p.mu.queue.remove(t)
	}
	if done {
		out = outcomeOf(t)
	} else {
		p.setAsideLocked(t)
	}
	fresh := p.leftLocked(1, out)
	over := p.emptyLocked() && p.mu.stage != StageRunning || p.loan != nil
	p.mu.Unlock()
	p.start(fresh)
	if over {
		defer p.tidy() // after Dropped
	}
	if gone.run != nil {
		p.dropped(gone, nil)
	}
}

// setAsideLocked counts a task that has left the queue as set aside, until it has an
// outcome.
func (p *Pool) setAsideLocked(t *task.Task) {
	t.SetPlace(task.Aside)
	p.mu.aside++
}

// emptyLocked reports whether no task waits or is set aside.
func (p *Pool) emptyLocked() bool { return p.mu.queue.len() == 0 && p.mu.aside == 0 }

// leftLocked follows the removal of n tasks from the queue, and counts their outcome if
// they have one. Workers that stayed for these tasks leave, and blocked submitters are
// admitted.
func (p *Pool) leftLocked(n int, out outcome) (fresh []*worker) {
	if out < numOutcomes {
		p.mu.ended[out] += int64(n)
	}
	if p.loan != nil || p.mu.queue.len() == 0 && (p.mu.stage != StageRunning || p.aboveCoreLocked()) {
		p.retireLocked()
	}
	return p.unblockLocked()
}

// dropped reports that the task of e, which was accepted, will never run, unless it has
// begun. why is the reason for a task without a state; other tasks have it in their
// outcome. It is called once for each task, with no lock held:
//
//	canceled, or done by hand, in the queue    unqueue
//	                           with a worker   runTyped
//	evicted, discarded                         the policies, in reject.go
//	removed                                    Remove, Purge
//	left over at a shutdown                    ShutdownNow, dropAll
func (p *Pool) dropped(e entry, why error) { p.reportDrop(e, why, true) }

// takenAway is dropped without a log record, for a task that the caller of the pool asked
// for.
func (p *Pool) takenAway(e entry, why error) { p.reportDrop(e, why, false) }

func (p *Pool) reportDrop(e entry, why error, log bool) {
	t := e.task()
	if t != nil {
		if t.Begun() || e.isTurn() {
			return
		}
		why = errorOf(t)
		log = log && t.Reported() && !e.periodic() && why != canceledByHand
	}
	if !log && p.hooks.Dropped == nil {
		return
	}
	info := p.info(nil, e)
	info.Run = 0
	if log {
		attrs := info.attrs(slog.Any("reason", why))
		if !info.Submitted.IsZero() {
			attrs = append(attrs, slog.Duration("age", time.Since(info.Submitted)))
		}
		p.log(e.context(), slog.LevelWarn, "executor: task dropped", attrs...)
	}
	if p.hooks.Dropped != nil {
		ctx := e.context()
		p.callHook(ctx, info, func() { p.hooks.Dropped(ctx, info, why) })
	}
}

// mayReport reports whether reportDrop has something to do for t.
func (p *Pool) mayReport(t *task.Task) bool {
	return (p.hooks.Dropped != nil || t.Reported()) && !t.Begun()
}

// dropAll cancels tasks that a shutdown has taken out of the queue.
func (p *Pool) dropAll(es []entry) {
	each(es, func(e entry) {
		defer p.dropped(e, nil)
		e.end(task.Canceled, canceled(ErrShutdown))
	})
}

// Remove removes a waiting task from the queue, cancels it with the cause [ErrCanceled],
// and reports whether it was there. what is the task's *Future, *Task or *Series, its
// decoration, or the Runnable passed to Execute, compared by ==. Functions can't be
// compared, so a [Func] is never found. Each call removes one task. A future is found in
// constant time; a Runnable, and a [Task] that was submitted more than once, by a scan of
// the queue. A task that a call of Run has begun does not wait.
func (p *Pool) Remove(what any) bool {
	p.mustBeMade()
	if what == nil || !reflect.ValueOf(what).Comparable() {
		return false // == would panic
	}
	var t *task.Task
	switch w := what.(type) {
	case interface{ scheduled() *task.Task }:
		t = w.scheduled()
	case typedTask:
		t = w.taskCore()
	}
	if t != nil {
		t.Owner() // of a zero Future panics here, not under the lock
	}
	var found entry
	p.mu.Lock()
	switch own := t != nil && t.Owner() == &p.owner; {
	case own && t.Place() >= 0:
		found = p.mu.queue.at(t)
		p.mu.queue.remove(t)
	case !own || t.Resubmitted():
		p.mu.queue.removeFunc(func(e entry) bool {
			if found.run == nil && e.is(what) {
				found = e
				return true
			}
			return false
		})
	}
	if found.run == nil {
		p.mu.Unlock()
		return false
	}
	fresh := p.leftLocked(1, canceledTask)
	p.mu.Unlock()
	p.start(fresh)
	defer p.tidy()
	found.end(task.Canceled, nil)
	p.takenAway(found, canceledByHand)
	return true
}

// watchedBy has o watch p, if p has no Observer yet, and it has not ended. It
// returns the Observer that p has, or o if p has ended.
func (p *Pool) watchedBy(o *Observer) *Observer {
	w := &observed{observer: o, pool: p, name: p.name, epoch: p.epoch, every: cmp.Or(o.Every, defaultEvery)}
	w.skip = w.stride()
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.observed.Load(); before != nil {
		return before.observer
	}
	if p.mu.stage < StageTidying {
		o.add(w)
		p.observed.Store(w)
	}
	return o
}

// Waiting returns an iterator over a snapshot of the tasks that wait in the queue. Each is
// a *Future, a *Series, or the Runnable of Execute or Go. In a first-in, first-out queue
// the next one to leave comes first; other queues are in no particular order.
func (p *Pool) Waiting() iter.Seq[any] {
	return func(yield func(any) bool) {
		p.mustBeMade()
		p.mu.Lock()
		all := make([]any, 0, p.mu.queue.len())
		for e := range p.mu.queue.all() {
			all = append(all, e.submitted())
		}
		p.mu.Unlock()
		for _, task := range all {
			if !yield(task) {
				return
			}
		}
	}
}

// Prestart starts up to n workers ahead of tasks, as long as there are fewer than Core, and
// returns how many it started. It starts none if n is not positive, or if the pool is shut
// down and no task waits.
func (p *Pool) Prestart(n int) int {
	p.mustBeMade()
	p.mu.Lock()
	fresh := p.prestartLocked(n, p.mu.core)
	p.mu.Unlock()
	p.start(fresh)
	return len(fresh)
}

// prestartLocked makes up to n workers, as long as there are fewer than limit.
func (p *Pool) prestartLocked(n, limit int) []*worker {
	if p.mu.stage >= StageStop || p.mu.stage == StageShutdown && p.mu.queue.len() == 0 {
		return nil
	}
	if p.loan != nil {
		return p.loan.askAllLocked()
	}
	var fresh []*worker
	for ; n > 0 && p.mu.workers < limit; n-- {
		fresh = append(fresh, p.hireLocked())
	}
	return fresh
}

// Settings are the fields of [Config] and [ScheduledConfig] that can be changed while a
// pool runs.
type Settings struct {
	Core, Max        int // Max is math.MaxInt in a scheduled pool, which has no maximum
	GrowWhenBusy     bool
	KeepAlive        time.Duration
	AllowCoreTimeout bool
	Reject           RejectPolicy

	DropDelayed, KeepPeriodic, RetainCanceled bool // of a ScheduledPool; false in others

	Rate Rate // of a share; no bound in others
}

// Rate bounds how often something begins: a token bucket. Within any d seconds at most
// Burst + PerSecond*d begin. The zero Rate is no bound.
type Rate struct {
	// PerSecond is how often on average. It must be positive, as 0.1 for one in ten seconds,
	// and at most a billion.
	PerSecond float64

	// Burst is how many may begin at once, after a time in which none did. It must not be
	// negative; 0, the default, is 1.
	Burst int
}

// bucket returns the full bucket of r.
func (r Rate) bucket() (bucket.Bucket, error) {
	if r == (Rate{}) {
		return bucket.Bucket{}, nil
	}
	if !(r.PerSecond > 0) || r.PerSecond > 1e9 {
		return bucket.Bucket{}, invalid("Rate: PerSecond is %v; it must be positive and at most 1e9; "+
			"leave Rate out for no bound", r.PerSecond)
	}
	interval, burst := math.Ceil(1e9/r.PerSecond), max(r.Burst, 1)
	if r.Burst < 0 || float64(burst) > math.MaxInt64/2/interval {
		return bucket.Bucket{}, invalid("Rate: Burst is %d; it must not be negative, and not more than the rate "+
			"makes in 146 years", r.Burst)
	}
	return bucket.Bucket{Interval: int64(interval), Burst: int64(burst)}, nil
}

// Settings returns the settings as they are now, all at the same instant.
func (p *Pool) Settings() Settings {
	s, _ := p.settings()
	return s
}

// settings returns the settings and their version.
func (p *Pool) settings() (Settings, int) {
	p.mustBeMade()
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.mu.rules
	s := Settings{
		Core: r.core, Max: r.max, GrowWhenBusy: r.whenBusy,
		KeepAlive: r.keepAlive, AllowCoreTimeout: r.coreTimeout, Reject: r.reject,
	}
	if p.timer != nil {
		s.DropDelayed, s.KeepPeriodic = p.timer.drops[delayed], !p.timer.drops[periodic]
		s.RetainCanceled = p.mu.retained
	}
	if p.loan != nil {
		s.Rate = p.loan.bound
	}
	return s, p.mu.version
}

// Reconfigure changes the settings, all in one step:
//
//	pool.Reconfigure(func(s *executor.Settings) { s.Core, s.Max = 4, 16 })
//
// change modifies the current settings. It is called by the caller's goroutine, with no
// lock held, and again if another call has changed the settings meanwhile: so it must not
// change them by a call of its own. If the result is out of range, nothing changes, and the
// error matches [ErrInvalid]. A nil change panics.
//
// If Core is raised, workers are started for the tasks that wait. If it is lowered, the
// workers above it leave when they have been idle for KeepAlive. Above a lowered Max idle
// workers leave at once, busy ones after their task. RetainCanceled applies to tasks that
// are canceled from now on. In a pool that is shut down, tasks that DropDelayed and
// KeepPeriodic no longer keep are canceled at once.
//
// In a pool made by [Single] or [SingleScheduled] only Reject, DropDelayed, KeepPeriodic and
// RetainCanceled can be changed. A scheduled pool has no Max. A share has only Reject, Rate
// and Max, which is its Limit. A new Rate keeps the tokens that are left of the old one, at
// most its burst.
func (p *Pool) Reconfigure(change func(*Settings)) error {
	if change == nil {
		panic("executor: Pool.Reconfigure: nil function")
	}
	return p.reconfigure("Reconfigure", change)
}

// Resize sets Core and Max to n; in a scheduled pool only Core, in a share its Limit. If n
// is less than 1, or the pool stays one of a single worker, nothing changes, and the error
// matches [ErrInvalid]. To set Max alone, use Reconfigure.
func (p *Pool) Resize(n int) error {
	if n < 1 {
		return invalid("Resize(%d): must be at least 1", n)
	}
	return p.reconfigure("Resize", func(s *Settings) {
		if p.loan == nil {
			s.Core = n
		}
		if p.timer == nil {
			s.Max = n
		}
	})
}

// reconfigure is Reconfigure. where is the name of the method in errors.
func (p *Pool) reconfigure(where string, change func(*Settings)) error {
	for {
		before, version := p.settings()
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
	workers := before
	workers.Reject, workers.RetainCanceled = nil, after.RetainCanceled
	workers.DropDelayed, workers.KeepPeriodic = after.DropDelayed, after.KeepPeriodic
	same := after
	same.Reject = nil
	switch {
	case p.loan == nil && after.Rate != Rate{}:
		return invalid("%s: Rate is for a share, see Pool.Share; leave it out", where)
	case p.frozen && same != workers:
		return invalid("%s: a pool made by Single or SingleScheduled stays one of a single worker; "+
			"make it by New or NewScheduled", where)
	case p.loan != nil && after.GrowWhenBusy != before.GrowWhenBusy:
		return invalid("%s: GrowWhenBusy is not of a share; it is that of the lending pool", where)
	case p.timer == nil && (after.DropDelayed || after.KeepPeriodic || after.RetainCanceled):
		return invalid("%s: DropDelayed, KeepPeriodic and RetainCanceled are for a ScheduledPool; leave them out", where)
	case p.timer == nil:
		return nil
	case after.Max != before.Max:
		return invalid("%s: Max is %d, but a scheduled pool has no maximum; its Core workers run all tasks", where, after.Max)
	case after.GrowWhenBusy != before.GrowWhenBusy:
		return invalid("%s: a scheduled pool has no GrowWhenBusy; its Core workers run all tasks", where)
	}
	return nil
}

// apply sets the settings if they are valid, and puts them into effect. It reports false,
// and does nothing, if the settings have another version by now.
func (p *Pool) apply(where string, s Settings, version int) (applied bool, err error) {
	p.mu.Lock()
	if p.mu.version != version {
		p.mu.Unlock()
		return false, nil
	}
	r := p.mu.rules
	r.core, r.max, r.whenBusy = s.Core, s.Max, s.GrowWhenBusy
	r.keepAlive, r.coreTimeout, r.reject = s.KeepAlive, s.AllowCoreTimeout, s.Reject
	rate, err := s.Rate.bucket()
	if err == nil {
		err = r.check(where)
	}
	if err != nil {
		p.mu.Unlock()
		return true, err
	}
	p.mu.version++
	grown := r.eager() - p.mu.eager()
	p.mu.rules = r
	var dropped []entry
	if p.timer != nil {
		p.mu.retained = s.RetainCanceled
		dropped = p.timer.setDropsLocked(s.DropDelayed, !s.KeepPeriodic)
	}
	if p.loan != nil {
		p.loan.changeRateLocked(s.Rate, rate)
	}
	p.retireLocked()
	var fresh []*worker
	if grown > 0 || p.loan != nil {
		// The new workers are for tasks that wait now; later ones start theirs.
		fresh = p.prestartLocked(min(grown, p.mu.queue.len()), r.eager())
	}
	fresh = append(fresh, p.unblockLocked()...)
	p.mu.Unlock()
	p.start(fresh)
	defer p.tidy()
	p.dropAll(dropped)
	return true, nil
}

func (p *Pool) rules() rules {
	p.mustBeMade()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.rules
}
