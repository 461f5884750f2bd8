package executor

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/task"
)

// This file is what a pool does in addition if its tasks wait for a time.
//
//	submit    push the task into the delay queue
//	            below Core workers: start one, which will look at the queue
//	            else, if a worker is idle: wake it if a task is due, or set the alarm
//	worker    take a task that is due; wake an idle worker if another is due, or set the
//	          alarm for the next
//	idle      wait for a task or for the alarm; all idle workers listen, one receives it
//
// The JDK's queue has a leader, the one waiter that waits with a timeout. Here the alarm
// belongs to the queue, so there is no leader to replace, and a submitter with a new
// first task sets the alarm without waking a worker.
//
// Invariant: whenever the pool's lock is free, and a task waits that will be due, a
// worker is busy and will look at the queue, or one is idle and the alarm goes off in time.

// timer is the part of a Pool that only a ScheduledPool has. The pool's lock guards it.
type timer struct {
	pool   *Pool
	queue  *delay.Queue[typedTask]
	drops  [periodic + 1]bool // by kind of task: those that wait at a shutdown are canceled
	series registry

	alarm *alarm.Alarm   // nil while there is no worker
	spent []*alarm.Alarm // to be closed by tidy
	set   int64          // when the alarm goes off, on the monotonic clock; 0 if it is not set
}

// clock returns the clock of the pool's times.
func (p *Pool) clock() delay.Clock { return delay.Clock{Epoch: p.epoch} }

// newEntry returns the entry and the task of a Runnable that is due now.
func (tm *timer) newEntry(ctx context.Context, r Runnable) (entry, *task.Task) {
	p := tm.pool
	now := p.elapsed()
	if tt, ok := r.(typedTask); ok && tt.taskCore().Attach(&p.owner, ctx, now) {
		return entry{r}, tt.taskCore()
	}
	c := newTaskRunnable(r)
	c.core.Attach(&p.owner, ctx, now)
	return entry{c}, &c.core
}

// admitLocked is the admission to a scheduled pool: every task enters the queue.
func (tm *timer) admitLocked(e entry, t *task.Task) (*worker, verdict) {
	p := tm.pool
	if !p.mu.queue.push(e) {
		return nil, saturated
	}
	p.mu.gate.submitted++
	if p.mu.workers < p.mu.core || p.mu.workers == 0 {
		return p.hireLocked(), queued
	}
	tm.announceLocked(t)
	return nil, queued
}

// alarmCovers reports whether the alarm goes off in time for t, which is queued. The
// worker that receives it takes all that is due.
func (tm *timer) alarmCovers(t *task.Task) bool {
	if t.FollowsWallClock() {
		first, _ := tm.queue.FirstOnWall()
		return first < t.Due()
	}
	return tm.set != 0 && tm.set <= t.Due()
}

// requeueLocked puts a series back into the queue for its next run. It reports false if the
// pool is shut down and drops such tasks.
func (tm *timer) requeueLocked(e entry) bool {
	switch tm.pool.mu.stage {
	case StageRunning:
	case StageShutdown:
		if tm.drops[periodic] {
			return false
		}
	default:
		return false
	}
	t := e.task()
	t.Move(planOf(t).series.position())
	return tm.pool.mu.queue.push(e)
}

// repositionLocked moves a series that waits in the queue to the time that it has now.
func (tm *timer) repositionLocked(s *Series) {
	t := s.taskCore()
	if t.Place() < 0 {
		return // a worker has it, or it is about to enter the queue
	}
	q := tm.pool.mu.queue
	q.remove(t)
	t.Move(s.position())
	q.push(entry{s}) // there is room
	tm.announceLocked(t)
}

// announceLocked has an idle worker look at t, which was queued, in time: now, if t is due, or
// by the alarm. A worker that is on its way looks at it in any case.
func (tm *timer) announceLocked(t *task.Task) {
	if tm.pool.mu.idle.top == nil || tm.pool.mu.waking != nil || tm.alarmCovers(t) {
		return
	}
	tm.queue.Look()
	tm.dispatchLocked()
}

// dispatchLocked wakes an idle worker if a task was due at the last look at the clocks, unless
// one is on its way, and sets the alarm for the next. Every worker that takes a task calls it.
func (tm *timer) dispatchLocked() {
	p := tm.pool
	if p.mu.stage != StageRunning && tm.queue.Len() == 0 {
		p.retireLocked() // nothing will come any more
	}
	switch {
	case p.mu.idle.top == nil || p.mu.waking != nil:
	case tm.queue.Due():
		p.wakeLocked()
	default:
		tm.setAlarmLocked()
	}
}

// ensureListenerLocked returns a new worker, to be started, if tasks wait for their
// time, all workers are busy, and there may be more: it is to listen to the alarm. A
// worker that is neither busy nor idle is about to look at the queue.
func (tm *timer) ensureListenerLocked() []*worker {
	p := tm.pool
	if p.mu.workers > p.mu.active || p.mu.workers >= p.mu.core || tm.queue.Len() == 0 {
		return nil
	}
	return []*worker{p.hireLocked()}
}

// onlyListenerLocked reports whether an idle worker is the last of Core that can listen
// to the alarm, while tasks wait for their time.
func (tm *timer) onlyListenerLocked() bool {
	p := tm.pool
	return tm.queue.Len() > 0 && p.mu.workers <= p.mu.core && p.mu.workers-p.mu.active <= 1
}

