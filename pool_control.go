package executor

import (
	"context"
	"iter"
	"log/slog"
	"math"
	"reflect"
	"time"

	"github.com/executor-go/executor/internal/task"
)

// This file holds what a user may do with a pool while it runs: take tasks out of the
// queue, look at those that wait, start workers, and change the rules. No change affects
// a worker that has a task, or that task's context: workers that are too many leave when
// they would take their next task, idle ones at once.

// forget takes t, which is done or is run by hand, out of the queue if it waits there. A
// canceled task stays if the pool retains such tasks. A task is counted when it has an
// outcome; until then one that has left the queue without a worker is set aside:
//
//	queued ── done ─────────────────▶ counted
//	  │  with a worker ── done ─────▶ counted by the worker
//	  │      └─ run by hand ──▶ aside ── done ──▶ counted
//	  └─ run by hand, ShutdownNow ──┘
func (p *Pool) forget(t *task.Task) {
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

// setAsideLocked keeps a task in mind that has left the queue, until it has an outcome.
func (p *Pool) setAsideLocked(t *task.Task) {
	t.SetPlace(task.Aside)
	p.mu.aside++
}

// emptyLocked reports whether no task waits, nor is set aside.
func (p *Pool) emptyLocked() bool { return p.mu.queue.len() == 0 && p.mu.aside == 0 }

// leftLocked counts n tasks that left the queue without being run, unless they have no
// outcome. Workers that stayed for these tasks leave, and blocked submitters are admitted.
func (p *Pool) leftLocked(n int, out outcome) (fresh []*worker) {
	if out < numOutcomes {
		p.mu.ended[out] += int64(n)
	}
	if p.loan != nil || p.mu.queue.len() == 0 && (p.mu.stage != StageRunning || p.aboveCoreLocked()) {
		p.retireLocked()
	}
	return p.unblockLocked()
}

// dropped reports that the task of e was accepted and will never run, unless it has begun.
// why is the reason of a task without a state; others have it in their outcome. It is
// called once for each task, with no lock held:
//
//	canceled, or done by hand, in the queue    forget
//	                           with a worker   runTyped
//	evicted, discarded                         the policies, in reject.go
//	removed                                    Remove, Purge
//	left over at a shutdown                    ShutdownNow, dropAll
func (p *Pool) dropped(e entry, why error) { p.reportDrop(e, why, true) }

// takenAway is dropped for a task of which the caller of the pool gets to know: it is not
// logged.
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
		p.callDropped(e.context(), info, why)
	}
}

