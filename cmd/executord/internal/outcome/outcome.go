// Package outcome has the words for how a run of a job ends, what each stands for, and the label by which the history of a
// store has them.
package outcome

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/executor-go/executor/durable"
)

// Outcome is how a run ended, in one word. The words are documented, and stand in stores: do not change them.
type Outcome string

const (
	InProgress Outcome = "running" // it has not ended

	OK         Outcome = "ok"
	Failed     Outcome = "failed"
	NotStarted Outcome = "not started" // never in a log, where it is a message of its own
	Timeout    Outcome = "timeout"
	Stopped    Outcome = "stopped"  // executord ended and did not wait
	Canceled   Outcome = "canceled" // by somebody
	Replaced   Outcome = "replaced" // by a run for a later time
	Lost       Outcome = "lost"     // the store did not answer, so that another daemon may run the job

	// Delayed is the outcome of a run whose daemon ended during the jitter, which is in the history only, or before the
	// next attempt.
	Delayed Outcome = "delayed"

	// These are in the history only.
	Excluded Outcome = "excluded" // its due time does not count
	Missed   Outcome = "missed"   // it was too late for its misfire
)

// end is what an outcome stands for.
type end struct {
	Outcome
	verdict durable.Verdict // the nearest one of package durable, which pages draw
	level   slog.Level      // of its line in the log
	counted bool            // a daemon has tried to start the command
	resumed bool            // the run is begun again, by this daemon or another
}

// ends are all but InProgress, in the order of lists and figures.
var ends = []end{
	{OK, durable.RunSucceeded, slog.LevelInfo, true, false},
	{Failed, durable.RunFailed, slog.LevelError, true, false},
	{Timeout, durable.RunFailed, slog.LevelError, true, false},
	{Stopped, durable.RunSnoozed, slog.LevelError, true, true},
	{Canceled, durable.RunCanceled, slog.LevelWarn, true, false},
	{Lost, durable.RunLost, slog.LevelError, true, true},
	{Replaced, durable.RunCanceled, slog.LevelWarn, true, false},
	{NotStarted, durable.RunFailed, slog.LevelError, true, false},
	{Delayed, durable.RunSnoozed, slog.LevelInfo, false, true},
	{Excluded, durable.RunSnoozed, slog.LevelInfo, false, false},
	{Missed, durable.RunSkipped, slog.LevelWarn, false, false},
}

// end returns what the outcome stands for, false if it is none of the above, or InProgress.
func (o Outcome) end() (e end, known bool) {
	for _, e := range ends {
		if e.Outcome == o {
			return e, true
		}
	}
	return end{}, false
}

// All returns all outcomes, that of a run in progress first.
func All() []Outcome {
	all := []Outcome{InProgress}
	for _, e := range ends {
		all = append(all, e.Outcome)
	}
	return all
}

// Counted returns the outcomes of runs whose daemon has tried to start a command, and goes on with it no more.
func Counted() (all []Outcome) {
	for _, e := range ends {
		if e.counted {
			all = append(all, e.Outcome)
		}
	}
	return all
}

// IsFailure reports whether the job has failed, by itself: it would be tried again, if it has retries.
func (o Outcome) IsFailure() bool {
	e, _ := o.end()
	return e.verdict == durable.RunFailed
}

// IsBad reports whether the run did not do what it should: it is a failure, or lost. One that was canceled, replaced or
// stopped by somebody says nothing about its job.
func (o Outcome) IsBad() bool { return o.IsFailure() || o == Lost }

// IsError reports whether the log has the end as an error: it is bad, or executord has ended and did not wait for it.
func (o Outcome) IsError() bool { return o.Level() == slog.LevelError }

// Level returns the level of the line that the log has of the end.
func (o Outcome) Level() slog.Level {
	e, _ := o.end()
	return e.level
}

// Resumes reports whether the run is begun again, by this daemon or another.
func (o Outcome) Resumes() bool {
	e, _ := o.end()
	return e.resumed
}

// Of returns how a run ended, by its history: the log's word, or that of package durable for what its handler did not come
// to say. Of a schedule it is what became of due times, "" if they had a run or were skipped.
func Of(r durable.Run) Outcome {
	if o, _, is := ParseFired(r.Label); is {
		return o
	}
	said := ParseLabel(r.Label).Outcome
	switch r.Verdict {
	case durable.RunSucceeded:
		return cmp.Or(said, OK)
	case durable.RunFailed, durable.RunSnoozed, durable.RunCanceled:
		if said != "" {
			return said
		}
	}
	return Outcome(r.Verdict.String())
}

// OfRow returns how a run ended, by its row.
func OfRow(row durable.Job) Outcome {
	said := ParseLabel(row.Label).Outcome
	switch row.State {
	case durable.Succeeded:
		return cmp.Or(said, OK)
	case durable.Dead:
		return cmp.Or(said, Lost)
	case durable.Canceled:
		return cmp.Or(said, Canceled)
	}
	return ""
}

// Shown returns the word for how a run ended, by its history, and the verdict that is drawn as it is.
func Shown(r durable.Run) (word string, like durable.Verdict) {
	o := Of(r)
	if e, known := o.end(); known {
		return string(o), e.verdict
	}
	return string(o), r.Verdict
}

// Took returns how long a run took, by its history: its command, as the log says, or all that was done for it if nothing
// is known of that, as of a run that was lost.
func Took(r durable.Run) time.Duration {
	if label := ParseLabel(r.Label); label.Outcome != "" {
		return label.Took
	}
	return max(r.Finished.Sub(r.Started), 0)
}
