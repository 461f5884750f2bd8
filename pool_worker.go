package executor

import (
	"context"
	"runtime/trace"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/list"
	"github.com/executor-go/executor/internal/task"
)

// This file is a worker's life:
//
//	hired ─▶ take ─▶ fetch ─▶ take ─▶ fetch ─▶ … ─▶ gone
//	                   │ ▲
//	                   ▼ │ a task was handed over, or the alarm went off
//	                  park
//
// take runs the task in hand (pool_run.go). fetch counts it and, under the same lock,
// pops the next one, parks the worker in the idle list, or counts it out. It is the
// only place where a worker decides to leave by itself; others dismiss parked ones.

// worker is one goroutine of a pool, or several, one after the other: a task that calls
// runtime.Goexit ends a goroutine, and another continues as the same worker.
type worker struct {
	pool  *Pool
	entry entry // the task in hand; under the pool's lock, unless the phase is that of a task

	// phase is how far the worker is with the task in hand. It is the worker's own.
	phase phase

	contexts task.Lender // for bodies whose task has no state; its lock is the workers'

	labels context.Context // has the pprof labels; the worker's own

	// The task in hand is to be measured, unless measured is nil. Like the entry.
	measured *observed
	admitted int64 // when the task was admitted; 0 in a scheduled pool

	// What is above and the next three are for each task. The pool's lock guards these.
	since int64 // when it became idle, 0 if it is not
	begun int64 // when it got the task in hand, or was first seen with it; 0 for neither
	tasks int64 // runs that it was given

	then       step               // what it is to do when it wakes
	parked     bool               // it is in the idle list
	member     list.Node[*worker] // of the pool's crew
	prev, next *worker

	number int
	wake   chan struct{}             // has one token once it was removed from the idle list
	turn   atomic.Pointer[shareTurn] // that a share has asked for, else nil; set under its lock
	alarm  *alarm.Alarm              // that of a scheduled pool; set when it parks

	named       string          // the task's name in namedLabels; the worker's own, as that
	namedLabels context.Context // labels with that name; nil before first use
}

// phase is how far a worker is with a task:
//
//	none ─▶ taken ─▶ inHook ─▶ taken ─▶ called ─▶ returned ─▶ none
//	 │                                  (counted by fetch) ──▶
//	 └─▶ gone
//
// User code may end the goroutine in each of the phases in between, by runtime.Goexit.
// The next goroutine of the worker then goes on from there.
type phase uint8

const (
	phaseNone     phase = iota
	phaseTaken          // the body was not called
	phaseInHook         // BeforeTask is being called, and its failure is reported by its caller
	phaseCalled         // the body was called
	phaseReturned       // the body has returned nil
	phaseGone           // the worker is counted out
)

// hireLocked makes a worker, which the caller starts. The pool owns its goroutine: it
// is counted from here on, leaves when it is dismissed or by the pool's stage, and
// termination waits for it.
func (p *Pool) hireLocked() *worker {
	p.mu.workers++
	p.mu.largest = max(p.mu.largest, p.mu.workers)
	p.mu.hired++
	w := &worker{pool: p, number: p.mu.hired, wake: make(chan struct{}, 1)}
	w.member.Value = w
	w.contexts.Init(&p.owner, &p.mu.lock)
	p.mu.crew.PushBack(&w.member)
	return w
}

// hireForLocked makes a worker whose first task is e.
func (p *Pool) hireForLocked(e entry) *worker {
	p.mu.gate.submitted++
	w := p.hireLocked()
	p.handLocked(w, e)
	return w
}

// handLocked makes e, which was not queued, the task of w.
func (p *Pool) handLocked(w *worker, e entry) {
	p.assignLocked(w, e)
	if o := p.observed.Load(); o != nil {
		w.begun = p.elapsed()
		if o.choose() {
			w.measured, w.admitted = o, w.begun
		}
	}
}

// assignQueuedLocked makes e, which was queued, the task of w. It needs only the workers'
// lock.
func (p *Pool) assignQueuedLocked(w *worker, e entry) {
	p.assignLocked(w, e)
	if m, ok := e.run.(*mark); ok {
		p.measureLocked(w)
		w.entry.run, w.admitted = w.measured.fromQueue(m)
	}
}

// measureLocked has w measure its new task. It needs only the workers' lock.
func (p *Pool) measureLocked(w *worker) {
	w.measured, w.begun = p.observed.Load(), p.elapsed()
	w.admitted = w.begun
}

