package job

import (
	"strings"
	"time"
)

// TimeForms are those of ParseTime.
const TimeForms = "2027-03-27, '2027-03-27 14:00' or 2027-03-27T14:00:00Z"

// ParseTime reads a time that somebody has written, in a zone unless it has an offset.
func ParseTime(text string, loc *time.Location) (t time.Time, ok bool) {
	if t, _, err := ParseMoment(text, loc); err == nil {
		return t, true
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	return t, err == nil
}

// When is a time, or how long it is from now: whoever knows the clock that counts says what that is.
type When struct {
	at      time.Time // zero if it is
	fromNow time.Duration
}

// ParseWhen reads a time as ParseTime does, or a duration such as 90m.
func ParseWhen(text string, loc *time.Location) (w When, ok bool) {
	if w.at, ok = ParseTime(text, loc); ok {
		return w, !w.at.IsZero()
	}
	d, err := time.ParseDuration(text)
	return When{fromNow: d}, err == nil
}

// At returns the time, if it is now.
func (w When) At(now time.Time) time.Time {
	if w.at.IsZero() {
		return now.Add(w.fromNow)
	}
	return w.at
}

// Ago is At for a duration that is before now. It is false if that is negative.
func (w When) Ago(now time.Time) (time.Time, bool) {
	w.fromNow = -w.fromNow
	return w.At(now), w.fromNow <= 0
}

// String returns the text by which others read it, wherever they are.
func (w When) String() string {
	if w.at.IsZero() {
		return w.fromNow.String()
	}
	return w.at.Format(time.RFC3339)
}
