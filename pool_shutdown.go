package executor

import (
	"context"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/task"
)

// Stage is the stage of a pool's life. It changes only along these arrows:
//
//	running            -> shutdown     Shutdown
//	running, shutdown  -> stop         ShutdownNow
//	shutdown           -> tidying      the queue is empty and no worker is left
//	stop               -> tidying      no worker is left
//	tidying            -> terminated   Hooks.Terminated has returned
type Stage uint8

const (
	StageRunning    Stage = iota // takes tasks and runs them
	StageShutdown                // takes no new tasks, runs the waiting ones
	StageStop                    // takes no tasks, runs none; the contexts of bodies have ended
	StageTidying                 // all tasks have ended; Hooks.Terminated is called
	StageTerminated              // Hooks.Terminated has returned
)

// String returns the name of the constant in lower case, as "running", and the number of
// any other value.
func (s Stage) String() string {
	return name(s, stageNames)
}

var stageNames = []string{"running", "shutdown", "stop", "tidying", "terminated"}

// MarshalText returns the text of String.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the stage with that name. Another text is an error that
// matches [ErrInvalid].
func (s *Stage) UnmarshalText(text []byte) error { return setByName(s, "Stage", stageNames, text) }

func (p *Pool) stage() Stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.stage
}

// Shutdown stops the admission of tasks. Tasks that wait still run; in a scheduled pool its
// policies decide which. Shutdown does not wait, and does nothing if the pool is shut down
// already.
func (p *Pool) Shutdown() {
	p.mustBeMade()
	p.mu.Lock()
	var dropped []entry
	first := p.mu.stage == StageRunning
	if first {
		p.mu.stage = StageShutdown
		if p.timer != nil {
			dropped = p.timer.dropLocked()
		}
		p.turnAwayLocked()
		p.retireLocked()
	}
	shares := p.sharesLocked()
	p.mu.Unlock()
	if first {
		p.observed.Load().note(poolShutdown)
	}
	defer p.tidy()
	for _, s := range shares {
		s.Shutdown()
	}
	p.dropAll(dropped)
}

// ShutdownNow stops the admission of tasks, cancels the contexts of running bodies with the
// cause [ErrShutdown], and returns the tasks that were waiting; their futures are canceled
// with the same cause. It does not wait for bodies to return. A second call returns nil.
func (p *Pool) ShutdownNow() []Dropped {
	p.mustBeMade()
	p.mu.Lock()
	if p.mu.stage >= StageStop {
		p.mu.Unlock()
		p.cancel(ErrShutdown) // a body that its submitter runs may outlive the pool
		return nil
	}
	p.mu.stage = StageStop
	waiting := p.mu.queue.drain()
	for _, e := range waiting {
		switch t := e.task(); {
		case t == nil:
			p.mu.ended[canceledTask]++
		case t.State().Done():
			p.mu.ended[outcomeOf(t)]++
		default:
			p.setAsideLocked(t) // it may be run by hand before it is canceled below
		}
	}
	p.turnAwayLocked()
	p.retireLocked()
	shares := p.sharesLocked()
	p.mu.Unlock()
	p.observed.Load().note(poolStopped)

	p.cancel(ErrShutdown)
	defer p.tidy()
	var dropped []Dropped
	each(waiting, func(e entry) {
		d, ok := e.toDropped()
		if !ok {
			p.dropped(e, nil)
			return
		}
		dropped = append(dropped, d)
		p.takenAway(e, canceled(ErrShutdown))
	})
	for _, s := range shares {
		dropped = append(dropped, s.ShutdownNow()...)
	}
	return dropped
}

// toDropped cancels the task of e and returns its body. It reports false if the task was
// done already, its context has ended, or it is run by hand.
func (e entry) toDropped() (Dropped, bool) {
	tt, ok := e.typed()
	if !ok {
		r := e.runnable()
		return Dropped{task: r, body: r.Run}, true
	}
	t := tt.taskCore()
	returned := false
	defer repanic(&returned, func(err error) { tt.end(task.Canceled, canceled(err)) })
	over := task.IfEnded(t.Context())
	returned = true
	if over != nil { // and the pool has not noticed yet
		tt.end(task.Canceled, canceled(over))
		return Dropped{}, false
	}
	d := Dropped{task: tt.submitted(), body: tt.detachBody(), options: *t.Options()}
	d.options.Plan = nil
	return d, tt.end(task.Canceled, canceled(ErrShutdown)) && d.body != nil
}

