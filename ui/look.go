package ui

import (
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/internal/poolview"
)

// look is one look at all pools. It does not change.
type look struct {
	*poolview.Look
	newest point   // of totals
	totals []point // the oldest first

	pastRuns map[*executor.Series][]pastRun // the oldest first
	series   map[*executor.Series]int       // their numbers
}

// seenRuns are the runs of a series that were seen.
type seenRuns struct {
	number    int // of the series, from 1
	lastStart time.Time
	leftOut   int64
	runs      []pastRun // not changed, but replaced
}

// pastRunLimit is how many runs of a series are remembered.
const pastRunLimit = 200

// looked returns a look at all pools that is at most a second old.
func (u *UI) looked() *look {
	l := u.watcher.Look()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.latest != nil && !l.At.After(u.latest.At) {
		return u.latest
	}
	u.latest = &look{Look: l}
	u.latest.newest = u.totals.add(l)
	u.latest.totals = u.totals.all()
	u.latest.pastRuns, u.latest.series = u.addRuns(l)
	return u.latest
}

// addRuns remembers the latest runs of the schedules, and the times at which one was left out, and returns them and
// the numbers of the series. The caller holds the lock.
func (u *UI) addRuns(l *poolview.Look) (all map[*executor.Series][]pastRun, numbers map[*executor.Series]int) {
	known := make(map[*executor.Series]*seenRuns)
	all, numbers = make(map[*executor.Series][]pastRun), make(map[*executor.Series]int)
	for i := range l.Pools {
		for _, info := range l.Pools[i].Schedules {
			r := u.seen[info.Series]
			if r == nil {
				u.numbered++
				r = &seenRuns{number: u.numbered, leftOut: info.LeftOut}
			}
			r.add(l.At, info)
			known[info.Series], all[info.Series], numbers[info.Series] = r, r.runs, r.number
		}
	}
	u.seen = known
	return all, numbers
}

// add adds the last run of a series, and a time that was left out.
func (r *seenRuns) add(at time.Time, info executor.ScheduleInfo) {
	var fresh []pastRun
	if info.LeftOut > r.leftOut {
		fresh = append(fresh, pastRun{at, "miss"})
	}
	if !info.LastStart.IsZero() && !info.LastStart.Equal(r.lastStart) {
		class := "ok"
		if info.LastError != nil {
			class = "failed"
		}
		fresh = append(fresh, pastRun{info.LastStart, class})
	}
	if len(fresh) > 0 {
		r.runs = append(slices.Clone(r.runs[max(0, len(r.runs)+len(fresh)-pastRunLimit):]), fresh...)
	}
	r.lastStart, r.leftOut = info.LastStart, info.LeftOut
}
