package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/durable"
)

// fire says what becomes of the due times of a job, and has that noted when it is done.
func (d *base) fire(ctx context.Context, f durable.Firing) (durable.Decision, error) {
	e, ok := catalog.EntryOf(f)
	if !ok {
		return durable.Decision{}, fmt.Errorf("%q is not a key of executord", f.Schedule.Key)
	}
	if err := d.catalog.FollowUp(ctx, e); err != nil { // before the times that have passed during a pause
		return durable.Decision{}, err
	}
	p := planOf(e, f, f.Occurrences(), rand.N[time.Duration])
	p.Decision.Done = func(run durable.Job) {
		number := int(catalog.NumberOf(run))
		for _, was := range p.replaced {
			if row, err := d.Store.Get(ctx, was.ID); err == nil && row.State == durable.Canceled && row.Runs == 0 { // else it has begun
				d.entry(e.Name).skip(span{n: 1, first: catalog.RunOf(row).Due.In(e.Spec.Location())}, number)
			}
		}
		d.entry(e.Name).note(p, number)
	}
	return p.Decision, nil
}

// note logs, counts and tells what has become of due times.
func (e *entry) note(p plan, number int) {
	p.logExcluded(e.log)
	e.skip(p.skipped, p.during)
	if p.missed.n > 0 {
		e.miss(p.missed.n, p.missed.first, p.reason, "")
		e.tell(notify.Event{Kind: notify.Missed, Count: p.missed.n, Due: p.missed.first, Reason: e.base.whyMissed(p.missed.first)})
	}
	if !p.until.IsZero() && number > 0 {
		e.log.Info("run delayed", about.Key, about.RunDelayed, "run", number, "due", stamp(p.counts.last), "until", stamp(p.until.In(p.counts.last.Location())), "reason", "jitter")
	}
}

// skipPause is the least time between two lines about the times that pass during one run. It is documented.
const skipPause = time.Minute

// skips are the times of a job that pass during one of its runs, as far as they fire here.
type skips struct {
	during int         // the run
	all    int         // that were noted
	wait   span        // of those, the ones that are not logged yet
	quiet  time.Time   // no line before this
	timer  *time.Timer // that logs them; nil if none is set
}

// skip notes that times have passed during a run: the first is logged at once, so that a run that hangs is seen in the
// log, and the others no later than a minute afterwards.
func (e *entry) skip(s span, during int) {
	if s.n == 0 {
		return
	}
	e.mu.Lock()
	if e.mu.skips.during != during {
		e.mu.Unlock()
		e.logSkips()
		e.mu.Lock()
		e.mu.skips = skips{during: during}
	}
	k := &e.mu.skips
	e.mu.Skipped += s.n
	if k.wait.n == 0 {
		k.wait.first = s.first
	}
	k.wait.n, k.all = k.wait.n+s.n, k.all+s.n
	now := !time.Now().Before(k.quiet)
	if !now && k.timer == nil {
		k.timer = time.AfterFunc(time.Until(k.quiet), e.logSkips)
	}
	e.mu.Unlock()
	if now {
		e.logSkips()
	}
}

// logSkips logs the times that are not in the log yet.
func (e *entry) logSkips() {
	e.mu.Lock()
	k := &e.mu.skips
	if k.timer != nil {
		k.timer.Stop()
	}
	wait, all, during := k.wait, k.all, k.during
	k.timer, k.wait, k.quiet = nil, span{}, time.Now().Add(skipPause+time.Millisecond)
	e.mu.Unlock()
	if wait.n == 0 {
		return
	}
	const reason = "the previous run is still in progress"
	e.log.Warn("runs skipped", about.Key, about.RunsSkipped, "count", wait.n, "first", stamp(wait.first), "reason", reason, "running", during)
	e.tell(notify.Event{Kind: notify.Skipped, Run: during, Count: all, Before: all - wait.n, Due: wait.first, Reason: reason})
}

// skippedDuring returns how many times have passed during a run, as far as they fired here.
func (e *entry) skippedDuring(number int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.skips.during != number {
		return 0
	}
	return e.mu.skips.all
}