// setAlarmLocked sets the alarm for the first task of the queue, if a worker is idle.
// An alarm for an earlier time stays: to look once in vain costs less than to set it
// anew for each first task that is canceled.
func (tm *timer) setAlarmLocked() {
	p := tm.pool
	if p.mu.idle.top == nil {
		return
	}
	at, ok := tm.queue.Next()
	if !ok || tm.set != 0 && tm.set <= at {
		return
	}
	tm.set = at
	tm.alarm.Set(delay.Until(at, p.elapsed()))
}

// listenLocked prepares w, which is about to park, for the alarm.
func (tm *timer) listenLocked(w *worker) {
	if tm.alarm == nil {
		tm.alarm = alarm.New()
	}
	w.alarm = tm.alarm
	tm.setAlarmLocked()
}

// disarmLocked discards the alarm when the last worker leaves, so that a pool without
// workers has no timer and no goroutine. Closing it may take a moment, so that is left
// to tidy, which every worker that leaves calls.
func (tm *timer) disarmLocked() {
	if tm.alarm != nil {
		tm.spent = append(tm.spent, tm.alarm)
		tm.alarm, tm.set = nil, 0
	}
}

// park waits until w is handed a task or dismissed, or the alarm goes off.
func (tm *timer) park(w *worker) step {
	p := tm.pool
	if !w.alarm.Wait(w.wake) {
		return w.then
	}
	p.mu.Lock()
	tm.set = 0
	tm.queue.Wake()
	if !w.parked {
		// It was handed a task, or dismissed, in the same moment. The alarm was
		// for a worker all the same.
		tm.dispatchLocked()
		fresh := tm.ensureListenerLocked()
		p.mu.Unlock()
		p.start(fresh)
		<-w.wake
		return w.then
	}
	p.mu.idle.remove(w)
	next, fresh := p.nextLocked(w)
	p.mu.Unlock()
	p.start(fresh)
	return next
}

// dropLocked removes the tasks from the queue that the policies do not let run after a
// shutdown, and counts them. The caller completes them without the lock.
func (tm *timer) dropLocked() []entry {
	p := tm.pool
	now := tm.queue.Now()
	dropped := p.mu.queue.removeFunc(func(e entry) bool {
		t := e.task()
		switch {
		case t.State() == task.Canceled:
			return true
		case planOf(t).series != nil:
			return tm.drops[periodic]
		case t.Due() <= now.On(t.FollowsWallClock()):
			return false
		}
		return tm.drops[delayed]
	})
	p.mu.ended[canceledTask] += int64(len(dropped))
	return dropped
}

// delayBacklog is the delay queue as a backlog.
type delayBacklog struct{ *delay.Queue[typedTask] }

func newDelayBacklog(c delay.Clock, slack time.Duration) delayBacklog {
	return delayBacklog{delay.New(c, slack, placed, stale)}
}

// placed records the places of tasks that are queued. As a rule the tasks are in no cache.
// The fewer instructions there are for each, the more tasks the processor fetches at a
// time.
func placed(tts []typedTask, places []int32) {
	for i, tt := range tts {
		tt.taskCore().SetPlace(int(places[i]))
	}
}

// stale marks a task of a trigger after the wall clock was set back: a worker will ask
// the trigger for the next time, without the lock.
func stale(tt typedTask) bool {
	t := tt.taskCore()
	s := planOf(t).series
	if s == nil || !s.setBack() {
		return false
	}
	t.SetDue(1)
	return true
}

func (q delayBacklog) push(e entry) bool {
	if q.Len() >= maxQueued {
		return false
	}
	tt := e.run.(typedTask) // newEntry has made one of any other Runnable
	t := tt.taskCore()
	t.SetPlace(q.Push(tt, t.Due(), t.FollowsWallClock()))
	return true
}

func (q delayBacklog) pop() (entry, bool) {
	q.Look()
	tt, ok := q.Pop()
	return unplace(tt, ok)
}

// unplace returns the entry of a task that has left the queue, if there is one.
func unplace(tt typedTask, ok bool) (entry, bool) {
	if !ok {
		return entry{}, false
	}
	tt.taskCore().SetPlace(task.Unplaced)
	return entry{tt}, true
}

func (q delayBacklog) at(t *task.Task) entry { return entry{q.At(t.Place(), t.FollowsWallClock())} }

func (q delayBacklog) remove(t *task.Task) {
	q.Remove(t.Place(), t.FollowsWallClock())
	t.SetPlace(task.Unplaced)
}

func (q delayBacklog) removeFunc(match func(entry) bool) []entry {
	return unplaceAll(q.RemoveFunc(func(tt typedTask) bool { return match(entry{tt}) }))
}

func (q delayBacklog) drain() []entry { return unplaceAll(q.Drain()) }

func unplaceAll(tts []typedTask) []entry {
	es := make([]entry, len(tts))
	for i, tt := range tts {
		es[i], _ = unplace(tt, true)
	}
	return es
}

func (q delayBacklog) len() int { return q.Len() }

func (q delayBacklog) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for tt := range q.All() {
			if !yield(entry{tt}) {
				return
			}
		}
	}
}

// setDropsLocked changes what is dropped. It returns the tasks that a pool which is shut down
// does not keep any more, as dropLocked.
func (tm *timer) setDropsLocked(once, repeated bool) (dropped []entry) {
	more := once && !tm.drops[delayed] || repeated && !tm.drops[periodic]
	tm.drops[delayed], tm.drops[periodic] = once, repeated
	if more && tm.pool.mu.stage == StageShutdown {
		dropped = tm.dropLocked()
	}
	return dropped
}

// plan is what a scheduled pool keeps with a task that is not simply due once.
type plan struct {
	series     *Series                    // of periodic work, else nil
	run        *seriesRun                 // a run that is a task of its own, else nil
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
			var zero T
			end = f.conclude(zero, end)
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