func (p *Pool) callDropped(ctx context.Context, info TaskInfo, why error) {
	returned := false
	defer func() {
		if !returned {
			p.report(ctx, info, abrupt(recover()))
		}
	}()
	p.hooks.Dropped(ctx, info, why)
	returned = true
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

// Remove takes a task that waits out of the queue and reports whether it was there. task
// is what was submitted: a future, a decorated task, or a Runnable given to Execute,
// compared by ==; functions can't be compared and are never found. Each call takes out
// one. A future is found at once, another task, and a future that was submitted more than
// once, by looking at all that wait. The task counts as canceled, and its future is
// canceled with the cause [ErrCanceled]. One that a call of Run has begun does not wait.
func (p *Pool) Remove(r Runnable) bool {
	p.mustBeMade()
	if r == nil || !reflect.ValueOf(r).Comparable() {
		return false // == would panic
	}
	tt, typed := r.(typedTask)
	if typed {
		tt.taskCore().Owner() // a nil Future panics here, not under the lock
	}
	var found entry
	p.mu.Lock()
	switch own := typed && tt.taskCore().Owner() == &p.owner; {
	case own && tt.taskCore().Place() >= 0:
		p.mu.queue.remove(tt.taskCore())
		found = entry{r}
	case !own || tt.taskCore().Resubmitted():
		p.mu.queue.removeFunc(func(e entry) bool {
			if found.run == nil && e.is(r) {
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

// Purge takes all canceled tasks out of the queue and returns their number. There are none
// unless the pool retains them.
func (p *Pool) Purge() int {
	p.mustBeMade()
	p.mu.Lock()
	gone := p.mu.queue.removeFunc(func(e entry) bool {
		t := e.task()
		return t != nil && t.State() == task.Canceled
	})
	fresh := p.leftLocked(len(gone), canceledTask)
	p.mu.Unlock()
	p.start(fresh)
	defer p.tidy()
	each(gone, func(e entry) { p.dropped(e, nil) })
	return len(gone)
}

// watchedBy has o watch p, if p has no Observer yet, and it has not ended. It
// returns the Observer that p has, or o if p has ended.
func (p *Pool) watchedBy(o *Observer) *Observer {
	w := &observed{observer: o, pool: p, name: p.name, epoch: p.epoch}
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

// Waiting iterates over a snapshot of the tasks that wait in the queue, each as it was
// submitted. The order is that of the queue in a pool that is first-in, first-out, and
// none in particular otherwise.
func (p *Pool) Waiting() iter.Seq[Runnable] {
	return func(yield func(Runnable) bool) {
		p.mustBeMade()
		p.mu.Lock()
		all := make([]Runnable, 0, p.mu.queue.len())
		for e := range p.mu.queue.all() {
			all = append(all, e.submitted())
		}
		p.mu.Unlock()
		for _, r := range all {
			if !yield(r) {
				return
			}
		}
	}
}

// Prestart starts one worker, to wait for tasks, unless there are Core already or there
// will be nothing to do since the pool is shut down, and reports whether it did.
func (p *Pool) Prestart() bool { return p.prestart(1) == 1 }

// PrestartAll starts workers until there are Core of them, and returns how many it
// started.
func (p *Pool) PrestartAll() int { return p.prestart(math.MaxInt) }

func (p *Pool) prestart(n int) int {
	p.mustBeMade()
	p.mu.Lock()
	fresh := p.prestartLocked(n, p.mu.core)
	p.mu.Unlock()
	p.start(fresh)
	return len(fresh)
}

// prestartLocked makes n workers, as long as there are fewer than limit.
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

// retune changes the rules if the result is valid, and lets it take effect.
func (p *Pool) retune(where string, change func(*rules)) error {
	p.mustBeMade()
	if p.frozen {
		return invalid("%s: a pool made by Single or SingleScheduled cannot be retuned; "+
			"make it by New or NewScheduled", where)
	}
	p.mu.Lock()
	r := p.mu.rules
	change(&r)
	if err := r.check(where); err != nil {
		p.mu.Unlock()
		return err
	}
	grown := r.eager() - p.mu.eager()
	p.mu.rules = r
	p.retireLocked()
	var fresh []*worker
	if grown > 0 {
		// The new workers are for tasks that wait now; later ones start theirs.
		fresh = p.prestartLocked(min(grown, p.mu.queue.len()), r.eager())
	}
	fresh = append(fresh, p.unblockLocked()...)
	p.mu.Unlock()
	p.start(fresh)
	p.tidy()
	return nil
}

// Resize makes p a pool of n workers, in one step: it changes Core and Max to n, by the
// rules of SetCore and SetMax. In a scheduled pool it changes Core alone, in a share its
// Limit. It is an error if n is less than 1. To change the limit of an elastic pool and leave its Core, use SetMax.
func (p *Pool) Resize(n int) error {
	if n < 1 {
		return invalid("Resize(%d): must be at least 1", n)
	}
	return p.retune("Resize", func(r *rules) {
		if p.loan == nil {
			r.core = n
		}
		if p.timer == nil {
			r.max = n
		}
	})
}

// SetCore changes Config.Core. If it is raised, workers are started for the tasks that
// wait, as far as they are that many; if it is lowered, idle workers leave by the rule of
// KeepAlive. It is an error if n is negative or, but for a scheduled pool, more than Max;
// Resize changes both.
func (p *Pool) SetCore(n int) error {
	return p.retune("SetCore", func(r *rules) { r.core = n })
}

// SetMax changes Config.Max. If it is lowered, idle workers above it leave at once, busy
// ones after their task. It is an error if n is less than 1 or than Core, and in a
// scheduled pool, which has no maximum.
func (p *Pool) SetMax(n int) error {
	if p.timer != nil {
		return invalid("SetMax: a scheduled pool has no maximum; its Core workers run all tasks, use SetCore")
	}
	return p.retune("SetMax", func(r *rules) { r.max = n })
}

// SetKeepAlive changes Config.KeepAlive, also for workers that are idle now. It is an
// error if d is negative, or 0 while AllowCoreTimeout is true.
func (p *Pool) SetKeepAlive(d time.Duration) error {
	return p.retune("SetKeepAlive", func(r *rules) { r.keepAlive = d })
}

// SetAllowCoreTimeout changes Config.AllowCoreTimeout. It is an error to allow it while
// KeepAlive is 0.
func (p *Pool) SetAllowCoreTimeout(allow bool) error {
	return p.retune("SetAllowCoreTimeout", func(r *rules) { r.coreTimeout = allow })
}

// SetReject changes Config.Reject. A nil policy is an error, and [DropLowest] without its
// queue.
func (p *Pool) SetReject(policy RejectPolicy) error {
	return p.retune("SetReject", func(r *rules) { r.reject = policy })
}

// Core returns Config.Core as it is now.
func (p *Pool) Core() int { return p.rules().core }

// Max returns Config.Max as it is now.
func (p *Pool) Max() int { return p.rules().max }

// KeepAlive returns Config.KeepAlive as it is now.
func (p *Pool) KeepAlive() time.Duration { return p.rules().keepAlive }

// AllowCoreTimeout returns Config.AllowCoreTimeout as it is now.
func (p *Pool) AllowCoreTimeout() bool { return p.rules().coreTimeout }

// RejectPolicy returns Config.Reject as it is now.
func (p *Pool) RejectPolicy() RejectPolicy { return p.rules().reject }

func (p *Pool) rules() rules {
	p.mustBeMade()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.rules
}