func (p *Pool) assignLocked(w *worker, e entry) {
	p.mu.active++
	w.entry, w.begun = e, 0
	w.tasks++
}

func (p *Pool) countOutLocked(w *worker) {
	p.mu.workers--
	p.mu.crew.Remove(&w.member)
	if p.mu.workers == 0 && p.timer != nil {
		p.timer.disarmLocked()
	}
}

// launch starts a worker, or has the lender of a share take its turn.
func (p *Pool) launch(w *worker) {
	if p.loan == nil {
		go p.work(w)
	} else if t := w.turn.Load(); t != nil { // it was not withdrawn meanwhile
		p.loan.lender.admitTurn(t)
	}
}

// start starts workers that were made under the lock.
func (p *Pool) start(ws []*worker) {
	for _, w := range ws {
		p.launch(w)
	}
}

// work is a worker's life, or the rest of it.
func (p *Pool) work(w *worker) {
	if w.labels == nil {
		w.labels = workerLabels(p.name, w.number)
		if o := p.observed.Load(); o != nil {
			o.note(workerStarted)
		}
	}
	returned := false
	defer func() {
		// User code called runtime.Goexit, which cannot be stopped, or panicked
		// around a body: another goroutine continues as this worker.
		if returned || w.phase == phaseGone {
			return
		}
		defer func() { go p.work(w) }() // whatever a hook does
		if w.phase != phaseNone {
			p.taskLost(w, w.entry, recover())
		}
	}()
	out := noTask
	switch {
	case w.phase != phaseNone:
		out = w.lostOutcome()
	case w.entry.run != nil:
		out = p.take(w)
	}
	for p.fetch(w, out) {
		out = p.take(w)
	}
	returned = true
}

// take runs the task in hand.
func (p *Pool) take(w *worker) outcome {
	w.phase = phaseTaken
	if trace.IsEnabled() {
		defer p.traceRegion(w).End()
	}
	if w.measured != nil {
		return p.runMeasured(w)
	}
	return p.run(w)
}

// traceRegion begins a region of an execution trace, with the name of the task in the hands of w.
func (p *Pool) traceRegion(w *worker) *trace.Region {
	name := p.info(w, w.entry).Name
	if name == "" {
		name = "executor task"
	}
	return trace.StartRegion(w.entry.context(), name)
}

// taskLost fails the task of e, which w had in hand when its goroutine ended, unless it
// is complete. The panic v came from user code other than body and hooks: from a method
// of the submitter's context, or from an OnDone function, maybe one that is called here.
// A nil v is that of runtime.Goexit. It does nothing to a task whose run is over, or
// whose BeforeTask hook has called it, which is reported already.
func (p *Pool) taskLost(w *worker, e entry, v any) {
	tt, typed := e.typed()
	done := typed && tt.taskCore().State().Done()
	if v == nil && (done || w.phase > phaseTaken) {
		return
	}
	end := abrupt(v)
	if v != nil || e.errorUnseen() {
		defer func() { p.report(context.Background(), p.info(w, e), end) }()
	}
	if typed && !done {
		defer func() { p.taskLost(w, e, recover()) }()
		tt.fail(end.err)
	}
}

// lostOutcome returns the outcome of a task that has ended the goroutine of w.
func (w *worker) lostOutcome() outcome {
	if t := w.entry.task(); t != nil {
		return outcomeOf(t)
	}
	if w.phase == phaseReturned {
		return succeeded
	}
	return failed
}

// fetch counts the task that w has run, if there was one, and gets the next one; it waits
// while there is none. It reports false if the worker is to leave, and has counted it out
// then.
func (p *Pool) fetch(w *worker, out outcome) bool {
	p.mu.lock.Lock()
	if out <= noTask {
		p.countLocked(w, out)
		if p.mu.open {
			if e, ok := p.mu.stream.popHead(); ok {
				p.assignQueuedLocked(w, e)
				p.mu.lock.Unlock()
				w.contexts.End()
				return true
			}
			p.mu.takeGate() // the head is empty
		}
	} else {
		if p.mu.open {
			p.mu.takeGate()
		}
		if dropped := p.requeueLocked(w, out); dropped.run != nil {
			p.mu.Unlock()
			p.cancelSeries(w, dropped) // before w has another task, which it might lose here
			p.mu.Lock()
		}
	}
	next, fresh := p.nextLocked(w)
	p.mu.Unlock()
	w.contexts.End()
	p.start(fresh)
	for next == stepPark || next == stepLook {
		if next == stepPark {
			next = p.park(w)
		} else {
			next = p.awake(w)
		}
	}
	if next == stepExit {
		w.phase = phaseGone
		p.observed.Load().note(workerLeft)
		p.tidy()
	}
	return next == stepRun
}

