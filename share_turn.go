package executor

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/executor-go/executor/internal/bucket"
	"github.com/executor-go/executor/internal/list"
	"github.com/executor-go/executor/internal/task"
)

// This file is what a pool does in addition if it is a share. Its workers are not
// goroutines: each stands for a turn on a worker of the lending pool.
//
//	        a task may begin             the lender's worker comes to the turn
//	free ── askLocked ─────▶ asked, in the idle list ── takeTurn ─▶ busy ── endTurn ─▶ free
//	                          │  ▲                                         asks for the next
//	                          │  └─ the lender has dropped the turn: ask again
//	                          └─ the task was canceled: retractLocked, withdraw ─▶ free
//
// A task waits in the share's queue until its turn has begun, so it keeps its place there,
// and can leave. A turn is a task of the lender, with a place in the lender's queue, which
// it leaves when the share has no use for it.
//
// Invariant: whenever the share's lock is free, there are as many asked workers as tasks
// that may begin, or the limit is reached, or the timer is set for the rate's next token.
//
// The lock of the lender may be taken under that of the share, not the reverse.

// loan is the part of a Pool that only a share has. The share's lock guards it.
type loan struct {
	share, lender *Pool // fixed
	room          int   // of the queue, for tasks without a turn; fixed

	keys    keyedBacklog  // the queue, if it is by key
	keyed   bool          // it is; fixed
	bound   Rate          // of its settings
	rate    bucket.Bucket // of tasks that begin
	timer   *time.Timer   // for the next token; nil before first use
	ticking bool          // timer is set
	ended   bool          // the lender takes no turns any more
	free    *worker       // the workers without a turn, linked by next
	surplus []*shareTurn  // to be withdrawn by tidy
}

// shareTurn is a task of the lender: the next task of the share.
type shareTurn struct {
	core    task.Task
	worker  *worker              // of the share
	blocked *list.Node[*blocked] // where it waits for room in the lender; under the lender's lock
}

var _ typedTask = (*shareTurn)(nil)

func (t *shareTurn) taskCore() *task.Task          { return &t.core }
func (t *shareTurn) Run(context.Context) error     { return nil } // for a Runnable; see runTurn
func (t *shareTurn) invoke(context.Context) ending { return ending{} }
func (t *shareTurn) fail(err error)                { t.core.FinishUncalled(err, nil) }
func (t *shareTurn) submitted() any                { return t }
func (t *shareTurn) runnable() Runnable            { return t }

func (t *shareTurn) String() string { return fmt.Sprintf("executor: turn of %q", t.worker.pool.name) }

// detachBody returns nil: the tasks of the share are given back by the share.
func (t *shareTurn) detachBody() func(context.Context) error { return nil }

// end is called if the lender drops the turn.
func (t *shareTurn) end(s task.State, err error) bool {
	dropped := t.core.CompletePending(s, err, nil)
	if dropped {
		t.worker.pool.loan.dropped(t)
	}
	return dropped
}

// isTurn reports whether e is the turn of a share.
func (e entry) isTurn() bool {
	tt, _ := e.typed()
	_, ok := tt.(*shareTurn)
	return ok
}

// readyLocked returns how many tasks may begin, but for limit and rate.
func (l *loan) readyLocked() int {
	if l.keyed {
		return l.keys.Ready()
	}
	return l.share.mu.queue.len()
}

// mayAskLocked reports whether limit and rate allow one more turn than was asked for.
func (l *loan) mayAskLocked(now int64, asked int) bool {
	return l.share.mu.workers < l.share.mu.max && l.rate.Has(now, asked)
}

// now returns the time on the share's clock, if it is needed.
func (l *loan) now() int64 {
	if !l.rate.Bounded() {
		return 0
	}
	return l.share.elapsed()
}

// admitLocked is the admission to a share: every task enters the queue, which has room for
// those that have a turn.
func (l *loan) admitLocked(e entry) (*worker, verdict) {
	p := l.share
	asked := p.mu.workers - p.mu.active
	without := p.mu.queue.len() - asked
	if without >= l.room {
		if now := l.now(); !l.mayAskLocked(now, asked) {
			if !l.rate.Has(now, asked) {
				l.setTimerLocked(now, asked) // submitters that block have nothing else to wait for
			}
			return nil, saturated
		}
	}
	if !p.queueLocked(e) {
		return nil, saturated
	}
	p.mu.gate.submitted++
	return l.askLocked(), queued
}

