package figures

import (
	"math"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
)

// minute is what pools did in one minute, by the indexes of points, but with the number of runs in place of rates. A value
// is NaN where it is not known.
type minute [seriesCount]float32

const (
	// minutesOfDay is how many minutes are remembered.
	minutesOfDay = 24 * 60
	// poolsRemembered is how many pools have minutes of their own; all of them are in the sum.
	poolsRemembered = 100
)

// minutes are the minutes of a pool, or of all pools, that end with the latest that was looked at.
type minutes struct {
	last int64 // the number of the latest since 1970
	all  []minute
}

// add adds what happened in a minute. Those between it and the latest are not known. After the clock was set back, what it
// shows for the second time is left out, and after it was set far, the minutes begin anew.
func (m *minutes) add(number int64, one minute) {
	if gap := number - m.last; gap >= minutesOfDay || gap <= -setBack {
		m.all = m.all[:0]
	} else if gap <= 0 {
		return
	}
	for len(m.all) > 0 && m.last+1 < number {
		m.last++
		m.push(unknown)
	}
	m.last = number
	m.push(one)
}

// setBack is by how many minutes the clock must be set back for the minutes to begin anew.
const setBack = 60

var unknown = func() (m minute) {
	for i := range m {
		m[i] = float32(math.NaN())
	}
	return m
}()

func (m *minutes) push(one minute) {
	if len(m.all) == minutesOfDay {
		m.all = slices.Delete(m.all, 0, 1)
	}
	m.all = append(m.all, one)
}

// points returns the minutes that end after a time as points, the oldest first.
func (m *minutes) points(after time.Time) (points []point) {
	for i, one := range m.all {
		end := time.Unix(60*(m.last-int64(len(m.all)-1-i)+1), 0)
		if !end.After(after) {
			continue
		}
		p := point{at: end}
		for k, v := range one {
			p.values[k] = float64(v)
		}
		p.values[seriesRate] /= 60
		p.values[seriesFailed] /= 60
		points = append(points, p)
	}
	return points
}

// memory looks at the pools of an Observer once a minute, also while nobody has a page open.
type memory struct {
	observer *executor.Observer

	looking sync.Mutex // held during a look
	timer   *time.Timer
	ended   bool
	at      time.Time        // of the latest look
	known   map[int]counters // by the number of the pool, at that time

	mu    sync.Mutex // a leaf
	sum   minutes
	pools map[int]*minutes
}

// counters are those figures of a pool that grow.
type counters struct {
	runs, failures, rejected int64
	wait, late               histogram.Snapshot
}

// newMemory returns a memory that begins now. It ends with Close, or when nothing refers to it any more.
func newMemory(o *executor.Observer) *memory {
	m := &memory{observer: o, at: time.Now(), known: make(map[int]counters), pools: make(map[int]*minutes)}
	if o != nil {
		m.looking.Lock()
		defer m.looking.Unlock()
		m.wait()
	}
	return m
}

// wait waits for the end of the minute. The caller holds m.looking.
func (m *memory) wait() {
	ref := weak.Make(m) // a timer that is set must not keep the memory
	now := time.Now()
	// Timers may be early by the clock on the wall, so the next end of a minute is at least half a minute away.
	m.timer = time.AfterFunc(now.Round(time.Minute).Add(time.Minute).Sub(now), func() {
		if m := ref.Value(); m != nil {
			m.look()
		}
	})
}

// Close ends the looks. None is going on when it returns.
func (m *memory) Close() {
	m.looking.Lock()
	defer m.looking.Unlock()
	if m.ended = true; m.timer != nil {
		m.timer.Stop()
	}
}

// look remembers the minute that has just ended.
func (m *memory) look() {
	m.looking.Lock()
	defer m.looking.Unlock()
	if m.ended {
		return
	}
	defer m.wait()
	now := time.Now()
	number := now.Round(time.Minute).Unix()/60 - 1
	past := now.Sub(m.at)
	whole := past < 2*time.Minute // the timer was not late, as after the machine has slept
	known := make(map[int]counters)
	ones := make(map[int]minute)
	var order []int
	var sum minute
	var wait, late histogram.Snapshot
	for pool, p := range m.observer.Pools() {
		f := p.Figures()
		c := counters{f.Runs, f.Failures, f.Rejected, f.Wait, f.Late}
		before, seen := m.known[pool]
		known[pool], order = c, append(order, pool)
		if !whole || !seen && f.Uptime > past {
			one := unknown
			one[seriesQueued] = float32(f.Queued)
			sum[seriesQueued] += one[seriesQueued]
			ones[pool] = one
			continue
		}
		justWait, justLate := c.wait.Sub(before.wait), c.late.Sub(before.late)
		wait, late = wait.Add(justWait), late.Add(justLate)
		one := minute{
			seriesRate: float32(c.runs - before.runs), seriesQueued: float32(f.Queued),
			seriesWait: float32(millis(justWait)), seriesLate: float32(millis(justLate)),
			seriesRejected: float32(c.rejected - before.rejected), seriesFailed: float32(c.failures - before.failures),
		}
		for _, k := range []int{seriesRate, seriesQueued, seriesRejected, seriesFailed} {
			sum[k] += one[k]
		}
		ones[pool] = one
	}
	sum[seriesWait], sum[seriesLate] = float32(millis(wait)), float32(millis(late))
	if !whole {
		queued := sum[seriesQueued]
		sum = unknown
		sum[seriesQueued] = queued
	}
	m.at, m.known = now, known
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.add(number, sum)
	for pool := range m.pools {
		if _, there := ones[pool]; !there {
			delete(m.pools, pool)
		}
	}
	for _, pool := range order {
		if m.pools[pool] == nil {
			if len(m.pools) == poolsRemembered {
				continue
			}
			m.pools[pool] = new(minutes)
		}
		m.pools[pool].add(number, ones[pool])
	}
}

// points returns what is remembered of a pool after a time, of all for 0, the oldest first.
func (m *memory) points(pool int, after time.Time) []point {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pool == 0 {
		return m.sum.points(after)
	}
	if of := m.pools[pool]; of != nil {
		return of.points(after)
	}
	return nil
}

// runs returns how many runs there were in all that is remembered, and how many of them failed.
func (m *memory) runs() (runs, failed int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.sum.all {
		if r, f := one[seriesRate], one[seriesFailed]; r == r && f == f { // they are known
			runs, failed = runs+int64(r), failed+int64(f)
		}
	}
	return runs, failed
}

// Runs returns how many runs there were in the last day, as far as it is remembered, and how many of them failed.
func (p *Pools) Runs() (runs, failed int64) { return p.memory.runs() }
