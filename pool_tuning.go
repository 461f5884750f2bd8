package executor

import "time"

// This file holds what can be changed while a pool runs. No change touches a
// worker that has a task, nor that task's context: surplus workers leave when
// they would take their next task, idle ones at once.

// retune changes the rules if the result is valid, and lets it take effect.
func (p *Pool) retune(where string, change func(*rules)) error {
	if p.frozen {
		return invalid("%s: a pool made by Single or SingleScheduled cannot be retuned; make it by New or NewScheduled", where)
	}
	p.mu.Lock()
	r := p.mu.rules
	change(&r)
	if err := r.check(where); err != nil {
		p.mu.Unlock()
		return err
	}
	grown := r.core - p.mu.core
	p.mu.rules = r
	p.retireLocked()
	fresh := p.unblockLocked()
	if grown > 0 {
		// The new workers are for tasks that wait now; later ones start theirs.
		fresh = append(fresh, p.prestartLocked(min(grown, p.mu.queue.len()))...)
	}
	p.mu.Unlock()
	p.start(fresh)
	p.tidy()
	return nil
}

// SetCore changes Config.Core. If it is raised, workers are started for the
// tasks that wait, as far as they are that many; if it is lowered, idle workers
// leave by the rule of KeepAlive. It is an error if n is negative or, but for a
// scheduled pool, more than Max: to let a pool of fixed size grow, raise Max
// first. Java: setCorePoolSize.
func (p *Pool) SetCore(n int) error {
	return p.retune("SetCore", func(r *rules) { r.core = n })
}

// SetMax changes Config.Max. If it is lowered, idle workers above it leave at
// once, busy ones after their task. It is an error if n is less than 1 or than
// Core, and in a scheduled pool, which has no maximum. Java: setMaximumPoolSize.
func (p *Pool) SetMax(n int) error {
	if p.mu.delay != nil {
		return invalid("SetMax: a scheduled pool has no maximum; its Core workers run all tasks, use SetCore")
	}
	return p.retune("SetMax", func(r *rules) { r.max = n })
}

// SetKeepAlive changes Config.KeepAlive, also for workers that are idle now. It is
// an error if d is negative, or 0 while AllowCoreTimeout is true. Java:
// setKeepAliveTime.
func (p *Pool) SetKeepAlive(d time.Duration) error {
	return p.retune("SetKeepAlive", func(r *rules) { r.keepAlive = d })
}

// SetAllowCoreTimeout changes Config.AllowCoreTimeout. It is an error to allow it
// while KeepAlive is 0. Java: allowCoreThreadTimeOut.
func (p *Pool) SetAllowCoreTimeout(allow bool) error {
	return p.retune("SetAllowCoreTimeout", func(r *rules) { r.coreTimeout = allow })
}

// SetReject changes Config.Reject; a nil policy is an error. Java:
// setRejectedExecutionHandler.
func (p *Pool) SetReject(policy RejectPolicy) error {
	return p.retune("SetReject", func(r *rules) { r.reject = policy })
}

// Core gives Config.Core as it is now.
func (p *Pool) Core() int { return p.rules().core }

// Max gives Config.Max as it is now.
func (p *Pool) Max() int { return p.rules().max }

// KeepAlive gives Config.KeepAlive as it is now.
func (p *Pool) KeepAlive() time.Duration { return p.rules().keepAlive }

// AllowCoreTimeout gives Config.AllowCoreTimeout as it is now.
func (p *Pool) AllowCoreTimeout() bool { return p.rules().coreTimeout }

// RejectPolicy gives Config.Reject as it is now. Java:
// getRejectedExecutionHandler.
func (p *Pool) RejectPolicy() RejectPolicy { return p.rules().reject }

func (p *Pool) rules() rules {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.rules
}
