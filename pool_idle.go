package executor

import (
	"runtime/pprof"
	"time"

	"github.com/executor-go/executor/internal/delay"
)

// This file is about workers without a task: how they wait, how they are woken, and when
// they are dismissed.
//
//	submit ── no worker is on its way ──▶ wake the one that became idle last
//	                                        │
//	          ◀── more tasks wait ── take one under the lock, then run it
//	         wake the next
//
// So a burst costs its submitter one wake-up, and the gate is open until the first worker
// has looked. docs/design/decisions/one-wake-up-at-a-time.md has the measurements.

// idleList has the parked workers, in the order in which they became idle. The last one
// is used first, so that the others can time out.
type idleList struct{ top, bottom *worker }

// push adds w above those that were idle before it: it may have looked at the queue in
// vain meanwhile.
func (l *idleList) push(w *worker) {
	w.parked = true
	w.prev = l.top
	for w.prev != nil && w.prev.since > w.since {
		w.next, w.prev = w.prev, w.prev.prev
	}
	if w.prev != nil {
		w.prev.next = w
	} else {
		l.bottom = w
	}
	if w.next != nil {
		w.next.prev = w
	} else {
		l.top = w
	}
}

// pop removes the worker that became idle last, nil if there is none.
func (l *idleList) pop() *worker {
	w := l.top
	if w != nil {
		l.remove(w)
	}
	return w
}

func (l *idleList) remove(w *worker) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.bottom = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.top = w.prev
	}
	w.prev, w.next, w.parked = nil, nil, false
}

// dismissLocked makes a parked worker leave. It no longer counts, so that of two
// workers at least one stays for the tasks.
func (p *Pool) dismissLocked(w *worker) {
	p.mu.idle.remove(w)
	p.countOutLocked(w)
	w.wakeTo(stepExit)
}

// freeLocked returns a worker without a task, for a task that finds no room in the queue:
// the one that is on its way to the queue, or one of the idle list; nil if there is none.
// The caller hands it the task under the same lock.
func (p *Pool) freeLocked() *worker {
	if w := p.mu.waking; w != nil && w.entry.run == nil {
		return w
	}
	w := p.mu.idle.pop()
	if w != nil {
		w.wakeTo(stepLook)
	}
	return w
}

// wakeTo has w, which was removed from the idle list, go on with s.
func (w *worker) wakeTo(s step) {
	w.then = s
	w.wake <- struct{}{}
}

// dispatchLocked wakes an idle worker for the tasks that wait, unless one is on its way
// to them. That one wakes the next when it has taken its task, before it runs it. So a
// burst costs its submitter one wake-up, and no worker is woken that finds nothing to do
// but the last.
//
// Invariant: whenever the lock is free, and a task waits while a worker is idle, there
// is one on its way.
func (p *Pool) dispatchLocked() {
	switch {
	case p.timer != nil:
		p.timer.dispatchLocked()
	case p.mu.idle.top == nil || p.mu.waking != nil:
	case p.mu.queue.len() > 0:
		p.wakeLocked()
	case p.mu.stage != StageRunning:
		p.retireLocked() // nothing will come any more
	}
}

// wakeLocked wakes the worker that became idle last to look at the queue. There must be
// one, and none on its way.
func (p *Pool) wakeLocked() *worker {
	p.mu.waking = p.mu.idle.pop()
	p.mu.waking.wakeTo(stepLook)
	return p.mu.waking
}

// awake is what a worker does that was woken to look at the queue.
func (p *Pool) awake(w *worker) step {
	p.mu.Lock()
	if p.mu.waking == w {
		p.mu.waking = nil
	}
	next, fresh := stepRun, []*worker(nil)
	if w.entry.run == nil {
		next, fresh = p.nextLocked(w)
	} else { // it was handed a task on its way
		p.dispatchLocked()
	}
	p.mu.Unlock()
	p.start(fresh)
	return next
}

// park waits until w is handed a task or dismissed or, in a scheduled pool,
// until a task is due.
func (p *Pool) park(w *worker) step {
	pprof.SetGoroutineLabels(w.labels) // else a profile shows it at its last task
	if p.timer != nil {
		return p.timer.park(w)
	}
	<-w.wake
	return w.then
}

// setReaperLocked sets the timer that dismisses idle workers.
func (p *Pool) setReaperLocked() {
	if p.mu.reaping || !p.aboveCoreLocked() || p.mu.idle.bottom == nil {
		return
	}
	p.mu.reaping = true
	d := delay.Until(delay.After(p.mu.idle.bottom.since, int64(p.mu.keepAlive)), p.elapsed())
	if p.mu.reaper == nil {
		p.mu.reaper = time.AfterFunc(d, p.reap)
	} else {
		p.mu.reaper.Reset(d)
	}
}

// reap is the reaper's function, called in a goroutine of its own.
func (p *Pool) reap() {
	p.mu.Lock()
	p.mu.reaping = false
	p.retireLocked()
	p.mu.Unlock()
	p.tidy()
}

// retireLocked dismisses the idle workers that the present rules do not keep,
// those that have been idle for longest first, and sets the reaper for the
// others. It is called whenever the rules have changed.
func (p *Pool) retireLocked() {
	if p.loan != nil {
		p.loan.retractLocked()
		return
	}
	now := p.elapsed()
	for w := p.mu.idle.bottom; w != nil; w = p.mu.idle.bottom {
		if !p.mayLeaveLocked(delay.Until(now, w.since)) {
			break
		}
		p.dismissLocked(w)
	}
	p.mu.reaping = false
	if p.isSpareLocked() && (p.timer == nil || !p.timer.onlyListenerLocked()) {
		p.setReaperLocked()
	}
}
