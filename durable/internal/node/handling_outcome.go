package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/text"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// conclude returns what follows a run whose handler has returned this. cause is why its context has ended, nil if it has
// not.
func (h *Handling) conclude(cause error, result []byte, err error) store.Outcome {
	var panicked *executor.PanicError
	if errors.As(err, &panicked) {
		h.env.logOf(&h.job).Error("durable: handler panicked", "panic", err)
	}
	if errors.Is(err, executor.ErrStop) {
		o := h.ending(store.RunSucceeded, nil)
		o.State = store.Succeeded
		return o
	}
	if err == nil {
		o := h.ending(store.RunSucceeded, nil)
		o.Result = result
		return h.follow(o)
	}
	var snooze *snoozeError
	switch {
	case h.holder.canceled():
		o := h.ending(store.RunCanceled, err)
		o.State, o.Due = store.Canceled, time.Time{} // unless a schedule was registered again, nothing follows
		return o
	case errors.As(err, &snooze):
		o := h.untried(store.RunSnoozed, err, snooze.d)
		o.Unrecorded = snooze.unnoted
		if o.Signals = h.steps.signals(); !snooze.until.IsZero() {
			o.Due = again(o.Occurrence, snooze.until)
		}
		return o
	case (errors.Is(cause, executor.ErrShutdown) || errors.Is(cause, ErrLeaseLost)) && !decided(err, cause):
		return h.cutShort(err)
	case errors.Is(err, permanent), h.job.Attempt >= h.job.Attempts:
		o := h.ending(store.RunFailed, err)
		h.failed(h.job.Attempt, o)
		if !h.job.Periodic() || !h.times.Known() {
			o.State = store.Dead
			return o
		}
		return h.follow(o)
	}
	o := h.ending(store.RunFailed, err)
	wait := h.backoff()
	var later *retryError
	if errors.As(err, &later) {
		wait = max(wait, later.d)
	}
	o.Due = timetable.Ceil(h.Now().Add(wait))
	return o
}

