package notify

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is what has happened. The words are documented.
type Kind string

const (
	Failed      Kind = "failed"      // a run ended otherwise than it should
	Recovered   Kind = "recovered"   // the first good run after others
	Late        Kind = "late"        // a run was started long after its due time
	NotStarted  Kind = "not started" // the command could not be started
	Lost        Kind = "lost"        // a run whose daemon was killed or lost the store begins again
	Missed      Kind = "missed"      // due times passed without a daemon
	Skipped     Kind = "skipped"     // due times passed while a run was in progress
	Unreachable Kind = "unreachable" // the store can't be used: it does not answer, or is full
	Tested      Kind = "tested"      // somebody tries the channel

	// These are for pings alone.
	Started   Kind = "started"
	Succeeded Kind = "succeeded"
	Canceled  Kind = "canceled" // somebody has ended the run
)

// Kinds are those that a channel may be told of, in the order of the manual.
var Kinds = []Kind{Failed, Recovered, Late, NotStarted, Missed, Lost, Skipped, Unreachable}

// An Event is one thing that has happened. What does not apply is zero.
type Event struct {
	Kind   Kind          `json:"kind"`
	Job    string        `json:"job,omitempty"` // "" for what is about the daemon
	Run    int           `json:"run,omitempty"`
	At     time.Time     `json:"at"` // in a Message in the zone of Due, the job's, if there is one
	Due    time.Time     `json:"due,omitzero"`
	Late   time.Duration `json:"late_ns,omitzero"` // from the due time to the start of the command, or so far if Run is 0
	Took   time.Duration `json:"took_ns,omitzero"` // from the start of the command to its end
	Count  int           `json:"count,omitzero"`   // of the due times that were skipped or missed
	Before int           `json:"-"`                // how many of them an earlier event has told
	Told   time.Duration `json:"-"`                // the Late of which an earlier event has told
	Reason string        `json:"reason,omitempty"`
	Output string        `json:"output,omitempty"` // the end of what the command wrote
	URL    string        `json:"url,omitempty"`    // of the page with the rest, if the channel has a link
}

// Page returns the address of the page about the event, from that of the page of notices on.
func (e Event) Page() string {
	switch {
	case e.Job == "":
		return "notices"
	case e.Run == 0:
		return "job?" + url.Values{"name": {e.Job}}.Encode()
	}
	return "run?" + url.Values{"job": {e.Job}, "run": {strconv.Itoa(e.Run)}}.Encode()
}

// maxOutput is how many bytes of the end of an output are told.
const maxOutput = 8 << 10

// tail returns the last lines of a text for which there is room.
func tail(text string, room int) string {
	text = strings.TrimRight(text, "\n")
	if len(text) <= room {
		return text
	}
	text = text[len(text)-room:]
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[i+1:]
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// line returns the event in one line.
func (e Event) line() string {
	var b strings.Builder
	if e.Job != "" {
		b.WriteString(e.Job + " ")
	}
	switch e.Kind {
	case Recovered:
		if e.Job == "" {
			return e.Reason
		}
		b.WriteString("has recovered")
	case Missed:
		b.WriteString("has missed " + counted(e.Count, "due times"))
	case Failed:
		b.WriteString("has " + string(e.Kind))
	case Late:
		if e.Run == 0 {
			fmt.Fprintf(&b, "has been due for %v", e.Late.Round(time.Second))
			break
		}
		fmt.Fprintf(&b, "was started %v late", e.Late.Round(time.Second))
	case Lost:
		b.WriteString("was lost: its daemon was killed, or lost the store")
	case NotStarted:
		b.WriteString("was not started")
	case Skipped:
		b.WriteString("was skipped " + counted(e.Count, "times"))
	case Unreachable:
		b.WriteString("the store cannot be used")
	case Tested:
		b.WriteString("this is a test; nothing is wrong")
	default:
		b.WriteString("has " + string(e.Kind))
	}
	if reason, _, _ := strings.Cut(e.Reason, "\n"); reason != "" {
		b.WriteString(": " + reason)
	}
	return b.String()
}

// MostCounted is how many due times in a row are counted: so many may be more.
const MostCounted = 100_000

// counted returns how many of something there are.
func counted(n int, what string) string {
	if n >= MostCounted {
		return "100,000 " + what + " or more"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// details returns all that there is to say of the event.
func (e Event) details() string {
	var b strings.Builder
	b.WriteString(e.line() + "\n")
	fact := func(name, value string) { fmt.Fprintf(&b, "%-8s%s\n", name+":", value) }
	if e.Run != 0 {
		fact("run", fmt.Sprint(e.Run))
	}
	if !e.Due.IsZero() {
		fact("due", e.Due.Format(time.RFC3339))
	}
	fact("at", e.At.Format(time.RFC3339))
	if e.Took != 0 {
		fact("took", e.Took.Round(time.Millisecond).String())
	}
	if e.URL != "" {
		fact("see", e.URL)
	}
	if e.Output != "" {
		b.WriteString("\n" + e.Output + "\n")
	}
	return b.String()
}

// A Message is what is sent: one event or more.
type Message struct {
	Host   string  `json:"host"`
	Events []Event `json:"events"` // in the order in which they happened; at least one
	More   int     `json:"more,omitzero"`

	Subject string `json:"subject"` // one line
	Text    string `json:"text"`
}

// Most that is written out of a message; the rest is counted.
const (
	maxDetailed = 20
	maxText     = 32 << 10
)

// compose returns the message of events. More is how many others there was no room for. Link is the address of the
// pages, "" for none.
func compose(host, link string, events []Event, more int) Message {
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
		if link != "" {
			e.URL = link + e.Page()
		}
		if !e.Due.IsZero() {
			e.At = e.At.In(e.Due.Location()) // two zones in an event mislead
		}
	}
	m := Message{Host: host, Events: events, More: more}
	if len(events) == 1 && more == 0 {
		m.Subject = events[0].line()
	} else {
		m.Subject = summary(events, more)
	}
	m.Subject = cut(oneLine("["+host+"] "+m.Subject), 200)
	var b strings.Builder
	for i, e := range events {
		details := e.details()
		if i == maxDetailed || b.Len() > 0 && b.Len()+len(details) > maxText {
			more += len(events) - i
			break
		}
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(details)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	m.Text = b.String()
	return m
}

// url returns the address of the page that the message is about, that of the notices if it has several events, "" if
// the channel has no link.
func (m *Message) url() string {
	first := m.Events[0].URL
	if len(m.Events) == 1 || first == "" {
		return first
	}
	e := m.Events[0]
	return strings.TrimSuffix(first, e.Page()) + Event{}.Page()
}

// summary returns how many there are of each kind, and of which jobs.
func summary(events []Event, more int) string {
	counts := make(map[Kind]int)
	var order []Kind
	var jobs []string
	seen := make(map[string]bool)
	for _, e := range events {
		if counts[e.Kind]++; counts[e.Kind] == 1 {
			order = append(order, e.Kind)
		}
		if e.Job != "" && !seen[e.Job] {
			seen[e.Job] = true
			jobs = append(jobs, e.Job)
		}
	}
	var parts []string
	for _, kind := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	text := strings.Join(parts, ", ")
	if len(jobs) > 0 {
		text += ": " + strings.Join(jobs, ", ")
	}
	return text
}

// cut returns as much of the begin of a text as there is room for.
func cut(text string, room int) string {
	if len(text) <= room {
		return text
	}
	for room > 0 && !utf8.RuneStart(text[room]) {
		room--
	}
	return text[:room] + "..."
}
