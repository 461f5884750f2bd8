// Package drive holds the loops of the workloads: what is timed, the same for
// every subject. A subject gives it the few operations that differ.
//
// Every subject is given one and the same task again and again, in the
// subject's own form, made beforehand: what is measured is the subject, not the
// closures of its user. The task counts its runs, and a run of a workload whose
// count is wrong gives no numbers.
package drive

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Func does a workload once on a subject.
type Func func(workload.Params) workload.Result

// Can is what a subject can do.
type Can map[workload.Kind]Func

// meter measures a stretch of time and what is allocated in it.
type meter struct {
	start  time.Time
	before runtime.MemStats
}

// begin starts from a collected heap, so that no subject pays for what came
// before.
func begin() *meter {
	m := new(meter)
	runtime.GC()
	runtime.ReadMemStats(&m.before)
	m.start = time.Now()
	return m
}

// end gives the cost of one of n operations.
func (m *meter) end(n int) map[string]float64 {
	took := time.Since(m.start)
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	return map[string]float64{
		"ns":     float64(took.Nanoseconds()) / float64(n),
		"allocs": float64(after.Mallocs-m.before.Mallocs) / float64(n),
	}
}

// warmed does the work twice, and the second time counts: then the runtime has
// its threads and goroutines, and its memory was touched before. Bench.java does
// the same, after the compiler has seen enough.
func warmed(run Func) Func {
	return func(p workload.Params) workload.Result {
		if r := run(p); r.Check() != nil {
			return r
		}
		return run(p)
	}
}

// share runs do in each of n goroutines, numbered, and waits for them.
func share(n int, do func(i int)) {
	if n <= 1 {
		do(0)
		return
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// random gives the same numbers in every run.
func random(stream int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(stream))) }

// far draws a delay between one and two hours.
func far(r *rand.Rand) time.Duration { return time.Hour + time.Duration(r.Int64N(int64(time.Hour))) }
