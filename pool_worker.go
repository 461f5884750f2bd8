package executor

import (
	"context"
	"runtime/pprof"
	"time"

	"github.com/executor-go/executor/internal/alarm"
)

// worker is one goroutine of a pool. Its fields are guarded by the pool's lock,
// but for entry while the worker has it, and for wake.
type worker struct {
	number int
	entry  entry           // the task in hand; entry.run is nil if there is none
	wake   chan struct{}   // holds at most one token: something was handed over, or leave is set
	leave  bool            // dismissed while parked
	taken  bool            // entry is being run; the worker's own
	gone   bool            // counted out; the worker's own
	told   bool            // BeforeTask is called, and told of if it does not return; the worker's own
	ran    bool            // the body of entry was begun; the worker's own
	fine   bool            // the body of entry returned nil; the worker's own
	alarm  *alarm.Alarm    // that of a scheduled pool; set when it parks
	labels context.Context // carries the pprof labels; the worker's own

	parked     bool  // in the idle list
	since      int64 // when it became idle
	prev, next *worker
}

// idleList is a stack of parked workers: the one that became idle last is taken
// first, so that the others can grow old and leave.
type idleList struct{ top, bottom *worker }

// push adds w below those that became idle after it: it may have looked up in
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

// pop gives the worker that parked last, or nil.
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

// hireLocked makes a worker; the caller starts it. The goroutine of a worker is
// owned by the pool: it is counted from here on, told to leave by dismissLocked
// or by the pool's stage, and waited for by termination.
func (p *Pool) hireLocked() *worker {
	p.mu.workers++
	p.mu.largest = max(p.mu.largest, p.mu.workers)
	p.mu.hired++
	return &worker{number: p.mu.hired, wake: make(chan struct{}, 1)}
}

// handLocked gives e to a parked worker, which was taken off the idle list.
func (p *Pool) handLocked(w *worker, e entry) {
	p.mu.active++
	w.entry = e
	w.wake <- struct{}{}
}

// dismissLocked makes a parked worker leave. It counts as gone at once, so that
// two workers can't both believe that the other stays.
func (p *Pool) dismissLocked(w *worker) {
	p.mu.idle.remove(w)
	p.mu.workers--
	if p.mu.workers == 0 {
		p.disarmLocked()
	}
	w.leave = true
	w.wake <- struct{}{}
}

// work is a worker's life, or the rest of it.
func (p *Pool) work(w *worker) {
	if w.labels == nil {
		w.labels = workerLabels(p.name, w.number)
	}
	returned := false
	defer func() {
		// A user's function called runtime.Goexit, which nothing can stop, or
		// panicked around a body: another goroutine goes on as this worker.
		if returned || w.gone {
			return
		}
		defer func() { go p.work(w) }() // whatever a hook does
		if w.taken {
			p.survive(w, w.entry, recover())
		}
	}()
	out := none
	switch {
	case w.taken:
		out = w.lost()
	case w.entry.run != nil:
		out = p.take(w)
	}
	for p.fetch(w, out) {
		out = p.take(w)
	}
	returned = true
}

// take runs the task in the hands of w, and remembers that it does, should the
// goroutine be lost.
func (p *Pool) take(w *worker) outcome {
	w.taken = true
	out := p.run(w)
	w.taken = false
	return out
}

// survive fails the task of e, which w had in its hands, unless it is complete.
// The panic v has come out of it outside of body and hooks: out of a method of the
// submitter's context, or of what was called since the task was done; maybe of what
// is called here. A nil v is that of runtime.Goexit, which does nothing to a task
// whose run is over, and of which the caller of BeforeTask has told.
func (p *Pool) survive(w *worker, e entry, v any) {
	b, bound := e.bound()
	done := bound && b.core().State().Done()
	if v == nil && (done || w.told || w.ran) {
		return
	}
	end := abrupt(v)
	if v != nil || e.unwatched() {
		defer func() { p.report(context.Background(), p.info(w, e), end) }()
	}
	if bound && !done {
		defer func() { p.survive(w, e, recover()) }()
		b.fail(end.err)
	}
}

// lost tells how the task ended in which a goroutine of w was lost.
func (w *worker) lost() outcome {
	w.taken, w.told = false, false
	if t := w.entry.task(); t != nil {
		return outcomeOf(t)
	}
	if w.fine {
		return succeeded
	}
	return failed
}