// askLocked returns a worker for which the caller asks for a turn, by launch, nil if there
// are enough.
func (l *loan) askLocked() *worker {
	p := l.share
	asked := p.mu.workers - p.mu.active
	if asked >= l.readyLocked() || p.mu.workers >= p.mu.max || l.ended {
		return nil
	}
	if now := l.now(); !l.rate.Has(now, asked) {
		l.setTimerLocked(now, asked)
		return nil
	}
	w := l.free
	if w == nil {
		w = p.hireLocked()
	} else {
		l.free, w.next = w.next, nil
		p.mu.workers++
		p.mu.crew.PushBack(&w.member)
		p.mu.largest = max(p.mu.largest, p.mu.workers)
	}
	t := &shareTurn{worker: w}
	t.core.Init()
	w.turn.Store(t)
	p.mu.idle.push(w)
	return w
}

// askAllLocked is askLocked for as many as there can be.
func (l *loan) askAllLocked() (fresh []*worker) {
	for w := l.askLocked(); w != nil; w = l.askLocked() {
		fresh = append(fresh, w)
	}
	return fresh
}

// freeLocked counts out a worker whose turn is over.
func (l *loan) freeLocked(w *worker) {
	l.share.countOutLocked(w)
	w.next, l.free = l.free, w
}

// retractLocked counts out workers that have asked for a turn and have no task or no token
// for it, or are above the limit. The caller calls tidy, which withdraws the turns.
func (l *loan) retractLocked() {
	p := l.share
	for p.mu.idle.top != nil {
		asked := p.mu.workers - p.mu.active
		if asked <= l.readyLocked() && p.mu.workers <= p.mu.max && l.rate.Has(l.now(), asked-1) {
			return
		}
		w := p.mu.idle.pop()
		l.surplus = append(l.surplus, w.turn.Swap(nil))
		l.freeLocked(w)
	}
}

// withdraw takes turns back from the lender.
func (l *loan) withdraw(ts []*shareTurn) {
	for _, t := range ts {
		if t.core.CompletePending(task.Canceled, nil, nil) {
			l.lender.unblock(t)
		}
	}
}

// dropped follows the end of a turn that the lender did not run: it was evicted, or the
// lender is shut down.
func (l *loan) dropped(t *shareTurn) {
	ended := l.lender.stage() >= StageStop
	p, w := l.share, t.worker
	var again *worker
	p.mu.Lock()
	l.ended = l.ended || ended
	if w.turn.CompareAndSwap(t, nil) {
		p.mu.idle.remove(w)
		l.freeLocked(w)
		again = l.askLocked()
	}
	p.mu.Unlock()
	if again != nil {
		p.launch(again)
	}
	p.tidy()
}

// takeTurn runs the next task of the share in the goroutine of on, a worker of the lender,
// and those after it as long as nothing else waits for on.
func (l *loan) takeTurn(t *shareTurn, on *worker) {
	p, w := l.share, t.worker
	p.mu.Lock()
	if !w.turn.CompareAndSwap(t, nil) { // it was withdrawn in this moment
		p.mu.Unlock()
		return
	}
	p.mu.idle.remove(w)
	e, ok := p.mu.queue.pop()
	if !ok {
		l.freeLocked(w)
		p.mu.Unlock()
		p.tidy()
		return
	}
	p.assignQueuedLocked(w, e)
	var next *worker
	var fresh []*worker
	if l.rate.Bounded() {
		l.rate.Take(l.now())
		next = l.askLocked() // or sets the timer
		if p.mu.nBlocked > 0 {
			fresh = p.unblockLocked() // likewise
		}
	}
	p.mu.Unlock()
	p.start(fresh)
	if next != nil {
		p.launch(next)
	}

	if w.labels == nil {
		w.labels = workerLabels(p.name, w.number)
	}
	returned := true
	defer func() {
		if returned {
			return
		}
		// User code called runtime.Goexit, or panicked around a body; see work.
		defer func() { l.endTurn(w, nil, w.lostOutcome()) }()
		p.taskLost(w, w.entry, recover())
	}()
	for goesOn := true; goesOn; {
		returned = false
		out := p.take(w)
		returned = true
		goesOn = l.endTurn(w, on, out)
	}
}

// endTurn counts the task that w has run in the goroutine of on, a worker of the lender.
// Then it has the turn go on with the next task, or it ends it, and asks for the next turn.
// With a nil on it ends.
func (l *loan) endTurn(w, on *worker, out outcome) (goesOn bool) {
	p := l.share
	var fresh []*worker
	p.mu.Lock()
	if l.keyed {
		l.keys.release(w.entry)
	}
	if out <= noTask {
		p.countLocked(w, out)
	} else {
		p.requeueLocked(w, out)
	}
	if goesOn = l.goesOnLocked(on); goesOn {
		e, _ := p.mu.queue.pop()
		p.assignQueuedLocked(w, e)
		if p.mu.nBlocked > 0 {
			fresh = p.unblockLocked()
		}
	}
	p.mu.Unlock()
	w.contexts.End()
	if goesOn {
		p.start(fresh)
		return true
	}

	p.mu.Lock()
	l.freeLocked(w)
	next := l.askLocked()
	if p.mu.nBlocked > 0 {
		fresh = p.unblockLocked()
	}
	over := p.mu.stage != StageRunning
	p.mu.Unlock()
	if next != nil {
		p.launch(next)
	}
	p.start(fresh)
	if over {
		p.tidy()
	}
	return false
}

