package drive

import (
	"sync/atomic"

	"github.com/executor-go/executor/bench/workload"
)

// Pool runs one task, the argument of the function that opens it.
type Pool interface {
	Go()   // submits the task once; may be called by several goroutines
	Wait() // waits until all submitted tasks have run, and closes the pool
}

// Execute returns the workload that submits tasks and waits until all have run.
func Execute(open func(workers int, task func()) Pool) Func {
	run := func(p workload.Params) workload.Result {
		var ran atomic.Int64
		each := p.Tasks / p.Submitters
		want := each * p.Submitters
		pool := open(p.Workers, func() { ran.Add(1) })
		m := begin()
		parallel(p.Submitters, func(int) {
			for range each {
				pool.Go()
			}
		})
		pool.Wait()
		return workload.Result{Values: m.end(want), Ran: ran.Load(), Want: int64(want)}
	}
	return warmUp(run)
}

// Futures submits one task, the argument of the function that opens it, and gets results.
type Futures[F any] struct {
	Submit func() F
	Get    func(F) int
	Close  func()
}

// Submits returns the workloads that get results.
func Submits[F any](open func(workers int, task func() int) Futures[F]) Funcs {
	return Funcs{
		workload.SubmitBatch:    warmUp(func(p workload.Params) workload.Result { return submitBatch(p, open) }),
		workload.SubmitPingpong: warmUp(func(p workload.Params) workload.Result { return submitPingpong(p, open) }),
	}
}

func submitBatch[F any](p workload.Params, open func(int, func() int) Futures[F]) workload.Result {
	pool := open(p.Workers, func() int { return 1 })
	defer pool.Close()
	fs := make([]F, p.Tasks)
	clear(fs) // touches the memory, which is not the subject's
	sum := 0
	m := begin()
	for i := range fs {
		fs[i] = pool.Submit()
	}
	for _, f := range fs {
		sum += pool.Get(f)
	}
	return workload.Result{Values: m.end(p.Tasks), Ran: int64(sum), Want: int64(p.Tasks)}
}

func submitPingpong[F any](p workload.Params, open func(int, func() int) Futures[F]) workload.Result {
	pool := open(p.Workers, func() int { return 1 })
	defer pool.Close()
	sum := 0
	m := begin()
	for range p.Tasks {
		sum += pool.Get(pool.Submit())
	}
	return workload.Result{Values: m.end(p.Tasks), Ran: int64(sum), Want: int64(p.Tasks)}
}
