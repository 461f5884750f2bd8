package executor

import "time"

// Stats is one consistent look at a pool. In each,
//
//	Submitted = Queued + Active + Succeeded + Failed + Canceled + Rejected
//	Workers   = Active + Idle
//
// A periodic task is one task, whatever the number of its runs.
type Stats struct {
	Name  string
	Stage Stage

	Workers int // workers alive
	Active  int // workers that have a task, from before its BeforeTask until after its AfterTask
	Idle    int // workers that have none
	Largest int // most workers ever alive together
	Queued  int // tasks that wait in the queue, or for their time, or are run by Future.Run
	Blocked int // submitters that wait for room; their tasks are not counted yet

	Submitted int64 // tasks that were accepted or rejected
	Succeeded int64 // tasks that ended well
	Failed    int64 // tasks that ended with an error or a panic
	Canceled  int64 // tasks that were canceled, or given back by ShutdownNow
	Rejected  int64 // tasks that were handed to the rejection policy, or evicted by it

	Rejections Rejections // Rejected by reason

	Runs   int64         // bodies that have run, without those that Future.Run ran by hand
	Panics int64         // panics of bodies and hooks
	Uptime time.Duration // since the pool was made
}

// Ended returns the number of tasks that came to an end in the pool, those included
// that never ran: canceled as they waited, removed, or given back by ShutdownNow.
// For the number of bodies that have run see Runs.
func (s Stats) Ended() int64 { return s.Succeeded + s.Failed + s.Canceled }

// Stats returns a snapshot of the pool's counters.
func (p *Pool) Stats() Stats {
	p.mustBeMade()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.statsLocked()
}

func (p *Pool) statsLocked() Stats {
	return Stats{
		Name:      p.name,
		Stage:     p.mu.stage,
		Workers:   p.mu.workers,
		Active:    p.mu.active,
		Idle:      p.mu.workers - p.mu.active,
		Largest:   p.mu.largest,
		Queued:    p.mu.queue.len() + p.mu.aside,
		Blocked:   p.mu.nBlocked,
		Submitted: p.mu.gate.submitted,
		Succeeded: p.mu.ended[succeeded],
		Failed:    p.mu.ended[failed],
		Canceled:  p.mu.ended[canceledTask],
		Rejected:  p.mu.ended[rejectedTask],

		Rejections: p.mu.rejections,

		Runs:   p.mu.runs,
		Panics: p.mu.panics,
		Uptime: time.Since(p.epoch),
	}
}
