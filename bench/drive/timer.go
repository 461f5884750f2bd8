package drive

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Timers schedules one task, the argument of the function that opens it.
type Timers[H any] struct {
	After  func(time.Duration) H
	Cancel func(H) bool // reports whether the task will not run
	Close  func()       // tasks may be pending
}

// OpenTimers creates Timers for one run.
type OpenTimers[H any] func(workers int, task func()) Timers[H]

// Schedules returns the workloads with delayed tasks.
func Schedules[H any](open OpenTimers[H]) Funcs {
	return Funcs{
		workload.ScheduleZero:   warmUp(func(p workload.Params) workload.Result { return schedule(p, open, zero) }),
		workload.ScheduleRandom: warmUp(func(p workload.Params) workload.Result { return schedule(p, open, near) }),
		workload.ScheduleCancel: func(p workload.Params) workload.Result { return scheduleCancel(p, open) },
		workload.CancelRandom:   warmUp(func(p workload.Params) workload.Result { return cancelRandom(p, open) }),
		workload.Fire:           func(p workload.Params) workload.Result { return fire(p, open) },
		workload.Pending:        func(p workload.Params) workload.Result { return pending(p, open) },
		workload.Idle:           func(p workload.Params) workload.Result { return idle(p, open) },
	}
}

// A countdown is a task that closes done in its n-th run.
type countdown struct {
	left atomic.Int64
	done chan struct{}
}

func newCountdown(n int) *countdown {
	c := &countdown{done: make(chan struct{})}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) run() {
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
}

// wait waits for the n-th run, but not longer than timeout, so that a subject that loses a
// task has a wrong count.
func (c *countdown) wait() {
	select {
	case <-c.done:
	case <-time.After(timeout):
	}
}

const timeout = 4 * time.Minute

func (c *countdown) result(n int, values map[string]float64) workload.Result {
	return workload.Result{Values: values, Ran: int64(n) - c.left.Load(), Want: int64(n)}
}

func zero(*rand.Rand, workload.Params) time.Duration { return 0 }

// near returns a delay below the period.
func near(r *rand.Rand, p workload.Params) time.Duration {
	return time.Duration(r.Int64N(int64(p.Period)))
}

// schedule schedules tasks in one goroutine and waits until all have run.
func schedule[H any](
	p workload.Params, open OpenTimers[H], delay func(*rand.Rand, workload.Params) time.Duration,
) workload.Result {
	c := newCountdown(p.Tasks)
	t := open(p.Workers, c.run)
	defer t.Close()
	r := random(0)
	m := begin()
	for range p.Tasks {
		t.After(delay(r, p))
	}
	c.wait()
	return c.result(p.Tasks, m.end(p.Tasks))
}

// fill schedules n tasks that are due in hours.
func fill[H any](t Timers[H], n int) {
	r := random(0)
	for range n {
		t.After(far(r))
	}
}

// scheduleCancel schedules and cancels tasks while others are pending.
func scheduleCancel[H any](p workload.Params, open OpenTimers[H]) workload.Result {
	t := open(p.Workers, func() {})
	defer t.Close()
	fill(t, p.Pending)
	each := p.Tasks / p.Submitters
	want := each * p.Submitters
	var canceled atomic.Int64
	pairs := func(n int) {
		parallel(p.Submitters, func(i int) {
			r := random(1 + i)
			ok := 0
			for range n {
				if t.Cancel(t.After(far(r))) {
					ok++
				}
			}
			canceled.Add(int64(ok))
		})
	}
	pairs(each) // touches the memory, as the longer warm-up of the JDK does
	canceled.Store(0)
	m := begin()
	pairs(each)
	return workload.Result{Values: m.end(want), Ran: canceled.Load(), Want: int64(want)}
}

// cancelRandom cancels all pending tasks, in random order.
func cancelRandom[H any](p workload.Params, open OpenTimers[H]) workload.Result {
	t := open(p.Workers, func() {})
	defer t.Close()
	r := random(0)
	hs := make([]H, p.Pending)
	for i := range hs {
		hs[i] = t.After(far(r))
	}
	r.Shuffle(len(hs), func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
	canceled := 0
	m := begin()
	for _, h := range hs {
		if t.Cancel(h) {
			canceled++
		}
	}
	return workload.Result{Values: m.end(p.Pending), Ran: int64(canceled), Want: int64(p.Pending)}
}

// fire has tasks become due faster than they can run: one every pace.
func fire[H any](p workload.Params, open OpenTimers[H]) workload.Result {
	const pace = 50 * time.Nanosecond
	window := pace * time.Duration(p.Pending)
	lead := 300*time.Millisecond + time.Duration(p.Pending)*4*time.Microsecond
	c := newCountdown(p.Pending)
	t := open(p.Workers, c.run)
	defer t.Close()
	r := random(0)
	due := time.Now().Add(lead)
	for range p.Pending {
		t.After(time.Until(due) + time.Duration(r.Int64N(int64(window))))
	}
	if time.Until(due) < 0 {
		return workload.Result{Unfit: "scheduling took longer than the delay"}
	}
	begin() // collects now rather than during the measurement
	c.wait()
	took := time.Since(due)
	return c.result(p.Pending, map[string]float64{"ns": float64(took.Nanoseconds()) / float64(p.Pending)})
}
