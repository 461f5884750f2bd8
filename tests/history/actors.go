package history

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/executor-go/executor"
)

// This file holds what the goroutines of a history do.

// hand submits one job, and offers it to the others.
func (r *recording) hand(b *job, l *log, rng *rand.Rand) {
	ctx, cancel := context.Background(), func() {}
	if b.Ends {
		ctx, cancel = context.WithCancel(ctx)
	}
	offered := false
	pass := func(h handle) {
		select {
		case r.offers <- offer{b, h}:
			offered = true
		default: // they are busy
		}
	}
	var early func(handle)
	if rng.IntN(2) == 0 {
		early = pass
	}
	opts := b.options(rng)
	if rng.IntN(8) == 0 {
		cancel()
	}
	l.note(r, Submit, b.ID, func(e *Event) { e.Err = b.submit(ctx, opts, early) })
	if !offered && (b.Form == Plain || b.hold != nil) {
		pass(b.hold)
	}
	switch rng.IntN(4) {
	case 0:
		runtime.Gosched()
	case 1:
		time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond)
	}
	cancel()
}

// meddle cancels, abandons, removes and awaits tasks as they are offered.
func (r *recording) meddle(l *log, rng *rand.Rand) {
	for o := range r.offers {
		b, h, id := o.job, o.hold, o.job.ID
		if rng.IntN(3) == 0 {
			runtime.Gosched()
		}
		switch what := rng.IntN(8); {
		case h == nil:
			l.note(r, Remove, id, func(e *Event) { e.OK = r.pool.Remove(b) })
		case what < 2:
			l.note(r, Cancel, id, func(e *Event) { e.OK = h.Cancel() })
		case what == 2:
			l.note(r, Abandon, id, func(e *Event) { e.OK = h.Abandon() })
		case what == 3:
			l.note(r, Remove, id, func(e *Event) { e.OK = r.pool.Remove(h) })
		case what < 6:
			l.get(r, id, b, h)
		}
		if h != nil && rng.IntN(4) == 0 {
			l.note(r, Join, id, func(e *Event) { e.Err = h.Join(context.Background()) })
			b.look()
		}
	}
}

// get waits for the outcome and looks at what the body has left.
func (l *log) get(r *recording, id int, b *job, h handle) {
	l.note(r, Get, id, func(e *Event) {
		switch f := h.(type) {
		case *executor.Future[int]:
			e.Value, e.Err = f.Get(context.Background())
		case *executor.ScheduledFuture[int]:
			e.Value, e.Err = f.Get(context.Background())
		case *executor.ScheduledFuture[struct{}]:
			_, e.Err = f.Get(context.Background())
		}
	})
	if s := h.State(); s == executor.Succeeded || s == executor.Failed {
		b.look()
	}
}

// look reads what the body wrote, without synchronization: a goroutine that has
// the outcome, or has joined the body, may do so.
func (b *job) look() {
	for i := range b.Runs {
		if b.Runs[i].End == 0 {
			panic("history: a body that has returned has no end")
		}
	}
}

// await waits for the end of the pool.
func (r *recording) await(l *log, _ *rand.Rand) {
	l.note(r, Await, -1, func(e *Event) { e.Err = r.pool.AwaitTermination(context.Background()) })
}

// shutdown ends the pool, one way or the other.
func (r *recording) shutdown(l *log, rng *rand.Rand, gentle bool, submitted <-chan struct{}) {
	select {
	case <-submitted:
	case <-time.After(r.patience + time.Duration(rng.IntN(100))*time.Microsecond):
	}
	if gentle {
		l.note(r, Shutdown, -1, func(*Event) { r.pool.Shutdown() })
		return
	}
	var unrun []executor.Dropped
	l.note(r, ShutdownNow, -1, func(*Event) { unrun = r.pool.ShutdownNow() })
	for _, u := range unrun {
		id := -1
		u.Run(context.WithValue(context.Background(), askKey{}, &id))
		l.note(r, GiveBack, id, func(*Event) {})
	}
}

// watch samples the counters, a bounded number of them.
func (r *recording) watch(l *log, over <-chan struct{}) {
	for len(l.samples) < 300 && !closed(over) {
		l.samples = append(l.samples, r.pool.Stats())
		time.Sleep(20 * time.Microsecond)
	}
}

// tune changes sizes and times, within what is legal most of the time.
func (r *recording) tune(rng *rand.Rand, over <-chan struct{}) {
	for !closed(over) {
		switch rng.IntN(7) {
		case 0:
			r.pool.SetCore(rng.IntN(4))
		case 1:
			r.pool.SetMax(1 + rng.IntN(4))
		case 2:
			r.pool.SetKeepAlive(time.Duration(rng.IntN(100)) * time.Microsecond)
		case 3:
			r.pool.SetAllowCoreTimeout(rng.IntN(2) == 0)
		case 4:
			r.pool.Prestart()
		case 5:
			for range r.pool.Waiting() {
				break
			}
		case 6:
			if r.sched != nil {
				r.sched.SetRetainCanceled(rng.IntN(2) == 0)
				r.sched.Purge()
			}
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Microsecond)
	}
}

// change changes the policies.
func (r *recording) change(rng *rand.Rand, over <-chan struct{}) {
	for !closed(over) {
		r.pool.SetReject(policies[r.fickle[rng.IntN(len(r.fickle))]].policy)
		if r.sched != nil {
			r.sched.SetDelayed(executor.AfterShutdown(rng.IntN(3)))
			r.sched.SetPeriodic(executor.AfterShutdown(rng.IntN(3)))
		}
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
