package ui

import (
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
)

// look is one look at all pools. It does not change.
type look struct {
	at     time.Time
	pools  []poolLook
	events []executor.Event // the latest first
	newest point            // of totals
	totals []point          // the oldest first
}

// poolLook is one look at a pool.
type poolLook struct {
	number int
	executor.Figures
	workers   []executor.WorkerInfo
	schedules []executor.ScheduleInfo // the next due first
	recent    recent
	pastRuns  map[*executor.Series][]pastRun // of the schedules, the oldest first
}

// history is what was seen of a pool lately.
type history struct {
	last  seen
	bases [2]base // the older one first

	series map[*executor.Series]*seenRuns
}

// seenRuns are the runs of a series that were seen.
type seenRuns struct {
	last executor.ScheduleInfo
	runs []pastRun // not changed, but replaced
}

// pastRunLimit is how many runs of a series are remembered.
const pastRunLimit = 200

// seen is what was seen of a pool at one time.
type seen struct {
	at              time.Time
	runs            int64
	wait, late, run histogram.Snapshot
}

// base is what the figures of the last minute are compared with.
type base struct {
	seen
	rejected, panics int64
}

// recent is what happened since a base that is one to two minutes old, or less at first.
type recent struct {
	since            time.Time
	wait, late, run  histogram.Snapshot
	rejected, panics int64
	rate             float64 // runs in a second, since the look before; negative if not known

	justWait, justLate histogram.Snapshot // since the look before
}

// add adds what was seen of a pool, and returns what has happened since.
func (s *history) add(at time.Time, f *executor.Figures) (r recent) {
	now := seen{at, f.Runs, f.Wait, f.Late, f.Run}
	r.rate = -1
	if before := s.last; !before.at.IsZero() && at.Sub(before.at) <= time.Minute {
		r.rate = float64(now.runs-before.runs) / at.Sub(before.at).Seconds()
		r.justWait, r.justLate = now.wait.Sub(before.wait), now.late.Sub(before.late)
	}
	s.last = now
	if s.bases[1].at.IsZero() || at.Sub(s.bases[1].at) >= time.Minute {
		s.bases[0] = s.bases[1]
		s.bases[1] = base{now, f.Rejected, f.Panics}
	}
	b := s.bases[0]
	if b.at.IsZero() || at.Sub(b.at) > 3*time.Minute { // nobody looked
		b = s.bases[1]
	}
	r.since = b.at
	r.wait, r.late, r.run = f.Wait.Sub(b.wait), f.Late.Sub(b.late), f.Run.Sub(b.run)
	r.rejected, r.panics = f.Rejected-b.rejected, f.Panics-b.panics
	return r
}

// addRuns remembers the latest runs of the schedules, and the times at which one was left out, and returns them.
func (s *history) addRuns(at time.Time, schedules []executor.ScheduleInfo) map[*executor.Series][]pastRun {
	known := make(map[*executor.Series]*seenRuns)
	all := make(map[*executor.Series][]pastRun)
	for _, info := range schedules {
		r := s.series[info.Series]
		if r == nil {
			r = &seenRuns{last: executor.ScheduleInfo{LeftOut: info.LeftOut}}
		}
		var now []pastRun
		if info.LeftOut > r.last.LeftOut {
			now = append(now, pastRun{at, "miss"})
		}
		if !info.LastStart.IsZero() && !info.LastStart.Equal(r.last.LastStart) {
			class := "ok"
			if info.LastError != nil {
				class = "failed"
			}
			now = append(now, pastRun{info.LastStart, class})
		}
		if len(now) > 0 {
			r.runs = append(slices.Clone(r.runs[max(0, len(r.runs)+len(now)-pastRunLimit):]), now...)
		}
		r.last = executor.ScheduleInfo{LastStart: info.LastStart, LeftOut: info.LeftOut}
		known[info.Series], all[info.Series] = r, r.runs
	}
	s.series = known
	return all
}

// looked returns a look at all pools that is at most a second old.
func (u *UI) looked() *look {
	u.mu.Lock()
	l := u.latest
	u.mu.Unlock()
	if l.isFresh() {
		return l
	}
	l = newLook(u.config.Observer) // without the lock, since it may call Triggers
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.latest.isFresh() { // another was faster
		return u.latest
	}
	known := make(map[int]*history)
	for i := range l.pools {
		p := &l.pools[i]
		s := u.history[p.number]
		if s == nil {
			s = new(history)
		}
		known[p.number] = s
		p.recent = s.add(l.at, &p.Figures)
		p.pastRuns = s.addRuns(l.at, p.schedules)
	}
	l.newest = u.totals.add(l)
	l.totals = u.totals.all()
	u.latest, u.history = l, known
	return l
}

// isFresh reports whether there is a look, and no need for another.
func (l *look) isFresh() bool { return l != nil && time.Since(l.at) < freshness }

func newLook(o *executor.Observer) *look {
	l := &look{at: time.Now()}
	if o == nil {
		return l
	}
	for number, p := range o.Pools() {
		l.pools = append(l.pools, poolLook{
			number: number, Figures: p.Figures(), workers: p.Workers(), schedules: o.Schedules(number),
		})
	}
	l.events, _ = o.Events(0)
	slices.Reverse(l.events)
	return l
}

// pool returns the look at a pool, nil if there is none with that number.
func (l *look) pool(number int) *poolLook {
	for i := range l.pools {
		if l.pools[i].number == number {
			return &l.pools[i]
		}
	}
	return nil
}

// begun returns the wait before a run, or in a scheduled pool the lateness.
func (p *poolLook) begun() histogram.Snapshot {
	if p.Scheduled {
		return p.Late
	}
	return p.Wait
}

// recentBegun is begun for the last minute.
func (p *poolLook) recentBegun() histogram.Snapshot {
	if p.Scheduled {
		return p.recent.late
	}
	return p.recent.wait
}
