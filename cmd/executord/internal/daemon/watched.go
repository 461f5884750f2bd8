package daemon

import (
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// watched is a trigger that notices the times which its pool leaves out: when
// the pool comes too late, it asks for the next time without having run the job
// at the last. It is used by one goroutine at a time.
type watched struct {
	job.Trigger
	missed func(n int, first time.Time)

	last time.Time // the time that Next has given, zero at the start
	used bool      // the job has run at that time
}

// mostMissed bounds the count after a long sleep. A count that reaches it
// means: this many or more.
const mostMissed = 100_000

// use records that the job runs at the time that Next has given last, and gives
// that.
func (w *watched) use() time.Time {
	w.used = true
	return w.last
}

// Next counts the times between those that are used. If the clock was set back,
// the next time is before the last, and none is missed.
func (w *watched) Next(after time.Time) time.Time {
	next := w.Trigger.Next(after)
	if !w.last.IsZero() && !next.IsZero() {
		first := w.last
		if w.used {
			first = w.Trigger.Next(first)
		}
		n := 0
		for t := first; t.Before(next) && !t.IsZero() && n < mostMissed; t = w.Trigger.Next(t) {
			n++
		}
		if n > 0 {
			w.missed(n, first)
		}
	}
	w.last, w.used = next, false
	return next
}
