package admin

import (
	"strings"
	"time"

	"github.com/executor-go/executor/durable/internal/argument"
)

// TimeForms are those of ParseTime, for messages.
const TimeForms = "2027-03-27, '2027-03-27 14:00' or 2027-03-27T14:00:00Z"

// ParseTime reads a time that a person has written, see TimeForms; it is in zone unless it has an offset. It reports
// whether the text is a time.
func ParseTime(text string, zone *time.Location) (t time.Time, ok bool) {
	for _, layout := range []string{
		time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05", time.RFC3339,
	} {
		if t, err := time.ParseInLocation(layout, strings.ToUpper(text), zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// A When is a time, or how long that is from now: whoever knows the clock that counts says what it is. The zero When is
// none.
type When struct {
	at      time.Time
	fromNow time.Duration
	set     bool
}

// ParseWhen reads a time as ParseTime does, or a duration such as 90m. Its error matches executor.ErrInvalid.
func ParseWhen(text string, zone *time.Location) (When, error) {
	if t, ok := ParseTime(text, zone); ok && !t.IsZero() {
		return When{at: t, set: true}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return When{}, argument.Invalid("%.60q: it must be a time as %s, or from now as 90m", text, TimeForms)
	}
	return When{fromNow: d, set: true}, nil
}

// IsZero reports whether w is no time.
func (w When) IsZero() bool { return !w.set }

// At returns the time, if it is now.
func (w When) At(now time.Time) time.Time {
	if w.at.IsZero() {
		return now.Add(w.fromNow)
	}
	return w.at
}

// Ago returns the time of w or, if w is a duration, the time that long before now. It reports false if the duration is
// negative.
func (w When) Ago(now time.Time) (time.Time, bool) {
	w.fromNow = -w.fromNow
	return w.At(now), w.fromNow <= 0
}

// String returns the text by which others read it, wherever they are.
func (w When) String() string {
	switch {
	case !w.set:
		return ""
	case w.at.IsZero():
		return w.fromNow.String()
	}
	return w.at.Format(time.RFC3339)
}

// check returns what is wrong with the time of an action, which must have one if it is needed.
func (w When) check(needed bool) error {
	switch {
	case needed && !w.set:
		return argument.Invalid("time: it is missing; write it as %s, or from now as 90m", TimeForms)
	case w.fromNow < 0:
		return argument.Invalid("time %v from now: it must not be negative", w.fromNow)
	}
	return nil
}
