package daemon

import (
	"errors"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// ending is the error of a run that is not ok. The history has its label and its text.
type ending struct {
	label outcome.Label
	text  string
	then  error // by which package durable knows what becomes of the occurrence
}

func (e *ending) Error() string { return e.text }
func (e *ending) Unwrap() error { return e.then }

// over is the ending of an occurrence: it is not tried again.
func over(label outcome.Label, text string) *ending {
	return &ending{label, text, executor.Permanent(errors.New(text))}
}

// cut is the ending of a run that this daemon has ended, or has not come to. The occurrence is run again after a wait,
// by any daemon; no attempt is counted.
func cut(label outcome.Label, text string, wait time.Duration) *ending {
	return &ending{label, text, durable.Snooze(wait)}
}

// errDrain is the error of a run whose command was not started before the drain began. The next one has no jitter.
var errDrain = cut(outcome.Label{Outcome: outcome.Delayed}, "delayed: executord ended before the command was started", 0)

// errIdle is the error of a run of a job that is not to run.
var errIdle = over(outcome.Label{Outcome: outcome.Idle}, "nothing was run: the job is off, or was brought back")

// handled is a run of a job of the store.
type handled struct {
	run
	row     durable.Job // when it began
	overlap job.Overlap
	spec    catalog.Spec
	asks    catalog.Marks   // of those who have asked for it
	left    durable.LeftOut // the due times before it that count, for which it makes up

	// The clock is the store's, which may differ from this machine's: it showed base, or a little more, when ours
	// showed began.
	base, began time.Time
}

// now returns the time of the store, or one a little earlier. What the clock was put forward during the run is left
// out, and what it was put back is taken off: of the monotonic clock and the wall clock the slower one counts.
func (r *handled) now() time.Time {
	now := time.Now()
	return r.base.Add(min(now.Sub(r.began), now.Round(0).Sub(r.began.Round(0))))
}

// onSchedule reports whether the time of the run is one of its schedule. That of a run which makes up for several times
// is, though somebody may have asked for it, too.
func (r *handled) onSchedule() bool { return catalog.Scheduled(r.row, r.row.Occurrence) }

// scheduled reports whether the run is for times of its schedule alone. One that somebody asked for is not.
func (r *handled) scheduled() bool { return r.onSchedule() && len(r.asks) == 0 && r.given == nil }

// plan returns that of the job as it is now: a file may have changed it since the run began.
func (r *handled) plan() plan {
	now := r.entry.changed()
	switch {
	case !now.Updated.After(r.row.Updated):
		return planOf(r.row, r.spec)
	case now.Spec.Off:
		return plan{since: now.Updated}
	}
	p := planOf(now.Job, now.Spec)
	p.since = now.Updated
	if first := now.NextDue; !first.IsZero() && first.Before(p.since) && catalog.Scheduled(now.Job, first) {
		p.since = first // it passed while the change was on its way to the store
	}
	if p.times != nil && !p.isOf(r.row) {
		p.times = from{p.times, p.anchor}
	}
	return p
}

// from has the times of a trigger from one of them on.
type from struct {
	job.Trigger
	first time.Time
}

// Next returns the first time after another.
func (f from) Next(after time.Time) time.Time {
	if after.Before(f.first) {
		return f.first
	}
	return f.Trigger.Next(after)
}

// begunBefore reports whether the run was begun and is begun again, since its daemon was lost or ended.
func (r *handled) begunBefore() bool {
	return r.row.Attempt > 1 || r.row.Suspect || r.row.Due.After(r.row.Occurrence)
}

// wasLost reports whether the run of a row that begins was begun before by a daemon that was killed or lost the store:
// the store has noticed that, or that daemon has said so.
func wasLost(row durable.Job) bool {
	return row.Suspect || outcome.ParseLabel(row.Label).Outcome == outcome.Lost
}

// tellLost tells that the run was lost before, if it was. Its daemon can't, or does not know what became of it. A row
// begins once for each loss, in one daemon.
func (r *handled) tellLost() {
	if !wasLost(r.row) {
		return
	}
	lost := r.number
	if r.row.Lost > 0 || !r.row.Suspect { // the history has it
		lost--
	}
	r.entry.tell(notify.Event{Kind: notify.Lost, Run: lost, Due: r.due})
}

// continues takes over how often a run has failed before the daemon ended that had begun it.
func (r *handled) continues() {
	label := outcome.ParseLabel(r.row.Label)
	if !label.Open() || !r.row.Due.After(r.row.Occurrence) { // it is for another time, as after run-now
		return
	}
	r.failures = label.Attempts
	r.attempt += label.Attempts
}

// label returns what the history has of an outcome of the run, and of its attempts.
func (r *handled) label(o outcome.Outcome) outcome.Label {
	return outcome.Label{Outcome: o, Attempts: r.attempt - r.row.Attempt + 1}
}

// verdict returns what stands in the history: nil, or an error with what there is to know. What failed is not tried
// again before its next time; what this daemon has cut is.
func (r *handled) verdict(result process.Result, o outcome.Outcome) error {
	if o == outcome.OK {
		return nil
	}
	text := r.failure(result, o)
	switch {
	case o == outcome.Delayed:
		return cut(r.label(o), text, r.rest)
	case o == outcome.Stopped, o == outcome.Lost: // before its command was started, too
		return cut(r.label(o), text, 0)
	case result.Err != nil && o != outcome.Replaced: // whatever else kept it from its start
		o = outcome.NotStarted
	}
	return over(r.label(o), text)
}
