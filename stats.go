package executor

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/histogram"
	"github.com/executor-go/executor/internal/engine"
)

// This file has the snapshots of a pool and of the pools of an Observer. No other file
// needs it.

// Stats is a consistent snapshot of a pool's counters. In each,
//
//	Submitted = Queued + Active + Succeeded + Failed + Canceled + Rejected
//	Workers   = Active + Idle
//
// A periodic task is one task, whatever the number of its runs. Take Stats for the counters, and [Figures] for how long
// tasks wait and run, which an Observer measures.
type Stats struct {
	Name   string
	Stage  Stage
	Paused bool // by [Pool.Pause], of the pool or of one that it is a share of

	Workers int // workers alive
	Active  int // workers that have a task, from before its BeforeTask until after its AfterTask
	Idle    int // workers that have none
	Largest int // most workers ever alive together
	Queued  int // tasks that wait in the queue, for their time, or for their next attempt
	Blocked int // submitters that wait for room; their tasks are not counted yet

	Submitted int64 // tasks that were accepted or rejected
	Succeeded int64 // tasks that ended well
	Failed    int64 // tasks that ended with an error or a panic
	Canceled  int64 // tasks that were canceled, or returned by ShutdownNow
	Rejected  int64 // tasks that were handed to the rejection policy, or evicted by it

	// Rejections is Rejected by reason.
	Rejections struct {
		Saturated int64 // there was neither room nor a worker, also after the wait of BlockFor
		Shutdown  int64 // the pool was shut down
		Expired   int64 // the context ended while the submission waited for room
		Evicted   int64 // DiscardOldest or DropLowest dropped the waiting task for another one
		Panicked  int64 // the RejectFunc panicked
	}

	Runs     int64         // bodies that have run, also of schedules and attempts; not those that a policy runs
	Failures int64         // of Runs, those that returned an error or panicked, also of schedules and attempts of Retry
	Panics   int64         // panics of bodies and hooks
	Uptime   time.Duration // since the pool was made
}

// Ended returns the number of tasks that have ended, including tasks that never ran because
// they were canceled, removed, or returned by ShutdownNow. Runs is the number of bodies
// that have run.
func (s Stats) Ended() int64 { return s.Succeeded + s.Failed + s.Canceled }

// Stats returns a snapshot of the pool's counters.
func (p *Pool) Stats() Stats {
	p.mustBeMade()
	return p.stats(p.engine.Counts())
}

func (p *Pool) stats(c engine.Counts) Stats {
	s := Stats{
		Name:      p.name,
		Stage:     Stage(c.Stage),
		Paused:    c.Paused,
		Workers:   c.Workers,
		Active:    c.Active,
		Idle:      c.Workers - c.Active,
		Largest:   c.Largest,
		Queued:    c.Queued,
		Blocked:   c.Blocked,
		Submitted: c.Submitted,
		Succeeded: c.Ended[engine.Succeeded],
		Failed:    c.Ended[engine.Failed],
		Canceled:  c.Ended[engine.Canceled],
		Runs:      c.Runs,
		Failures:  c.Failures,
		Panics:    p.panics.Load(),
		Uptime:    time.Since(p.epoch),
	}
	r := &s.Rejections
	r.Saturated, r.Shutdown, r.Expired = c.Ended[engine.NoRoom], c.Ended[engine.Closed], c.Ended[engine.Expired]
	r.Evicted, r.Panicked = c.Ended[engine.Evicted], c.Ended[engine.Panicked]
	s.Rejected = r.Saturated + r.Shutdown + r.Expired + r.Evicted + r.Panicked
	return s
}

// String describes the pool in one line, for logs: its name, its stage, its workers and
// its tasks, as `pool "mail": running, 3 of 4 workers active, 12 queued, 250 ended`.
// The form may change; [Pool.Stats] returns the same as numbers.
func (p *Pool) String() string {
	s := p.Stats()
	stage := s.Stage.String()
	if s.Paused {
		stage = "paused"
	}
	return fmt.Sprintf("%s: %s, %d of %d workers active, %d queued, %d ended",
		titled("pool", s.Name), stage, s.Active, s.Workers, s.Queued, s.Ended())
}

// Watch adds p to the pools of o and measures the tasks that are submitted from now on. Use it for pools of the
// presets, and Config.Observer for others. For a ScheduledPool, pass its field Pool. Watch does nothing if o watches
// the pool already, or if the pool is terminated. It panics if p is nil, or if another Observer watches the pool.
func (o *Observer) Watch(p *Pool) {
	if p == nil {
		panic("executor: Observer.Watch of a nil Pool")
	}
	if err := o.check("Observer.Watch"); err != nil {
		panic(err.Error())
	}
	if other := p.watchedBy(o); other != o {
		panic(fmt.Sprintf("executor: Observer.Watch: another Observer watches %s; a pool has one",
			titled("pool", p.name)))
	}
}

