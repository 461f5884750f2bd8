package catalog

import (
	"time"

	"github.com/executor-go/executor/durable"
)

// Status returns the state of a job in the words of the manual.
func (e Entry) Status() string {
	switch {
	case e.Removed():
		return "removed"
	case e.State == durable.Succeeded:
		return "ended"
	case e.State.Granted() && e.Spec.Off:
		return "running, then removed"
	case e.State.Granted() && e.Pending == durable.PendingCancel:
		return "running, then canceled"
	case e.State.Granted() && e.Pending == durable.PendingPause:
		return "running, then paused"
	case e.State.Granted():
		return "running"
	}
	return e.State.String()
}

// Next returns when a job is due next, the zero Time if that is not known or it is not to run.
func (e Entry) Next(now time.Time) time.Time {
	if next := e.next(now); !isDormant(next, now) {
		return next
	}
	return time.Time{}
}

func (e Entry) next(now time.Time) time.Time {
	switch {
	case e.State.Done(), e.State == durable.Paused:
		return time.Time{}
	case !e.State.Granted():
		return e.Due
	case e.Pending != durable.PendingNone:
		return time.Time{}
	case !e.NextDue.IsZero():
		return e.NextDue
	}
	if times := Times(e.Job); times != nil {
		return times.Next(now)
	}
	return time.Time{}
}
