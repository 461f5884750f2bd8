// Package view is how executord shows jobs and runs: as JSON, in its tables and on its pages. Its types are documented.
package view

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// Job is a job. Its variables are not in it: they may be secret.
type Job struct {
	Namespace string         `json:"namespace"`
	Job       string         `json:"job"`
	ID        durable.ID     `json:"id"`
	Schedule  string         `json:"schedule"`
	Words     string         `json:"words,omitempty"` // the schedule in English
	Zone      string         `json:"zone"`
	Command   string         `json:"command"`
	State     catalog.Status `json:"state"`
	Tags      []string       `json:"tags,omitempty"`
	On        []string       `json:"on,omitempty"` // the machines that may run it

	Parameters []job.Parameter `json:"parameters,omitempty"`

	Next    *time.Time `json:"next"`
	Until   time.Time  `json:"until,omitzero"` // of one that is paused until a time
	Node    string     `json:"node,omitempty"`
	Attempt int        `json:"attempt"`
	Runs    int64      `json:"runs"`
	Error   string     `json:"error,omitempty"`
	Last    *Run       `json:"last_run"`
	Running *Run       `json:"running,omitempty"`

	// These are not documented.
	Spec   *catalog.Spec `json:"-"` // what its file says
	Past   []Past        `json:"-"` // the latest runs that have ended, in the order of their numbers
	Health Health        `json:"-"`
}

// Run is a run of a job.
type Run struct {
	Namespace string          `json:"namespace"`
	Job       string          `json:"job"`
	ID        durable.ID      `json:"-"`   // of its row; zero if it has none, or is not known
	Run       int64           `json:"run"` // its number; 0 if nothing was run at that time
	Due       time.Time       `json:"due"`
	Attempt   int             `json:"attempt"`
	Started   time.Time       `json:"started"`
	Finished  time.Time       `json:"finished,omitzero"`
	Took      float64         `json:"took"` // seconds, as in the log; so far, of a run in progress
	Outcome   outcome.Outcome `json:"outcome"`
	Node      string          `json:"node,omitempty"`
	Error     string          `json:"error,omitempty"`
	Stderr    []string        `json:"stderr,omitempty"` // its end, line by line
	Progress  *Progress       `json:"progress,omitempty"`

	// Count is how many due times in a row are excluded for one reason, the first of which is First, and the last Due; 0
	// for one.
	Count int       `json:"count,omitempty"`
	First time.Time `json:"first,omitzero"`

	// Parameters are those that were given to it, by their names; nil if it has the defaults.
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Progress is how far a run has come, by its own account.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Note  string `json:"note,omitempty"`
}

// barWidth is how many characters a bar has.
const barWidth = 10

// String returns a bar: [####......] 42% and the begin of the note.
func (p Progress) String() string {
	const most = 20
	all := max(p.Total, 1)
	some := min(max(p.Done, 0), all) // another daemon may say anything
	for all > math.MaxInt64/100 {
		all, some = all/2, some/2
	}
	done := int(some * barWidth / all)
	text := fmt.Sprintf("[%s%s] %d%%", strings.Repeat("#", done), strings.Repeat(".", barWidth-done), some*100/all)
	if note := []rune(job.Printable(p.Note)); len(note) > most {
		text += " " + string(note[:most-1]) + "…"
	} else if len(note) > 0 {
		text += " " + string(note)
	}
	return text
}

// Of returns the job that an entry of a store is, with what the history has of its last run, if that is known.
func Of(e catalog.Entry, last *durable.Run, now time.Time) Job {
	j := Job{
		Namespace: e.Namespace, Job: e.Name, ID: e.ID, Schedule: e.Spec.Schedule, Zone: e.Spec.Zone,
		Words: words(e.Spec), Command: e.Spec.Command.Text(), State: e.Status(now),
		Runs: e.Number, Error: Reason(e.Last.Error), Tags: e.Tags, On: e.Spec.On.Values(),
		Parameters: e.Spec.Parameters, Spec: &e.Spec,
	}
	if at := e.Next(now); !at.IsZero() {
		at = at.In(e.Spec.Location())
		j.Next = &at
	}
	if len(e.Spec.After) > 0 {
		j.Words = strings.TrimPrefix(j.Words+", and after "+strings.Join(e.Spec.After, ", "), ", and ")
	}
	if last != nil {
		r := Ended(e, e.Last, *last)
		j.Last = &r
	}
	if o, why, _ := outcome.ParseFired(e.Label); o != "" { // since then
		at := e.Updated.In(e.Spec.Location())
		j.Last = &Run{Namespace: e.Namespace, Job: e.Name, Due: at, Attempt: 1, Started: at, Finished: at, Outcome: o, Error: why}
	}
	if row, ok := e.InProgress(); ok {
		r := Current(e, row, now)
		j.Running, j.Node, j.Attempt = &r, r.Node, r.Attempt
	}
	return j
}