// Pools iterates over the pools that are watched and not terminated, in the order in which
// they were added. Each has a number, from 1, that no other pool of o has or had.
func (o *Observer) Pools() iter.Seq2[int, *Pool] {
	return func(yield func(int, *Pool) bool) {
		o.mu.Lock()
		all := o.pools[:len(o.pools):len(o.pools)]
		o.mu.Unlock()
		for _, w := range all {
			if !yield(w.number, w.pool.(*Pool)) {
				return
			}
		}
	}
}

// Schedules returns the periodic work of the pool with that number, see [ScheduledPool.Schedules]. It returns nil if o
// has no such pool, or if it is not a scheduled pool. It may call Triggers.
func (o *Observer) Schedules(number int) []ScheduleInfo {
	for n, p := range o.Pools() {
		if n == number && p.timer != nil {
			return (&ScheduledPool{Pool: p}).Schedules()
		}
	}
	return nil
}

// Figures is a snapshot of a pool's counters and of the measurements of its tasks.
type Figures struct {
	Stats

	Scheduled bool // it is a scheduled pool

	Kept     int // Config.Workers, as it is now
	Max      int // the most workers; -1 for no limit
	Capacity int // the most tasks that may wait; -1 for no limit

	// Every is Observer.Every: one task in Every is measured, and counts as Every tasks. It is 0 for a pool without an
	// Observer.
	Every int

	Wait histogram.Snapshot // from the admission, or the time of an attempt, to the begin of a run; none of a scheduled pool
	Late histogram.Snapshot // from the time when a run was due to its begin; only of a scheduled pool
	Run  histogram.Snapshot // from the begin of a run to its end, with the hooks

	Names      map[string]NameFigures // by task name, "" for tasks without one; nil if not asked for
	OtherNames NameFigures            // of the tasks with further names
}

// NameFigures has the figures of the tasks with one name.
type NameFigures struct {
	Wait, Late, Run histogram.Snapshot // as in Figures
}

// Figures returns the pool's counters and, if an Observer watches it, the measurements so far. Figures takes some
// microseconds for the pool, and the same for each name. It holds the pool's lock no longer than Stats does. The
// histograms are read after the counters.
func (p *Pool) Figures() Figures {
	p.mustBeMade()
	c := p.engine.Counts()
	f := Figures{
		Stats: p.stats(c), Scheduled: p.timer != nil,
		Kept: c.Kept, Max: c.Max, Capacity: p.engine.Queue.Limit(),
	}
	if f.Max == engine.Unlimited {
		f.Max = -1
	}
	if f.Capacity >= engine.Any {
		f.Capacity = -1
	}
	if w := p.observed.Load(); w != nil {
		w.fill(&f)
	}
	return f
}

// WorkerInfo is a snapshot of a worker.
type WorkerInfo struct {
	Number int   // from 1; no other worker of the pool has or had it
	Tasks  int64 // runs that it was given so far, the present one included

	Active bool   // it has a task
	Task   string // the name of the task, "" if it has none

	// Since is when the worker became idle, or got its task. If the task is not measured and came from the queue, or if
	// the pool has no Observer, it is when a call of Workers first saw the task there: the worker has had the task for
	// longer. It is zero for a worker that is about to look for a task.
	Since time.Time

	Due time.Time // when the run was due; zero for a task without a schedule
}

// Workers returns a snapshot of each worker of p, in the order of their numbers. If a worker is active and has the same
// number of Tasks in two calls, it has been running one task since the first call.
func (p *Pool) Workers() []WorkerInfo {
	p.mustBeMade()
	workers := p.engine.Workers()
	all := make([]WorkerInfo, len(workers))
	for i, a := range workers {
		all[i] = p.workerInfo(a)
	}
	slices.SortFunc(all, func(a, b WorkerInfo) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// workerInfo returns what a worker does.
func (p *Pool) workerInfo(a engine.Activity) WorkerInfo {
	i := WorkerInfo{Number: a.Number, Tasks: a.Tasks, Active: a.Active}
	if a.Unit != nil {
		info := p.info(a.Number, a.Unit.(work))
		i.Task, i.Due = info.Name, info.Due
	}
	if a.Since != 0 {
		i.Since = p.epoch.Add(time.Duration(a.Since))
	}
	return i
}

// fill fills in what was measured.
func (o *observed) fill(f *Figures) {
	f.Every = o.every
	all := o.all.snapshot(f.Scheduled)
	f.Wait, f.Late, f.Run = all.Wait, all.Late, all.Run
	if o.observer.MaxNames == 0 {
		return
	}
	o.names.mu.Lock()
	byName := maps.Clone(o.names.byName)
	o.names.mu.Unlock()
	f.OtherNames = o.names.others.snapshot(f.Scheduled)
	f.Names = make(map[string]NameFigures, len(byName))
	for name, figures := range byName {
		f.Names[name] = figures.snapshot(f.Scheduled)
	}
}

func (f *figures) snapshot(timed bool) NameFigures {
	n := NameFigures{Wait: f.wait.Snapshot(), Run: f.run.Snapshot()}
	if timed {
		n.Wait, n.Late = histogram.Snapshot{}, n.Wait
	}
	return n
}
