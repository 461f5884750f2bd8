package drive

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Groups runs a task n times as one group, and waits for all.
type Groups struct {
	Run   func(n int, task func())
	Close func()
}

// FanOut returns the workload that runs groups, one after the other.
func FanOut(open func(workers int) Groups) Funcs {
	run := func(p workload.Params) workload.Result {
		g := open(p.Workers)
		defer g.Close()
		var ran atomic.Int64
		task := func() {
			if p.Takes > 0 {
				spin(p.Takes)
			}
			ran.Add(1)
		}
		m := begin()
		for range p.Tasks {
			g.Run(p.Group, task)
		}
		return workload.Result{Values: m.end(p.Tasks), Ran: ran.Load(), Want: int64(p.Tasks * p.Group)}
	}
	return Funcs{workload.FanOut: warmUp(run)}
}

// spin keeps the processor busy for d.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// A Mapping calls a function for each number of a sequence, with so many calls in flight, and yields the results in
// order.
type Mapping func(inFlight int, seq iter.Seq[int], fn func(int) int, yield func(int))

// Map returns the workload of an ordered map.
func Map(open func(workers int) (run Mapping, close func())) Funcs {
	run := func(p workload.Params) workload.Result {
		do, end := open(p.Workers)
		defer end()
		ran := 0
		m := begin()
		do(p.Group, numbers(p.Tasks), func(i int) int { return i * i }, func(v int) {
			if v == ran*ran { // in order
				ran++
			}
		})
		return workload.Result{Values: m.end(p.Tasks), Ran: int64(ran), Want: int64(p.Tasks)}
	}
	return Funcs{workload.Map: warmUp(run)}
}

func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// KeyedPool runs tasks by key, one at a time for each.
type KeyedPool struct {
	Go   func(key int, task func())
	Wait func() // as of Pool
}

// Keyed returns the workload with keys. A key whose tasks overlap is an error.
func Keyed(open func(workers int) KeyedPool) Funcs {
	run := func(p workload.Params) workload.Result {
		pool := open(p.Workers)
		var ran atomic.Int64
		type key struct {
			busy atomic.Bool
			_    [15]int32 // apart from the others in the cache
		}
		keys := make([]key, p.Pending)
		tasks := make([]func(), p.Pending)
		for i := range tasks {
			tasks[i] = func() {
				if keys[i].busy.CompareAndSwap(false, true) {
					ran.Add(1)
					keys[i].busy.Store(false)
				}
			}
		}
		r := random(0)
		m := begin()
		for range p.Tasks {
			i := r.IntN(len(keys))
			pool.Go(i, tasks[i])
		}
		pool.Wait()
		return workload.Result{Values: m.end(p.Tasks), Ran: ran.Load(), Want: int64(p.Tasks)}
	}
	return Funcs{workload.Keyed: warmUp(run)}
}

// errTryAgain is the error of an attempt that another one follows.
var errTryAgain = errors.New("try again")

// RetryPool runs a task until it succeeds, with pauses, at most three times.
type RetryPool struct {
	Go   func(task func() error)
	Wait func() // as of Pool
}

// Retry returns the workload in which each task succeeds with its third attempt.
func Retry(open func(workers int, pause time.Duration) RetryPool) Funcs {
	run := func(p workload.Params) workload.Result {
		pool := open(p.Workers, p.Delay)
		var ran atomic.Int64
		m := begin()
		for range p.Tasks {
			var attempts atomic.Int32
			pool.Go(func() error {
				ran.Add(1)
				if attempts.Add(1) < 3 {
					return errTryAgain
				}
				return nil
			})
		}
		pool.Wait()
		return workload.Result{Values: m.end(p.Tasks), Ran: ran.Load(), Want: int64(3 * p.Tasks)}
	}
	return Funcs{workload.Retry: warmUp(run)}
}

