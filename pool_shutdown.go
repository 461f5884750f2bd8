package executor

import (
	"context"

	"github.com/executor-go/executor/internal/engine"
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
	StageRunning    = Stage(engine.Running)    // takes tasks and runs them
	StageShutdown   = Stage(engine.Shut)       // takes no new tasks, runs the waiting ones
	StageStop       = Stage(engine.Stopped)    // takes no tasks, runs none; the contexts of bodies have ended
	StageTidying    = Stage(engine.Tidying)    // all tasks have ended; Hooks.Terminated is called
	StageTerminated = Stage(engine.Terminated) // Hooks.Terminated has returned
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

// Shutdown stops the admission of tasks. Tasks that wait still run; in a scheduled pool its policies decide which.
// Tasks that these submit to the pool with their own contexts still run, too, such as those of a [Group] in a task. A
// share that has tasks accepts such tasks, too; a share without tasks is terminated at once. A task that waits for the
// next attempt of [Retry] is canceled. A pool that is paused is resumed. Shutdown does not wait, and does nothing if
// the pool is shut down already.
func (p *Pool) Shutdown() {
	p.mustBeMade()
	drops := func(unit engine.Unit) bool {
		t := unit.(work).taskCore()
		return t != nil && planOf(t).hasRun()
	}
	if p.timer != nil {
		drops = p.timer.drops()
	}
	dropped, first := p.engine.Shutdown(drops)
	if first {
		p.observed.Load().note(poolShutdown)
	}
	defer p.engine.Tidy()
	defer p.dropAll(dropped)
	each(p.shares.all(), (*Pool).Shutdown)
}

// ShutdownNow stops the admission of tasks, cancels the contexts of running bodies with the
// cause [ErrShutdown], and returns the tasks that were waiting; their futures are canceled
// with the same cause. It does not wait for bodies to return. A second call returns nil.
func (p *Pool) ShutdownNow() (dropped []Dropped) {
	p.mustBeMade()
	waiting, first := p.engine.Stop()
	if !first {
		p.cancel(ErrShutdown) // a body that its submitter runs may outlive the pool
		return nil
	}
	p.observed.Load().note(poolStopped)

	p.cancel(ErrShutdown)
	defer p.engine.Tidy()
	defer func() {
		each(p.shares.all(), func(s *Pool) { dropped = append(dropped, s.ShutdownNow()...) })
	}()
	each(waiting, func(unit engine.Unit) {
		u := unit.(work)
		d, ok := toDropped(u)
		if !ok {
			p.dropped(u, nil)
			return
		}
		dropped = append(dropped, d)
		p.takenAway(u, canceled(ErrShutdown))
	})
	return dropped
}

// toDropped cancels the task of u and returns its body. It reports false if the task was
// done already, or its context has ended.
func toDropped(u work) (Dropped, bool) {
	t := u.taskCore()
	if t == nil {
		return Dropped{task: u.submitted(), body: u.detachBody()}, true
	}
	if endsByContext(u) { // and the pool has not noticed yet
		return Dropped{}, false
	}
	d := Dropped{task: u.submitted(), body: u.detachBody(), options: *t.Options()}
	d.options.Plan = nil
	return d, u.end(task.Canceled, canceled(ErrShutdown)) && d.body != nil
}

// AwaitTermination waits until the pool is terminated: it is shut down, all its tasks have ended, and their bodies and
// Hooks.Terminated have returned. It does not wait for bodies that [CallerRuns] runs. AwaitTermination then returns
// nil, even if ctx has ended, and the error of ctx if ctx ends first. A nil ctx panics. A task that calls
// AwaitTermination on its own pool waits for itself.
func (p *Pool) AwaitTermination(ctx context.Context) error {
	mustContext(ctx)
	p.mustBeMade()
	return task.Await(ctx, p.engine.Terminated())
}

// Terminated returns a channel that is closed when the pool is terminated.
func (p *Pool) Terminated() <-chan struct{} {
	p.mustBeMade()
	return p.engine.Terminated()
}

// Close calls Shutdown and waits until the pool is terminated, however long its tasks take;
// [Pool.Drain] bounds the wait. In a scheduled pool it waits until the tasks of SubmitAfter,
// SubmitAt and the like are due, unless [ScheduledConfig].DropDelayed is set. A task must not close its
// own pool: it would wait for itself.
func (p *Pool) Close() {
	p.Shutdown()
	<-p.engine.Terminated()
}

// Drain is Close with a deadline, for the end of a program. If ctx ends before the pool is
// terminated, Drain calls [Pool.ShutdownNow], waits until the running bodies have returned,
// and returns the tasks that ShutdownNow returned. A body that returns the error of its context
// then is logged by name, if no future shows it. Otherwise Drain returns nil. A body that
// ignores its context keeps Drain waiting; AwaitTermination never waits longer than its
// context lasts. A task must not drain its own pool. A nil ctx panics.
func (p *Pool) Drain(ctx context.Context) []Dropped {
	mustContext(ctx)
	p.Shutdown()
	if p.AwaitTermination(ctx) == nil {
		return nil
	}
	p.cutting.Store(true)
	dropped := p.ShutdownNow()
	<-p.engine.Terminated()
	return dropped
}

// over follows the end of the last task and the last worker.
func (p *Pool) over() {
	if p.hooks.Terminated != nil {
		p.callHook(context.Background(), TaskInfo{Executor: p.name}, p.hooks.Terminated)
	}
	o := p.observed.Load()
	o.note(poolTerminated)
	if o != nil {
		o.observer.remove(o)
	}
	if p.lender != nil {
		p.lender.shares.remove(p)
	}
}
