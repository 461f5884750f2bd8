package drive

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Periodic is a periodic task: it is due at First, and then every Period.
type Periodic struct {
	First  time.Time
	Period time.Duration

	mu       sync.Mutex
	started  int     // number of runs, each due one Period after the previous one
	reported bool    // the subject reports the due times of its runs
	lateness []int64 // in ns
}

// Run is the task of a subject that runs it at a fixed rate: its n-th run was due at
// First + n*Period.
func (b *Periodic) Run() {
	now := time.Now()
	b.mu.Lock()
	b.recordLocked(now.Sub(b.nextLocked()))
	b.started++
	b.mu.Unlock()
}

// RunAt is the task of a subject that skips missed runs and reports the due time of each
// run.
func (b *Periodic) RunAt(due time.Time) {
	late := time.Since(due)
	b.mu.Lock()
	b.reported = true
	b.started++
	b.recordLocked(late)
	b.mu.Unlock()
}

// Next returns the due time of the first run that has not started.
func (b *Periodic) Next() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nextLocked()
}

func (b *Periodic) nextLocked() time.Time { return b.First.Add(time.Duration(b.started) * b.Period) }

// recordLocked records the lateness of a run. A run may be early, on a timer wheel with
// coarse ticks; its lateness is zero.
func (b *Periodic) recordLocked(d time.Duration) { b.lateness = append(b.lateness, max(int64(d), 0)) }

// collect returns the lateness of all runs that were due by the end.
func (b *Periodic) collect(end time.Time) []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reported {
		return b.lateness
	}
	for ; b.nextLocked().Before(end); b.started++ {
		b.recordLocked(end.Sub(b.nextLocked()))
	}
	return b.lateness
}

// OpenPeriodic starts periodic tasks and returns a function that stops them.
type OpenPeriodic func(workers int, tasks []*Periodic) (stop func())

// Lateness returns the workload that measures the lateness of periodic tasks.
func Lateness(open OpenPeriodic) Funcs {
	return Funcs{workload.Lateness: func(p workload.Params) workload.Result {
		return late(p, open, 300*time.Millisecond+time.Duration(p.Tasks)*10*time.Microsecond)
	}}
}

// DurablePeriodic returns the workload that measures the lateness of periodic jobs in a database.
func DurablePeriodic(open OpenPeriodic) Funcs {
	return Funcs{workload.DurablePeriodic: func(p workload.Params) workload.Result {
		return late(p, open, 2*settleTime+time.Duration(p.Tasks)*200*time.Microsecond)
	}}
}

// late measures the lateness of tasks that can be opened within lead.
func late(p workload.Params, open OpenPeriodic, lead time.Duration) workload.Result {
	start := time.Now().Add(lead)
	r := random(0)
	tasks := make([]*Periodic, p.Tasks)
	for i := range tasks {
		phase := time.Duration(r.Int64N(int64(p.Period)))
		tasks[i] = &Periodic{
			First: start.Add(phase), Period: p.Period,
			lateness: make([]int64, 0, p.Length/p.Period+2),
		}
	}
	runtime.GC()
	stop := open(p.Workers, tasks)
	if time.Now().After(start) {
		return workload.Result{Unfit: "starting the tasks took longer than the first delay"}
	}
	stopLoad := func() {}
	if p.Busy {
		stopLoad = saturate()
	}
	time.Sleep(time.Until(start))
	_, cpu, _ := usage()
	end := start.Add(p.Length)
	time.Sleep(time.Until(end))
	end = time.Now() // the sleep itself may be late
	_, cpu2, measured := usage()
	var all []int64
	for _, b := range tasks {
		all = append(all, b.collect(end)...)
	}
	stopLoad()
	stop()
	if len(all) < p.Tasks {
		return workload.Result{Unfit: "too few runs"}
	}
	slices.Sort(all)
	values := map[string]float64{"p50": quantile(all, 500), "p99": quantile(all, 990)}
	if measured {
		values["cpu"] = (cpu2 - cpu).Seconds() * 1e3 / end.Sub(start).Seconds()
	}
	return workload.Result{Values: values}
}

// saturate keeps all cores busy with goroutines that never block.
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
