// Package about says what lines of a daemon's log are about, for a handler that has words of its own for them. Other
// handlers see texts alone, which people and programs may depend on.
package about

import (
	"log/slog"
	"time"
)

// Key is the key of a Kind in a line of the log.
const Key = "about"

// Kind is what a line is about. Handlers of slog leave it out, as they do an empty group.
type Kind int

const (
	Other Kind = iota // what has no Kind of its own
	RunStarted
	RunEnded
	RunRetried
	RunNotStarted
	RunDelayed
	RunWaits
	RunExcluded
	RunsSkipped
	RunsMissed
	JobScheduled
	JobElsewhere
	NoMachine
	MachineFound
	JobSummary
	Note
	Listening
	Started
	ReadAgain
	Draining
	Stopping
	Ended
)

func (Kind) LogValue() slog.Value { return slog.GroupValue() }

// Time is a time in the log. Handlers of slog write it to the millisecond, with its zone.
type Time struct{ time.Time }

func (t Time) String() string { return t.Truncate(time.Millisecond).Format(time.RFC3339Nano) }

func (t Time) LogValue() slog.Value { return slog.StringValue(t.String()) }