// startEnd returns the workload that opens a pool, runs a task on it and closes it.
func startEnd(open func(workers int, task func()) Pool) Func {
	run := func(p workload.Params) workload.Result {
		var ran atomic.Int64
		task := func() { ran.Add(1) }
		m := begin()
		for range p.Tasks {
			pool := open(p.Workers, task)
			pool.Go()
			pool.Wait()
		}
		return workload.Result{Values: m.end(p.Tasks), Ran: ran.Load(), Want: int64(p.Tasks)}
	}
	return warmUp(run)
}

// Runs returns the workloads of a subject that runs tasks.
func Runs(open func(workers int, task func()) Pool) Funcs {
	return Funcs{workload.Execute: Execute(open), workload.StartEnd: startEnd(open)}
}

// Share returns the workload of tasks in a part of a pool, which the pool's tasks do not share.
func Share(open func(workers, limit int, task func()) Pool) Funcs {
	return Funcs{workload.Share: func(p workload.Params) workload.Result {
		return Execute(func(workers int, task func()) Pool { return open(workers, p.Group, task) })(p)
	}}
}

// Requests submits one task with a context, as a server does for a request.
type Requests[F any] struct {
	Submit func(context.Context) F
	Get    func(context.Context, F) int
	Close  func()
}

// Submit returns the workload in which each task has a context of its own, which ends when its result is there.
func Submit[F any](open func(workers int, task func() int) Requests[F]) Funcs {
	run := func(p workload.Params) workload.Result {
		pool := open(p.Workers, func() int { return 1 })
		defer pool.Close()
		type request struct {
			ctx    context.Context
			cancel context.CancelFunc
			f      F
		}
		rs := make([]request, p.Group)
		sum := 0
		m := begin()
		for range p.Tasks / p.Group {
			for i := range rs {
				r := &rs[i]
				r.ctx, r.cancel = context.WithCancel(context.Background())
				r.f = pool.Submit(r.ctx)
			}
			for i := range rs {
				r := &rs[i]
				sum += pool.Get(r.ctx, r.f)
				r.cancel()
			}
		}
		return workload.Result{Values: m.end(p.Tasks), Ran: int64(sum), Want: int64(p.Tasks / p.Group * p.Group)}
	}
	return Funcs{workload.SubmitContext: warmUp(run)}
}

// FuncPool runs functions.
type FuncPool struct {
	Go    func(task func())
	Close func()
}

// Wait returns the workload that measures how long after its time a task begins while most workers are busy.
func Wait(open func(workers int) FuncPool) Funcs {
	return Funcs{workload.Wait: func(p workload.Params) workload.Result {
		pool := open(p.Workers)
		defer pool.Close()
		each := p.Tasks / p.Submitters
		waits := make([]int64, each*p.Submitters)
		var running sync.WaitGroup
		running.Add(len(waits))
		start := time.Now().Add(10 * time.Millisecond)
		runtime.GC()
		parallel(p.Submitters, func(i int) {
			r := random(i)
			mine := waits[i*each : (i+1)*each]
			at := start
			for j := range mine {
				// The times between tasks are those of independent requests.
				at = at.Add(time.Duration(r.ExpFloat64() * float64(p.Period) * float64(p.Submitters)))
				time.Sleep(time.Until(at))
				due := at // what a submitter that waits submits late has waited, too
				pool.Go(func() {
					mine[j] = int64(time.Since(due))
					time.Sleep(p.Takes)
					running.Done()
				})
			}
		})
		running.Wait()
		slices.Sort(waits)
		return workload.Result{
			Values: map[string]float64{
				"p50": quantile(waits, 500), "p99": quantile(waits, 990), "p999": quantile(waits, 999),
			},
			Ran: int64(len(waits)), Want: int64(len(waits)),
		}
	}}
}

// quantile returns a quantile, in thousandths, of sorted times, in microseconds.
func quantile(sorted []int64, thousandths int) float64 {
	return float64(sorted[min(len(sorted)*thousandths/1000, len(sorted)-1)]) / 1e3
}
