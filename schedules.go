package executor

import (
	"cmp"
	"slices"
	"time"

	"github.com/executor-go/executor/internal/rhythm"
)

// ScheduleInfo is a snapshot of a [Series].
type ScheduleInfo struct {
	Series *Series `json:"-"`
	Name   string
	Rhythm string // "every 5m0s", "5m0s after each run", or the text of the Trigger, else its type
	State  State
	Paused bool // by StartPaused or Pause, and not resumed

	// Next is when the next run is due. During a run it is when the one after that would
	// be due, if the run ended now; it is zero then for a fixed delay. It is zero if the
	// series is paused, is done, or has no further time.
	Next time.Time

	Runs     int64 // runs that have ended
	Failures int64 // runs that returned an error other than ErrStop, or panicked
	LeftOut  int64 // due times that had no run; of a trigger at most 100,000 are counted at once

	Running      int           // runs in progress; more than one only with Overlap
	RunningSince time.Time     // when the run in progress, or the oldest, began; zero if there is none
	LastStart    time.Time     // when the latest run that has ended began; zero if there is none
	LastDuration time.Duration // how long that run took
	LastError    error         // the error of that run, a *PanicError or ErrGoexit; nil if it succeeded

	rhythm rhythm.Rhythm
	at     rhythm.Slot // of Next
	left   int64       // runs that are left of Times, that of Next included; negative for any number
}

// Schedules returns a snapshot of each [Series] that p has accepted and that is not done, in the order of their next
// runs; series without a next run come last. Each is a consistent snapshot of one series, but the snapshots are not all
// taken at the same instant, because workers go on meanwhile. A series that is done, after a panic for example, is not
// in the list: its handle says how it ended.
//
// For a series whose run is in progress, Schedules asks the Trigger for the next time.
func (p *ScheduledPool) Schedules() []ScheduleInfo {
	p.mustBeMade()
	var infos []ScheduleInfo
	for _, u := range p.timer.series.snapshot() {
		if i := u.(*seriesWork).series().Info(); !i.State.Done() {
			infos = append(infos, i)
		}
	}
	slices.SortStableFunc(infos, func(a, b ScheduleInfo) int {
		return cmp.Or(boolCompare(a.Next.IsZero(), b.Next.IsZero()), a.Next.Compare(b.Next))
	})
	return infos
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Info returns a snapshot of the series. It calls the Trigger if a run is in progress.
func (s *Series) Info() ScheduleInfo {
	s.mustBeMade()
	s.mu.Lock()
	r := s.record
	i := ScheduleInfo{
		Series: s, Name: s.Name(), rhythm: s.rhythm,
		State: s.future.State(), Paused: s.mode == paused,
		Runs: r.runs, Failures: r.failures, LeftOut: r.leftOut,
		RunningSince: r.since, LastStart: r.started, LastDuration: r.duration, LastError: r.err,
		at: s.slot, left: -1,
	}
	if !r.since.IsZero() {
		i.Running = 1
	}
	i.countInProgressLocked()
	turn, next, full := s.turn, s.next, s.isFullLocked()
	s.mu.Unlock()
	i.Rhythm = i.rhythm.String() // which the user may have written
	if n := s.rules.times; n > 0 {
		i.left = n - r.runs - int64(i.Running)
	}
	if i.Paused || i.State.Done() || i.left == 0 || i.at.Over || !s.taskCore().BelongsTo(&s.pool.owner) {
		return i
	}
	switch {
	case full:
		i.foresee(rhythm.SlotKept)
	case turn == turnWaits || turn == turnCalled:
		i.Next = i.rhythm.Time(s.clock(), next)
	case i.rhythm.Kind != rhythm.FixedDelay:
		i.foresee(turn.event())
	}
	return i
}

// countInProgressLocked adds the runs of a series with the option Overlap.
func (i *ScheduleInfo) countInProgressLocked() {
	for _, r := range i.Series.inProgress {
		i.Running++
		if !r.since.IsZero() && (i.RunningSince.IsZero() || r.since.Before(i.RunningSince)) {
			i.RunningSince = r.since
		}
	}
	if i.Running > 0 && i.State == Pending {
		i.State = Running
	}
}

// foresee sets Next to what it would be if a run in progress ended now. If the Trigger
// panics, or fails, there is none.
func (i *ScheduleInfo) foresee(e rhythm.Event) {
	defer func() { recover() }()
	s := i.Series
	at, _, err := i.rhythm.After(i.at, e, s.rules.Tardiness, s.clock().Now())
	if err != nil || at.Over {
		return
	}
	i.at, i.Next = at, i.rhythm.Time(s.clock(), at.Base)
}

// NextN returns the next n times at which runs are due. There are fewer if the schedule has fewer; of a fixed delay
// only the first is known. The first is Next; the others are without the delay of [Jitter]. NextN calls the Trigger, if
// there is one, and ends where the Trigger panics.
func (i ScheduleInfo) NextN(n int) (times []time.Time) {
	if i.Next.IsZero() || n < 1 {
		return nil
	}
	if i.left >= 0 {
		n = int(min(int64(n), i.left))
	}
	times = []time.Time{i.Next}
	defer func() { recover() }()
	for at := i.at; len(times) < n && i.rhythm.Kind != rhythm.FixedDelay; {
		var err error
		if at, err = i.rhythm.Successor(at); err != nil || at.Over {
			break
		}
		times = append(times, i.rhythm.Time(i.Series.clock(), at.Base))
	}
	return times
}