// fetch accounts for the task that w has just run, if any, and gets the next
// one; it waits while there is none. It reports false if the worker must leave,
// and has counted it out by then.
func (p *Pool) fetch(w *worker, out outcome) bool {
	p.mu.crew.Lock()
	if p.advance(w, out) {
		p.mu.crew.Unlock()
		return true
	}
	p.mu.extend()
	if dropped := p.accountLocked(w, out); dropped.run != nil {
		p.mu.Unlock()
		p.drop(w, dropped) // before w has another task, which it might lose here
		p.mu.Lock()
	}
	next, fresh := p.nextLocked(w)
	p.mu.Unlock()
	p.start(fresh)
	for next == waits {
		next = p.park(w)
	}
	if next == leaves {
		w.gone = true
		p.tidy()
	}
	return next == works
}

// drop completes a task that recurs and was in the hands of w until now.
func (p *Pool) drop(w *worker, e entry) {
	defer func() { p.survive(w, e, recover()) }()
	e.end(Canceled, canceled(ErrShutdown))
}

// step is what a worker does next.
type step uint8

const (
	works  step = iota // it has a task
	waits              // it is in the idle list
	leaves             // it is counted out
)

// nextLocked finds a task for w, or parks it, or counts it out.
func (p *Pool) nextLocked(w *worker) (step, []*worker) {
	if p.mu.stage == StageStop || p.mu.workers > p.mu.max && p.expendableLocked() {
		return p.quitLocked()
	}
	now := p.nowLocked()
	if e, ok := p.mu.queue.pop(now); ok {
		p.mu.active++
		w.entry = e
		p.spreadLocked(now)
		return works, append(p.unblockLocked(), p.relieveLocked()...)
	}
	if p.excusedLocked(0) {
		return p.quitLocked()
	}
	if w.since == 0 { // else it looked up, found nothing, and goes on being idle
		w.since = p.clock.elapsed()
	}
	p.mu.idle.push(w)
	fresh := p.unblockLocked() // may well hand it a task at once
	if w.parked {
		p.armReaperLocked()
		p.listenLocked(w)
		p.armLocked(now)
	}
	return waits, fresh
}

func (p *Pool) quitLocked() (step, []*worker) {
	p.mu.workers--
	if p.mu.workers == 0 {
		p.disarmLocked()
	}
	return leaves, p.unblockLocked()
}

// surplusLocked reports whether not all workers are to stay for ever.
func (p *Pool) surplusLocked() bool {
	return p.mu.coreTimeout || p.mu.workers > p.mu.core
}

// excusedLocked reports whether a worker that has had no task for so long may
// leave.
func (p *Pool) excusedLocked(idle time.Duration) bool {
	over := p.mu.stage != StageRunning && p.mu.queue.len() == 0 ||
		p.mu.workers > p.mu.max ||
		p.surplusLocked() && idle >= p.mu.keepAlive && !p.aloneLocked()
	return over && p.expendableLocked()
}

// expendableLocked reports whether a worker may leave without leaving tasks
// behind that nobody would run.
func (p *Pool) expendableLocked() bool {
	return p.mu.workers > 1 || p.mu.queue.len() == 0
}

// park waits until w is handed a task or dismissed or, in a scheduled pool,
// until a task is due.
func (p *Pool) park(w *worker) step {
	pprof.SetGoroutineLabels(w.labels) // a profile must not show it at its last task
	if p.mu.delay != nil {
		return p.parkDelayed(w)
	}
	<-w.wake
	return w.awoken()
}

// awoken tells a worker that has received its token what it means.
func (w *worker) awoken() step {
	if w.leave {
		return leaves
	}
	return works
}

// start starts workers made under the lock.
func (p *Pool) start(ws []*worker) {
	for _, w := range ws {
		go p.work(w)
	}
}

// armReaperLocked sees to it that idle workers leave in time.
func (p *Pool) armReaperLocked() {
	if p.mu.reaping || !p.surplusLocked() || p.mu.idle.bottom == nil {
		return
	}
	p.mu.reaping = true
	d := until(after(p.mu.idle.bottom.since, int64(p.mu.keepAlive)), p.clock.elapsed())
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
	now := p.clock.elapsed()
	for w := p.mu.idle.bottom; w != nil; w = p.mu.idle.bottom {
		if !p.excusedLocked(until(now, w.since)) {
			break
		}
		p.dismissLocked(w)
	}
	p.mu.reaping = false
	if p.expendableLocked() && !p.aloneLocked() {
		p.armReaperLocked()
	}
}