// again returns a task that runs d, with its options.
func (d Dropped) again() Runnable {
	if d.body == nil {
		return Func(d.Run)
	}
	r := newTaskRunnable(d)
	if o := d.options; o.Name != "" || o.Timeout > 0 || o.Priority != 0 {
		*r.core.SetOptions() = o
	}
	return r
}

// AwaitTermination waits until the pool is terminated: it is shut down, all its tasks have
// ended, including those that Task.Run runs, and the bodies that its workers ran and
// Hooks.Terminated have returned. It then returns nil, even if ctx has ended, and the error
// of ctx if ctx ends first. A task that calls it on its own pool waits for itself.
func (p *Pool) AwaitTermination(ctx context.Context) error {
	p.mustBeMade()
	return task.Await(ctx, p.terminated)
}

// Terminated returns a channel that is closed when the pool is terminated.
func (p *Pool) Terminated() <-chan struct{} {
	p.mustBeMade()
	return p.terminated
}

// Close calls Shutdown and waits until the pool is terminated, however long its tasks take;
// [Pool.Drain] bounds the wait. In a scheduled pool it waits until the tasks of Schedule
// and At are due, unless [ScheduledConfig].DropDelayed is set. A task must not close its
// own pool: it would wait for itself.
func (p *Pool) Close() {
	p.Shutdown()
	<-p.terminated
}

// Drain is Close with a deadline, for the end of a program. If ctx ends before the pool is
// terminated, Drain calls [Pool.ShutdownNow], waits until the running bodies have returned,
// and returns the tasks that ShutdownNow returned. Otherwise it returns nil. A body that
// ignores its context keeps Drain waiting; AwaitTermination never waits longer than its
// context lasts. A task must not drain its own pool. A nil ctx panics.
func (p *Pool) Drain(ctx context.Context) []Dropped {
	mustContext(ctx)
	p.Shutdown()
	if p.AwaitTermination(ctx) == nil {
		return nil
	}
	dropped := p.ShutdownNow()
	<-p.terminated
	return dropped
}

// tidy terminates the pool if it is shut down and has neither workers nor tasks. It is
// called, without the lock, after each step that removes a worker or a task.
func (p *Pool) tidy() {
	p.mu.Lock()
	over := (p.mu.stage == StageShutdown || p.mu.stage == StageStop) &&
		p.mu.workers == 0 && p.emptyLocked() && len(p.mu.shares) == 0
	if over {
		p.mu.stage = StageTidying // so this is done once
		if p.mu.reaper != nil {
			p.mu.reaper.Stop()
		}
	}
	var spent []*alarm.Alarm
	if p.timer != nil {
		spent, p.timer.spent = p.timer.spent, nil
	}
	var surplus []*shareTurn
	if p.loan != nil {
		surplus, p.loan.surplus = p.loan.surplus, nil
		if over && p.loan.timer != nil {
			p.loan.timer.Stop()
		}
	}
	p.mu.Unlock()
	if len(surplus) > 0 {
		p.loan.withdraw(surplus)
	}
	for _, a := range spent {
		a.Close()
	}
	if !over {
		return
	}
	defer func() {
		p.mu.Lock()
		p.mu.stage = StageTerminated
		p.mu.Unlock()
		p.observed.Load().note(poolTerminated)
		if o := p.observed.Load(); o != nil {
			o.observer.remove(o)
		}
		close(p.terminated)
		if p.loan != nil {
			p.loan.lender.returned(p)
		}
	}()
	if p.hooks.Terminated != nil {
		p.callHook(context.Background(), TaskInfo{Executor: p.name}, p.hooks.Terminated)
	}
}

// each calls f for each element in turn. If a call does not return, the others are still
// made.
func each[E any](all []E, f func(E)) {
	defer func() {
		if len(all) > 0 {
			each(all, f)
		}
	}()
	for len(all) > 0 {
		e := all[0]
		all = all[1:]
		f(e)
	}
}
