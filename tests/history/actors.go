package history

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/executor-go/executor"
)

// This file has the goroutines of a history.

// submitAndOffer submits a job, and offers it to the goroutines that cancel and wait.
func (r *recording) submitAndOffer(b *job, l *log, rng *rand.Rand) {
	ctx, cancel := context.Background(), func() {}
	if b.ContextEnds {
		ctx, cancel = context.WithCancel(ctx)
	}
	offered := false
	offerTask := func(h future) {
		select {
		case r.offers <- offer{b, h}:
			offered = true
		default: // all are busy
		}
	}
	var early func(future)
	if rng.IntN(2) == 0 {
		early = offerTask
	}
	opts := b.options(rng)
	if rng.IntN(8) == 0 {
		cancel()
	}
	l.call(r, Submit, b.ID, func(e *Event) { e.Err = b.submit(ctx, opts, early) })
	if !offered && (b.Form == Plain || b.future != nil) {
		offerTask(b.future)
	}
	switch rng.IntN(4) {
	case 0:
		runtime.Gosched()
	case 1:
		time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond)
	}
	cancel()
}

// interfere cancels, abandons, removes and awaits the offered tasks.
func (r *recording) interfere(l *log, rng *rand.Rand) {
	for o := range r.offers {
		b, h, id := o.job, o.future, o.job.ID
		if rng.IntN(3) == 0 {
			runtime.Gosched()
		}
		switch what := rng.IntN(8); {
		case h == nil:
			l.call(r, Remove, id, func(e *Event) { e.OK = r.pool.Remove(b) })
		case what < 2:
			l.call(r, Cancel, id, func(e *Event) { e.OK = h.Cancel() })
		case what == 2:
			l.call(r, Abandon, id, func(e *Event) { e.OK = h.Abandon() })
		case what == 3:
			l.call(r, Remove, id, func(e *Event) { e.OK = r.pool.Remove(h) })
		case what < 6:
			l.get(r, id, b, h)
		}
		if h != nil && rng.IntN(4) == 0 {
			l.call(r, Join, id, func(e *Event) { e.Err = h.Join(context.Background()) })
			b.look()
		}
	}
}

// get waits for the outcome and reads what the body has written.
func (l *log) get(r *recording, id int, b *job, h future) {
	l.call(r, Get, id, func(e *Event) {
		switch f := h.(type) {
		case *executor.Future[int]:
			e.Value, e.Err = f.Get(context.Background())
		case *executor.Series:
			e.Err = f.Wait(context.Background())
		}
	})
	if s := h.State(); s == executor.Succeeded || s == executor.Failed {
		b.look()
	}
}

// readRuns reads what the body wrote, without synchronization. That is allowed after Get and
// Join have returned.
func (b *job) look() {
	for i := range b.Runs {
		if b.Runs[i].End == 0 {
			panic("history: a run that has returned has no end")
		}
	}
}

// await waits for the termination of the pool.
func (r *recording) await(l *log, _ *rand.Rand) {
	l.call(r, Await, -1, func(e *Event) { e.Err = r.pool.AwaitTermination(context.Background()) })
}

// shutdown shuts the pool down, orderly or now, when all is submitted or after a while.
func (r *recording) shutdown(l *log, rng *rand.Rand, orderly bool, submitted <-chan struct{}) {
	select {
	case <-submitted:
	case <-time.After(r.shutdownAfter + time.Duration(rng.IntN(100))*time.Microsecond):
	}
	if orderly {
		l.call(r, Shutdown, -1, func(*Event) { r.pool.Shutdown() })
		return
	}
	var dropped []executor.Dropped
	l.call(r, ShutdownNow, -1, func(*Event) { dropped = r.pool.ShutdownNow() })
	for _, u := range dropped {
		id := -1
		u.Run(context.WithValue(context.Background(), idKey{}, &id))
		l.call(r, Returned, id, func(*Event) {})
	}
}

// sample reads the counters, a limited number of times.
func (r *recording) sample(l *log, over <-chan struct{}) {
	for len(l.samples) < 300 && !closed(over) {
		l.samples = append(l.samples, r.pool.Stats())
		time.Sleep(20 * time.Microsecond)
	}
}

// reconfigure changes sizes and times, mostly to valid values.
func (r *recording) reconfigure(rng *rand.Rand, over <-chan struct{}) {
	for !closed(over) {
		switch rng.IntN(6) {
		case 0:
			r.pool.Reconfigure(func(s *executor.Settings) { s.Workers = rng.IntN(4) })
		case 1:
			r.pool.Reconfigure(func(s *executor.Settings) { s.Max = 1 + rng.IntN(4) })
		case 2:
			r.pool.Reconfigure(func(s *executor.Settings) {
				s.KeepAlive = time.Duration(rng.IntN(100)) * time.Microsecond
			})
		case 3:
			r.pool.Reconfigure(func(s *executor.Settings) { s.KeepNone = rng.IntN(2) == 0 })
		case 4:
			r.pool.Prestart(1)
		case 5:
			for range r.pool.Waiting() {
				break
			}
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Microsecond)
	}
}

// changePolicies changes the policies.
func (r *recording) changePolicies(rng *rand.Rand, over <-chan struct{}) {
	for !closed(over) {
		r.pool.Reconfigure(func(s *executor.Settings) {
			s.Reject = policies[r.changing[rng.IntN(len(r.changing))]].policy
			if r.sched != nil {
				s.DropDelayed, s.KeepPeriodic = rng.IntN(2) == 0, rng.IntN(2) == 0
			}
		})
		time.Sleep(time.Duration(rng.IntN(80)) * time.Microsecond)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
