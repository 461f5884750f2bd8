package pages

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// jobRow is a job in a list.
type jobRow struct {
	ID, Short, Path   string
	Name              string
	Kind, State, When string
	Attempt           string
	Node              string
	Class             string // how the state is coloured
}

func newJobRow(s *source.Source, j *durable.Job, now time.Time) jobRow {
	id := j.ID.String()
	name, path := s.Link(j.ID, j.Key, 0)
	r := jobRow{
		ID: id, Short: id[len(id)-12:], Path: path,
		Name: page.Printable(name, 60), Kind: page.Printable(j.Kind, 40), State: admin.StateName(j.State),
		When: whenOf(j, now),
		Node: "–", Class: address.StateClass(j.State),
	}
	if r.Name == "" {
		r.Name = keyless(j, r.Short)
	}
	if r.Attempt = "–"; j.Attempt > 0 {
		r.Attempt = fmt.Sprintf("%d/%d", j.Attempt, j.Attempts)
	}
	if j.Owner != "" {
		r.Node = page.Printable(j.Owner, 30)
	}
	return r
}

const (
	payloadName  = 60  // runes of a payload in the name of a job
	payloadBegin = 256 // bytes of it that are looked at
)

// keyless returns the name of a job without a key: its kind, and the begin of its payload if that is there and is text, else
// the end of its ID.
func keyless(j *durable.Job, short string) string {
	kind := page.Printable(j.Kind, 40)
	text := strings.TrimSpace(string(j.Payload))
	for i := 0; len(j.Payload) == payloadBegin && i < utf8.UTFMax && text != "" && !utf8.ValidString(text); i++ {
		text = text[:len(text)-1] // it was cut within a character
	}
	if text == "" || !utf8.ValidString(text) {
		return kind + " …" + short
	}
	return kind + " " + page.Printable(text, payloadName)
}

// whenOf returns when a job is due, or since when it is what it is.
func whenOf(j *durable.Job, now time.Time) string {
	switch {
	case j.State == durable.Running && !j.Started.IsZero():
		return "for " + page.Age(now.Sub(j.Started))
	case j.State.Done():
		return page.Since(j.Updated, now)
	case j.State == durable.Paused, j.State == durable.Blocked:
		return "–"
	case distant(j.Due, now):
		return "at its signal"
	}
	return page.Since(j.Due, now)
}

// runRow is a run of a job.
type runRow struct {
	Seq                    int64
	Occurrence, Late, Took string
	Outcome                string // "" if the run is not shown
	Class                  string // of the outcome
	Attempt                int
	Node                   string
	Error                  string
	Started                string
	Output                 string // the page of the job with the output of the run

	took time.Duration
}

func newRunRow(s *source.Source, r *durable.Run, now time.Time) runRow {
	word, like := s.Outcome(r)
	row := runRow{
		Seq: r.Seq, Occurrence: page.Clock(r.Occurrence, now), Started: page.Clock(r.Started, now), Late: "–", Took: "–",
		Outcome: page.Printable(word, 40), Class: verdictClass(like), Attempt: r.Attempt,
		Node:  page.Printable(r.Node, 40),
		Error: page.Printable(oneLine(r.Error), 200),
		took:  s.Took(r),
	}
	if !r.Started.IsZero() {
		if row.took > 0 { // else it never began
			row.Took = page.Short(row.took)
		}
		if late := r.Started.Sub(r.Occurrence); late >= 0 {
			row.Late = page.Short(late)
		}
	}
	return row
}

// oneLine returns the lines of a text in one.
func oneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", " · ") }

// verdictClass returns how a verdict is coloured.
func verdictClass(v durable.Verdict) string {
	switch v {
	case durable.RunSucceeded:
		return "good"
	case durable.RunFailed, durable.RunLost:
		return "bad"
	}
	return "other"
}

// fact returns a figure with what it means.
func fact(name, value, hint string) poolview.Fact {
	return poolview.Fact{Name: name, Value: value, Hint: hint}
}

// progress is how far a run has come.
type progress struct {
	Done, Total int64 // Total is 0 if it is not known
	Text        string
}

// newProgress returns nil if nothing is known.
func newProgress(r *durable.RunProgress, started time.Time) *progress {
	if r == nil {
		return nil
	}
	p := &progress{Done: r.Done, Total: r.Total}
	if r.Total == 0 {
		p.Text = page.Count(r.Done)
	} else {
		p.Done = min(r.Done, r.Total)
		p.Text = fmt.Sprintf("%s of %s, %d %%", page.Count(r.Done), page.Count(r.Total), int(100*float64(p.Done)/float64(r.Total)))
		if took := r.At.Sub(started); r.Done > 0 && r.Done < r.Total && took > 0 && !started.IsZero() {
			left := time.Duration(float64(took) * float64(r.Total-r.Done) / float64(r.Done))
			p.Text += ", about " + page.Age(left) + " left"
		}
	}
	if r.Note != "" {
		p.Text += ": " + page.Printable(r.Note, 200)
	}
	return p
}

// distant reports whether a job is due at a time that stands for none: it waits for a signal.
func distant(due, now time.Time) bool { return due.Sub(now) > 50*365*24*time.Hour }
