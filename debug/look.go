package debug

import (
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
)

// look is one look at all pools. It does not change, but for what is rendered of it.
type look struct {
	at     time.Time
	pools  []poolLook
	events []executor.Event // the latest first
	lost   int64

	mu       sync.Mutex
	rendered map[view][]byte
}

// poolLook is one look at a pool.
type poolLook struct {
	number int
	executor.Figures
	workers   []executor.WorkerInfo
	schedules []executor.ScheduleInfo // the next due first
	recent    recent
	spark     spark // of the tasks that wait
}

// history is what was seen of a pool lately.
type history struct {
	points [historyLen]point // a ring
	n      int               // points ever
	bases  [2]base           // the older one first
}

const historyLen = 60

// point is what was seen of a pool at one time.
type point struct {
	at       time.Time
	queued   int
	runs     int64
	rejected int64
	panics   int64
}

// base is what the figures of the last minute are compared with.
type base struct {
	at              time.Time
	wait, late, run histogram.Snapshot
}

// recent is what happened since a base that is one to two minutes old, or less at first.
type recent struct {
	since            time.Time // zero if there is no base yet
	wait, late, run  histogram.Snapshot
	rejected, panics int64
	rate             float64 // runs in a second, since the point before; negative if not known
}

// last returns the ith point from the end, false if there is none.
func (s *history) last(i int) (point, bool) {
	if i >= s.n || i >= historyLen {
		return point{}, false
	}
	return s.points[(s.n-1-i)%historyLen], true
}

// add adds what was seen of a pool, and returns what has happened since.
func (s *history) add(at time.Time, f *executor.Figures) (r recent) {
	p := point{at, f.Queued, f.Runs, f.Rejected, f.Panics}
	r.rate = -1
	if before, ok := s.last(0); ok && at.Sub(before.at) <= time.Minute {
		r.rate = float64(p.runs-before.runs) / at.Sub(before.at).Seconds()
	}
	s.points[s.n%historyLen] = p
	s.n++

	if s.bases[1].at.IsZero() || at.Sub(s.bases[1].at) >= time.Minute {
		s.bases[0] = s.bases[1]
		s.bases[1] = base{at, f.Wait, f.Late, f.Run}
	}
	b := s.bases[0]
	if b.at.IsZero() || at.Sub(b.at) > 3*time.Minute { // nobody looked
		b = s.bases[1]
	}
	r.since = b.at
	r.wait, r.late, r.run = f.Wait.Sub(b.wait), f.Late.Sub(b.late), f.Run.Sub(b.run)
	for i := 1; ; i++ {
		before, ok := s.last(i)
		if !ok || at.Sub(before.at) > time.Minute {
			break
		}
		r.rejected, r.panics = p.rejected-before.rejected, p.panics-before.panics
	}
	return r
}

// looked returns a look at all pools that is at most a second old.
func (h *handler) looked() *look {
	h.mu.Lock()
	l := h.latest
	h.mu.Unlock()
	if l.isFresh() {
		return l
	}
	l = newLook(h.observer) // without the lock, since it may call Triggers
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.latest.isFresh() { // another was faster
		return h.latest
	}
	seen := make(map[int]*history)
	for i := range l.pools {
		p := &l.pools[i]
		s := h.history[p.number]
		if s == nil {
			s = new(history)
		}
		seen[p.number] = s
		p.recent = s.add(l.at, &p.Figures)
		p.spark = s.spark()
	}
	h.latest, h.history = l, seen
	return l
}

// isFresh reports whether there is a look, and no need for another.
func (l *look) isFresh() bool { return l != nil && time.Since(l.at) < freshness }

func newLook(o *executor.Observer) *look {
	l := &look{at: time.Now()}
	for number, p := range o.Pools() {
		l.pools = append(l.pools, poolLook{
			number: number, Figures: p.Figures(), workers: p.Workers(), schedules: o.Schedules(number),
		})
	}
	l.events, l.lost = o.Events(0)
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
func (r *recent) begun(scheduled bool) histogram.Snapshot {
	if scheduled {
		return r.late
	}
	return r.wait
}
