package figures

import (
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/internal/poolview"
)

// Pools has what was seen of the pools of an Observer. Its methods may be called by any goroutine.
type Pools struct {
	watcher *poolview.Watcher
	memory  *memory

	mu       sync.Mutex
	latest   *Look
	totals   totals
	seen     map[*executor.Series]*seenRuns
	numbered int // series ever
}

// NewPools returns Pools of an Observer, which may be nil. It looks at them once a minute, until Close, or until nothing
// refers to the Pools any more.
func NewPools(o *executor.Observer) *Pools {
	return &Pools{watcher: poolview.NewWatcher(o), memory: newMemory(o)}
}

// Close ends the looks that nobody asks for.
func (p *Pools) Close() { p.memory.Close() }

// Look is one look at all pools. It does not change.
type Look struct {
	*poolview.Look
	newest point   // of totals
	totals []point // the oldest first

	pastRuns map[*executor.Series][]pastRun // the oldest first
	series   map[*executor.Series]int       // their numbers
}

// In returns the look with its times in a zone.
func (l *Look) In(zone *time.Location) *Look {
	in, all := *l, *l.Look
	all.At, all.Events = all.At.In(zone), slices.Clone(all.Events)
	for i := range all.Events {
		all.Events[i].Time = all.Events[i].Time.In(zone)
	}
	in.Look = &all
	return &in
}

// Series returns the number of a series, from 1, and 0 if it is not known.
func (l *Look) Series(s *executor.Series) int { return l.series[s] }

// seenRuns are the runs of a series that were seen.
type seenRuns struct {
	number    int // of the series, from 1
	lastStart time.Time
	leftOut   int64
	runs      []pastRun // not changed, but replaced
}

// pastRunLimit is how many runs of a series are remembered.
const pastRunLimit = 200

// Look returns a look at all pools that is at most a second old.
func (p *Pools) Look() *Look {
	l := p.watcher.Look()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest != nil && !l.At.After(p.latest.At) {
		return p.latest
	}
	p.latest = &Look{Look: l}
	p.latest.newest = p.totals.add(l)
	p.latest.totals = p.totals.all()
	p.latest.pastRuns, p.latest.series = p.addRuns(l)
	return p.latest
}

// addRuns remembers the latest runs of the schedules, and the times at which one was left out, and returns them and
// the numbers of the series. The caller holds the lock.
func (p *Pools) addRuns(l *poolview.Look) (all map[*executor.Series][]pastRun, numbers map[*executor.Series]int) {
	known := make(map[*executor.Series]*seenRuns)
	all, numbers = make(map[*executor.Series][]pastRun), make(map[*executor.Series]int)
	for i := range l.Pools {
		for _, info := range l.Pools[i].Schedules {
			r := p.seen[info.Series]
			if r == nil {
				p.numbered++
				r = &seenRuns{number: p.numbered, leftOut: info.LeftOut}
			}
			r.add(l.At, info)
			known[info.Series], all[info.Series], numbers[info.Series] = r, r.runs, r.number
		}
	}
	p.seen = known
	return all, numbers
}

// add adds the last run of a series, and a time that was left out.
func (r *seenRuns) add(at time.Time, info executor.ScheduleInfo) {
	var fresh []pastRun
	if info.LeftOut > r.leftOut {
		fresh = append(fresh, pastRun{at, 0, "miss"})
	}
	if !info.LastStart.IsZero() && !info.LastStart.Equal(r.lastStart) {
		class := "ok"
		if info.LastError != nil {
			class = "failed"
		}
		fresh = append(fresh, pastRun{info.LastStart, info.LastDuration, class})
	}
	if len(fresh) > 0 {
		r.runs = append(slices.Clone(r.runs[max(0, len(r.runs)+len(fresh)-pastRunLimit):]), fresh...)
	}
	r.lastStart, r.leftOut = info.LastStart, info.LeftOut
}