// words returns a schedule in English, "" if it says no more than its text.
func words(s catalog.Spec) string {
	times, ok := catalog.Parse(s.Schedule, s.Location())
	if !ok || strings.HasPrefix(s.Schedule, "@every ") {
		return ""
	}
	return times.Describe()
}

// of returns what is known of a run of a job by its row.
func of(e catalog.Entry, row durable.Job) Run {
	run := catalog.RunOf(row)
	return Run{
		Namespace: e.Namespace, Job: e.Name, ID: row.ID, Run: catalog.NumberOf(row), Due: run.Due.In(e.Spec.Location()), Parameters: Parameters(run.Given),
	}
}

// Ended returns a run of a job, by its row and an entry of the history of that.
func Ended(e catalog.Entry, row durable.Job, r durable.Run) Run {
	run, loc := of(e, row), e.Spec.Location()
	run.Attempt = r.Attempt + max(outcome.ParseLabel(r.Label).Attempts-1, 0)
	run.Started, run.Finished, run.Took = r.Started.In(loc), r.Finished.In(loc), outcome.Took(r).Seconds()
	run.Outcome, run.Node, run.Error, run.Stderr = outcome.Of(r), r.Node, Reason(r.Error), Written(r.Error)
	return run
}

// LeftOut returns what became of due times without a run, by an entry of the history of their schedule; false if there are
// none, or they were skipped.
func LeftOut(e catalog.Entry, r durable.Run) (Run, bool) {
	o, why, _ := outcome.ParseFired(r.Label)
	due := r.Occurrence
	if n, first := outcome.ParseBefore(r.Label); n > 0 {
		o, why, due = outcome.Missed, fmt.Sprintf("%s: %d before the run", outcome.Missed, n), first
	}
	if o == "" {
		return Run{}, false
	}
	loc := e.Spec.Location()
	return Run{
		Namespace: e.Namespace, Job: e.Name, Due: due.In(loc), Attempt: 1, Started: r.Started.In(loc), Finished: r.Finished.In(loc),
		Outcome: o, Node: r.Node, Error: why,
	}, true
}

// Current returns a run of a job that is in progress, as the store has it. A store has the start of a run some
// milliseconds later, and until then when the run was taken in hand.
func Current(e catalog.Entry, row durable.Job, now time.Time) Run {
	started := row.Started
	if started.IsZero() {
		started = row.Updated
	}
	run := of(e, row)
	run.Attempt, run.Started, run.Took = max(row.Attempt, 1), started.In(e.Spec.Location()), max(now.Sub(started), 0).Seconds()
	run.Outcome, run.Node = outcome.InProgress, row.Owner
	return run
}

// Why returns why a run failed on one line of at most so many characters: the first line of its error, and the last line
// that it wrote to standard error, which mostly has the reason.
func (r Run) Why(most int) string {
	text := r.Error
	if r.Count > 1 {
		text += fmt.Sprintf(" (%d due times since %s)", r.Count, r.First.Format("2006-01-02 15:04:05"))
	}
	if n := len(r.Stderr); n > 0 {
		text += ": " + r.Stderr[n-1]
	}
	text = job.Printable(text)
	if short := []rune(text); len(short) > most {
		return string(short[:most]) + "..."
	}
	return text
}

// Parameters returns what view has of the parameters of a run, each NAME=value.
func Parameters(values []string) map[string]string {
	if values == nil {
		return nil
	}
	all := make(map[string]string, len(values))
	for _, one := range values {
		name, value, _ := strings.Cut(one, "=")
		all[name] = value
	}
	return all
}

// ShowParameters returns the parameters of a run, each NAME=value, on one line.
func ShowParameters(values []string) string {
	shown := make([]string, len(values))
	for i, one := range values {
		name, value, _ := strings.Cut(one, "=")
		if value == "" || strings.ContainsAny(value, " ,\"") {
			value = strconv.Quote(value)
		}
		shown[i] = job.Printable(name + "=" + value)
	}
	return strings.Join(shown, ", ")
}

// Duration returns how long the run took.
func (r Run) Duration() time.Duration {
	return time.Duration(math.Round(r.Took * float64(time.Second)))
}

// With returns the parameters of a run on one line, "" if it has the defaults.
func (r Run) With() string {
	values := make([]string, 0, len(r.Parameters))
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		values = append(values, name+"="+r.Parameters[name])
	}
	return ShowParameters(values)
}

// Reason returns an error's first line: what ended the run.
func Reason(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(first, "durable: ")
}

// Written returns the end of what a run wrote to standard error, by lines.
func Written(text string) []string {
	_, rest, found := strings.Cut(text, "\n")
	if !found || rest == "" {
		return nil
	}
	return strings.Split(rest, "\n")
}

// Span returns a duration as it is shown in a table, to two to four digits.
func Span(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 10*time.Millisecond:
		return d.Round(time.Millisecond / 10)
	case d < 10*time.Second:
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}
