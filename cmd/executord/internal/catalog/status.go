package catalog

import (
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
)

// State is what a job is, in a word of the manual.
type State string

const (
	StateWaiting  State = "waiting"
	StateDue      State = "due" // its time is near, and a daemon has claimed it
	StateRunning  State = "running"
	StatePaused   State = "paused"
	StateCanceled State = "canceled"
	StateDead     State = "dead"
	StateEnded    State = "ended"   // it has no more times
	StateRemoved  State = "removed" // from its file

	StateNoMachine State = "no machine" // it waits, and no daemon is running that may run it
	StateElsewhere State = "elsewhere"  // it is not for this machine, of a daemon without a store
)

// States returns all states.
func States() []State {
	return []State{
		StateWaiting, StateDue, StateRunning, StatePaused, StateCanceled, StateDead, StateEnded, StateRemoved, StateNoMachine, StateElsewhere,
	}
}

// Held reports whether a job does not run until it is resumed.
func (s State) Held() bool { return s == StatePaused || s == StateCanceled || s == StateDead }

// Status is what a job is, and what it will be when the run in progress has ended. As text it is "running, then
// paused".
type Status struct {
	State
	Then State // "" if it will wait for its next time, or does not run
}

const then = ", then "

func (s Status) String() string {
	if s.Then == "" {
		return string(s.State)
	}
	return string(s.State) + then + string(s.Then)
}

// MarshalText returns the text that JSON has.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (s *Status) UnmarshalText(text []byte) error {
	is, next, _ := strings.Cut(string(text), then)
	*s = Status{State(is), State(next)}
	return nil
}

// Ended returns what a job is when the run in progress has ended.
func (s Status) Ended() Status {
	switch {
	case s.Then != "":
		return Status{State: s.Then}
	case s.State == StateRunning:
		return Status{State: StateWaiting}
	}
	return s
}

// Status returns what a job is.
func (e Entry) Status(now time.Time) Status {
	is := e.idle(now)
	if _, runs := e.InProgress(); runs {
		if is == StateWaiting || is == StateDue || is == StateEnded {
			is = ""
		}
		return Status{StateRunning, is}
	}
	if _, waits := e.Waiting(); waits && (is == StateWaiting || is == StateEnded) {
		is = StateDue
	}
	return Status{State: is}
}

// idle returns what a job is besides its runs.
func (e Entry) idle(now time.Time) State {
	switch {
	case e.Blocked() != "":
		return e.Blocked()
	case e.State == durable.Succeeded:
		return StateEnded
	case Times(e.Job) != nil && !e.never(e.next(now), now) && e.Next(now).IsZero():
		return StateEnded // unlike a job that other jobs are to begin, which has no times either
	case e.State == durable.Waiting:
		return StateWaiting
	}
	return StateDue
}

// Next returns the next time at which a job runs, in its zone, the zero Time if that is not known or it is not to run.
func (e Entry) Next(now time.Time) time.Time {
	for _, t := range e.Upcoming(now, 1) {
		return t
	}
	return time.Time{}
}

// Upcoming returns the next times at which a job runs, at most n, in its zone.
func (e Entry) Upcoming(now time.Time, n int) (times []time.Time) {
	t, trigger, zone := e.next(now).In(e.Spec.Location()), Times(e.Job), e.Spec.Location()
	if e.never(t, now) {
		return nil
	}
	calendar, _ := e.Calendar() // files that cannot be read exclude nothing
	if trigger != nil && !t.IsZero() && calendar.Excludes(t) != "" && On(trigger, t) {
		t = calendar.Next(trigger, t, zone)
	}
	for !t.IsZero() && len(times) < n {
		if times = append(times, t); trigger == nil {
			break
		}
		t = calendar.Next(trigger, later(t, now), zone)
	}
	return times
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (e Entry) next(now time.Time) time.Time {
	switch {
	case e.State.Done(), e.State == durable.Paused, e.Pending != durable.PendingNone:
		return time.Time{}
	case !e.State.Granted():
		return e.Due
	case !e.NextDue.IsZero():
		return e.NextDue
	}
	if times := Times(e.Job); times != nil {
		return times.Next(now)
	}
	return time.Time{}
}