// decided reports whether a handler whose context has ended says that the job has failed for good all the same: by a
// permanent error that is not that of its context.
func decided(err, cause error) bool {
	return errors.Is(err, permanent) && !errors.Is(err, cause) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// badBackoff is how long a job waits whose Backoff panics, or is negative.
const badBackoff = time.Hour

// backoff returns how long the job waits after its attempt has failed.
func (h *Handling) backoff() (d time.Duration) {
	defer func() {
		p := recover()
		if p != nil || d < 0 {
			h.env.logOf(&h.job).Error("durable: the backoff of a kind panicked, or is negative; the job waits for an hour",
				"attempt", h.job.Attempt, "backoff", d, "panic", p)
			d = badBackoff
		}
	}()
	return h.kind.Backoff(h.job.Attempt)
}

// ending returns an outcome by which the same occurrence waits.
func (h *Handling) ending(v store.Verdict, err error) store.Outcome {
	o := store.Outcome{Ref: h.ref(), State: store.Waiting, Due: h.job.Due, Occurrence: h.job.Occurrence, Attempt: h.job.Attempt}
	if err != nil {
		o.Error = text.Error(err.Error())
	}
	o.Run = store.Run{Occurrence: h.job.Occurrence, Attempt: h.job.Attempt, Started: h.started.At, Finished: h.started.Now(),
		Verdict: v, Error: o.Error}
	if label := h.label.Load(); label != nil {
		o.Run.Label = *label
	}
	return o
}

// untried returns an outcome by which the same occurrence waits for that long, and which counts no attempt.
func (h *Handling) untried(v store.Verdict, err error, wait time.Duration) store.Outcome {
	o := h.ending(v, err)
	if step, now := h.setBack(o.Run.Finished); h.job.Periodic() && h.times.Repeats(step) && o.Occurrence.After(now) {
		o.Occurrence = timetable.Ceil(now)
	}
	o.Attempt, o.Due = h.job.Attempt-1, again(o.Occurrence, h.Now().Add(wait))
	return o
}

// again returns the time at which an occurrence is due again for which t was asked. It is later than the occurrence, by
// which the next run knows that it was begun, and keeps it.
func again(occurrence, t time.Time) time.Time {
	return timetable.Later(timetable.Ceil(t), occurrence.Add(time.Microsecond))
}

// cutShort returns the outcome of a run that was cut short by this node, not by the job: as if it had not been tried.
func (h *Handling) cutShort(err error) store.Outcome {
	o := h.untried(store.RunFailed, err, 0)
	o.Unrecorded = true
	return o
}

// early returns the outcome of a run whose time is yet to come: as Release, it leaves to be decided anew what the job
// makes up for.
func (h *Handling) early(err error) store.Outcome {
	o := h.cutShort(err)
	o.Occurrence = h.job.Occurrence
	if o.Due = timetable.Later(h.job.Due, h.job.Occurrence); h.job.Periodic() {
		o.Due = h.goOn(h.job.Due, o.Run.Finished)
		if o.Due.Before(o.Occurrence) {
			o.Occurrence = o.Due
		}
	}
	return o
}

// unbegun returns the outcome of a run whose context has ended, for that cause, before its handler was called. What was
// cut short stays due as it was, since what was missed before it is not reported yet.
func (h *Handling) unbegun(cause error) store.Outcome {
	o := h.conclude(cause, nil, cause)
	if o.Unrecorded {
		o.Due = h.goOn(h.job.Due, o.Run.Finished)
	}
	return o
}

// leavePause is how long a job waits that was claimed by a node which can't read its schedule.
const leavePause = 5 * time.Second

// leave returns the outcome by which the job waits as if it had not been tried: this program can't read its schedule,
// as the trigger or the time zone is not known here, or its policy, which a newer program has made. Another node may be
// able to run it.
func (h *Handling) leave(err error) store.Outcome {
	o := h.untried(store.RunFailed, err, leavePause)
	o.Unrecorded = true
	if _, logged := h.env.unread.LoadOrStore([2]string{h.job.Schedule, h.job.Missed}, true); !logged {
		h.env.logOf(&h.job).Error("durable: this program can't read the schedule of a job; the job is left to other nodes", "error", err)
	}
	return o
}

// failed says that an occurrence, or a job that has but one, has no attempt left.
func (h *Handling) failed(attempt int, o store.Outcome) {
	if h.completed.Load() != nil { // whether that was committed, the database will say
		h.env.logOf(&h.job).Warn("durable: a handler failed in its last attempt after CompleteTx: unless that was committed, the job has failed for good",
			"attempt", attempt, "error", o.Error)
		return
	}
	if hook := h.env.Failed; hook != nil {
		hook(h.job, o.Run)
		return
	}
	h.env.logOf(&h.job).Error("durable: a job failed for good", "attempt", attempt, "error", o.Error)
}

// follow makes the job wait for its next occurrence, or ends it if its schedule has none.
func (h *Handling) follow(o store.Outcome) store.Outcome {
	var next time.Time
	var err error
	h.last = new(o)
	if h.during != nil {
		during := h.during()
		next, err = during.next, during.err
	} else {
		next = h.times.Next(h.job.Anchor, h.job.Occurrence, h.Now())
		err = h.times.NotLater(h.job.Occurrence, next)
	}
	if err == nil {
		next = h.goOn(next, o.Run.Finished)
	}
	switch {
	case err != nil:
		return h.ended(o, err)
	case next.IsZero():
		o.State, o.Due = store.Succeeded, time.Time{}
		return o
	}
	next = timetable.Ceil(next)
	h.moveAnchor(next)
	o.Due, o.Occurrence, o.Attempt = next, next, 0
	return o
}

// withoutNext returns the outcome of a run of which a trigger has panicked, or called runtime.Goexit. If that was after
// the handler, what came of the run stays as it is, and is not tried again. The job is dead, as its next time is not
// known, with the trigger's error. Before the handler it is no attempt: the job keeps its occurrence, and waits a little.
func (h *Handling) withoutNext(err error) store.Outcome {
	if h.last == nil {
		return h.leave(triggerFailed(h.job.Schedule, err))
	}
	return h.ended(*h.last, err)
}

// ended returns the outcome of a run by which its schedule ends, since the trigger has no next time for this reason.
func (h *Handling) ended(o store.Outcome, err error) store.Outcome {
	o.State, o.Error = store.Dead, text.Error(triggerFailed(h.job.Schedule, err).Error())
	h.env.logOf(&h.job).Error("durable: a trigger failed; the job is dead, since its next time is not known", "error", err)
	return o
}

func triggerFailed(schedule string, err error) error {
	return fmt.Errorf("durable: the trigger of the schedule %s failed: %w", schedule, err)
}
