package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// noteLeftOut accounts for the due times before that of the run, for which it makes up. It returns an error, which
// stands in the history, if the job's misfire leaves out that of the run, too, since it is so late.
func (r *handled) noteLeftOut(late time.Duration) error {
	count, first, reason := r.left.Count, r.left.First.In(r.spec.Location()), "the job did not run when it was due"
	if r.overlap.Do != job.SkipOverlap {
		reason = "the job did not run when it was due, or a run was in progress"
	}
	if late > 0 {
		if count++; r.left.Count == 0 {
			first = r.due
		}
		reason = fmt.Sprintf("the job did not run when it was due, and by its misfire does not %v later", late.Truncate(time.Second))
	}
	if count == 0 {
		return nil
	}
	r.miss(count, first, reason)
	if late > 0 {
		return over(outcome.Label{Outcome: outcome.Missed}, "missed: "+reason)
	}
	return nil
}

// noteLeftOutSince accounts for the due times after that of a run which runs nothing: they have passed since, as after
// the end of a daemon that had begun it.
func (r *handled) noteLeftOutSince(ctx context.Context) {
	left := durable.LeftOutDuring(ctx)
	since := r.plan().dues(left.First, left.Count)
	since.logExcluded(r.entry.log)
	if missed := since.counts; missed.n > 0 {
		r.miss(missed.n, missed.first, "the job did not run when it was due")
	}
}

// miss logs and tells that due times were missed.
func (r *handled) miss(count int, first time.Time, reason string) {
	r.entry.miss(count, first, reason, "")
	r.entry.tell(notify.Event{Kind: notify.Missed, Count: count, Due: first, Reason: "no daemon was running, none had room for it, or the store could not be used"})
}

// tooLate returns how late the run is, if it was never begun and that is more than the job's misfire allows; else 0. A
// run that has waited for the end of the one before is late from then on.
func (r *handled) tooLate(ctx context.Context) time.Duration {
	m, err := job.ParseMisfire(r.job.Misfire)
	if err != nil || m.Within == 0 || r.begunBefore() || !r.scheduled() {
		return 0
	}
	late := r.now().Sub(r.due)
	if late > m.Within && r.overlap.Do != job.SkipOverlap {
		late = min(late, r.now().Sub(r.lastEnd(ctx)))
	}
	if late <= m.Within {
		return 0
	}
	return late
}

// lastEnd returns when the run before ended, the zero Time if that is not known.
func (r *handled) lastEnd(ctx context.Context) time.Time {
	r.entry.mu.Lock()
	end := r.entry.mu.ended
	r.entry.mu.Unlock()
	if r.node == "" { // no other daemon has run it
		return end
	}
	past, err := r.entry.base.catalog.Jobs.History(ctx, r.row.ID, 0, 1)
	if err == nil && len(past) > 0 && past[0].Finished.After(end) {
		return past[0].Finished
	}
	return end
}
