package executor

import "github.com/executor-go/executor/internal/alarm"

// This file is what a scheduled pool does apart from any pool: tasks enter by
// their time, and idle workers wait for it.

// nowLocked gives an instant that says which task is next. It reads the clocks
// if the pool's queue depends on them, but not while workers are behind: what
// was due at the last reading is due. If somebody is idle the reading is new,
// since an alarm may be set by it.
func (p *Pool) nowLocked() instant {
	q := p.mu.delay
	if q == nil {
		return instant{}
	}
	if p.mu.idle.top == nil && q.overdue() {
		return q.seen
	}
	now := p.clock.now()
	q.observe(now)
	return now
}

// placeLocked puts e into the delay queue, due or not, and sees to it that
// somebody will take it in time: a new worker below Core, the only one if there
// is none, else one that is idle, now or when the alarm goes off.
func (p *Pool) placeLocked(e entry, t *task) *worker {
	p.mu.delay.push(e)
	if p.mu.workers < p.mu.core || p.mu.workers == 0 {
		return p.hireLocked()
	}
	if p.mu.idle.top != nil && !p.mu.delay.covers(t) {
		p.spreadLocked(p.nowLocked())
	}
	return nil
}

// returnLocked puts a periodic task back for its next run, and reports whether
// the pool still takes it.
func (p *Pool) returnLocked(e entry) bool {
	if p.mu.stage != StageRunning && (p.mu.stage != StageShutdown || p.mu.policies[periodic] != KeepAfterShutdown) {
		return false
	}
	t := e.task()
	t.due = t.series().next
	return p.mu.queue.push(e)
}

// spreadLocked hands tasks that are due to idle workers, and sets the alarm for
// the next one. Every worker that leaves the queue with a task does this first.
func (p *Pool) spreadLocked(now instant) {
	if p.mu.delay == nil || p.mu.idle.top == nil {
		return
	}
	for p.mu.idle.top != nil {
		e, ok := p.mu.queue.pop(now)
		if !ok {
			break
		}
		p.handLocked(p.mu.idle.pop(), e)
	}
	if p.mu.stage != StageRunning && p.mu.queue.len() == 0 {
		p.retireLocked() // nothing will come any more
	}
	p.armLocked(now)
}

// relieveLocked gives a new worker, to be started, if tasks wait for their time and
// all workers have become busy, but there may be more: it is to hear the alarm. One
// that is neither busy nor idle has just been hired, or has done its task, and is about
// to look itself.
func (p *Pool) relieveLocked() []*worker {
	if p.mu.delay == nil || p.mu.workers > p.mu.active || p.mu.workers >= p.mu.core || p.mu.queue.len() == 0 {
		return nil
	}
	return []*worker{p.hireLocked()}
}

// aloneLocked reports whether a worker that is idle is the last of Core to hear the
// alarm, and tasks wait for their time.
func (p *Pool) aloneLocked() bool {
	return p.mu.delay != nil && p.mu.queue.len() > 0 && p.mu.workers <= p.mu.core && p.mu.workers-p.mu.active <= 1
}

// armLocked sets the alarm for the head of the queue, if somebody is idle. An
// alarm that is set for an earlier time is left alone: one look in vain costs
// less than setting it anew for each head that is canceled.
func (p *Pool) armLocked(now instant) {
	q := p.mu.delay
	if q == nil || p.mu.idle.top == nil {
		return
	}
	d, ok := q.wait(now)
	if !ok {
		return
	}
	at := after(now.mono, int64(d))
	if q.set != 0 && q.set <= at {
		return
	}
	q.set = at
	q.alarm.Set(d)
}

// disarmLocked gives the alarm up when the last worker leaves, so that a pool
// without workers has no timer and no goroutine. To close it may take a moment,
// so that is left to tidy, which every worker that leaves calls.
func (p *Pool) disarmLocked() {
	if q := p.mu.delay; q != nil && q.alarm != nil {
		q.spent = append(q.spent, q.alarm) // one that came before may be there still
		q.alarm, q.set = nil, 0
	}
}

// takeSpentLocked gives the alarms that are to be closed.
func (p *Pool) takeSpentLocked() []*alarm.Alarm {
	q := p.mu.delay
	if q == nil {
		return nil
	}
	spent := q.spent
	q.spent = nil
	return spent
}

// listenLocked gets w, which is about to park, ready to hear the alarm.
func (p *Pool) listenLocked(w *worker) {
	if q := p.mu.delay; q != nil {
		if q.alarm == nil {
			q.alarm = alarm.New()
		}
		w.alarm = q.alarm
	}
}

// parkDelayed waits until w is handed a task or dismissed, or the alarm goes
// off.
func (p *Pool) parkDelayed(w *worker) step {
	if !w.alarm.Wait(w.wake) {
		return w.awoken()
	}
	p.mu.Lock()
	p.mu.delay.set = 0
	if !w.parked {
		// It was handed a task, or dismissed, in the same moment. The alarm was
		// for somebody all the same.
		p.spreadLocked(p.nowLocked())
		fresh := p.relieveLocked()
		p.mu.Unlock()
		p.start(fresh)
		<-w.wake
		return w.awoken()
	}
	p.mu.idle.remove(w)
	next, fresh := p.nextLocked(w)
	p.mu.Unlock()
	p.start(fresh)
	return next
}
