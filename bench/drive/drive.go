// Package drive contains the measured loops of the workloads, which are the same for every
// subject. A subject provides the few operations that differ.
//
// A workload submits one task repeatedly, in the form that the subject needs, created in
// advance: it measures the subject and not the closures of its user. The task counts its
// runs, and a workload with a wrong count has no values.
package drive

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Func runs a workload once on a subject.
type Func func(workload.Params) workload.Result

// Funcs are the functions of a subject for the kinds of work that it supports.
type Funcs map[workload.Kind]Func

// A meter measures an interval of time, and the allocations in it.
type meter struct {
	start  time.Time
	before runtime.MemStats
}

// begin collects the heap before it starts, so that the interval does not include the
// collection of earlier garbage.
func begin() *meter {
	m := new(meter)
	runtime.GC()
	runtime.ReadMemStats(&m.before)
	m.start = time.Now()
	return m
}

// end returns the cost of one of n operations.
func (m *meter) end(n int) map[string]float64 {
	took := time.Since(m.start)
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	return map[string]float64{
		"ns":     float64(took.Nanoseconds()) / float64(n),
		"allocs": float64(after.Mallocs-m.before.Mallocs) / float64(n),
	}
}

// warmUp returns a function that runs the workload twice and returns the second result. By
// then the runtime has its threads and goroutines, and its memory has been touched.
// Bench.java does the same, after a warm-up of the compiler.
func warmUp(run Func) Func {
	return func(p workload.Params) workload.Result {
		if r := run(p); r.Check() != nil {
			return r
		}
		return run(p)
	}
}

// parallel runs do in n goroutines, with their numbers, and waits for them.
func parallel(n int, do func(i int)) {
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

// random returns a source with the same numbers in every run.
func random(stream int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(stream))) }

// far returns a delay between one and two hours.
func far(r *rand.Rand) time.Duration { return time.Hour + time.Duration(r.Int64N(int64(time.Hour))) }
