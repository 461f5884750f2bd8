package executor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/list"
	"github.com/executor-go/executor/internal/rhythm"
	"github.com/executor-go/executor/internal/task"
)

// A Series is the handle of periodic work of a [ScheduledPool]. It is done when there will be no further run: it has
// failed because a run panicked, was canceled, or has succeeded because its runs were limited or one of them returned
// [ErrStop].
//
// [ScheduledPool.Schedules] lists all series of a pool. All methods may be called by any goroutine, also by a run of
// the series. The zero Series is not usable.
type Series struct {
	future Future[struct{}]
	plan   seriesPlan
	pool   *Pool
	member list.Node[work] // of the registry of the pool
	rules  seriesRules

	run atomic.Int64 // the number of the present or latest run, from 1

	// mu guards what follows. It is taken under the pool's lock or alone; only the task's
	// lock is taken, and no user code is called, under it. See turn for the states.
	mu      sync.Mutex
	turn    turn
	mode    mode
	rhythm  rhythm.Rhythm
	slot    rhythm.Slot
	version int   // of rhythm and slot
	next    int64 // when the run of the slot is due: with its jitter
	record  record

	inProgress []*seriesRun // with the option Overlap, else empty
}

// record is what the runs of a series have been up to now.
type record struct {
	runs, failures, leftOut int64

	since    time.Time // when the run in progress began; zero if there is none
	started  time.Time // when the latest run that has ended began; zero if there is none
	duration time.Duration
	err      error
}

// turn is what a series waits for, or the run that is in progress.
//
//	waits ─▶ inSlot ─▶ waits                a worker takes it when it is due; the run has ended
//	waits ─▶ called ─▶ outOfTurn ─▶ waits   RunNow; a worker takes it; the run has ended
//	inSlot ─▶ outOfTurn                     the slot of the run has been replaced, by Reschedule
//	waits ─▶ stale ─▶ waits                 the wall clock was set back; a worker finds a new slot
//	stale ─▶ called                         RunNow, after which a new slot is found in any case
type turn uint8

const (
	turnWaits     turn = iota // for the time of its slot
	turnCalled                // for a worker, by RunNow
	turnStale                 // for a worker, to find a new slot
	turnInSlot                // the run of the slot is in progress, or is being left out
	turnOutOfTurn             // another run is in progress
)

func (s *Series) mustBeMade() {
	if s == nil || s.pool == nil {
		panic("executor: this Series was not made by a ScheduledPool; the zero value is not usable")
	}
}

// add records a run that has ended, and reports whether it returned ErrStop.
func (r *record) add(began time.Time, run ending) (stopped bool) {
	r.runs++
	r.started, r.duration, r.err = began, time.Since(began), run.err
	if stopped = run.isStop(); stopped {
		r.err = nil
	}
	if r.err != nil {
		r.failures++
	}
	return stopped
}

// clock returns the clock of the pool.
func (s *Series) clock() delay.Clock { return s.pool.clock() }

func (s *Series) taskCore() *task.Task              { return &s.future.core }
func (s *Series) end(st task.State, err error) bool { return s.future.end(st, err) }

// seriesWork is a Series as work.
type seriesWork Series

func (s *Series) work() work { return (*seriesWork)(s) }

func (u *seriesWork) series() *Series         { return (*Series)(u) }
func (u *seriesWork) Slot() *engine.Slot      { return u.future.core.Slot() }
func (u *seriesWork) Outcome() engine.Outcome { return outcomeOf(&u.future.core) }
func (u *seriesWork) taskCore() *task.Task    { return &u.future.core }
func (u *seriesWork) invoke(ctx context.Context, on *engine.Worker) ending {
	return u.future.invoke(ctx, on)
}

func (u *seriesWork) conclude(end ending) ending              { return u.future.conclude(end) }
func (u *seriesWork) end(st task.State, err error) bool       { return u.future.end(st, err) }
func (u *seriesWork) submitted() any                          { return u.series() }
func (u *seriesWork) runnable() Runnable                      { return u }
func (u *seriesWork) detachBody() func(context.Context) error { return u.future.detachBody() }

// Run makes one run, for what a RejectFunc has given the series to.
func (u *seriesWork) Run(ctx context.Context) error { return u.future.run(ctx) }

func (u *seriesWork) fail(err error) {
	u.series().notCalled()
	u.future.fail(err)
}

// notCalled records that the body of a run that has begun will not be called.
func (s *Series) notCalled() {
	s.mu.Lock()
	s.record.since = time.Time{}
	s.mu.Unlock()
}

// seriesPlan is the plan of the task of a series.
type seriesPlan struct {
	oncePlan
	series *Series
}

// seriesRun is a run of a series that may overlap with others.
type seriesRun struct {
	core   task.Task
	series *Series
	body   func(context.Context) error
	plan   runPlan
	number int64     // from 1
	since  time.Time // when its body began; under the lock of the series
}

// runPlan is the plan of the task of a seriesRun.
type runPlan struct {
	oncePlan
	run *seriesRun
}

func (p *runPlan) number() int64    { return p.run.number }
func (p *runPlan) isPeriodic() bool { return true }
