package poolview

import (
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
)

// Look is one look at all pools. It does not change.
type Look struct {
	At     time.Time
	Pools  []Pool
	Events []executor.Event // the latest first
	Lost   int64            // events that are not kept any more
}

// Pool is one look at a pool.
type Pool struct {
	Number int
	executor.Figures
	Crew      []executor.WorkerInfo
	Schedules []executor.ScheduleInfo // the next due first
	Recent    Recent
	Spark     Spark // of the tasks that wait
}

// Recent is what has happened in a pool lately.
type Recent struct {
	Since            time.Time          // one to two minutes ago, or less at first
	Wait, Late, Run  histogram.Snapshot // since then
	Rejected, Panics int64              // in the last minute
	Rate, FailRate   float64            // runs in a second, and failures, since the look before; negative if not known

	now, before base // before is zero if not known
}

// Just returns the waits and the lateness of the runs since the look before.
func (r *Recent) Just() (wait, late histogram.Snapshot) {
	if r.before.at.IsZero() {
		return wait, late
	}
	return r.now.wait.Sub(r.before.wait), r.now.late.Sub(r.before.late)
}

// history is what was seen of a pool lately.
type history struct {
	points [historyLen]point // a ring
	n      int               // points ever
	last   base
	bases  [2]base // the older one first
}

const historyLen = 60

// point is what was seen of a pool at one time.
type point struct {
	at       time.Time
	queued   int
	runs     int64
	failures int64
	rejected int64
	panics   int64
}

// base is what figures are compared with.
type base struct {
	at              time.Time
	wait, late, run histogram.Snapshot
}

// ago returns the ith point from the end, false if there is none.
func (s *history) ago(i int) (point, bool) {
	if i >= s.n || i >= historyLen {
		return point{}, false
	}
	return s.points[(s.n-1-i)%historyLen], true
}

// add adds what was seen of a pool, and returns what has happened since.
func (s *history) add(at time.Time, f *executor.Figures) (r Recent) {
	p := point{at, f.Queued, f.Runs, f.Failures, f.Rejected, f.Panics}
	r.now = base{at, f.Wait, f.Late, f.Run}
	r.Rate, r.FailRate = -1, -1
	if before, ok := s.ago(0); ok && at.Sub(before.at) <= time.Minute {
		past := at.Sub(before.at).Seconds()
		r.Rate, r.FailRate = float64(p.runs-before.runs)/past, float64(p.failures-before.failures)/past
		r.before = s.last
	}
	s.points[s.n%historyLen] = p
	s.n++
	s.last = r.now

	if s.bases[1].at.IsZero() || at.Sub(s.bases[1].at) >= time.Minute {
		s.bases[0], s.bases[1] = s.bases[1], r.now
	}
	b := s.bases[0]
	if b.at.IsZero() || at.Sub(b.at) > 3*time.Minute { // the page was not read
		b = s.bases[1]
	}
	r.Since = b.at
	r.Wait, r.Late, r.Run = f.Wait.Sub(b.wait), f.Late.Sub(b.late), f.Run.Sub(b.run)
	for i := 1; ; i++ {
		before, ok := s.ago(i)
		if !ok || at.Sub(before.at) > time.Minute {
			return r
		}
		r.Rejected, r.Panics = p.rejected-before.rejected, p.panics-before.panics
	}
}

// Watcher looks at the pools of an Observer, at most once in a second, however many ask. NewWatcher makes it.
type Watcher struct {
	observer *executor.Observer

	mu      sync.Mutex
	latest  *Look
	history map[int]*history // by the number of the pool
}

// NewWatcher returns a Watcher of the pools of o, which may be nil: then there are none. It has no goroutine.
func NewWatcher(o *executor.Observer) *Watcher { return &Watcher{observer: o} }

// freshness is how long a look is as good as a new one.
const freshness = 900 * time.Millisecond

// Look returns a look at all pools that began at most a second before the call. It is never older than one that was
// returned before.
func (w *Watcher) Look() *Look {
	w.mu.Lock()
	l := w.latest
	w.mu.Unlock()
	if l.isFresh() {
		return l
	}
	l = newLook(w.observer) // without the lock, since it may call Triggers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest.isFresh() || w.latest != nil && l.At.Before(w.latest.At) { // another was faster
		return w.latest
	}
	seen := make(map[int]*history)
	for i := range l.Pools {
		p := &l.Pools[i]
		s := w.history[p.Number]
		if s == nil {
			s = new(history)
		}
		seen[p.Number] = s
		p.Recent = s.add(l.At, &p.Figures)
		p.Spark = s.spark()
	}
	w.latest, w.history = l, seen
	return l
}

// isFresh reports whether there is a look, and no need for another.
func (l *Look) isFresh() bool { return l != nil && time.Since(l.At) < freshness }

func newLook(o *executor.Observer) *Look {
	l := &Look{At: time.Now()}
	if o == nil {
		return l
	}
	for number, p := range o.Pools() {
		l.Pools = append(l.Pools, Pool{
			Number: number, Figures: p.Figures(), Crew: p.Workers(), Schedules: o.Schedules(number),
		})
	}
	l.Events, l.Lost = o.Events(0)
	slices.Reverse(l.Events)
	return l
}

// Pool returns the look at a pool, nil if there is none with that number.
func (l *Look) Pool(number int) *Pool {
	for i := range l.Pools {
		if l.Pools[i].Number == number {
			return &l.Pools[i]
		}
	}
	return nil
}

// begun returns the wait before a run, or in a scheduled pool the lateness.
func (p *Pool) begun() histogram.Snapshot {
	if p.Scheduled {
		return p.Late
	}
	return p.Wait
}

// recentBegun is begun for what happened lately.
func (p *Pool) recentBegun() histogram.Snapshot {
	if p.Scheduled {
		return p.Recent.Late
	}
	return p.Recent.Wait
}
