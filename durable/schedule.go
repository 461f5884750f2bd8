package durable

import (
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable/internal/timetable"
)

// Missed is a policy for occurrences that no node ran when they were due. The zero Missed is Coalesce.
type Missed struct{ text string }

// Coalesce runs once for all occurrences that were missed, and goes on with the schedule. It is the default.
func Coalesce() Missed { return Missed{timetable.Coalesce} }

// Skip leaves out an occurrence that could not begin within grace, which must be positive, after its time. That
// includes an occurrence that RunNow, Resume or Revive has made due, if it waits for a node for longer than grace: so
// grace should be more than Config.Poll.
func Skip(grace time.Duration) Missed { return Missed{timetable.Skip(grace)} }

// CatchUp runs the occurrences that were missed, one after the other, but only the latest max of them; max must be
// positive. For a trigger, which has to compute one time after the other, CatchUp runs at most the latest 100,000.
func CatchUp(max int) Missed { return Missed{timetable.CatchUp(max)} }

// SkipOverlap leaves out the occurrences that fall due while a run of the job is in progress, and makes up by one run,
// as Coalesce does, for those that passed when no node ran the job. LeftOutBefore and LeftOutDuring count both.
func SkipOverlap() Missed { return Missed{timetable.SkipOverlap} }

// A NamedTrigger is a trigger that every node has in its Config.Triggers under the same name. Use it for triggers that
// are code, and so have no text that the store could keep. If such a trigger has a method Fixed() bool that returns
// false, its times come again when the store's clock is set back, by any step of more than a second. Otherwise they do
// after a step of three hours or more; see [cron.Schedule.Fixed].
type NamedTrigger string

// Next returns the zero Time: a node uses the trigger in Config.Triggers instead.
func (NamedTrigger) Next(time.Time) time.Time { return time.Time{} }

// triggerText returns the text of a schedule by t.
func triggerText(t executor.Trigger, named map[string]executor.Trigger) (string, error) {
	if s, ok := t.(cron.Schedule); ok {
		return timetable.TextOf(s)
	}
	if n, ok := t.(NamedTrigger); ok {
		if named[string(n)] == nil {
			return "", invalid("trigger %q is not in Config.Triggers", string(n))
		}
		return "trigger " + string(n), nil
	}
	return "", invalid("trigger %T: it must be a cron.Schedule, or a NamedTrigger of one in Config.Triggers; for a fixed interval call AtFixedRate or WithFixedDelay", t)
}
