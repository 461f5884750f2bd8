package executor

// This file holds the policies of a scheduled pool, which can be changed while
// it runs and while it is shut down.

// SetDelayed changes ScheduledConfig.Delayed. If the pool is shut down already,
// DropAtShutdown takes effect at once. Java:
// setExecuteExistingDelayedTasksAfterShutdownPolicy.
func (p *ScheduledPool) SetDelayed(a AfterShutdown) error {
	return p.setPolicy(delayed, a.or(KeepAfterShutdown))
}

// SetPeriodic changes ScheduledConfig.Periodic. If the pool is shut down
// already, DropAtShutdown takes effect at once. Java:
// setContinueExistingPeriodicTasksAfterShutdownPolicy.
func (p *ScheduledPool) SetPeriodic(a AfterShutdown) error {
	return p.setPolicy(periodic, a.or(DropAtShutdown))
}

// Delayed gives ScheduledConfig.Delayed as it is now.
func (p *ScheduledPool) Delayed() AfterShutdown { return p.policy(delayed) }

// Periodic gives ScheduledConfig.Periodic as it is now.
func (p *ScheduledPool) Periodic() AfterShutdown { return p.policy(periodic) }

// SetRetainCanceled changes ScheduledConfig.RetainCanceled, for tasks that are
// canceled from now on. Java: setRemoveOnCancelPolicy, turned round.
func (p *ScheduledPool) SetRetainCanceled(retain bool) {
	p.mu.Lock()
	p.mu.retained = retain
	p.mu.Unlock()
}

// RetainCanceled gives ScheduledConfig.RetainCanceled as it is now.
func (p *ScheduledPool) RetainCanceled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.retained
}

func (p *Pool) policy(k taskKind) AfterShutdown {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.policies[k]
}

func (p *Pool) setPolicy(k taskKind, a AfterShutdown) error {
	if a > DropAtShutdown {
		return invalid("AfterShutdown is %d; it must be KeepAfterShutdown or DropAtShutdown", a)
	}
	p.mu.Lock()
	p.mu.policies[k] = a
	var dropped []entry
	if a == DropAtShutdown && p.mu.stage == StageShutdown {
		dropped = p.dropLocked()
		p.retireLocked()
	}
	p.mu.Unlock()
	defer p.tidy()
	each(dropped, func(e entry) { e.end(Canceled, canceled(ErrShutdown)) })
	return nil
}

// dropLocked takes out of the queue what the policies don't let run after a
// shutdown, and counts it; the caller completes it without the lock.
func (p *Pool) dropLocked() []entry {
	if p.mu.delay == nil {
		return nil
	}
	now := p.clock.now()
	dropped := p.mu.queue.removeFunc(func(e entry) bool {
		t := e.task()
		switch {
		case t.State() == Canceled:
			return true
		case t.series() != nil:
			return p.mu.policies[periodic] == DropAtShutdown
		case t.due <= now.on(t.has(wallClock)):
			return false
		}
		return p.mu.policies[delayed] == DropAtShutdown
	})
	p.mu.ended[canceledTask] += int64(len(dropped))
	return dropped
}
