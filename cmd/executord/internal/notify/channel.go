package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Way sends messages.
type Way interface {
	// Send sends a message, or fails before ctx ends. The answer is for people, in one line. An error that wraps a
	// Refusal is final; after another one, Send is called again.
	Send(ctx context.Context, m Message) (answer string, err error)

	// Secrets returns the texts that no answer and no error may show.
	Secrets() []string
}

// A Refusal is an error after which trying again is in vain.
type Refusal struct{ Err error }

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// A busy error says when to try again.
type busy struct {
	error
	after time.Duration
}

// A Channel is a way to tell people or programs, and of what.
type Channel struct {
	Name string
	Way  Way

	// ForAll has the channel told of the jobs that choose no channels.
	ForAll bool

	On    []Kind        // what it is told of; nil for all Kinds. Pings are told of each run
	Late  time.Duration // told of a run that is started later than this after its due time; 0 for none
	Skips int           // told once when this many due times have passed during a run, at least 1

	Limit  int           // most messages in an hour; what is beyond it is told by one message. 0 for no limit
	Digest time.Duration // how long what happens is gathered after the first event; 0 for not at all
	Quiet  Quiet         // hours in which nothing is sent, but gathered

	Link string // the address of the daemon's pages, with a slash at its end, as the readers reach it; "" for none
}

// pings reports whether each event is sent alone, at once.
func (c *Channel) pings() bool {
	_, ok := c.Way.(*Ping)
	return ok
}

// wants reports whether the channel is told of an event.
func (c *Channel) wants(e Event) bool {
	switch {
	case e.Kind == Tested:
		return true
	case c.pings():
		return e.Job != "" && slices.Contains(pingKinds, e.Kind)
	case e.Kind == Late && (c.Late == 0 || e.Late <= c.Late || e.Told > c.Late): // it is told once
		return false
	case e.Kind == Skipped && (e.Count < c.Skips || e.Before >= c.Skips): // it is told once of each run
		return false
	case c.On == nil:
		return slices.Contains(Kinds, e.Kind)
	}
	return slices.Contains(c.On, e.Kind)
}

// Quiet is a part of each day, from a minute to another one, past midnight if To is not after From. The zero Quiet is
// none.
type Quiet struct {
	From, To int // minutes of the day
	Zone     *time.Location
}

// ParseQuiet reads what is written as 22:00-07:00.
func ParseQuiet(text string, zone *time.Location) (Quiet, error) {
	q := Quiet{Zone: zone}
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return q, fmt.Errorf("%q is not a range of hours, such as 22:00-07:00", text)
	}
	for _, end := range []struct {
		text string
		min  *int
	}{{from, &q.From}, {to, &q.To}} {
		t, err := time.Parse("15:04", strings.TrimSpace(end.text))
		if err != nil {
			return q, fmt.Errorf("%q is not a time of day, such as 22:00", end.text)
		}
		*end.min = t.Hour()*60 + t.Minute()
	}
	if q.From == q.To {
		return q, errors.New("its beginning and its end are the same")
	}
	return q, nil
}

// until returns when the quiet that holds at a time ends, the time itself if none does.
func (q Quiet) until(t time.Time) time.Time {
	if q.From == q.To {
		return t
	}
	local := t.In(q.Zone)
	minute := local.Hour()*60 + local.Minute()
	day := local.Day()
	switch {
	case q.From < q.To && (minute < q.From || minute >= q.To):
		return t
	case q.From > q.To && minute < q.From && minute >= q.To:
		return t
	case minute >= q.To:
		day++
	}
	at := func(year int, month time.Month, day, hour, minute int, zone *time.Location) time.Time {
		return time.Date(year, month, day, hour, minute, 0, 0, zone)
	}
	end := at(local.Year(), local.Month(), day, q.To/60, q.To%60, q.Zone)
	asked := at(local.Year(), local.Month(), day, q.To/60, q.To%60, time.UTC)
	shown := at(end.Year(), end.Month(), end.Day(), end.Hour(), end.Minute(), time.UTC)
	switch { // a clock that skips the end is past it at the end of its jump
	case shown.Before(asked):
		_, end = end.ZoneBounds()
	case shown.After(asked):
		end, _ = end.ZoneBounds()
	}
	return end
}

// scrub returns a text in one line, without secrets.
func scrub(text string, secrets []string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return cut(strings.TrimSpace(oneLine(text)), 300)
}

// oneLine returns a text with blanks for the characters that would end its line, or that no line can have.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}