// goesOnLocked reports whether the turn on a worker of the lender goes on with another task:
// there is one that no other turn was asked for, and nothing else waits for that worker. So
// a share that has the lender for itself does not queue there for each of its tasks.
func (l *loan) goesOnLocked(on *worker) bool {
	p := l.share
	asked := p.mu.workers - p.mu.active - 1 // but for the one that has the turn
	return on != nil && asked < l.readyLocked() && p.mu.workers <= p.mu.max && !l.rate.Bounded() &&
		l.lender.passTurn(on)
}

// passTurn counts the turn that w runs as ended and as begun anew, unless w is needed for
// something else. It is called under the lock of the share.
func (p *Pool) passTurn(w *worker) bool {
	if p.timer != nil || p.loan != nil {
		return false
	}
	p.mu.Lock()
	o := p.observed.Load()
	passes := p.mu.queue.len() == 0 && p.mu.nBlocked == 0 && p.mu.stage < StageStop && p.mu.workers <= p.mu.max &&
		(o == nil || w.begun == 0 && o.skip > 1) // else one of the two is measured
	if passes {
		p.mu.gate.submitted++
		p.mu.runs++
		p.mu.ended[succeeded]++
		w.tasks++
		w.begun = 0
		if o != nil {
			o.skip--
		}
	}
	p.mu.Unlock()
	return passes
}

// admitTurn admits the turn of a share of p.
func (p *Pool) admitTurn(t *shareTurn) {
	due := int64(0)
	if p.timer != nil {
		due = p.elapsed()
	}
	if !t.core.Attach(&p.owner, context.Background(), due) {
		return // it was launched by another goroutine
	}
	e := entry{t}
	p.mu.Lock()
	w, v := p.admitLocked(e, &t.core)
	if v == saturated {
		t.blocked = &list.Node[*blocked]{Value: &blocked{entry: e, waiting: true}}
		p.mu.blocked.PushBack(t.blocked)
		p.mu.nBlocked++
	}
	p.mu.Unlock()
	if w != nil {
		p.launch(w)
	}
	switch {
	case v == tooLate:
		t.end(task.Canceled, canceled(ErrShutdown))
	case t.core.State().Done():
		p.unblock(t)
	}
}

// unblock removes a turn that is done from where it waits.
func (p *Pool) unblock(t *shareTurn) {
	p.mu.Lock()
	if n := t.blocked; n != nil && n.Value.waiting {
		p.mu.blocked.Remove(n)
		p.mu.nBlocked--
		n.Value.waiting = false
	}
	p.mu.Unlock()
	p.unqueue(&t.core)
}

// runTurn runs the next task of a share in the goroutine of w. Whatever becomes of it is
// the share's to count and to report.
func (p *Pool) runTurn(w *worker, t *shareTurn) outcome {
	if _, ok := t.core.Begin(task.Once); !ok {
		return outcomeOf(&t.core)
	}
	w.phase = phaseReturned
	defer t.core.Finish(task.Succeeded, nil, nil)
	t.worker.pool.loan.takeTurn(t, w)
	return succeeded
}

// sharesLocked returns the shares that are not terminated.
func (p *Pool) sharesLocked() []*Pool {
	var shares []*Pool
	for s := range p.mu.shares {
		shares = append(shares, s)
	}
	return shares
}

// returned removes a share that is terminated.
func (p *Pool) returned(s *Pool) {
	p.mu.Lock()
	delete(p.mu.shares, s)
	p.mu.Unlock()
	p.tidy()
}

// setTimerLocked sets the timer of the rate for the instant from which there are more than
// asked tokens.
func (l *loan) setTimerLocked(now int64, asked int) {
	at := l.rate.Next(asked)
	if l.ticking || at == math.MaxInt64 {
		return // the turns that were asked for take what is there, and then ask again
	}
	l.ticking = true
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Duration(at-now), l.tick)
	} else {
		l.timer.Reset(time.Duration(at - now))
	}
}

// changeRateLocked changes the rate. The caller then retracts turns, or asks for more.
func (l *loan) changeRateLocked(bound Rate, full bucket.Bucket) {
	if bound == l.bound {
		return
	}
	l.bound = bound
	l.rate.Change(l.share.elapsed(), full.Interval, full.Burst)
	if l.ticking && l.timer.Stop() {
		l.ticking = false // else tick is about to ask
	}
}

// tick is the function of the timer, called in a goroutine of its own.
func (l *loan) tick() {
	p := l.share
	p.mu.Lock()
	l.ticking = false
	fresh := append(l.askAllLocked(), p.unblockLocked()...)
	p.mu.Unlock()
	p.start(fresh)
}