// countLocked counts the run that w has just done, if there was one, and the end of its
// task, unless it recurs. It needs only the workers' lock.
func (p *Pool) countLocked(w *worker, out outcome) {
	if out != noTask {
		p.mu.active--
	}
	if w.phase >= phaseCalled {
		p.mu.runs++
	}
	if out < numOutcomes {
		p.mu.ended[out]++
	}
	w.contexts.TakeBackLocked()
	w.entry, w.since, w.phase = entry{}, 0, phaseNone
}

// requeueLocked counts a run of a task that has no outcome yet, and puts the task back
// into the queue, or aside if it is run by hand. If the pool no longer takes it, it is
// returned for the caller to complete without the lock.
func (p *Pool) requeueLocked(w *worker, out outcome) (dropped entry) {
	e := w.entry
	switch t := e.task(); {
	case t.State().Done(): // since
		out = outcomeOf(t)
	case out == byHand:
		p.setAsideLocked(t)
	case !p.timer.requeueLocked(e):
		dropped, out = e, canceledTask
	}
	p.countLocked(w, out)
	return dropped
}

// cancelSeries cancels a series that the pool, which is shut down, no longer takes back.
func (p *Pool) cancelSeries(w *worker, e entry) {
	defer func() { p.taskLost(w, e, recover()) }()
	e.end(task.Canceled, canceled(ErrShutdown))
}

// step is what a worker does next.
type step uint8

const (
	stepRun  step = iota // it has a task
	stepPark             // it is in the idle list
	stepLook             // it is out of it, to look at the queue
	stepExit             // it is counted out
)

// nextLocked finds a task for w, or parks it, or counts it out.
func (p *Pool) nextLocked(w *worker) (step, []*worker) {
	if p.mu.stage == StageStop || p.mu.workers > p.mu.max && p.isSpareLocked() {
		p.countOutLocked(w)
		p.dispatchLocked()
		return stepExit, p.unblockLocked()
	}
	if e, ok := p.mu.queue.pop(); ok {
		p.assignQueuedLocked(w, e)
		if o := p.observed.Load(); o != nil {
			o.refill()
			if p.timer != nil && o.choose() {
				p.measureLocked(w)
			}
		}
		var fresh []*worker
		if p.mu.nBlocked > 0 {
			fresh = p.unblockLocked()
		}
		p.dispatchLocked()
		if p.timer != nil {
			fresh = append(fresh, p.timer.ensureListenerLocked()...)
		}
		return stepRun, fresh
	}
	if p.mayLeaveLocked(0) {
		p.countOutLocked(w)
		p.dispatchLocked()
		return stepExit, p.unblockLocked()
	}
	if w.since == 0 { // else it looked at the queue in vain, and is still idle
		w.since = p.elapsed()
	}
	p.mu.idle.push(w)
	var fresh []*worker
	if p.mu.nBlocked > 0 {
		fresh = p.unblockLocked() // may hand it a task at once
	}
	if w.parked {
		if p.aboveCoreLocked() {
			p.setReaperLocked()
		}
		if p.timer != nil {
			p.timer.listenLocked(w)
		}
	}
	return stepPark, fresh
}

// aboveCoreLocked reports whether a worker may leave when it has been idle for KeepAlive.
func (p *Pool) aboveCoreLocked() bool {
	return p.mu.coreTimeout || p.mu.workers > p.mu.core
}

// mayLeaveLocked reports whether a worker that has been idle for so long may leave.
func (p *Pool) mayLeaveLocked(idle time.Duration) bool {
	over := p.mu.stage != StageRunning && p.mu.queue.len() == 0 ||
		p.mu.workers > p.mu.max ||
		p.aboveCoreLocked() && idle >= p.mu.keepAlive && (p.timer == nil || !p.timer.onlyListenerLocked())
	return over && p.isSpareLocked()
}

// isSpareLocked reports whether a worker may leave: no task waits, or there is another
// worker to run it.
func (p *Pool) isSpareLocked() bool {
	return p.mu.workers > 1 || p.mu.queue.len() == 0
}
