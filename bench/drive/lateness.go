package drive

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Beat is one periodic task: it is due at First, and then every Period.
type Beat struct {
	First  time.Time
	Period time.Duration

	mu       sync.Mutex
	begun    int     // runs, each due one Period after the one before
	own      bool    // the subject gives the times of its runs itself
	lateness []int64 // in ns
}

// Run is the task of a subject that runs it at a fixed rate: its n-th run is
// the one that was due at First + n*Period.
func (b *Beat) Run() {
	now := time.Now()
	b.mu.Lock()
	b.noteLocked(now.Sub(b.nextLocked()))
	b.begun++
	b.mu.Unlock()
}

// RunAt is the task of a subject that leaves out runs it missed, and tells when
// each was due.
func (b *Beat) RunAt(due time.Time) {
	late := time.Since(due)
	b.mu.Lock()
	b.own = true
	b.begun++
	b.noteLocked(late)
	b.mu.Unlock()
}

// Next gives the time of the first run that has not begun.
func (b *Beat) Next() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nextLocked()
}

func (b *Beat) nextLocked() time.Time { return b.First.Add(time.Duration(b.begun) * b.Period) }

// noteLocked records the lateness of a run. A wheel with coarse ticks may be
// early, which counts as in time.
func (b *Beat) noteLocked(d time.Duration) { b.lateness = append(b.lateness, max(int64(d), 0)) }

// collect gives the lateness of all runs that were due by the end.
func (b *Beat) collect(end time.Time) []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.own {
		return b.lateness
	}
	for ; b.nextLocked().Before(end); b.begun++ {
		b.noteLocked(end.Sub(b.nextLocked()))
	}
	return b.lateness
}

// OpenBeats starts the periodic tasks and gives the function that ends them.
type OpenBeats func(workers int, beats []*Beat) (stop func())

// Lateness measures how late periodic tasks begin.
func Lateness(open OpenBeats) Can {
	return Can{workload.Lateness: func(p workload.Params) workload.Result { return late(p, open) }}
}

func late(p workload.Params, open OpenBeats) workload.Result {
	start := time.Now().Add(300*time.Millisecond + time.Duration(p.Tasks)*10*time.Microsecond)
	r := random(0)
	beats := make([]*Beat, p.Tasks)
	for i := range beats {
		phase := time.Duration(r.Int64N(int64(p.Period)))
		beats[i] = &Beat{
			First: start.Add(phase), Period: p.Period,
			lateness: make([]int64, 0, p.Length/p.Period+2),
		}
	}
	runtime.GC()
	stop := open(p.Workers, beats)
	if time.Now().After(start) {
		return workload.Result{Unfit: "starting the tasks took longer than the first delay"}
	}
	calm := func() {}
	if p.Busy {
		calm = saturate()
	}
	end := start.Add(p.Length)
	time.Sleep(time.Until(end))
	end = time.Now() // the sleep itself may be late
	var all []int64
	for _, b := range beats {
		all = append(all, b.collect(end)...)
	}
	calm()
	stop()
	if len(all) < p.Tasks {
		return workload.Result{Unfit: "too few runs"}
	}
	slices.Sort(all)
	return workload.Result{Values: map[string]float64{
		"p50": float64(all[len(all)/2]) / 1e3,
		"p99": float64(all[len(all)*99/100]) / 1e3,
	}}
}

// saturate keeps all cores busy with goroutines that never wait.
func saturate() (stop func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for x := uint64(1); !over.Load(); {
				for range 1000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
			}
		})
	}
	return func() {
		over.Store(true)
		wg.Wait()
	}
}
